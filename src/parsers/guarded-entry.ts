// The entry of the guarded pool's threads (step 11, DESIGN.md §5): parses one stored page a run. It may loop, throw or exhaust memory; the
// pool has limits for that, and the thread holds nothing that anybody would miss.

import { parseMediaType } from '../domain/media-type.ts';
import type { PageInput, ParsedPage } from '../domain/page-links.ts';
import { pageParser } from './page-parser.ts';
import { chooseParser } from './parser.ts';
import { PARSERS } from './parser-list.ts';

/** What travels back: everything but the fingerprint in its inner form, which `simhash` says already. */
export type GuardedPage = Omit<ParsedPage, 'fingerprint'>;

/** Parses one page. @throws anything: the page then fails alone */
export async function run(page: PageInput): Promise<GuardedPage> {
  const { essence } = parseMediaType(page.contentType ?? '');
  const parser = chooseParser(PARSERS, essence, page) ?? pageParser;
  const { fingerprint: _, ...parsed } = await parser.parse(page);
  return parsed;
}
