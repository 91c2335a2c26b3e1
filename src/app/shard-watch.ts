// Watches over the shard threads of a process from its main thread: one whose event loop stands still is stuck, and the page that a dead
// or stuck shard was handling is a suspect (DESIGN.md §5). What follows is crash-only: the caller ends the process, and the next start
// parses the suspect behind guards. Looks are counted, not time: a main thread that itself stood still accuses nobody.

import type { AlarmId, Alarms } from '../runtime/clock.ts';
import { recordSuspect } from '../storage/suspects.ts';

/** Time between two looks, milliseconds. */
export const LOOK_MS = 5_000;
/** Looks in a row without a turn after which a shard is stuck: 30 s. A shard turns once a second even when it has nothing to do. */
export const STILL_LOOKS_MAX = 6;

export interface ShardWatchOptions {
  /** Data directory. */
  readonly dir: string;
  readonly shards: number;
  /** One Int32 for each shard that grows while it turns. */
  readonly turns: SharedArrayBuffer;
  /** One BigUint64 for each shard: the page it handles, 0 when none. */
  readonly parsing: SharedArrayBuffer;
  readonly alarms: Alarms;
  /** Told once for each shard that is stuck. */
  readonly stuck: (shard: number) => void;
}

export class ShardWatch {
  readonly #options: ShardWatchOptions;
  readonly #turns: Int32Array;
  readonly #parsing: BigUint64Array;
  readonly #seen: { turns: number; stillLooks: number }[];
  #alarm: AlarmId | undefined;

  constructor(options: ShardWatchOptions) {
    this.#options = options;
    this.#turns = new Int32Array(options.turns);
    this.#parsing = new BigUint64Array(options.parsing);
    this.#seen = Array.from({ length: options.shards }, () => ({ turns: -1, stillLooks: 0 }));
  }

  /** Begins to look. */
  start(): void {
    this.#alarm = this.#options.alarms.after(LOOK_MS, () => {
      this.#look();
      this.start();
    });
  }

  stop(): void {
    if (this.#alarm !== undefined) this.#options.alarms.cancel(this.#alarm);
    this.#alarm = undefined;
  }

  /**
   * A shard is dead or stuck: records the page it was handling, durably.
   * @returns a clause for the error, empty when it handled none
   * @throws CrawlError when the directory cannot be written
   */
  accuse(shard: number, how: string): string {
    const urlKey = Atomics.exchange(this.#parsing, shard, 0n);
    if (urlKey === 0n) return '';
    recordSuspect(this.#options.dir, urlKey, how);
    const key = urlKey.toString(16).padStart(16, '0');
    return ` while it handled page ${key}, which the next run parses behind guards`;
  }

  #look(): void {
    for (const [shard, seen] of this.#seen.entries()) {
      const turns = Atomics.load(this.#turns, shard);
      seen.stillLooks = turns === seen.turns ? seen.stillLooks + 1 : 0;
      seen.turns = turns;
      if (seen.stillLooks === STILL_LOOKS_MAX) this.#options.stuck(shard);
    }
  }
}
