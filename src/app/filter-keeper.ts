// Keeps the shared Bloom filter: fills it at a start from the snapshot of an orderly stop, or from the seen runs; grows it; saves it at an
// orderly stop. A snapshot is used once: it is deleted when loaded, so a crash later never finds one that has become too old. Until
// the filter is full the shards ask the exact store for every key, so a start need not wait for the rebuild (DESIGN.md §6).

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { BloomGenerations } from '../runtime/bloom-generations.ts';
import { loadBloomSnapshot } from '../storage/bloom-snapshot.ts';
import { bloomPath } from '../storage/directory.ts';
import { runName } from '../storage/seen-format.ts';
import { SeenRun } from '../storage/seen-run.ts';
import type { StorageThread } from '../storage/storage-owner.ts';

export interface FilterKeeperOptions {
  readonly dir: string;
  readonly bloom: BloomGenerations;
  /** One Int32, set to 1 once the filter holds every known key. */
  readonly ready: SharedArrayBuffer;
  readonly storage: StorageThread;
}

export class FilterKeeper {
  readonly #options: FilterKeeperOptions;
  readonly #ready: Int32Array;

  constructor(options: FilterKeeperOptions) {
    this.#options = options;
    this.#ready = new Int32Array(options.ready);
  }

  /** Fills the filter with every key known from earlier runs. */
  async fill(): Promise<void> {
    if (!this.#load()) await this.#rebuild();
    Atomics.store(this.#ready, 0, 1);
  }

  /** Makes the next generation when the newest is full. @returns its memory, for the other threads */
  growIfNeeded(): SharedArrayBuffer | undefined {
    return this.#options.bloom.needsGrowth ? this.#options.bloom.grow() : undefined;
  }

  /** Saves the filter at an orderly stop. A failure costs the next start a rebuild and nothing else. */
  async save(): Promise<void> {
    const { bloom, storage } = this.#options;
    const newest = bloom.filters.at(-1);
    if (Atomics.load(this.#ready, 0) !== 1 || newest === undefined || bloom.filters.length > 1)
      return;
    const { crawlId } = storage.opened.identity;
    const bytes = new Uint8Array(newest.buffer);
    await storage.saveBloom({ bytes, meta: { crawlId, bytes: bytes.length } }).catch(() => {});
  }

  #load(): boolean {
    const { dir, bloom, storage } = this.#options;
    const path = bloomPath(dir);
    const newest = bloom.filters.at(-1);
    const { crawlId } = storage.opened.identity;
    const snapshot = loadBloomSnapshot(path, (bytes, meta) => {
      const fits =
        'crawlId' in meta && meta.crawlId === crawlId && newest?.buffer.byteLength === bytes;
      return fits ? new Uint8Array(newest.buffer) : undefined;
    });
    rmSync(path, { force: true });
    return snapshot !== undefined;
  }

  async #rebuild(): Promise<void> {
    const { dir, bloom, storage } = this.#options;
    for (const entry of storage.opened.seenRuns) {
      const opened = SeenRun.open(join(dir, 'frontier', runName(entry.file)), {
        verifyKeys: false,
        filter: false,
      });
      // The storage thread has opened every run of the manifest: one that fails here fails there too, with a remedy.
      if (opened.kind !== 'run') continue;
      const { run } = opened;
      for (const block of run.keyBlocks()) {
        for (let at = 0; at < block.length; at += 2) {
          bloom.add(block[at + 1] as number, block[at] as number);
        }
        await turn();
      }
      run.close();
    }
  }
}
