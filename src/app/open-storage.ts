// Opens the data directory on a thread of its own, with the configuration's storage options (step 10; DESIGN.md §3: one thread owns all writes).

import type { CrawlError } from '../base/errors.ts';
import type { CrawlConfig } from '../config/options.ts';
import type { ObjectStoreAddress } from '../storage/object-store.ts';
import { DEFAULT_POLICY } from '../storage/storage-loop.ts';
import { StorageThread, type StorageThreadOptions } from '../storage/storage-owner.ts';
import { WARC_PREFIX } from '../storage/warc-names.ts';
import type { CrawlProcessOptions } from './crawl-process.ts';
import { ourBug } from './our-bug.ts';

/** Length at which a frontier or audit log file is followed by the next. */
const LOG_ROLL_BYTES = 64 * 1024 * 1024;
/** At its end a crawl waits for the compression of so much: a second or two. */
const FINISH_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Opens the data directory.
 * @param fail told of trouble and crashes of the thread
 * @throws CrawlError as StorageThread.start does
 */
export function openStorage(
  options: CrawlProcessOptions,
  fail: (error: CrawlError) => void,
): Promise<StorageThread> {
  const { config, software, userAgent, cluster } = options;
  const own = storageOptions(config, { software, userAgent });
  const store = { ...own.store, identity: cluster?.identity };
  return StorageThread.start(
    { ...own, store },
    {
      onNews: options.storageNews,
      onFailure: fail,
      onCrash: (error) => fail(ourBug('the storage thread', error)),
    },
  );
}

/** The storage thread's options by the configuration. @param names for the head of each WARC file */
export function storageOptions(
  config: CrawlConfig,
  names: { readonly software: string; readonly userAgent: string },
): StorageThreadOptions {
  return {
    store: {
      dir: config.dataDir,
      partitions: config.partitions,
      partitionsExplicit: false,
      warc: {
        rollBytes: config.warcRollBytes,
        rollMs: config.warcRollSeconds * 1_000,
        ...names,
        prefix: WARC_PREFIX,
      },
      logRollBytes: LOG_ROLL_BYTES,
      feedKeptBytes: config.feedKeptBytes,
      reserveBytes: config.diskReserveBytes,
      quotaBytes: config.diskQuotaBytes,
    },
    policy: { ...DEFAULT_POLICY, fsync: config.fsync, commitWindowMs: config.commitWindowMs },
    archive: {
      gzipLevel: config.warcGzipLevel,
      finishBytesMax: FINISH_BYTES_MAX,
      objectStore: objectStoreOf(config),
      keepsLocal: config.objectStoreKeepsLocal,
    },
  };
}

/** `s3://bucket/some/prefix` with its server, taken apart. */
function objectStoreOf(config: CrawlConfig): ObjectStoreAddress | undefined {
  const { objectStore, objectStoreEndpoint: endpoint, objectStoreRegion: region } = config;
  if (objectStore === undefined) return undefined;
  const { hostname: bucket, pathname } = new URL(objectStore);
  const path = pathname.replace(/^\/+|\/+$/g, '');
  return { bucket, prefix: path === '' ? '' : `${path}/`, endpoint, region };
}
