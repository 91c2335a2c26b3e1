// Reads the change feed of a crawl, running or stopped, portion by portion, with what the stored bytes of its pages say.

import { type FeedPlace, readPlace } from '../actors/change-event.ts';
import { CrawlError } from '../base/errors.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import type { FeedPortion } from '../feed/consume-feed.ts';
import { bringsText, type FeedDocument, feedDocument } from '../feed/feed-document.ts';
import type { PlacedEvent } from '../storage/feed-log.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** Reads from a place on. @throws CrawlError usage when the place is not of this feed, or its events are gone */
export async function readPortion(
  store: ReadStore,
  from: FeedPlace,
  max: number,
): Promise<FeedPortion> {
  store.rows.refresh();
  const events: PlacedEvent[] = [];
  for (const event of store.feed(from)) {
    events.push(event);
    if (events.length >= max) break;
  }
  const documents: FeedDocument[] = [];
  // One by one: a body may be large, and may have to come from far.
  for (const { event, next } of events) {
    const { pointer } = event.row;
    const wanted = bringsText(event) ? pointer : undefined;
    const stored = wanted === undefined ? undefined : await store.body(wanted);
    documents.push(feedDocument(event, next, stored, PRODUCT_TOKEN));
  }
  return { documents, next: events.at(-1)?.next ?? from };
}

/** The place that a text names. @throws CrawlError usage when it names none */
export function placeOf(text: string): FeedPlace {
  const place = readPlace(text);
  if (place !== undefined) return place;
  throw new CrawlError('usage', `${JSON.stringify(text)} is no cursor`, {
    remedy: 'Each line of the feed has one; start and now are others.',
  });
}
