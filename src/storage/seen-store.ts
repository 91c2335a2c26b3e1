// The exact answer behind the Bloom filter, as one shard sees it (DESIGN.md §6, step 4): its own memtable, its frozen memtables until they
// are published as runs, then the published runs, the largest last. No row per URL anywhere, no write on the shard.
// A look-up asks memory, then the runs' filters, and reads about one page. The largest run is asked without a filter: whatever is left by
// then is most likely in it. `confirm` asks a batch in key order, so that every page is read once.
// I5: from `add` on a key is known, in whichever of the three places it is; a frozen memtable goes only after its run was opened.

import { join } from 'node:path';
import type { ExactSeen } from '../actors/ports.ts';
import { assert } from '../base/assert.ts';
import { CrawlError } from '../base/errors.ts';
import { runName } from './seen-format.ts';
import { MEMTABLE_KEYS_DEFAULT, SeenMemtable } from './seen-memtable.ts';
import type { SeenRunEntry } from './seen-merge.ts';
import { SeenRun } from './seen-run.ts';

/** A memtable on its way to becoming a run. */
export interface FrozenKeys {
  /** Given back to `publish` when the run is durable. */
  readonly id: number;
  /** All its keys, unordered, in an ArrayBuffer that may be transferred. */
  readonly keys: BigUint64Array<ArrayBuffer>;
}

/** Largest batch of `confirm`: 2^20 keys. */
export const CONFIRM_KEYS_MAX = 1 << 20;

interface OpenRun {
  readonly entry: SeenRunEntry;
  readonly run: SeenRun;
}

export class SeenStore implements ExactSeen {
  readonly #directory: string;
  readonly #memtableKeys: number;
  readonly #onMemtableFull: (frozen: FrozenKeys) => void;
  #memtable: SeenMemtable;
  readonly #frozen = new Map<number, SeenMemtable>();
  #nextFrozenId = 1;
  /** Ascending by size: the largest is asked last. */
  #runs: OpenRun[] = [];

  /**
   * @param options `directory` `frontier/`; `runs` of the committed manifest; `memtableKeys` default 2^20 (16 MiB);
   *   `onMemtableFull` is called inside `add` or `freeze`: it must only hand the keys on
   * @throws CrawlError `data-damaged` when a run of the manifest cannot be used
   */
  constructor(options: {
    readonly directory: string;
    readonly runs: readonly SeenRunEntry[];
    readonly memtableKeys?: number;
    readonly onMemtableFull: (frozen: FrozenKeys) => void;
  }) {
    this.#directory = options.directory;
    this.#memtableKeys = options.memtableKeys ?? MEMTABLE_KEYS_DEFAULT;
    this.#onMemtableFull = options.onMemtableFull;
    this.#memtable = new SeenMemtable(this.#memtableKeys);
    this.replaceRuns([], options.runs);
  }

  /** Whether the key was added before, in this run of the crawler or an earlier one. At most one page read a run. */
  has(high: number, low: number): boolean {
    if (this.#memtable.has(high, low)) return true;
    for (const table of this.#frozen.values()) if (table.has(high, low)) return true;
    for (const { run } of this.#runs) if (run.has(high, low)) return true;
    return false;
  }

  /** Records a key. One that is already in a run may be added again; it costs its place until the next merge. */
  add(high: number, low: number): void {
    this.#memtable.add(high, low);
    if (this.#memtable.full) this.freeze();
  }

  /**
   * Answers a batch, reading each page of each run at most once.
   * @param highs, lows the halves of the keys, equally long, at most CONFIRM_KEYS_MAX
   * @returns 1 for a known key and 0 for a new one, in the order given
   */
  confirm(highs: Uint32Array, lows: Uint32Array): Uint8Array {
    assert(highs.length === lows.length, () => `${highs.length} highs, ${lows.length} lows`);
    assert(highs.length <= CONFIRM_KEYS_MAX, () => `batch of ${highs.length} keys`);
    const known = new Uint8Array(highs.length);
    // Top half and position in one number of 52 bits: the native sort of doubles brings the keys into page order.
    const order = new Float64Array(highs.length);
    for (let index = 0; index < order.length; index += 1) {
      order[index] = highs[index]! * CONFIRM_KEYS_MAX + index;
    }
    order.sort();
    for (const place of order) {
      const index = place % CONFIRM_KEYS_MAX;
      if (this.has(highs[index]!, lows[index]!)) known[index] = 1;
    }
    return known;
  }

  /** Hands the memtable on although it is not full: before a shutdown, or to let the log behind it go. Does nothing when it is empty. */
  freeze(): void {
    if (this.#memtable.size === 0) return;
    const id = this.#nextFrozenId;
    this.#nextFrozenId += 1;
    const table = this.#memtable;
    this.#frozen.set(id, table);
    this.#memtable = new SeenMemtable(this.#memtableKeys);
    this.#onMemtableFull({ id, keys: table.keys() });
  }

  /** Starts to read a new run, of this shard or another. */
  openRun(entry: SeenRunEntry): void {
    this.replaceRuns([], [entry]);
  }

  /** Lets a frozen memtable go; its run must have been opened. Unknown ids are ignored (a shard restarted meanwhile). */
  dropFrozen(id: number): void {
    this.#frozen.delete(id);
  }

  /**
   * Changes the set of runs after a merge: opens the new ones first, so that no key is unknown in between.
   * @param removed file numbers of runs that were merged away; unknown ones are ignored
   * @throws CrawlError `data-damaged` when a new run cannot be used; the set is then unchanged
   */
  replaceRuns(removed: readonly number[], added: readonly SeenRunEntry[]): void {
    const opened: OpenRun[] = [];
    try {
      for (const entry of added) {
        if (this.#runs.some((open) => open.entry.file === entry.file)) continue;
        opened.push({ entry, run: this.#open(entry) });
      }
    } catch (error) {
      for (const { run } of opened) run.close();
      throw error;
    }
    const gone = this.#runs.filter((open) => removed.includes(open.entry.file));
    const kept = this.#runs.filter((open) => !removed.includes(open.entry.file));
    this.#runs = [...kept, ...opened].sort((a, b) => a.entry.keys - b.entry.keys);
    const largest = this.#runs.length - 1;
    for (const [index, { run }] of this.#runs.entries()) {
      if (index === largest) run.dropFilter();
      else run.loadFilter();
    }
    for (const { run } of gone) run.close();
  }

  /** Counts for metrics: keys in memory and in runs, memtables waiting for their run, runs, bytes held by run indexes. */
  counts(): {
    readonly memoryKeys: number;
    readonly runKeys: number;
    readonly frozen: number;
    readonly runs: number;
    readonly indexBytes: number;
  } {
    let memoryKeys = this.#memtable.size;
    for (const table of this.#frozen.values()) memoryKeys += table.size;
    let runKeys = 0;
    let indexBytes = 0;
    for (const { run } of this.#runs) {
      runKeys += run.keys;
      indexBytes += run.memoryBytes;
    }
    const frozen = this.#frozen.size;
    return { memoryKeys, runKeys, frozen, runs: this.#runs.length, indexBytes };
  }

  /** Closes the runs. */
  close(): void {
    for (const { run } of this.#runs) run.close();
    this.#runs = [];
  }

  /** Opens a run without a pass over its keys: the storage thread verified or wrote them. */
  #open(entry: SeenRunEntry): SeenRun {
    const path = join(this.#directory, runName(entry.file));
    const opened = SeenRun.open(path, { verifyKeys: false, filter: true });
    const keys = opened.kind === 'run' ? opened.run.keys : -1;
    if (opened.kind === 'run' && keys === entry.keys) return opened.run;
    const reason = opened.kind === 'run' ? `${path} holds ${keys} keys` : opened.reason;
    if (opened.kind === 'run') opened.run.close();
    throw new CrawlError('data-damaged', reason, {
      remedy: 'The seen set is rebuilt from the frontier log when the crawl starts again.',
    });
  }
}
