// Step 1 of a URL's life (DESIGN.md §1): the canonical URL, which is the identity of a page, beside the URL that is requested, which keeps
// the page's own spelling (WHATWG href, fragment dropped; field reports of doubly-encoded queries show why the two must differ).
// Policy: scheme and host lower-case, no default port, no fragment, no dot segments, unreserved escapes decoded and the others upper-case,
// IDN as Punycode, empty path `/`, trailing slash kept, query parameters sorted by name (stable) without empty and tracking ones.
// Userinfo stays, as the policy is silent and the WHATWG href has it; it is no part of the host. Invariants: canonicalising is idempotent,
// never throws, takes linear time, and hands back the very string it was given when nothing changes.

import { type BaseUrl, hostOf, MARK_ANY, MARK_QUERY, MARK_SESSION } from './base-url.ts';
import { canonicalQuery, createIdentityRules, type IdentityRules } from './canonical-query.ts';
import { resolveFast, resolveSlow, type ScanNotes } from './resolve-url.ts';
import { stripSessionSegments, stripSessionSuffix } from './session-identifiers.ts';
import { normalizeEscapes } from './url-escapes.ts';

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

/** The stated policy and nothing else. */
export const POLICY_RULES: IdentityRules = createIdentityRules({ stripSessions: false });
/** What a crawl uses by default: the policy, and sessions do not multiply pages. */
export const CRAWL_RULES: IdentityRules = createIdentityRules({ stripSessions: true });

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

/** What the scan of the reference at hand saw. One object serves all calls, which never interleave: this layer is synchronous. */
const notes: ScanNotes = { marks: 0, host: '' };

/** Resolves, or says why not. Leaves the marks and the host of the answer in `notes`. */
function request(
  reference: string,
  base: BaseUrl | undefined,
  rules: IdentityRules,
): string | Rejection {
  if (reference.length > rules.urlCharsMax) {
    return OTHER_SCHEME.test(reference) ? NOT_HTTP : TOO_LONG;
  }
  let href = resolveFast(reference, base, notes);
  if (href === undefined) {
    if (OTHER_SCHEME.test(reference)) return NOT_HTTP;
    href = resolveSlow(reference, base);
    if (href === undefined) return INVALID;
    if (!isHttp(href)) return NOT_HTTP;
    notes.marks = MARK_ANY;
    notes.host = hostOf(href, href.indexOf('/', 8));
  } else if (base !== undefined && !base.isHttp && !isHttp(href)) return NOT_HTTP;
  if (href.length > rules.urlCharsMax) return TOO_LONG;
  return notes.host.length > HOST_CHARS_MAX ? HOST_TOO_LONG : href;
}

/**
 * The canonical form of an absolute URL.
 *
 * @param url any string; surrounding spaces, backslashes, upper case … are read as a browser reads them
 * @param rules what decides identity; by default the stated policy
 * @returns the canonical URL and its parts, or the reason why there is none. Never throws.
 */
export function canonicalize(
  url: string,
  rules: IdentityRules = POLICY_RULES,
): CanonicalUrl | Rejection {
  const href = request(url, undefined, rules);
  if (typeof href !== 'string') return href;
  const isSecure = href.charCodeAt(4) === 0x73;
  const { host, marks } = notes;
  const canonical = marks === 0 ? href : canonicalOf(href, host, marks, rules);
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
 * @param base the page's base URL (base-url.ts, `parseBase`)
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
  const { host, marks } = notes;
  const canonical = marks === 0 ? href : canonicalOf(href, host, marks, rules);
  return { kind: 'url', request: href, canonical, host };
}

/**
 * The canonical form of a URL that the WHATWG serialiser wrote.
 *
 * @param href of http(s), without fragment
 * @param host its host, for per-host rules
 * @param marks what the URL may have that changes
 * @returns the same string object when nothing changes
 */
function canonicalOf(href: string, host: string, marks: number, rules: IdentityRules): string {
  const stripsPath = rules.stripSessions && (marks & MARK_SESSION) !== 0;
  const question = (marks & MARK_QUERY) === 0 ? -1 : href.indexOf('?');
  if (question === -1) {
    const url = normalizeEscapes(href);
    return stripsPath ? withoutPathSession(url) : url;
  }
  const query = canonicalQuery(href, question + 1, host, rules);
  const written = href.slice(0, question);
  const normal = normalizeEscapes(written);
  const before = stripsPath ? withoutPathSession(normal) : normal;
  if (query === undefined) return before === written ? href : before + href.slice(question);
  return query.length === 0 ? before : `${before}?${query}`;
}

/** Takes session identifiers out of the path of a URL without a query; the same string object when there are none. */
function withoutPathSession(url: string): string {
  const pathStart = url.indexOf('/', 8);
  const path = url.slice(pathStart);
  const stripped = stripSessionSegments(stripSessionSuffix(path));
  // `/a/..;jsessionid=…` is a name to the URL parser; without its suffix it would be a dot segment.
  if (stripped === path || stripped.endsWith('/.') || stripped.endsWith('/..')) return url;
  return url.slice(0, pathStart) + stripped;
}
