// How much room a crawl has left (step 10): free disk above its reserve, and what its data directory may still take of a quota. Looked at once
// a second by the storage thread. Counting a directory costs a system call a file, so it is done seldom enough to take at most one
// hundredth of the time; in between, every byte that was received counts as written.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freeBytes } from './disk-error.ts';

/** What is to be kept; bytes. */
export interface SpaceLimits {
  /** Free disk that is kept. */
  readonly reserveBytes: number;
  /** Most the data directory may take; undefined for no such limit. */
  readonly quotaBytes: number | undefined;
}

/** `quota-near`: an orderly end is due, and there is room for it. `full`: nothing more may be written. */
export type SpaceVerdict =
  | { readonly kind: 'room' }
  | { readonly kind: 'quota-near'; readonly usedBytes: number; readonly quotaBytes: number }
  | { readonly kind: 'full'; readonly detail: string };

/** Share of a quota that is kept for an orderly end: requests in flight, the last commits, and at most this many bytes. */
const HEADROOM_SHARE = 0.1;
const HEADROOM_BYTES_MAX = 256 * 1024 * 1024;
/** A count of the directory is good for a hundred times as long as it took, and a second at least. */
const COUNT_SHARE = 100;
const COUNT_MS_MIN = 1_000;
/** Unit of `blocks` (POSIX stat). */
const BLOCK_BYTES = 512;

/** See the head of this file. */
export class SpaceWatch {
  readonly #dir: string;
  readonly #limits: SpaceLimits;
  readonly #now: () => number;
  #counted = { bytes: 0, received: 0, validUntilMs: Number.NEGATIVE_INFINITY };

  /** @param now a monotonic clock in milliseconds */
  constructor(dir: string, limits: SpaceLimits, now: () => number) {
    this.#dir = dir;
    this.#limits = limits;
    this.#now = now;
  }

  /** @param received bytes handed to the storage thread so far, committed or not */
  look(received: number): SpaceVerdict {
    const { reserveBytes, quotaBytes } = this.#limits;
    const free = freeBytes(this.#dir);
    if (free < reserveBytes) {
      return { kind: 'full', detail: `${free} bytes free, ${reserveBytes} are kept in reserve` };
    }
    if (quotaBytes === undefined) return { kind: 'room' };
    const usedBytes = this.#used(received);
    if (usedBytes >= quotaBytes) {
      return { kind: 'full', detail: `${usedBytes} bytes are used of the quota of ${quotaBytes}` };
    }
    const headroom = Math.min(quotaBytes * HEADROOM_SHARE, HEADROOM_BYTES_MAX);
    if (usedBytes < quotaBytes - headroom) return { kind: 'room' };
    return { kind: 'quota-near', usedBytes, quotaBytes };
  }

  /** Bytes that may be written beside the crawl's own without ending it; Infinity without a quota. */
  spareBytes(received: number): number {
    const { quotaBytes } = this.#limits;
    if (quotaBytes === undefined) return Number.POSITIVE_INFINITY;
    const headroom = Math.min(quotaBytes * HEADROOM_SHARE, HEADROOM_BYTES_MAX);
    return quotaBytes - headroom - this.#used(received);
  }

  #used(received: number): number {
    const startedMs = this.#now();
    if (startedMs >= this.#counted.validUntilMs) {
      const bytes = directoryBytes(this.#dir);
      const validMs = Math.max((this.#now() - startedMs) * COUNT_SHARE, COUNT_MS_MIN);
      this.#counted = { bytes, received, validUntilMs: startedMs + validMs };
    }
    return this.#counted.bytes + received - this.#counted.received;
  }
}

/** Bytes on disk of everything below a directory; what vanishes meanwhile counts nothing. */
export function directoryBytes(dir: string): number {
  let bytes = 0;
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const stat = lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    bytes += (stat?.blocks ?? 0) * BLOCK_BYTES;
  }
  return bytes;
}
