// Paths in the one spelling in which rules and URLs are compared: RFC 9309 §2.2.2 (step 5 of a URL's life).
//
// Escapes of unreserved characters are decoded, all others upper-cased; what may not stand in a URI is escaped. Of the
// reserved characters three are escaped too: `*` and `$`, since `%2A` and `%24` are how a rule names them literally
// (§2.2.3), and `'`, since URL parsers escape it in a query whatever the page wrote. All other reserved characters
// differ from their escapes: `/a%2Fb` is one segment. A `%` that begins no escape stays, so that `Disallow: /*%` keeps
// its evident meaning. Invariants: linear, never throws, ASCII out.

/** Path and query, normalised, of an absolute URL (or of a path); no fragment; at least `/`. Dot segments are left as they are. */
export function robotsPathOf(url: string): string {
  const start = pathStart(url);
  const hash = url.indexOf('#', start);
  const path = normalizeOctets(url.slice(start, hash < 0 ? undefined : hash));
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * One spelling for all equivalent spellings of a literal piece of path or query. Costs one pass without allocation when
 * nothing is to be changed.
 * @param text any string; unpaired surrogates count as U+FFFD
 */
export function normalizeOctets(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  let result = '';
  let copied = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80 && KEPT[code] === 1) continue;
    const width =
      code === PERCENT ? escapeWidth(text, index) : code < 0x80 ? 1 : runWidth(text, index);
    if (width === 0) continue;
    result += text.slice(copied, index) + spelled(text.slice(index, index + width), code);
    copied = index + width;
    index = copied - 1;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/**
 * The second spelling of a normalised piece: in a query `:`, `/`, `?` and `@` are data (RFC 3986 §3.4), and RFC 9309
 * compares `?u=https://a` and `?u=https%3A%2F%2Fa` as equal (table of §2.2.2).
 * @param inQuery true when a question mark came before this piece
 */
export function queryForm(normalized: string, inQuery: boolean): string {
  const start = inQuery ? 0 : normalized.indexOf('?');
  if (start < 0 || normalized.indexOf('%', start) < 0) return normalized;
  const query = normalized.slice(start).replace(QUERY_DATA, (octet) => decodeURIComponent(octet));
  return normalized.slice(0, start) + query;
}

const PERCENT = 0x25;
const QUERY_DATA = /%(?:3A|2F|3F|40)/g;
const UNRESERVED = /[A-Za-z0-9._~-]/;

/** Anything but what stands for itself: the characters of RFC 3986 path and query without `*`, `$`, `'` and `%`. */
const UNUSUAL = /[^A-Za-z0-9/?:@!&()+,;=._~-]/;
const KEPT = Uint8Array.from({ length: 128 }, (_, code) =>
  UNUSUAL.test(String.fromCharCode(code)) ? 0 : 1,
);

/** Where path or query begin; the end when there is neither. A string without scheme is all path. */
function pathStart(url: string): number {
  const scheme = url.startsWith('/') ? -1 : url.indexOf('://');
  if (scheme < 0) return 0;
  for (let index = scheme + 3; index < url.length; index++) {
    const code = url.charCodeAt(index);
    if (code === 0x2f || code === 0x3f || code === 0x23) return index;
  }
  return url.length;
}

/** 3 when an escape begins here that must be respelled, 0 when the text stays: a bare `%`, or an escape in its final form. */
function escapeWidth(text: string, index: number): number {
  const high = hexValue(text.charCodeAt(index + 1));
  const low = hexValue(text.charCodeAt(index + 2));
  if (high < 0 || low < 0) return 0;
  const isFinal = !isLower(text.charCodeAt(index + 1)) && !isLower(text.charCodeAt(index + 2));
  return isFinal && !UNRESERVED.test(String.fromCharCode(high * 16 + low)) ? 0 : 3;
}

/** Width of the run of characters beyond ASCII. */
function runWidth(text: string, index: number): number {
  let end = index;
  while (end < text.length && text.charCodeAt(end) >= 0x80) end++;
  return end - index;
}

function spelled(piece: string, code: number): string {
  if (code === PERCENT) {
    const character = String.fromCharCode(Number.parseInt(piece.slice(1), 16));
    return UNRESERVED.test(character) ? character : piece.toUpperCase();
  }
  if (code < 0x80) return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
  return encodeURIComponent(piece.replace(/\p{Cs}/gu, '\ufffd'));
}

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function isLower(code: number): boolean {
  return code >= 0x61;
}
