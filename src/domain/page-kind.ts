// How a stored body is to be read (step 11): as markup, as a sitemap or feed, or not for links at all. Content decides as much as the type
// that was declared, since sitemaps and pages are served under any type.

import { looksLikeHtml, type MediaType } from './media-type.ts';
import { isXmlSitemap } from './sitemap.ts';

/** `sitemap` covers feeds, whose entries are read the same way. */
export type PageKind = 'html' | 'xhtml' | 'sitemap' | 'other';

/** Types whose bodies are surely no sitemap: everything else is judged by its content. */
const NEVER_SITEMAP =
  /^(?:image|audio|video|font|multipart)\/|css|javascript|ecmascript|json|pdf|wasm|msword|officedocument/;

/**
 * @param url where the body came from: plain text is a sitemap only under a name that says so
 * @param body decoded; only its beginning is looked at
 */
export function pageKindOf(url: string, type: MediaType, body: Uint8Array): PageKind {
  // Nearly every page says that it is HTML, and HTML is never a sitemap: no second look at its bytes.
  if (type.essence === 'text/html') return isMarkupSitemap(body, type) ? 'sitemap' : 'html';
  const mayBeSitemap = !NEVER_SITEMAP.test(type.essence);
  if (mayBeSitemap && isXmlSitemap(body, type.charset)) return 'sitemap';
  if (isMarkup(type, body)) return type.essence === '' ? 'html' : 'xhtml';
  return mayBeSitemap && isNamedSitemap(url) ? 'sitemap' : 'other';
}

/** A sitemap served as HTML begins with an XML declaration or its root element; a page hardly ever does. */
function isMarkupSitemap(body: Uint8Array, type: MediaType): boolean {
  // `<!D`: most pages are told by three bytes.
  if (body[0] === 0x3c && body[1] === 0x21 && (body[2] ?? 0x2d) !== 0x2d) return false;
  const head = String.fromCharCode(...body.subarray(0, SITEMAP_START_BYTES));
  return SITEMAP_START.test(head) && isXmlSitemap(body, type.charset);
}

const SITEMAP_START_BYTES = 256;
const SITEMAP_START =
  /^(?:\u00ef\u00bb\u00bf)?\s*<(?:\?xml|!--|\w*:?(?:urlset|sitemapindex|rss|feed|rdf))/i;

function isMarkup(type: MediaType, body: Uint8Array): boolean {
  if (type.essence === 'application/xhtml+xml') return true;
  if (type.essence === '') return looksLikeHtml(body);
  return isXml(type) && type.essence !== 'image/svg+xml';
}

function isXml(type: MediaType): boolean {
  return /^(?:text|application)\/xml$|\+xml$/.test(type.essence);
}

function isNamedSitemap(url: string): boolean {
  const path = url.replace(/[?#].*$/s, '');
  return /sitemap[^/]*$/i.test(path) && !/robots\.txt$/i.test(path);
}
