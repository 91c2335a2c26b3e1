// The URL parser of the platform without its exception, and without its one cost that grows faster than its input: writing a host of
// non-ASCII characters as Punycode (RFC 3492) takes quadratic time, a quarter of a second for 64 KiB. `URL.canParse` is not used anywhere: in
// Node 20, once it is optimised, it takes a string with characters from U+0080 to U+00FF for broken UTF-8 and denies good URLs (a test in
// test/unit/base.test.ts keeps watch).

/** Characters of a URL at most, twice what RFC 9110 §4.1 asks everybody to support. */
export const URL_CHARS_MAX = 16_384;

/**
 * Parses a URL by the WHATWG rules.
 * @param text any string
 * @param base what it is relative to; any string
 * @returns undefined when the standard calls it, or the base, a failure, and when it is longer than URL_CHARS_MAX. Never throws; bounded
 *   time
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  if (text.length > URL_CHARS_MAX) return undefined;
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
