// The entry of the guarded pool's threads for `export links` (step 11): what guarded-entry.ts finds on a page, and the words of its links.

import type { PageInput } from '../domain/page-links.ts';
import { anchorTexts } from './anchor-texts.ts';
import { type GuardedPage, run as parsePage } from './guarded-entry.ts';

/** A parsed page with the text of its links. */
export interface AnchoredPage extends GuardedPage {
  /** By the URL of a link. */
  readonly anchors: ReadonlyMap<string, string>;
}

/** Parses one page. @throws anything: the page then fails alone */
export async function run(page: PageInput): Promise<AnchoredPage> {
  const parsed = await parsePage(page);
  return { ...parsed, anchors: anchorTexts(page, parsed) };
}
