// Step 1 of a URL's life (DESIGN.md §1): the canonical URL, which is the identity of a page, beside the URL that is requested, which keeps
// the page's own spelling (WHATWG href, fragment dropped; field reports of doubly-encoded queries show why the two must differ).
// Policy: scheme and host lower-case, no default port, no fragment, no dot segments, unreserved escapes decoded and the others upper-case,
// IDN as Punycode, empty path `/`, trailing slash kept, query parameters sorted by name (stable) without empty and tracking ones.
// Userinfo stays, as the policy is silent and the WHATWG href has it; it is no part of the host. Invariants: canonicalising is idempotent,
// never throws, takes linear time, and hands back the very string it was given when nothing changes.

import { normalizeEscapes } from './url-escapes.ts';
import { type BaseUrl, hostOf, resolveDocument } from './resolve-url.ts';
import { isSessionParameter, stripSessionSegments, stripSessionSuffix } from './session-identifiers.ts';
import { TrackingParameters } from './tracking-parameters.ts';

/** Why a reference is no URL of this crawl. */
export type RejectionReason =
  /** Another scheme: `mailto:`, `javascript:`, `ftp:` … */
  | 'not-http'
  /** The URL Standard calls it a failure. */
  | 'invalid'
  /** Longer than `urlCharsMax`, as written or as resolved. */
  | 'too-long'
  /** A host name of more than 253 characters, which no DNS name has (RFC 1035 §2.3.4). */
  | 'host-too-long';

export interface Rejection {
  readonly kind: 'rejected';
  readonly reason: RejectionReason;
}

/** A canonical URL and its parts. */
export interface CanonicalUrl {
  readonly kind: 'canonical';
  /** The identity; ASCII only, at most `urlCharsMax` characters. */
  readonly canonical: string;
  /** Lower-case host without port and without one final dot; IPv6 in brackets. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  /** The port that is connected to: as written, else 80 or 443. */
  readonly port: number;
  /** `scheme://host[:port]` with the default port left out and the host as in the URL (RFC 6454 §6.2). */
  readonly origin: string;
  /** Index in `canonical` of the `/` that starts the path. */
  readonly pathStart: number;
}

/** A link found in a page, ready to be hashed and routed. */
export interface DiscoveredUrl {
  readonly kind: 'url';
  /** What is requested: the page's spelling, resolved. */
  readonly request: string;
  /** What is hashed and compared; the same string object as `request` when equal. */
  readonly canonical: string;
  readonly host: string;
}

/** What decides identity, fixed for a crawl: two crawls of other rules have other seen sets. */
export interface IdentityRules {
  readonly tracking: TrackingParameters;
  /** Strip session identifiers too (session-identifiers.ts): a trap defence, no part of the canonical policy. */
  readonly stripSessions: boolean;
  /** Longest URL, in characters. RFC 9110 §4.1 asks for at least 8,000 octets. */
  readonly urlCharsMax: number;
}

const TRACKING = new TrackingParameters();
/** The stated policy and nothing else. */
export const POLICY_RULES: IdentityRules = {
  tracking: TRACKING,
  stripSessions: false,
  urlCharsMax: 8192,
};
/** What a crawl uses by default: the policy, and sessions do not multiply pages. */
export const CRAWL_RULES: IdentityRules = { ...POLICY_RULES, stripSessions: true };

const HOST_CHARS_MAX = 253;
const NOT_HTTP: Rejection = { kind: 'rejected', reason: 'not-http' };
const INVALID: Rejection = { kind: 'rejected', reason: 'invalid' };
const TOO_LONG: Rejection = { kind: 'rejected', reason: 'too-long' };
const HOST_TOO_LONG: Rejection = { kind: 'rejected', reason: 'host-too-long' };

/** A scheme that is certainly not http(s), told without parsing. Tabs and newlines inside a scheme are left to the parser. */
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]{0,30}:/i;

function isHttp(href: string): boolean {
  return href.startsWith('http://') || href.startsWith('https://');
}

/** Resolves, or says why not. */
function request(reference: string, base: BaseUrl | undefined, rules: IdentityRules) {
  if (reference.length > rules.urlCharsMax) {
    return OTHER_SCHEME.test(reference) ? NOT_HTTP : TOO_LONG;
  }
  const href = resolveDocument(reference, base);
  if (href === undefined) return OTHER_SCHEME.test(reference) ? NOT_HTTP : INVALID;
  if (!isHttp(href)) return NOT_HTTP;
  return href.length > rules.urlCharsMax ? TOO_LONG : href;
}

/**
 * The canonical form of an absolute URL.
 *
 * @param url any string; surrounding spaces, backslashes, upper case … are read as a browser reads them
 * @param rules what decides identity; by default the stated policy
 * @returns the canonical URL and its parts, or the reason why there is none. Never throws.
 */
export function canonicalize(url: string, rules: IdentityRules = POLICY_RULES): CanonicalUrl | Rejection {
  const href = request(url, undefined, rules);
  if (typeof href !== 'string') return href;
  const isSecure = href.charCodeAt(4) === 0x73;
  const hrefPathStart = href.indexOf('/', isSecure ? 8 : 7);
  const host = hostOf(href, hrefPathStart);
  if (host.length > HOST_CHARS_MAX) return HOST_TOO_LONG;
  const canonical = canonicalOf(href, host, rules);
  const pathStart = canonical.indexOf('/', isSecure ? 8 : 7);
  const at = canonical.lastIndexOf('@', pathStart);
  const authorityAt = at === -1 ? (isSecure ? 8 : 7) : at + 1;
  const portAt = canonical.lastIndexOf(':', pathStart);
  const hasPort = portAt > authorityAt && canonical.charCodeAt(pathStart - 1) !== 0x5d;
  const scheme = isSecure ? 'https' : 'http';
  return {
    kind: 'canonical',
    canonical,
    host,
    scheme,
    port: hasPort ? Number(canonical.slice(portAt + 1, pathStart)) : isSecure ? 443 : 80,
    origin: `${scheme}://${canonical.slice(authorityAt, pathStart)}`,
    pathStart,
  };
}

/**
 * From a reference in a page to what is requested and what identifies it: the path that every discovered link takes.
 *
 * @param reference any string, as the page has it
 * @param base the page's base URL (resolve-url.ts, `parseBase`)
 * @param rules what decides identity; by default the policy with session identifiers stripped
 * @returns the URL or the reason why there is none. Never throws.
 */
export function discoverUrl(
  reference: string,
  base: BaseUrl,
  rules: IdentityRules = CRAWL_RULES,
): DiscoveredUrl | Rejection {
  const href = request(reference, base, rules);
  if (typeof href !== 'string') return href;
  // Most links of a page stay on its origin: the authority is compared, not parsed, and its host is the same string object.
  let host = base.host;
  if (!href.startsWith(base.authority) || href.charCodeAt(base.pathStart) !== 0x2f) {
    host = hostOf(href, href.indexOf('/', 8));
    if (host.length > HOST_CHARS_MAX) return HOST_TOO_LONG;
  }
  return { kind: 'url', request: href, canonical: canonicalOf(href, host, rules), host };
}

/**
 * The canonical form of a URL that the WHATWG serialiser wrote.
 *
 * @param href of http(s), without fragment
 * @param host its host, for per-host rules
 * @returns the same string object when nothing changes
 */
function canonicalOf(href: string, host: string, rules: IdentityRules): string {
  const question = href.indexOf('?');
  const mayHaveSession = rules.stripSessions && (href.includes(';') || href.includes('/('));
  if (question === -1) {
    if (!mayHaveSession) return normalizeEscapes(href);
    return canonicalPath(normalizeEscapes(href));
  }
  let before = normalizeEscapes(href.slice(0, question));
  if (mayHaveSession) before = canonicalPath(before);
  const query = href.slice(question + 1);
  const kept = canonicalQuery(query, host, rules);
  if (kept.length === 0) return before;
  if (kept === query && before.length === question && href.startsWith(before)) return href;
  return `${before}?${kept}`;
}

/** Takes session identifiers out of the path of a URL without a query. */
function canonicalPath(url: string): string {
  const pathStart = url.indexOf('/', 8);
  const path = url.slice(pathStart);
  const stripped = stripSessionSegments(stripSessionSuffix(path));
  // `/a/..;jsessionid=…` is a name to the URL parser; without its suffix it would be a dot segment.
  if (stripped === path || stripped.endsWith('/.') || stripped.endsWith('/..')) return url;
  return url.slice(0, pathStart) + stripped;
}

/** Sorts and filters a query; the same string object when nothing changes. */
function canonicalQuery(text: string, host: string, rules: IdentityRules): string {
  const query = normalizeEscapes(text);
  if (query.length === 0) return query;
  if (!query.includes('&')) return canonicalParameter(query, host, rules);
  const kept: string[] = [];
  let sorted = true;
  let previous = '';
  for (const written of query.split('&')) {
    const parameter = canonicalParameter(written, host, rules);
    if (parameter.length === 0) continue;
    const name = nameOf(parameter);
    if (name < previous) sorted = false;
    previous = name;
    kept.push(parameter);
  }
  // Compared by name in code units after escapes are normalised; Array.prototype.sort is stable (ECMA-262 §23.1.3.30).
  if (!sorted) kept.sort(byName);
  const result = kept.join('&');
  return result === text ? text : result;
}

/** A parameter as it stays in the canonical URL; empty when it is dropped. */
function canonicalParameter(parameter: string, host: string, rules: IdentityRules): string {
  if (parameter.length === 0) return parameter;
  const kept = rules.stripSessions ? stripSessionSuffix(parameter) : parameter;
  const name = nameOf(kept);
  if (rules.tracking.isTracking(name, host)) return '';
  if (!rules.stripSessions) return kept;
  return isSessionParameter(name, kept.slice(name.length + 1)) ? '' : kept;
}

function nameOf(parameter: string): string {
  const equals = parameter.indexOf('=');
  return equals === -1 ? parameter : parameter.slice(0, equals);
}

function byName(left: string, right: string): number {
  const leftName = nameOf(left);
  const rightName = nameOf(right);
  return leftName < rightName ? -1 : leftName > rightName ? 1 : 0;
}
