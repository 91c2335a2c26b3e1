// Drives one consumer of the change feed: reads a portion, delivers it, keeps the cursor, and so on; after trouble at the other end the same
// portion again, at growing distances. The cursor moves only after the sink has acknowledged, so a consumer that is killed at any moment
// misses nothing and repeats one portion at most.

import type { FeedPlace } from '../actors/change-event.ts';
import { placeText } from '../actors/change-event.ts';
import type { FeedDocument } from './feed-document.ts';
import { type Sink, SinkBusy } from './sink.ts';

/** A first wait after trouble, and the longest; doubled in between. */
const RETRY_MS = 500;
const RETRY_MS_MAX = 60_000;

/** Documents in order, and the place after them. */
export interface FeedPortion {
  readonly documents: readonly FeedDocument[];
  readonly next: FeedPlace;
}

export interface ConsumeOptions {
  /** Reads up to `max` documents from a place on; none when there are no more now. */
  read(from: FeedPlace, max: number): Promise<FeedPortion>;
  readonly sink: Sink;
  readonly from: FeedPlace;
  /** Makes the place durable from which the next run of this consumer goes on. */
  keep(next: FeedPlace): void;
  /** Documents in all, at most. */
  readonly limit: number;
  /** Goes on when there is nothing more, looking again at this distance, milliseconds; undefined ends then. */
  readonly followMs: number | undefined;
  /** Waits; resolves early when the consumer is to end. */
  wait(ms: number): Promise<void>;
  isEnding(): boolean;
  /** Told of each wait after trouble. */
  retrying(error: SinkBusy, waitMs: number): void;
}

/** @returns documents delivered. @throws what the sink throws but SinkBusy */
export async function consumeFeed(options: ConsumeOptions): Promise<number> {
  const { sink, limit, followMs } = options;
  let from = options.from;
  let delivered = 0;
  while (!options.isEnding() && delivered < limit) {
    const max = Math.min(sink.portionMax, limit - delivered);
    const { documents, next } = await options.read(from, max);
    if (documents.length === 0) {
      if (followMs === undefined) break;
      await options.wait(followMs);
      continue;
    }
    if (!(await deliver(options, documents, next))) break;
    options.keep(next);
    from = next;
    delivered += documents.length;
  }
  return delivered;
}

/** @returns false when the consumer was told to end before the portion was taken */
async function deliver(
  options: ConsumeOptions,
  documents: readonly FeedDocument[],
  next: FeedPlace,
): Promise<boolean> {
  for (let tries = 0; !options.isEnding(); tries += 1) {
    try {
      await options.sink.deliver(documents, placeText(next));
      return true;
    } catch (error) {
      if (!(error instanceof SinkBusy)) throw error;
      const backoffMs = Math.min(RETRY_MS * 2 ** Math.min(tries, 16), RETRY_MS_MAX);
      const waitMs = Math.max(backoffMs, Math.min(error.waitMs, RETRY_MS_MAX));
      options.retrying(error, waitMs);
      await options.wait(waitMs);
    }
  }
  return false;
}
