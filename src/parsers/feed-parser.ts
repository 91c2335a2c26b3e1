// The parser of RSS and Atom feeds (step 11): their entries become links to follow, so that a site's news are found soon.
import { extractLinks } from '../domain/page-links.ts';
import type { Parser } from './parser.ts';

const FEED_TYPES = new Set([
  'application/rss+xml',
  'application/atom+xml',
  'application/rdf+xml',
  'application/feed+xml',
]);

/** Accepts the feeds' own types; a feed under a general XML type is recognised by pageParser, by its root. */
export const feedParser: Parser = {
  name: 'feed',
  accepts: (essence) => FEED_TYPES.has(essence),
  parse: (page) => extractLinks(page),
};
