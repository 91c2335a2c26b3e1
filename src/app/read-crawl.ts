// Opens a data directory for a command that only reads it, running crawl or stopped (DESIGN.md §9: why, audit, report, export, replay), with
// what turns URLs into the crawl's keys. Nothing here or above writes to the directory or takes its lock.

import xxhash from 'xxhash-wasm';
import type { HostKey, PartitionIndex } from '../base/units.ts';
import type { CrawlConfig } from '../config/options.ts';
import { partitionOf } from '../domain/ring.ts';
import { createHasher, type UrlHasher } from '../domain/url-key.ts';
import { ReadStore } from '../storage/read-store.ts';
import { WARC_PREFIX } from '../storage/warc-names.ts';

/** A crawl opened for reading. */
export interface CrawlReading {
  readonly config: CrawlConfig;
  readonly store: ReadStore;
  /** Seeded as the crawl is. */
  readonly hasher: UrlHasher;
}

/**
 * Opens the crawl, lends it, and closes it whatever happens.
 * @throws CrawlError usage when `config.dataDir` holds no crawl; data-version, data-damaged, disk; what `use` throws
 */
export async function readingCrawl<Result>(
  config: CrawlConfig,
  use: (reading: CrawlReading) => Promise<Result> | Result,
): Promise<Result> {
  const store = new ReadStore(config.dataDir, WARC_PREFIX);
  try {
    const hasher = createHasher(await xxhash(), store.identity.hashSeed);
    return await use({ config, store, hasher });
  } finally {
    await store.close();
  }
}

/** Where the rows of a host lie. @param host as canonical URLs have it */
export function placeOfHost(
  { store, hasher }: Pick<CrawlReading, 'store' | 'hasher'>,
  host: string,
): { readonly hostKey: HostKey; readonly partition: PartitionIndex } {
  const hostKey = hasher.hostKey(host);
  return { hostKey, partition: partitionOf(hostKey, store.identity.partitions) };
}
