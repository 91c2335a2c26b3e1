// Turns a reference found in a page into an absolute URL by the rules of the WHATWG URL Standard: the first half of step 1 (DESIGN.md §1).
// Nearly all references of real pages are plain ASCII that the standard's parser would copy unchanged, so one pass over their characters
// proves that and the answer is a concatenation; whatever is not proven goes to the platform's `URL` class, ten times slower.
// Invariants: the fast answer equals `new URL(reference, base).href` (property tests hold it to that); never throws; linear time.
// One rule is ours: the standard no longer fails an all-ASCII host for its `xn--` labels (whatwg/url #914, June 2026), Node 20 still does.

/** A page's base URL, taken apart once so that resolving its references needs no parsing. All parts are slices of `href`. */
export interface BaseUrl {
  /** The whole URL as the WHATWG serialiser writes it, without a fragment. */
  readonly href: string;
  /** `https://user@host:8080` – everything before the path, userinfo included. */
  readonly authority: string;
  /** `https:` */
  readonly scheme: string;
  /** Lower-case host name without port and without one final dot; IPv6 in brackets. */
  readonly host: string;
  /** `href` up to and including the last `/` of its path. */
  readonly directory: string;
  /** `href` without its query. */
  readonly document: string;
  /** Index in `href` of the `/` that starts the path. */
  readonly pathStart: number;
}

const PLAIN = 1;
const SLASH = 2;
const QUESTION = 3;
const HASH = 4;

/** What the standard's path state does with each ASCII character: 0 means "leave it to the platform". */
const PATH_CLASS = new Uint8Array(128);
/** The same for the query state of http(s). */
const QUERY_CLASS = new Uint8Array(128);
/** Characters a host may have for the host parser to copy it: lower case, digits, `-`, `.`, `_`. */
const HOST_CLASS = new Uint8Array(128);

// URL Standard §1.3, the path and special-query percent-encode sets. `\` and `^` are left out of both: a `\` is a slash in one place and
// a character in another, and `^` joined the path set only in 2024, so the platform decides by its own age.
const PATH_PLAIN = "!$%&'()*+,-.0123456789:;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz|~";
for (let at = 0; at < PATH_PLAIN.length; at += 1) PATH_CLASS[PATH_PLAIN.charCodeAt(at)] = PLAIN;
PATH_CLASS[0x2f] = SLASH;
PATH_CLASS[0x3f] = QUESTION;
PATH_CLASS[0x23] = HASH;
const QUERY_PLAIN = `/?${PATH_PLAIN.replace("'", '')}\`{}`;
for (let at = 0; at < QUERY_PLAIN.length; at += 1) QUERY_CLASS[QUERY_PLAIN.charCodeAt(at)] = PLAIN;
QUERY_CLASS[0x23] = HASH;
const HOST_PLAIN = '-.0123456789_abcdefghijklmnopqrstuvwxyz';
for (let at = 0; at < HOST_PLAIN.length; at += 1) HOST_CLASS[HOST_PLAIN.charCodeAt(at)] = PLAIN;

/** True when the segment that starts at `at` may be a dot segment, in any spelling (`.`, `..`, `%2e`, `.%2E` …). */
function maybeDotSegment(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  if (first === 0x25) return text.charCodeAt(at + 1) === 0x32 && (text.charCodeAt(at + 2) | 0x20) === 0x65;
  if (first !== 0x2e) return false;
  const second = text.charCodeAt(at + 1);
  // `.well-known` is a name; `./`, `..`, `.%2e`, `.?`, `.#` and a final `.` are not.
  return !(second < 128 && PATH_CLASS[second] === PLAIN && second !== 0x2e && second !== 0x25);
}

/**
 * Proves that the parser would copy `text` from `from` on, a segment's start, unchanged.
 * @returns index of `#` or the length of the text; −1 when not proven
 */
function scanPath(text: string, from: number): number {
  if (maybeDotSegment(text, from)) return -1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? PATH_CLASS[code] : 0;
    if (kind === PLAIN) continue;
    if (kind === SLASH) {
      const next = text.charCodeAt(at + 1);
      if ((next === 0x2e || next === 0x25) && maybeDotSegment(text, at + 1)) return -1;
    } else if (kind === QUESTION) return scanQuery(text, at + 1);
    else return kind === HASH ? at : -1;
  }
  return text.length;
}

/** As `scanPath`, inside a query. */
function scanQuery(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? QUERY_CLASS[code] : 0;
    if (kind === PLAIN) continue;
    return kind === HASH ? at : -1;
  }
  return text.length;
}

/**
 * Proves that a host that starts at `from` and ends at a `/` or with the text is copied unchanged by the host parser.
 * @returns index behind the host; −1 when not proven (a port, userinfo, upper case, an IP address, an `xn--` label, a final dot)
 */
function scanHost(text: string, from: number): number {
  let at = from;
  let labelAt = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2f) break;
    if (code >= 128 || HOST_CLASS[code] !== PLAIN) return -1;
    if (code === 0x2e) labelAt = at + 1;
    // An ACE label has to be decoded to be judged (UTS #46 §4.2). Only a label's start matters, but `--` is rare enough to ask for.
    else if (code === 0x2d && text.charCodeAt(at - 1) === 0x2d) return -1;
  }
  if (at === labelAt) return -1;
  // "Ends in a number" makes it an IPv4 address (URL Standard §3.5): such a last label starts with a digit.
  const first = text.charCodeAt(labelAt);
  return first >= 0x30 && first <= 0x39 ? -1 : at;
}

/** Resolves what a page usually writes, without its fragment; undefined when the platform has to decide. */
function resolveFast(reference: string, base: BaseUrl | undefined): string | undefined {
  const first = reference.charCodeAt(0);
  if (first === 0x68) {
    const hostAt = reference.startsWith('http://') ? 7 : reference.startsWith('https://') ? 8 : 0;
    if (hostAt > 0) return resolveAbsolute(reference, hostAt);
  }
  if (base === undefined) return undefined;
  if (first === 0x2f) {
    const second = reference.charCodeAt(1);
    if (second === 0x2f) return resolveHostRelative(reference, base);
    if (second === 0x5c) return undefined;
    const end = scanPath(reference, 1);
    return end === -1 ? undefined : base.authority + cut(reference, 0, end);
  }
  if (first === 0x23 || reference.length === 0) {
    // Controls and spaces at the end of a fragment are trimmed with it; tabs inside it do not matter. A fragment is never kept here.
    return base.href;
  }
  if (first === 0x3f) {
    const end = scanQuery(reference, 1);
    return end === -1 ? undefined : base.document + cut(reference, 0, end);
  }
  return resolvePathRelative(reference, base);
}

function cut(text: string, from: number, end: number): string {
  return from === 0 && end === text.length ? text : text.slice(from, end);
}

function resolveAbsolute(reference: string, hostAt: number): string | undefined {
  const hostEnd = scanHost(reference, hostAt);
  if (hostEnd === -1) return undefined;
  if (hostEnd === reference.length) return `${reference}/`;
  const end = scanPath(reference, hostEnd + 1);
  return end === -1 ? undefined : cut(reference, 0, end);
}

function resolveHostRelative(reference: string, base: BaseUrl): string | undefined {
  const hostEnd = scanHost(reference, 2);
  if (hostEnd === -1) return undefined;
  if (hostEnd === reference.length) return `${base.scheme}${reference}/`;
  const end = scanPath(reference, hostEnd + 1);
  return end === -1 ? undefined : base.scheme + cut(reference, 0, end);
}

/** `page`, `./page`, `../page`: leading dot segments are taken off the base's directory, the rest is appended. */
function resolvePathRelative(reference: string, base: BaseUrl): string | undefined {
  let from = 0;
  let directoryEnd = base.directory.length;
  while (reference.charCodeAt(from) === 0x2e) {
    if (reference.charCodeAt(from + 1) === 0x2f) from += 2;
    else if (reference.charCodeAt(from + 1) === 0x2e && reference.charCodeAt(from + 2) === 0x2f) {
      from += 3;
      if (directoryEnd > base.pathStart + 1) {
        directoryEnd = base.directory.lastIndexOf('/', directoryEnd - 2) + 1;
      }
    } else break;
  }
  if (from === 0 && hasScheme(reference)) return undefined;
  const end = scanPath(reference, from);
  if (end === -1) return undefined;
  return cut(base.directory, 0, directoryEnd) + cut(reference, from, end);
}

/** True when a `:` comes before any `/`, `?` or `#`: such a reference may start with a scheme. */
function hasScheme(reference: string): boolean {
  const colon = reference.indexOf(':');
  if (colon === -1) return false;
  for (let at = 0; at < colon; at += 1) {
    const code = reference.charCodeAt(at);
    if (code === 0x2f || code === 0x3f || code === 0x23) return false;
  }
  return true;
}

/** The platform's parser; undefined for what is no URL. */
function parse(reference: string, base: string | undefined): string | undefined {
  try {
    return new URL(reference, base).href;
  } catch {
    return undefined;
  }
}

const AUTHORITY = /^([\0- ]*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,})([^/\\?#]*)/i;
const ACE_LABEL = /(^|[.])xn--/gi;
const HIDDEN_LABEL = /(^|[.])zz--/g;

/**
 * Replaces `xn--` at the start of the host's labels by a prefix without meaning, so that the platform does not judge them.
 * @returns undefined when the host is no plain ASCII; the text itself when it names no host
 */
function hideAceLabels(url: string): string | undefined {
  const match = AUTHORITY.exec(url);
  if (match === null) return url;
  const [head, , authority = ''] = match;
  const hostAt = head.length - authority.length + authority.lastIndexOf('@') + 1;
  const host = url.slice(hostAt, head.length);
  // Only an all-ASCII domain passes unjudged. A host that already has the substitute could not be told from a hidden one.
  if (!/^[!-$&-~]*$/.test(host) || /(^|[.])zz--/i.test(host)) return undefined;
  return url.slice(0, hostAt) + host.replace(ACE_LABEL, '$1zz--') + url.slice(head.length);
}

/** What Node 20 refuses and the standard accepts: an all-ASCII host with `xn--` labels that are no Punycode (whatwg/url #914). */
function parseUnjudged(reference: string, base: string | undefined): string | undefined {
  const hasAce = /xn--/i;
  if (!hasAce.test(reference) && (base === undefined || !hasAce.test(base))) return undefined;
  const clean = reference.replace(/[\t\n\r]/g, '');
  const hidden = hideAceLabels(clean);
  const hiddenBase = base === undefined ? undefined : hideAceLabels(base);
  if (hidden === undefined || (base !== undefined && hiddenBase === undefined)) return undefined;
  const href = parse(hidden, hiddenBase);
  if (href === undefined) return undefined;
  const pathAt = href.indexOf('/', href.indexOf('//') + 2);
  const hostAt = Math.max(href.lastIndexOf('@', pathAt) + 1, href.indexOf('//') + 2);
  const host = href.slice(hostAt, pathAt).replace(HIDDEN_LABEL, '$1xn--');
  return href.slice(0, hostAt) + host + href.slice(pathAt);
}

function resolveByPlatform(reference: string, base: string | undefined): string | undefined {
  return parse(reference, base) ?? parseUnjudged(reference, base);
}

/**
 * Resolves a reference as a browser does, fragment included.
 *
 * @param reference any string, as the page has it
 * @param base the page's base URL; undefined for a reference that must be absolute
 * @returns the WHATWG href, of any scheme; undefined when the standard calls it a failure. Never throws.
 */
export function resolveUrl(reference: string, base: BaseUrl | undefined): string | undefined {
  if (!reference.includes('#')) {
    const fast = resolveFast(reference, base);
    if (fast !== undefined) return fast;
  }
  return resolveByPlatform(reference, base?.href);
}

/**
 * Resolves a reference to what a crawler requests: as `resolveUrl`, the fragment dropped.
 *
 * @returns the WHATWG href without `#…`; undefined when the standard calls it a failure. Never throws.
 */
export function resolveDocument(reference: string, base: BaseUrl | undefined): string | undefined {
  const fast = resolveFast(reference, base);
  if (fast !== undefined) return fast;
  const href = resolveByPlatform(reference, base?.href);
  if (href === undefined) return undefined;
  const hash = href.indexOf('#');
  return hash === -1 ? href : href.slice(0, hash);
}

/**
 * Takes a base URL apart.
 *
 * @param url an absolute URL, in any spelling
 * @returns undefined when it is no URL, or of a scheme without `//host/path` (`data:`, `mailto:`): nothing can be relative to it
 */
export function parseBase(url: string): BaseUrl | undefined {
  const href = resolveDocument(url, undefined);
  if (href === undefined || !/^(?:https?|ftp):/.test(href)) return undefined;
  const schemeEnd = href.indexOf(':') + 1;
  const pathStart = href.indexOf('/', schemeEnd + 2);
  const query = href.indexOf('?', pathStart);
  const document = query === -1 ? href : href.slice(0, query);
  return {
    href,
    authority: href.slice(0, pathStart),
    scheme: href.slice(0, schemeEnd),
    host: hostOf(href, pathStart),
    directory: document.slice(0, document.lastIndexOf('/') + 1),
    document,
    pathStart,
  };
}

/**
 * The host name in a URL, as crawl state is keyed by it: without userinfo, port and one final dot (`a.com.` is the same machine as
 * `a.com`, so they share one politeness; RFC 1034 §3.1). IPv6 keeps its brackets.
 *
 * @param href a WHATWG href with `//`
 * @param pathStart index of the `/` that starts its path
 */
export function hostOf(href: string, pathStart: number): string {
  const from = href.indexOf('//') + 2;
  const at = href.lastIndexOf('@', pathStart);
  const start = at >= from ? at + 1 : from;
  let end = pathStart;
  const bracket = href.charCodeAt(start) === 0x5b ? href.indexOf(']', start) : start;
  const colon = href.indexOf(':', bracket);
  if (colon !== -1 && colon < pathStart) end = colon;
  if (end - start > 1 && href.charCodeAt(end - 1) === 0x2e) end -= 1;
  return href.slice(start, end);
}
