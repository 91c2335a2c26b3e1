// Between steps 10 and 11: which of the two ways a stored page is parsed (DESIGN.md §5). The usual page is scanned inline on its shard;
// what may be slow or dangerous goes to the guarded pool: suspects, very large bodies, packed ones, types that need a rich parser.
// Pure. The bounds keep a shard's turn near 40 ms: a MiB of HTML with a link in every 78 bytes takes the scanner 20 ms, a MiB of sitemap with
// the shortest entries 90 ms (measured by the CPU's time of the test machines).

import { headerValue } from '../domain/header-list.ts';
import { isRedirectStatus } from '../domain/location.ts';
import { parseMediaType } from '../domain/media-type.ts';
import type { PageToParse } from './parse-stage.ts';

/** Decoded bytes up to which a page is parsed inline. */
export const INLINE_BYTES_MAX = 2 * 1024 * 1024;
/** The same for sitemaps, feeds and other XML, whose reader does more for a byte. */
export const INLINE_XML_BYTES_MAX = 512 * 1024;

/** Types that the byte scanner and the sitemap reader cannot read, but a parser of the pool can. */
const RICH_TYPES: ReadonlySet<string> = new Set(['application/pdf', 'application/x-pdf']);

/** XML that may be a sitemap or a feed; XHTML goes through the scanner. */
const XML_TYPE = /^(?:text|application)\/xml$|^application\/(?!xhtml).*\+xml$/;

/** Why a page is parsed behind guards. */
export type GuardReason = 'suspect' | 'large' | 'packed' | 'rich';

/**
 * @param crashes deaths of crawl threads that this page is held responsible for
 * @returns undefined for a page to be parsed inline
 */
export function guardReasonOf(page: PageToParse, crashes: number): GuardReason | undefined {
  if (crashes > 0) return 'suspect';
  // Of a redirect only its head is read.
  if (isRedirectStatus(page.status)) return undefined;
  // RFC 1952 §2.3.1: what begins so is gzip, whatever it is called.
  if (page.body[0] === 0x1f && page.body[1] === 0x8b) return 'packed';
  const { essence } = parseMediaType(headerValue(page.headers, 'content-type') ?? '');
  if (RICH_TYPES.has(essence)) return 'rich';
  const isXml = page.purpose === 'sitemap' || XML_TYPE.test(essence);
  return page.body.byteLength > (isXml ? INLINE_XML_BYTES_MAX : INLINE_BYTES_MAX)
    ? 'large'
    : undefined;
}
