// Turns a reference found in a page into an absolute URL by the rules of the WHATWG URL Standard: the first half of step 1 (DESIGN.md §1).
// Nearly all references of real pages are plain ASCII that the standard's parser would copy unchanged, so one pass over their characters
// proves that and the answer is a concatenation; whatever is not proven goes to the platform's `URL` class, ten times slower.
// Invariants: the fast answer equals `new URL(reference, base).href` (property tests hold it to that); never throws; linear time.

import { type BaseUrl, MARK_ANY, MARK_ESCAPE, MARK_QUERY, MARK_SESSION } from './base-url.ts';
import { parseByPlatform } from './platform-url.ts';

/** What a scan found out about a reference besides its end; the caller owns the object and reads it after a fast answer. */
export interface ScanNotes {
  /** Which characters the answer has that the canonical form may change: a sum of `MARK_*`; too many never hurt, too few would. */
  marks: number;
  /** Host of the answer (`BaseUrl.host` says how it is written); only after a fast answer. */
  host: string;
}

// Classes of characters, above the three bits of the marks that a copied character may carry.
const STOP = 0;
const PLAIN = 8;
const SLASH = 16;
const QUESTION = 24;
const HASH = 32;
const CLASS_BITS = 0xf8;

/** What the standard's path state does with each ASCII character, and its marks: 0 means "leave it to the platform". */
const PATH_CLASS = new Uint8Array(128);
/** The same for the query state of http(s). */
const QUERY_CLASS = new Uint8Array(128);
/** Characters a host may have for the host parser to copy it: lower case, digits, `-`, `.`, `_`. */
const HOST_CLASS = new Uint8Array(128);

// URL Standard §1.3, the path and special-query percent-encode sets. `\` and `^` are left out of both: a `\` is a slash in one place and
// a character in another, and `^` joined the path set only in 2024, so the platform decides by its own age.
const PATH_PLAIN =
  "!$%&'()*+,-.0123456789:;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz|~";
for (let at = 0; at < PATH_PLAIN.length; at += 1) PATH_CLASS[PATH_PLAIN.charCodeAt(at)] = PLAIN;
PATH_CLASS[0x2f] = SLASH;
PATH_CLASS[0x3f] = QUESTION;
PATH_CLASS[0x23] = HASH;
PATH_CLASS[0x25] = PLAIN | MARK_ESCAPE;
PATH_CLASS[0x3b] = PLAIN | MARK_SESSION;
PATH_CLASS[0x28] = PLAIN | MARK_SESSION;
const QUERY_PLAIN = `/?${PATH_PLAIN.replace("'", '')}\`{}`;
for (let at = 0; at < QUERY_PLAIN.length; at += 1) QUERY_CLASS[QUERY_PLAIN.charCodeAt(at)] = PLAIN;
QUERY_CLASS[0x23] = HASH;
QUERY_CLASS[0x25] = PLAIN | MARK_ESCAPE;
QUERY_CLASS[0x3b] = PLAIN | MARK_SESSION;
const HOST_PLAIN = '-.0123456789_abcdefghijklmnopqrstuvwxyz';
for (let at = 0; at < HOST_PLAIN.length; at += 1) HOST_CLASS[HOST_PLAIN.charCodeAt(at)] = PLAIN;

/** True when the segment that starts at `at` may be a dot segment, in any spelling (`.`, `..`, `%2e`, `.%2E` …). */
function maybeDotSegment(text: string, at: number): boolean {
  const first = text.charCodeAt(at);
  if (first === 0x25)
    return text.charCodeAt(at + 1) === 0x32 && (text.charCodeAt(at + 2) | 0x20) === 0x65;
  if (first !== 0x2e) return false;
  const second = text.charCodeAt(at + 1);
  // `.well-known` is a name; `./`, `..`, `.%2e`, `.?`, `.#` and a final `.` are not.
  const isName = second < 128 && ((PATH_CLASS[second] as number) & CLASS_BITS) === PLAIN;
  return !isName || second === 0x2e || second === 0x25;
}

/**
 * Proves that the parser would copy `text` from `from` on, a segment's start, unchanged.
 * @returns index of `#` or the length of the text; −1 when not proven. Adds to `notes.marks`.
 */
function scanPath(text: string, from: number, notes: ScanNotes): number {
  if (maybeDotSegment(text, from)) return -1;
  let seen = 0;
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (PATH_CLASS[code] as number) : STOP;
    seen |= kind;
    if ((kind & CLASS_BITS) === PLAIN) continue;
    if (kind === SLASH) {
      const next = text.charCodeAt(at + 1);
      if ((next === 0x2e || next === 0x25) && maybeDotSegment(text, at + 1)) return -1;
      continue;
    }
    if (kind !== QUESTION && kind !== HASH) return -1;
    if (kind === QUESTION) at = scanQuery(text, at + 1, notes);
    break;
  }
  notes.marks |= seen & MARK_ANY;
  return at;
}

/** As `scanPath`, inside a query. */
function scanQuery(text: string, from: number, notes: ScanNotes): number {
  let seen = MARK_QUERY;
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (QUERY_CLASS[code] as number) : STOP;
    if ((kind & CLASS_BITS) !== PLAIN) {
      if (kind !== HASH) return -1;
      break;
    }
    seen |= kind;
  }
  notes.marks |= seen & MARK_ANY;
  return at;
}

/**
 * Proves that a host that starts at `from` and ends at a `/`, a `:` or with the text is copied unchanged by the host parser.
 * @returns index behind the host; −1 when not proven (userinfo, upper case, an IP address, an `xn--` label, a final dot)
 */
function scanHost(text: string, from: number): number {
  let at = from;
  let labelAt = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2f || code === 0x3a) break;
    if (code >= 128 || HOST_CLASS[code] === STOP) return -1;
    if (code === 0x2e) labelAt = at + 1;
    // An ACE label has to be decoded to be judged (UTS #46 §4.2). Only a label's start matters, but `--` is rare enough to ask for.
    else if (code === 0x2d && text.charCodeAt(at - 1) === 0x2d) return -1;
  }
  if (at === labelAt) return -1;
  // "Ends in a number" makes it an IPv4 address (URL Standard §3.5): such a last label starts with a digit.
  const first = text.charCodeAt(labelAt);
  return first >= 0x30 && first <= 0x39 ? -1 : at;
}

/**
 * Proves that the port that starts at `from` is copied unchanged: one to five digits, no leading zero, in range, no scheme's own.
 * @returns index behind the port, where a `/` or the end of the text is; −1 when not proven
 */
function scanPort(text: string, from: number): number {
  let port = 0;
  let at = from;
  for (; at < text.length && at - from <= 5; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) break;
    port = 10 * port + digit;
  }
  const isPlain = at > from && text.charCodeAt(from) !== 0x30 && port <= 65_535;
  if (!isPlain || port === 80 || port === 443) return -1;
  return at === text.length || text.charCodeAt(at) === 0x2f ? at : -1;
}

/**
 * Resolves what a page usually writes, without its fragment.
 *
 * @param reference any string
 * @param base the page's base URL; undefined for a reference that must be absolute
 * @param notes receives what the scan saw; meaningless after `undefined`
 * @returns undefined when the platform has to decide
 */
export function resolveFast(
  reference: string,
  base: BaseUrl | undefined,
  notes: ScanNotes,
): string | undefined {
  const first = reference.charCodeAt(0);
  notes.marks = 0;
  if (first === 0x68) {
    const hostAt = reference.startsWith('http://') ? 7 : reference.startsWith('https://') ? 8 : 0;
    if (hostAt > 0) return resolveAbsolute(reference, hostAt, base, notes);
  }
  if (base === undefined) return undefined;
  notes.host = base.host;
  if (first === 0x2f) {
    const second = reference.charCodeAt(1);
    if (second === 0x2f) {
      const absolute = resolveAbsolute(reference, 2, base, notes);
      return absolute === undefined ? undefined : base.scheme + absolute;
    }
    if (second === 0x5c) return undefined;
    // Userinfo may have escapes and is in `authority`.
    notes.marks = base.authorityMarks;
    const end = scanPath(reference, 1, notes);
    return end === -1 ? undefined : base.authority + cut(reference, 0, end);
  }
  // A fragment is never kept here, so what is in it does not matter.
  if (first === 0x23 || reference.length === 0) {
    notes.marks = base.marks;
    return base.href;
  }
  if (first === 0x3f) {
    notes.marks = base.marks;
    const end = scanQuery(reference, 1, notes);
    return end === -1 ? undefined : base.document + cut(reference, 0, end);
  }
  return resolvePathRelative(reference, base, notes);
}

function cut(text: string, from: number, end: number): string {
  return from === 0 && end === text.length ? text : text.slice(from, end);
}

/** `http://host…` and, from index 2 on, `//host…`. */
function resolveAbsolute(
  reference: string,
  hostAt: number,
  base: BaseUrl | undefined,
  notes: ScanNotes,
): string | undefined {
  const hostEnd = scanHost(reference, hostAt);
  if (hostEnd === -1) return undefined;
  const hasPort = reference.charCodeAt(hostEnd) === 0x3a;
  const pathAt = hasPort ? scanPort(reference, hostEnd + 1) : hostEnd;
  if (pathAt === -1) return undefined;
  const end = pathAt === reference.length ? pathAt : scanPath(reference, pathAt + 1, notes);
  if (end === -1) return undefined;
  // Most links stay on their host: comparing is cheaper than slicing, and all of them then share one string.
  const isSame =
    base !== undefined &&
    hostEnd - hostAt === base.host.length &&
    reference.startsWith(base.host, hostAt);
  notes.host = isSame ? base.host : reference.slice(hostAt, hostEnd);
  return pathAt === reference.length ? `${reference}/` : cut(reference, 0, end);
}

/** `page`, `./page`, `../page`: leading dot segments are taken off the base's directory, the rest is appended. */
function resolvePathRelative(
  reference: string,
  base: BaseUrl,
  notes: ScanNotes,
): string | undefined {
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
  // A query of the base is not in its directory, and the rest of its marks may be.
  notes.marks = base.marks & ~MARK_QUERY;
  const end = scanPath(reference, from, notes);
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

/** Notes that nobody reads. */
const UNREAD: ScanNotes = { marks: 0, host: '' };

/**
 * Resolves a reference as a browser does, fragment included.
 *
 * @param reference any string, as the page has it
 * @param base the page's base URL; undefined for a reference that must be absolute
 * @returns the WHATWG href, of any scheme; undefined when the standard calls it a failure. Never throws.
 */
export function resolveUrl(reference: string, base: BaseUrl | undefined): string | undefined {
  if (!reference.includes('#')) {
    const fast = resolveFast(reference, base, UNREAD);
    if (fast !== undefined) return fast;
  }
  return parseByPlatform(reference, base?.href);
}

/**
 * Resolves a reference to what a crawler requests: as `resolveUrl`, the fragment dropped.
 *
 * @returns the WHATWG href without `#…`; undefined when the standard calls it a failure. Never throws.
 */
export function resolveDocument(reference: string, base: BaseUrl | undefined): string | undefined {
  const fast = resolveFast(reference, base, UNREAD);
  if (fast !== undefined) return fast;
  return resolveSlow(reference, base);
}

/** As `resolveDocument`, by the platform's parser alone: for a reference that `resolveFast` left open. */
export function resolveSlow(reference: string, base: BaseUrl | undefined): string | undefined {
  const href = parseByPlatform(reference, base?.href);
  if (href === undefined) return undefined;
  const hash = href.indexOf('#');
  return hash === -1 ? href : href.slice(0, hash);
}
