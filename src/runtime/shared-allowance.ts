// A shared count that must not pass a limit, over all threads: places are reserved before the work and given back when the work did not
// need them. Lock-free by compare-and-set.

import { assert } from '../base/assert.ts';

/** The memory of an allowance; passes between threads as it is. */
export interface AllowanceMemory {
  readonly words: SharedArrayBuffer;
}

const USED = 0;
const LIMIT = 1;
const OPEN = 2;

/**
 * @param limit uses in all; 0 for no limit
 * @param used uses already made, for example before a restart
 */
export function createAllowanceMemory(limit: number, used: number): AllowanceMemory {
  assert(limit >= 0 && limit < 2 ** 31, () => `limit ${limit}`);
  const words = new SharedArrayBuffer(12);
  const view = new Int32Array(words);
  view[USED] = Math.min(used, 2 ** 31 - 1);
  view[LIMIT] = limit;
  return { words };
}

export class SharedAllowance {
  readonly #words: Int32Array;

  constructor(memory: AllowanceMemory) {
    this.#words = new Int32Array(memory.words);
  }

  /** Reserves a use. False while made and reserved uses reach the limit. */
  tryReserve(): boolean {
    const limit = Atomics.load(this.#words, LIMIT);
    if (limit === 0) return true;
    for (;;) {
      const open = Atomics.load(this.#words, OPEN);
      if (Atomics.load(this.#words, USED) + open >= limit) return false;
      if (Atomics.compareExchange(this.#words, OPEN, open, open + 1) !== open) continue;
      // A use may have been settled between the two loads above; look once more with the place in hand.
      if (Atomics.load(this.#words, USED) + open < limit) return true;
      Atomics.sub(this.#words, OPEN, 1);
    }
  }

  /** Ends a reservation; `used` tells whether the use was made. */
  settle(used: boolean): void {
    if (Atomics.load(this.#words, LIMIT) === 0) return;
    // Used first: another thread may see one place too few for an instant, never one too many.
    if (used) Atomics.add(this.#words, USED, 1);
    Atomics.sub(this.#words, OPEN, 1);
  }

  /** True when the limit is reached by uses made. */
  get isSpent(): boolean {
    const limit = Atomics.load(this.#words, LIMIT);
    return limit > 0 && Atomics.load(this.#words, USED) >= limit;
  }
}
