// What is run in a page's isolated world, where its own scripts cannot reach it and have changed nothing (docs/RENDERING.md): the serialiser of
// the document, and the scroll to its end. Text for Runtime.evaluate, with a bound on time there; it is JavaScript of the browser, not ours.

/** Characters of a document that are taken. */
export const DOM_CHARS_MAX = 2_000_000;
/** Shadow roots whose content is written out behind the document's. */
const SHADOWS_MAX = 1_000;

/** What SNAPSHOT answers, as JSON. */
export interface PageSnapshot {
  readonly html: string;
  readonly location: string;
  readonly hasBase: boolean;
  readonly isCut: boolean;
}

/**
 * The document as HTML. Content of open shadow roots follows the body's, since no parser finds links in them. A page that a script has given
 * another address says so by a base element: its relative links are relative to that.
 */
export const SNAPSHOT = `(() => {
  const parts = [];
  const walk = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (parts.length >= ${SHADOWS_MAX}) return;
      if (element.shadowRoot === null) continue;
      parts.push(element.shadowRoot.innerHTML);
      walk(element.shadowRoot);
    }
  };
  walk(document);
  let html = document.documentElement.outerHTML;
  if (parts.length > 0) {
    const shadows = parts.map((part) => '<div>' + part + '</div>').join('');
    const end = html.lastIndexOf('</body>');
    html = end === -1 ? html + shadows : html.slice(0, end) + shadows + html.slice(end);
  }
  return JSON.stringify({
    html: html.slice(0, ${DOM_CHARS_MAX}),
    location: location.href,
    hasBase: document.querySelector('base[href]') !== null,
    isCut: html.length > ${DOM_CHARS_MAX},
  });
})()`;

/** Scrolls to the end. Answers whether there was anything to scroll to. */
export const SCROLL = `(() => {
  const { scrollHeight, clientHeight } = document.documentElement;
  if (scrollHeight <= clientHeight + scrollY + 1) return false;
  scrollTo(0, scrollHeight);
  return true;
})()`;

/** Answers once the page has run what waited for its turn. */
export const SETTLED = `new Promise((resolve) => setTimeout(() => resolve(true), 0))`;

/** A document with its type before it, and with a base element where it has moved and has none. @param movedTo its own address, if another */
export function documentText({ html, hasBase }: PageSnapshot, movedTo: string | undefined): string {
  if (hasBase || movedTo === undefined) return `<!DOCTYPE html>\n${html}`;
  const base = `<base href="${movedTo.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">`;
  return `<!DOCTYPE html>\n${html.replace(/<head\b[^>]{0,1000}>/, (head) => head + base)}`;
}
