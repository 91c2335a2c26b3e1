// The start of a crawl on disk: the pages that crawl threads died of, then the store, then what the caller reads and writes there before the
// first shard runs. Suspects come first: a file that cannot be read must not leave a store open behind it.

import type { CrawlError } from '../base/errors.ts';
import type { StorageThread } from '../storage/storage-owner.ts';
import { suspectDeaths } from '../storage/suspects.ts';
import type { CrawlProcessOptions } from './crawl-process.ts';
import { openStorage } from './open-storage.ts';

/** What is made ready once the data directory is open. */
export interface PreparedCrawl {
  /** 200 pages that earlier runs stored, for `--max-pages`. */
  readonly storedPages: number;
  readonly scopeSeeds: readonly string[];
}

/** What a start finds on the disk. */
export interface OpenedCrawl {
  readonly storage: StorageThread;
  readonly prepared: PreparedCrawl;
  /** Pages that crawl threads died of, with how many. */
  readonly suspects: ReadonlyMap<bigint, number>;
}

/**
 * Opens the store and has the crawl prepared.
 * @param fail told of later trouble of the storage thread
 * @throws CrawlError as StorageThread.start and readSuspects do
 */
export async function openCrawl(
  options: CrawlProcessOptions,
  fail: (error: CrawlError) => void,
  prepare: (storage: StorageThread) => PreparedCrawl,
): Promise<OpenedCrawl> {
  const suspects = suspectDeaths(options.config.dataDir);
  const storage = await openStorage(options, fail);
  return { storage, prepared: prepare(storage), suspects };
}
