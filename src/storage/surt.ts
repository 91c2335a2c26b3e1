// The sort key of a URL in CDXJ indexes (SURT: sort-friendly URI reordering transform): `http://www.a.test/x?b&a` → `test,a)/x?a&b`.
// Looked up by replay tools, which expect the common conventions: scheme and `www` prefix dropped, lower case, query sorted. It is a key of
// this index only; the identity of a URL in the crawl is its canonical form (step 1), which keeps case.

/**
 * The key of a URL, by the rules that warcio.js and pywb-style indexes share. Never throws.
 * @param url absolute; anything but http and https is its own key
 * @returns no blanks and no line ends
 */
export function surtKey(url: string): string {
  if (!/^https?:/i.test(url)) return url.replace(/\s/g, '%20');
  const lower = url.toLowerCase().replace(/^(https?:\/\/)www\d*\./, '$1');
  let parsed: URL;
  try {
    parsed = new URL(lower);
  } catch {
    return url.replace(/\s/g, '%20');
  }
  const host = parsed.hostname.split('.').reverse().join(',');
  const port = parsed.port === '' ? '' : `:${parsed.port}`;
  const query = parsed.search.slice(1).split('&').sort().join('&');
  return `${host}${port})${parsed.pathname}${query === '' ? '' : `?${query}`}`;
}
