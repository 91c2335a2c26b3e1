// What becomes of each request that a page makes in the browser (docs/RENDERING.md). Scripts and data are fetched through the crawl, by GET
// alone: a crawler does nothing that changes anything (RFC 9110 §9.2.1). Style sheets are answered by empty ones, since bundlers wait for
// them; the document is the stored one; where a script navigates to is noted as a link. All else (images, fonts, media, frames, beacons) is
// refused. What comes back is shown to the page's scripts as a browser would: what another site gives only if that site says so (Fetch
// Standard §3.2, CORS), or a page of the open web could read, and pass on, what the crawl may reach and others may not. Pure.

import { parseUrl } from '../base/parse-url.ts';
import { headerValue } from '../domain/header-list.ts';
import { registrableDomainOf } from '../domain/registrable-domain.ts';

/** A request as the policy sees it. */
export interface AskedRequest {
  readonly url: string;
  readonly method: string;
  /** Chromium's word for it. */
  readonly type: string;
  readonly isNavigation: boolean;
  readonly isMainFrame: boolean;
  /** The page's own document has been served already. */
  readonly hasDocument: boolean;
}

export type RequestVerdict = 'document' | 'moved' | 'fetch' | 'empty-style' | 'refuse';

const FETCHED: ReadonlySet<string> = new Set(['script', 'xhr', 'fetch']);
const URL_CHARS_MAX = 8_192;

export function verdictOf(request: AskedRequest): RequestVerdict {
  const { url, method, type, isNavigation, isMainFrame } = request;
  if (method !== 'GET' || url.length > URL_CHARS_MAX || !/^https?:/i.test(url)) return 'refuse';
  if (isNavigation) {
    if (!isMainFrame) return 'refuse';
    return request.hasDocument ? 'moved' : 'document';
  }
  if (type === 'stylesheet') return 'empty-style';
  return FETCHED.has(type) ? 'fetch' : 'refuse';
}

/** A URL without its fragment. */
export function documentUrl(url: string): string {
  const hash = url.indexOf('#');
  return hash === -1 ? url : url.slice(0, hash);
}

/** What came back for a page. */
export interface AnsweredRequest {
  readonly pageUrl: string;
  /** Where the answer is from, after redirects. */
  readonly url: string;
  readonly type: string;
  /** Flat list. */
  readonly headers: readonly string[];
}

/**
 * True when the page's scripts may read an answer. Scripts are run wherever they are from, and that shows no more of them. Hosts of one
 * registrable domain trust each other here: the crawl sends no Origin field, without which many do not say that they do.
 */
export function isShown({ pageUrl, url, type, headers }: AnsweredRequest): boolean {
  if (type === 'script') return true;
  const page = parseUrl(pageUrl);
  const from = parseUrl(url);
  if (page === undefined || from === undefined) return false;
  if (registrableDomainOf(page.hostname) === registrableDomainOf(from.hostname)) return true;
  const allowed = headerValue(headers, 'access-control-allow-origin')?.trim();
  return allowed === '*' || allowed === page.origin;
}
