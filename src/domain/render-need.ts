// Does a stored page need a browser to be read (step 11, docs/RENDERING.md)? Told from its bytes and from what the link scanner has counted
// anyway: a page with WORDS_ENOUGH words is read as it is, and for it the question costs one comparison. Only what has fewer is looked at:
// is there an empty root of an application, a notice for readers without scripts, or nothing but scripts? Pure, linear, never throws; each
// answer names its reason, so that `why` can tell it. Words in the head (title, metadata) do not count: a shell has them too.

/** Why a page is thought to need a browser; kinds are only added, at the end (storage numbers them). */
export const RENDER_REASONS = ['empty-root', 'notice', 'script-only', 'always'] as const;
export type RenderReason = (typeof RENDER_REASONS)[number];

/** What is known of a page. */
export interface PlainPage {
  /** Decoded body. */
  readonly bytes: Uint8Array;
  /** Words of its visible text. */
  readonly words: number;
  /** Different references it leads to. */
  readonly links: number;
}

/** Words from which on a page is read as it is. Header and footer of a shell that has some come to less; see docs/RENDERING.md. */
export const WORDS_ENOUGH = 120;
/** Words up to which a root with something in it ("Loading …") counts as empty, and a notice as all there is. */
const WORDS_OF_SHELL = 40;
/** Words and links up to which a page with scripts has nothing else. */
const WORDS_OF_NOTHING = 15;
const LINKS_OF_NOTHING = 1;
/** How far into a page is looked: the body of a shell begins at once, however long its scripts. */
const LOOK_BYTES = 131_072;
/** Roots, notices and scripts looked at of one page. */
const LOOKS_MAX = 32;
/** Characters of an inline script below which it builds no page. */
const SCRIPT_CHARS_MIN = 100;
/** Characters of a notice that are looked at. */
const NOTICE_CHARS = 600;

/** Where applications are mounted: the ids of create-react-app, Vite, Vue, Next, Nuxt, Gatsby, Svelte, Ember and common usage. */
const ROOT_ID =
  /\sid\s{0,4}=\s{0,4}["']?(?:root|app|application|main-app|react-root|react-app|app-root|app-mount|vue-app|svelte|svelte-app|__next|__nuxt|___gatsby|ember-app|mount|q-app|application-root)["'\s>]/gi;
/** Elements that are roots by their names: Angular's, and custom elements of a whole application. */
const ROOT_ELEMENT = /<(?:app-root|my-app|app-shell|[a-z][a-z0-9]{0,30}-app|ng-app)[\s>]/gi;
/** Marks that a framework leaves in a page which it builds in the browser, whatever its root is called. */
const FRAMEWORK_MARK =
  /__sveltekit|data-sveltekit|__NUXT__|__NEXT_DATA__|\sng-app[\s=>]|data-reactroot/;
/** A page that sends its readers on without scripts, which often has a script for the same: generators of documentation leave thousands. */
const REFRESH = /<meta\s[^>]{0,200}http-equiv\s{0,4}=\s{0,4}["']?refresh["'\s>]/i;
const NOTICE = /java[\s-]?script/i;
/** Types of script elements that hold data. */
const DATA_SCRIPT =
  /\stype\s{0,4}=\s{0,4}["']?(?:application\/(?:ld\+)?json|text\/(?:template|html|x-))/i;

/** @returns why the page needs a browser; undefined when it does not */
export function renderReasonOf(page: PlainPage): RenderReason | undefined {
  const { words, links } = page;
  if (words >= WORDS_ENOUGH) return undefined;
  const { buffer, byteOffset, byteLength } = page.bytes;
  const length = Math.min(byteLength, LOOK_BYTES);
  const text = Buffer.from(buffer, byteOffset, length).toString('latin1');
  if (!hasScript(text)) return undefined;
  if (hasRoot(text, words <= WORDS_OF_SHELL)) return 'empty-root';
  if (words <= WORDS_OF_SHELL && FRAMEWORK_MARK.test(text)) return 'empty-root';
  if (words <= WORDS_OF_SHELL && hasNotice(text)) return 'notice';
  if (words > WORDS_OF_NOTHING || links > LINKS_OF_NOTHING) return undefined;
  return sendsOn(text) ? undefined : 'script-only';
}

/** True when a script may build the page: one from elsewhere, or one of some length. */
function hasScript(text: string): boolean {
  let at = text.indexOf('<script');
  for (let looks = 0; at !== -1 && looks < LOOKS_MAX; looks += 1) {
    const open = text.indexOf('>', at);
    if (open === -1) return false;
    const tag = text.slice(at, Math.min(open, at + 1_024));
    const close = text.indexOf('</script', open);
    if (!DATA_SCRIPT.test(tag)) {
      if (/\ssrc\s{0,4}=/i.test(tag)) return true;
      const end = close === -1 ? text.length : close;
      if (end - open > SCRIPT_CHARS_MIN) return true;
    }
    if (close === -1) return false;
    at = text.indexOf('<script', close);
  }
  return false;
}

/** @param isShell true when there is so little text that the root need not be empty to the letter */
function hasRoot(text: string, isShell: boolean): boolean {
  for (const pattern of [ROOT_ID, ROOT_ELEMENT]) {
    pattern.lastIndex = 0;
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const match = pattern.exec(text);
      if (match === null) break;
      if (isShell || isEmptyFrom(text, text.indexOf('>', match.index + match[0].length - 1))) {
        return true;
      }
    }
  }
  return false;
}

/** True when nothing but blanks and comments follows a start tag, up to an end tag. */
function isEmptyFrom(text: string, tagEnd: number): boolean {
  let at = tagEnd === -1 ? text.length : tagEnd + 1;
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    while (/\s/.test(text.charAt(at))) at += 1;
    if (!text.startsWith('<!--', at)) return text.startsWith('</', at);
    const end = text.indexOf('-->', at);
    if (end === -1) return false;
    at = end + 3;
  }
  return false;
}

/** One in a noscript element is for readers without scripts: the page itself needs them. */
function sendsOn(text: string): boolean {
  const at = text.search(REFRESH);
  if (at === -1) return false;
  return text.lastIndexOf('<noscript', at) <= text.lastIndexOf('</noscript', at);
}

function hasNotice(text: string): boolean {
  let at = text.indexOf('<noscript');
  for (let looks = 0; at !== -1 && looks < LOOKS_MAX; looks += 1) {
    const end = text.indexOf('</noscript', at);
    const notice = text.slice(at + 9, Math.min(end === -1 ? text.length : end, at + NOTICE_CHARS));
    if (NOTICE.test(notice)) return true;
    at = text.indexOf('<noscript', at + 9);
  }
  return false;
}
