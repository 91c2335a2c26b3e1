// What happened to a page, as the change feed tells it (DESIGN.md §1, §7): new, changed, unchanged, gone, or the copy of another page. The
// feed holds what only the crawl knows (the order, what a visit found, where the bytes lie); what the bytes themselves say, such as the
// title, is read from them by whoever follows the feed, so that the crawl threads do nothing for it.

import type { PageRow } from './rows.ts';

/** Kinds in the order of their numbers on disk, which begin at 1; kinds are only added. */
export const CHANGE_KINDS = ['new', 'changed', 'unchanged', 'gone', 'duplicate'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** One event. */
export interface ChangeEvent {
  readonly kind: ChangeKind;
  /** The page's row as that commit wrote it. A gone page's row tells of the answer that said so. */
  readonly row: PageRow;
}

/** A place in the feed: that of the next event to read. Places of later events are greater. */
export interface FeedPlace {
  readonly segment: number;
  /** Where the block begins in its segment; bytes. */
  readonly offset: number;
  /** Events of the block that are passed over. */
  readonly index: number;
}

/** The oldest place of all. */
export const FEED_START: FeedPlace = { segment: 0, offset: 0, index: 0 };

/** A place as text: what consumers keep. */
export function placeText({ segment, offset, index }: FeedPlace): string {
  return `${segment}-${offset}-${index}`;
}

/** @returns undefined for a text that is no place */
export function readPlace(text: string): FeedPlace | undefined {
  const match = /^(\d{1,12})-(\d{1,12})-(\d{1,9})$/.exec(text.trim());
  if (match === null) return undefined;
  return { segment: Number(match[1]), offset: Number(match[2]), index: Number(match[3]) };
}
