// Reads the change feed of a crawl, running or stopped, portion by portion, with what the stored bytes of its pages say.

import { type FeedPlace, readPlace } from '../actors/change-event.ts';
import { CrawlError } from '../base/errors.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import type { FeedPortion } from '../feed/consume-feed.ts';
import { bringsText, type FeedDocument, feedDocument } from '../feed/feed-document.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** Reads from a place on. @throws CrawlError usage when the place is not of this feed, or its events are gone */
export function readPortion(store: ReadStore, from: FeedPlace, max: number): FeedPortion {
  store.rows.refresh();
  const documents: FeedDocument[] = [];
  let last = from;
  for (const { event, next } of store.feed(from)) {
    const { pointer } = event.row;
    const stored = pointer !== undefined && bringsText(event) ? store.body(pointer) : undefined;
    documents.push(feedDocument(event, next, stored, PRODUCT_TOKEN));
    last = next;
    if (documents.length >= max) break;
  }
  return { documents, next: last };
}

/** The place that a text names. @throws CrawlError usage when it names none */
export function placeOf(text: string): FeedPlace {
  const place = readPlace(text);
  if (place !== undefined) return place;
  throw new CrawlError('usage', `${JSON.stringify(text)} is no cursor`, {
    remedy: 'Each line of the feed has one; start and now are others.',
  });
}
