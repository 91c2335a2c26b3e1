// The parsers that plug in by content type (step 11, DESIGN.md §7), for the guarded pool and for replay. To add a content type, write a
// Parser (parser.ts), list it here, and let step 10 enter such pages in the unparsed log (actors/page-outcome.ts).

import { feedParser } from './feed-parser.ts';
import type { Parser } from './parser.ts';
import { pdfParser } from './pdf-parser.ts';

/** In order of preference. What none of them accepts is read as a page, a sitemap or a feed by its content. */
export const PARSERS: readonly Parser[] = [feedParser, pdfParser];
