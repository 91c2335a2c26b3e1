// The base URL of a page, taken apart once so that resolving its hundred references needs no parsing (step 1, DESIGN.md §1), and the host
// of a URL. Marks say which characters a URL has that its canonical form may change, so that a URL without any is known to be canonical
// without a second look. Invariant: every part is a slice of one WHATWG href without fragment.

import { parseByPlatform } from './platform-url.ts';

/** The URL has a `%`. */
export const MARK_ESCAPE = 1;
/** The URL has a query, perhaps an empty one. */
export const MARK_QUERY = 2;
/** The URL has a `;` or a `(`, as some session identifiers have. */
export const MARK_SESSION = 4;
/** Nothing is known about the URL. */
export const MARK_ANY = 7;

/** A page's base URL, taken apart once so that resolving its references needs no parsing. All parts are slices of `href`. */
export interface BaseUrl {
  /** The whole URL as the WHATWG serialiser writes it, without a fragment. */
  readonly href: string;
  /** `https://user@host:8080` – everything before the path, userinfo included. */
  readonly authority: string;
  /** `https:` */
  readonly scheme: string;
  /** The scheme is http or https: a base of `ftp:` resolves references, but to nothing that is crawled. */
  readonly isHttp: boolean;
  /** Lower-case host name without port and without one final dot; IPv6 in brackets. */
  readonly host: string;
  /** `href` up to and including the last `/` of its path. */
  readonly directory: string;
  /** `href` without its query. */
  readonly document: string;
  /** Index in `href` of the `/` that starts the path. */
  readonly pathStart: number;
  /** Sum of the `MARK_*` that hold for `href`, and for `authority`, whose userinfo may have escapes. */
  readonly marks: number;
  readonly authorityMarks: number;
}

/**
 * Takes a base URL apart.
 *
 * @param url an absolute URL, in any spelling
 * @returns undefined when it is no URL, or of a scheme without `//host/path` (`data:`, `mailto:`): nothing can be relative to it
 */
export function parseBase(url: string): BaseUrl | undefined {
  const whole = parseByPlatform(url, undefined);
  if (whole === undefined || !/^(?:https?|ftp):/.test(whole)) return undefined;
  const hash = whole.indexOf('#');
  const href = hash === -1 ? whole : whole.slice(0, hash);
  const schemeEnd = href.indexOf(':') + 1;
  const pathStart = href.indexOf('/', schemeEnd + 2);
  const query = href.indexOf('?', pathStart);
  const document = query === -1 ? href : href.slice(0, query);
  return {
    href,
    authority: href.slice(0, pathStart),
    scheme: href.slice(0, schemeEnd),
    isHttp: href.startsWith('http'),
    host: hostOf(href, pathStart),
    directory: document.slice(0, document.lastIndexOf('/') + 1),
    document,
    pathStart,
    marks: marksOf(href),
    authorityMarks: marksOf(href.slice(0, pathStart)),
  };
}

function marksOf(text: string): number {
  return (
    (text.includes('%') ? MARK_ESCAPE : 0) |
    (text.includes('?') ? MARK_QUERY : 0) |
    (text.includes(';') || text.includes('(') ? MARK_SESSION : 0)
  );
}

/**
 * The host name in a URL, as crawl state is keyed by it: without userinfo, port and one final dot (`a.com.` is the same machine as
 * `a.com`, so they share one politeness; RFC 1034 §3.1). IPv6 keeps its brackets.
 *
 * @param href a WHATWG href with `//`
 * @param pathStart index of the `/` that starts its path
 */
export function hostOf(href: string, pathStart: number): string {
  const from = href.indexOf('//') + 2;
  const at = href.lastIndexOf('@', pathStart);
  const start = at >= from ? at + 1 : from;
  let end = pathStart;
  const bracket = href.charCodeAt(start) === 0x5b ? href.indexOf(']', start) : start;
  const colon = href.indexOf(':', bracket);
  if (colon !== -1 && colon < pathStart) end = colon;
  if (end - start > 1 && href.charCodeAt(end - 1) === 0x2e) end -= 1;
  return href.slice(start, end);
}
