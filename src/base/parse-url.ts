// The URL parser of the platform without its exception. `URL.canParse` is not used anywhere: in Node 20, once it is optimised, it takes a
// string with characters from U+0080 to U+00FF for broken UTF-8 and denies good URLs (a test in test/unit/base.test.ts keeps watch).

/**
 * Parses a URL by the WHATWG rules.
 * @param text any string
 * @param base what it is relative to; any string
 * @returns undefined when the standard calls it, or the base, a failure. Never throws; linear
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
