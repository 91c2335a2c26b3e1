// A reference on a page made into an absolute URL (step 11), by the WHATWG rules and nothing more: canonicalising is step 1's work.

import { parseUrl } from '../base/parse-url.ts';

/**
 * Resolves a reference against a base.
 * @param reference as decoded from the page, blanks and all
 * @param base an absolute URL; when it is not one, only absolute references resolve
 * @returns the URL without its fragment, or undefined when it is no URL or not http or https. Never throws. Source: URL standard §4.4
 */
export function resolveReference(reference: string, base: string): string | undefined {
  const url = parse(reference, base);
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return undefined;
  const { href } = url;
  const fragment = href.indexOf('#');
  return fragment < 0 ? href : href.slice(0, fragment);
}

function parse(reference: string, base: string): URL | undefined {
  return (
    parseUrl(reference, base) ?? (parseUrl(base) === undefined ? parseUrl(reference) : undefined)
  );
}
