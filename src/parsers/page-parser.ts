// The parser of pages, sitemaps and feeds (step 11): unpacks what is packed inside the body, then reads it as the crawl thread would.
// It is what `node cluster.js parse` runs.
import { extractLinks, type PageInput, type ParsedPage } from '../domain/page-links.ts';
import type { Parser } from './parser.ts';
import { unpackSitemap } from './sitemap-bytes.ts';

/** Reads every type, if only for its headers. */
export const pageParser = {
  name: 'page',
  accepts: () => true,
  parse: parsePage,
} satisfies Parser;

/**
 * Parses a stored page; a gzip file is read as the sitemap it may be. Never throws.
 * @param page its body after Content-Encoding
 */
export function parsePage(page: PageInput): ParsedPage {
  if (page.body[0] !== 0x1f || page.body[1] !== 0x8b) return extractLinks(page);
  const unpacked = unpackSitemap(page.body);
  return extractLinks(unpacked.kind === 'ok' ? { ...page, body: unpacked.bytes } : page);
}
