// Where a redirect leads (RFC 9110 §10.2.2, §15.4): read after step 9 of a URL's life; the target goes to step 1 of its own, to the
// owner of its host, where scope, robots and addresses are judged anew (I3, I13). The field arrives as Latin-1 text of raw bytes; sites
// write UTF-8 there unescaped, host names included. Bytes that are no UTF-8 are escaped one by one, as browsers do
// (web platform tests, fetch/api/redirect/redirect-location-escape).

import { parseUrl } from '../base/parse-url.ts';
import { headerValues } from './header-list.ts';

/** What an answer's Location comes to. */
export type RedirectTarget =
  /** The answer is no redirect, or names no place. */
  | { readonly kind: 'none' }
  /** `url`: absolute http(s) URL without fragment and credentials. */
  | { readonly kind: 'target'; readonly url: string }
  /** A place that must not be asked: no URL, or not http(s), or several that differ. */
  | { readonly kind: 'refused'; readonly reason: 'invalid' | 'scheme' | 'ambiguous' };

const NONE: RedirectTarget = { kind: 'none' };
const NON_ASCII = /[\x80-\xff]/;
const NON_ASCII_EACH = /[\x80-\xff]/g;

/** True for the statuses that lead elsewhere: 300, 304, 305 and 306 do not (RFC 9110 §15.4). */
export function isRedirectStatus(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/**
 * Where an answer redirects to.
 * @param status the answer's HTTP status
 * @param headers flat list of the answer's fields, Latin-1 text
 * @param baseUrl absolute URL that was asked
 * @returns never throws; linear in the length of the field
 */
export function redirectTarget(
  status: number,
  headers: readonly string[],
  baseUrl: string,
): RedirectTarget {
  if (!isRedirectStatus(status)) return NONE;
  const values = headerValues(headers, 'location').map((value) => value.trim());
  const first = values[0];
  // An empty Location would lead to the same URL again, for ever.
  if (first === undefined || first === '') return NONE;
  if (values.some((value) => value !== first)) return { kind: 'refused', reason: 'ambiguous' };
  return judgeLocation(first, baseUrl);
}

/**
 * Resolves one Location value by the WHATWG URL rules.
 * @param location Latin-1 text as received
 * @param baseUrl absolute URL that was asked
 * @returns absolute http(s) URL without fragment and credentials; undefined when it leads to no such place or is empty; never throws
 */
export function resolveLocation(location: string, baseUrl: string): string | undefined {
  const text = location.trim();
  const target = text === '' ? NONE : judgeLocation(text, baseUrl);
  return target.kind === 'target' ? target.url : undefined;
}

function judgeLocation(location: string, baseUrl: string): RedirectTarget {
  const reference = decodeRawBytes(location);
  const url = parseUrl(reference, baseUrl);
  if (url === undefined) return { kind: 'refused', reason: 'invalid' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { kind: 'refused', reason: 'scheme' };
  }
  url.hash = '';
  // Credentials in a redirect are never ours to send, and make one page look like many.
  url.username = '';
  url.password = '';
  return { kind: 'target', url: url.href };
}

/** Latin-1 text of raw bytes → text: UTF-8 if it is valid, else each byte beyond ASCII percent-encoded as it is. */
function decodeRawBytes(latin1: string): string {
  if (!NON_ASCII.test(latin1)) return latin1;
  const bytes = Uint8Array.from(latin1, (character) => character.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return latin1.replace(
      NON_ASCII_EACH,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  }
}
