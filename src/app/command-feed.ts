// `node cluster.js feed`: the change feed of a crawl, running or stopped, as NDJSON on standard output or into a sink (DESIGN.md §9). With --follow
// it goes on until it is told to end; with a consumer's name it goes on where that consumer stopped.

import { once } from 'node:events';
import { FEED_START, type FeedPlace } from '../actors/change-event.ts';
import { CrawlError } from '../base/errors.ts';
import { consumeFeed } from '../feed/consume-feed.ts';
import type { Sink } from '../feed/sink.ts';
import type { ReadStore } from '../storage/read-store.ts';
import type { CommandInput } from './command.ts';
import { FeedCursor } from './feed-cursor.ts';
import { placeOf, readPortion } from './feed-source.ts';
import { openSink } from './open-sink.ts';
import { readingCrawl } from './read-crawl.ts';

/** Time between two looks at a feed that has nothing new, milliseconds. */
const FOLLOW_MS = 200;
const LINES_MAX = 256;

/** @returns 0 at the end of the feed, at --limit, or when a signal ended it */
export async function commandFeed({ options, config }: CommandInput): Promise<number> {
  const { from, to, consumer } = options;
  const limit = limitOf(options.limit);
  const ending = listenToSignals();
  const told = (line: string): void => void process.stderr.write(`hostler: ${line}\n`);
  return readingCrawl(config, async ({ store }) => {
    const named =
      typeof to === 'string'
        ? openSink(to, config.dataDir, told)
        : { sink: new OutputSink(), consumer: undefined };
    const sink: Sink = named.sink;
    const name = typeof consumer === 'string' ? consumer : named.consumer;
    const cursor = name === undefined ? undefined : new FeedCursor(config.dataDir, name);
    try {
      await consumeFeed({
        read: (place, max) => readPortion(store, place, max),
        sink,
        from: startOf(store, from, sink.keptCursor?.(), cursor),
        keep: (place) => cursor?.save(place),
        limit,
        followMs: options.follow === true ? FOLLOW_MS : undefined,
        ...ending,
        retrying: ({ message }, waitMs) => told(`${message}; again in ${waitMs / 1_000} s`),
      });
    } finally {
      await sink.close();
      cursor?.close();
    }
    return 0;
  });
}

/** Where to begin: where the operator says, where the consumer stopped, at the beginning. */
function startOf(
  store: ReadStore,
  from: string | true | undefined,
  kept: string | undefined,
  cursor: FeedCursor | undefined,
): FeedPlace {
  if (from === 'start') return FEED_START;
  if (from === 'now') return store.feedEnd();
  if (typeof from === 'string') return placeOf(from);
  return kept === undefined ? (cursor?.load() ?? FEED_START) : placeOf(kept);
}

function limitOf(limit: string | true | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (typeof limit === 'string' && /^[1-9]\d{0,14}$/.test(limit)) return Number(limit);
  throw new CrawlError('usage', `--limit ${limit}: expected a number of events`, {
    remedy: 'See node cluster.js feed --help.',
  });
}

/** The first SIGINT or SIGTERM ends the feed after the portion in hand. */
function listenToSignals(): { isEnding(): boolean; wait(ms: number): Promise<void> } {
  let isEnding = false;
  const ended = new AbortController();
  const onSignal = (): void => {
    isEnding = true;
    ended.abort();
  };
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  return {
    isEnding: () => isEnding,
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(done, ms);
        function done(): void {
          clearTimeout(timer);
          ended.signal.removeEventListener('abort', done);
          resolve();
        }
        ended.signal.addEventListener('abort', done, { once: true });
      }),
  };
}

/** Standard output as a sink: a portion is delivered when the reader of the pipe has made room for it. */
class OutputSink implements Sink {
  readonly name = 'standard output';
  readonly portionMax = LINES_MAX;

  async deliver(documents: Parameters<Sink['deliver']>[0]): Promise<void> {
    const lines = documents.map(({ record }) => `${JSON.stringify(record)}\n`).join('');
    if (!process.stdout.write(lines)) await once(process.stdout, 'drain');
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
