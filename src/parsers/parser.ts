// How content types plug in (step 11, DESIGN.md §7): a parser takes a stored page and answers what the crawl learns from it. Parsers
// run in the guarded pool, with limits on time and memory around them, and may therefore throw or be slow; the caller records it. The
// usual HTML page needs none of them: it is scanned inline on its crawl thread.
import type { PageInput, ParsedPage } from '../domain/page-links.ts';

export interface Parser {
  /** A stable name, for logs and metrics, kebab-case. */
  readonly name: string;
  /**
   * Whether this parser reads such a page.
   * @param essence `type/subtype`, lower case, without parameters; empty when the page has no Content-Type
   */
  accepts(essence: string, page: PageInput): boolean;
  /** Reads one page. @throws anything, or rejects: the page then fails alone */
  parse(page: PageInput): ParsedPage | Promise<ParsedPage>;
}

/**
 * The first parser that accepts the page; undefined when none does.
 * @param parsers in order of preference; an operator's own come first
 */
export function chooseParser(
  parsers: readonly Parser[],
  essence: string,
  page: PageInput,
): Parser | undefined {
  return parsers.find((parser) => parser.accepts(essence, page));
}
