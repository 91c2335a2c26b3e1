// A table of 32-bit words in shared memory, one for each key, changed by all threads with pure functions and compare-and-set. A key is an
// integer; keys that differ by a multiple of the table's length share a word. What a word means is the user's affair.

import { assert } from '../base/assert.ts';

/** The memory of a table of zeros; passes between threads as it is. @param rows a power of two; 4 bytes each, touched or not */
export function createWordsMemory(rows: number): SharedArrayBuffer {
  assert(rows >= 1 && (rows & (rows - 1)) === 0, () => `rows ${rows} is no power of two`);
  return new SharedArrayBuffer(rows * Int32Array.BYTES_PER_ELEMENT);
}

/** One thread's view of the table. */
export class SharedWords {
  readonly #words: Int32Array;
  readonly #mask: number;

  /** @param memory made by `createWordsMemory` */
  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#mask = this.#words.length - 1;
    assert((this.#words.length & this.#mask) === 0, () => `${this.#words.length} words`);
  }

  /** The word of a key as it is now; a signed 32-bit integer. */
  read(key: number): number {
    return Atomics.load(this.#words, key & this.#mask);
  }

  /**
   * Replaces the word of a key by what `change` makes of it. `change` may be called again when another thread was faster.
   * @returns the word it has now
   */
  update(key: number, change: (word: number) => number): number {
    const row = key & this.#mask;
    for (;;) {
      const before = Atomics.load(this.#words, row);
      const after = change(before) | 0;
      if (after === before) return after;
      if (Atomics.compareExchange(this.#words, row, before, after) === before) return after;
    }
  }
}
