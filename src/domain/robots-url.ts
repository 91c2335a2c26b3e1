// Where the robots rules of a URL come from: one /robots.txt for each origin (RFC 9309 §2.3), step 5 of a URL's life.
//
// Rules bind the origin whose file was asked for, whatever host a redirect led to (§2.3.1.2), so the redirect target is
// only read, never entered in the owner's tables under its own name. Invariants: nothing here throws; only http and
// https come out; a host name with a trailing dot is the same host, since the canonical URL drops that dot too.

import { parseUrl } from '../base/parse-url.ts';

/** Redirects to follow before the file counts as unavailable (RFC 9309 §2.3.1.2: at least five). */
export const ROBOTS_REDIRECTS_MAX = 5;

/** What to do about a redirect answer to a robots request. */
export type RobotsRedirect =
  | { readonly kind: 'follow'; readonly url: string }
  | { readonly kind: 'redirect-limit' }
  | { readonly kind: 'redirect-invalid' };

/**
 * The robots.txt that governs a URL: same scheme, host and port; no user, default port or trailing dot.
 * @returns undefined when the URL is not an absolute http(s) URL
 */
export function robotsUrlOf(url: string): string | undefined {
  const parsed = httpUrl(url, undefined);
  if (parsed === undefined) return undefined;
  const hostname = parsed.hostname.endsWith('.') ? parsed.hostname.slice(0, -1) : parsed.hostname;
  const port = parsed.port === '' ? '' : `:${parsed.port}`;
  return `${parsed.protocol}//${hostname}${port}/robots.txt`;
}

/** True when the file at `robotsUrl` has a say over `url`: both are of one origin. */
export function governs(robotsUrl: string, url: string): boolean {
  const own = robotsUrlOf(url);
  return own !== undefined && own === robotsUrlOf(robotsUrl);
}

/**
 * The target of a robots redirect.
 * @param from URL that answered
 * @param location value of the Location header, absolute or relative
 * @returns absolute http(s) URL without user and fragment, or undefined when there is none
 */
export function robotsRedirectTarget(from: string, location: string): string | undefined {
  const target = httpUrl(location.trim(), from);
  if (target === undefined || location.trim() === '') return undefined;
  target.hash = '';
  target.username = '';
  target.password = '';
  return target.href;
}

/**
 * Decides about one redirect answer (status 301, 302, 303, 307 or 308).
 * @param options.from URL that answered
 * @param options.location its Location header, undefined when absent
 * @param options.followed redirects followed so far, ≥ 0; the sixth ends the chain, so a loop ends as well
 */
export function followRobotsRedirect(options: {
  readonly from: string;
  readonly location: string | undefined;
  readonly followed: number;
}): RobotsRedirect {
  if (options.followed >= ROBOTS_REDIRECTS_MAX) return { kind: 'redirect-limit' };
  const url = robotsRedirectTarget(options.from, options.location ?? '');
  return url === undefined ? { kind: 'redirect-invalid' } : { kind: 'follow', url };
}

/** True for the statuses that carry a Location to follow (RFC 9110 §15.4). */
export function isRobotsRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

function httpUrl(url: string, base: string | undefined): URL | undefined {
  const parsed = parseUrl(url, base);
  return parsed?.protocol === 'http:' || parsed?.protocol === 'https:' ? parsed : undefined;
}
