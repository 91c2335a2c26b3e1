// Defaults that follow from other options: the address gap from the host gap, the socket from the data directory, and so on. Each is one
// function of the configuration without them, in the order they may depend on each other.

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PRODUCT_TOKEN, VERSION } from '../base/version.ts';
import type { CrawlConfig, DerivedName } from './options.ts';

/** Requests in flight a thread can keep: at 1 s gaps and 250 ms answers 256 connections make 1,000 requests a second. */
const CONCURRENCY_PER_THREAD = 256;
/** Threads beyond this need a word of the operator: each costs memory before it helps. */
const THREADS_DEFAULT_MAX = 64;

type Given = Omit<CrawlConfig, DerivedName> & { readonly threads: number };

/** One function for each derived option. `given.threads` is final. */
export const DERIVED_DEFAULTS: {
  readonly [Name in DerivedName]: (given: Given) => CrawlConfig[Name];
} = {
  threads: (given) =>
    Math.max(1, Math.min(availableParallelism(), THREADS_DEFAULT_MAX, given.partitions)),
  concurrency: ({ threads }) => CONCURRENCY_PER_THREAD * threads,
  addressGapMs: ({ minGapMs }) => Math.floor(minGapMs / 4),
  userAgent: ({ contact }) =>
    contact === undefined
      ? `${PRODUCT_TOKEN}/${VERSION}`
      : `${PRODUCT_TOKEN}/${VERSION} (+${contact})`,
  debugSocket: ({ dataDir }) => join(dataDir, 'debug.sock'),
};
