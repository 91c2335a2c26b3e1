// `node cluster.js search WORDS`: full-text search in what was crawled, a moment ago included (DESIGN.md §9). Nothing is indexed while a crawl
// runs unless `feed --to search --follow` runs beside it: the crawl would pay for an index that nobody may ever ask. So the index is brought
// up to date here first, from the change feed, and then asked. While another process keeps it, that one's index is asked as it is.

import { setTimeout as sleep } from 'node:timers/promises';
import { FEED_START } from '../actors/change-event.ts';
import { CrawlError } from '../base/errors.ts';
import type { CrawlConfig } from '../config/options.ts';
import { consumeFeed } from '../feed/consume-feed.ts';
import { type FoundPage, isBusy, SearchIndex } from '../feed/search-index.ts';
import type { CommandInput } from './command.ts';
import { FeedCursor } from './feed-cursor.ts';
import { placeOf, readPortion } from './feed-source.ts';
import { searchFolder } from './open-sink.ts';
import { readingCrawl } from './read-crawl.ts';

const LIMIT = 10;
const LIMIT_MAX = 1_000;
/** Portions after which it is said that the index is being made. */
const TOLD_AFTER = 8;
/** How often and after how long an index that is being written is asked again. */
const BUSY_TRIES = 100;
const BUSY_MS = 50;

/** @returns 0, also when nothing was found */
export async function commandSearch({ words, options, config }: CommandInput): Promise<number> {
  const text = words.join(' ');
  const limit = limitOf(options.limit);
  const folder = searchFolder(config.dataDir);
  const cursor = takeIndex(config.dataDir);
  const found =
    cursor === undefined
      ? await askKept(folder, text, limit)
      : await askCurrent(config, cursor, (index) => index.search(text, limit));
  for (const page of found) {
    process.stdout.write(config.json ? `${JSON.stringify(page)}\n` : `${textOf(page)}\n`);
  }
  if (found.length === 0) process.stderr.write('hostler: nothing found\n');
  return 0;
}

/** The right to write the index; undefined while another process has it, which then keeps the index. */
function takeIndex(dataDir: string): FeedCursor | undefined {
  try {
    return new FeedCursor(dataDir, 'search');
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'data-locked') return undefined;
    throw error;
  }
}

/** Brings the index up to date and asks it. */
function askCurrent<Answer>(
  config: CrawlConfig,
  cursor: FeedCursor,
  ask: (index: SearchIndex) => Answer,
): Promise<Answer> {
  return readingCrawl(config, async ({ store }) => {
    const index = new SearchIndex(searchFolder(config.dataDir));
    let portions = 0;
    try {
      const kept = index.keptCursor();
      await consumeFeed({
        read: (place, max) => readPortion(store, place, max),
        sink: index,
        from: kept === undefined ? FEED_START : placeOf(kept),
        keep: (place) => {
          portions += 1;
          if (portions === TOLD_AFTER) process.stderr.write('hostler: indexing …\n');
          cursor.save(place);
        },
        limit: Number.POSITIVE_INFINITY,
        followMs: undefined,
        wait: () => Promise.resolve(),
        isEnding: () => false,
        retrying: () => undefined,
      });
      return ask(index);
    } finally {
      await index.close();
      cursor.close();
    }
  });
}

/** Asks the index that another process keeps; while that one writes, a little later. */
async function askKept(folder: string, text: string, limit: number): Promise<FoundPage[]> {
  for (let tries = 1; ; tries += 1) {
    const index = new SearchIndex(folder, 'read');
    try {
      return index.search(text, limit);
    } catch (error) {
      if (!isBusy(error) || tries >= BUSY_TRIES) throw error;
    } finally {
      await index.close();
    }
    await sleep(BUSY_MS);
  }
}

function textOf({ title, url, snippet }: FoundPage): string {
  return `${title === '' ? url : title}\n  ${url}\n  ${snippet}\n`;
}

function limitOf(limit: string | true | undefined): number {
  if (limit === undefined) return LIMIT;
  const count = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (count >= 1 && count <= LIMIT_MAX) return count;
  throw new CrawlError('usage', `--limit ${limit}: expected a number from 1 to ${LIMIT_MAX}`, {
    remedy: 'See node cluster.js search --help.',
  });
}
