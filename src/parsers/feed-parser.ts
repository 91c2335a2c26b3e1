// The parser of RSS and Atom feeds (step 11): their entries become links to follow, so that a site's news are found soon.
import { extractLinks, type PageInput } from '../domain/page-links.ts';
import type { Parser } from './parser.ts';

const FEED_TYPES = new Set([
  'application/rss+xml',
  'application/atom+xml',
  'application/rdf+xml',
  'application/feed+xml',
]);

/** Accepts the feeds' own types; a feed under a general XML type is recognised by pageParser, by its root. */
export const feedParser = {
  name: 'feed',
  accepts: (essence: string) => FEED_TYPES.has(essence),
  parse: (page: PageInput) => extractLinks(page),
} satisfies Parser;
