// What becomes of each request that a page makes in the browser (docs/RENDERING.md). Scripts and data are fetched through the crawl, by GET
// alone: a crawler does nothing that changes anything (RFC 9110 §9.2.1). Style sheets are answered by empty ones, since bundlers wait for
// them; the document is the stored one; where a script navigates to is noted as a link. All else (images, fonts, media, frames, beacons) is
// refused. Pure.

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
