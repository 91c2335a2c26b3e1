// Percent escapes in one normal form: part of step 1 of a URL's life (DESIGN.md §1), used by the canonical URL. Escapes of unreserved
// characters are decoded and all others get upper-case digits (RFC 3986 §6.2.2.1 and §6.2.2.2). What makes this harder than it looks is
// the bare `%` that real pages are full of (`/100%`, `%%32e`): decoding next to one could build an escape that was not there, and then a
// second pass would give another answer. Invariant: idempotent, for every string. One pass, linear time, no regular expression.

/** Value of an ASCII hexadecimal digit, or −1. */
function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** RFC 3986 §2.3: ALPHA / DIGIT / "-" / "." / "_" / "~". */
function isUnreserved(code: number): boolean {
  const lower = code | 0x20;
  if (lower >= 0x61 && lower <= 0x7a) return code < 0x80;
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x5f ||
    code === 0x7e
  );
}

/** Index of the first `%` that starts no escape, or an escape that is not in its normal form; −1 when all are normal, as most are. */
function firstOddEscape(text: string): number {
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 3)) {
    const first = text.charCodeAt(at + 1);
    const second = text.charCodeAt(at + 2);
    const high = first < 0x61 ? hexValue(first) : -1;
    const low = second < 0x61 ? hexValue(second) : -1;
    if (high === -1 || low === -1 || isUnreserved(high * 16 + low)) return at;
  }
  return -1;
}

/**
 * Normalises the percent escapes of a path, a query or a userinfo.
 *
 * @param text any string; a `%` that starts no escape stays as it is
 * @returns the same string object when nothing changes, else a new one that is never longer. Idempotent; never throws.
 */
export function normalizeEscapes(text: string): string {
  if (firstOddEscape(text) === -1) return text;
  // A bare `%` may stand before the first escape that changes and be completed by it, so the walk starts at the first `%` of all.
  let at = text.indexOf('%');
  let out = '';
  let copied = 0;
  // How far the text written so far is into an escape left open: 0 none, 1 after a bare `%`, 2 after a bare `%` and one digit.
  let open = 0;
  // Index behind the last character that `open` describes; any literal run between breaks or advances it.
  let openAt = 0;
  while (at !== -1) {
    if (open === 1 && at === openAt + 1) open = hexValue(text.charCodeAt(openAt)) === -1 ? 0 : 2;
    else if (at !== openAt) open = 0;
    const high = hexValue(text.charCodeAt(at + 1));
    const low = high === -1 ? -1 : hexValue(text.charCodeAt(at + 2));
    if (low === -1) {
      open = 1;
      openAt = at + 1;
      at = text.indexOf('%', at + 1);
      continue;
    }
    const code = high * 16 + low;
    const joins = open > 0 && hexValue(code) !== -1;
    const replacement =
      isUnreserved(code) && !joins
        ? String.fromCharCode(code)
        : text.slice(at, at + 3).toUpperCase();
    out += text.slice(copied, at) + replacement;
    copied = at + 3;
    open = 0;
    openAt = copied;
    at = text.indexOf('%', copied);
  }
  if (copied === 0) return text;
  out += text.slice(copied);
  return out === text ? text : out;
}
