// Counters and a set of 64 marks for each key, in memory that all threads of the process share. Open addressing with a few looks; a key that
// finds no row has none, which its user has to live with: nothing is ever evicted, so a row number stays valid for the life of the table.
// Invariants: bounded by the rows; no lock: rows are claimed by compare-and-set, counters are added to atomically.

import { assert } from '../base/assert.ts';

/** Counters of a row. */
export const TALLIES = 4;
/** A row without a place. */
export const NO_ROW = -1;

/** 32-bit words of a row: key, counters, marks, one left over so that two rows fill a cache line. */
const WORDS = 8;
const LOW_MARKS = TALLIES + 1;
const LOOKS = 16;
const MARKS = 64;

export class SharedTallies {
  readonly #words: Int32Array;
  readonly #mask: number;

  /** @param rows a power of two, 16 … 2²⁴; 32 bytes each, of which the system provides what is used */
  static createMemory(rows: number): SharedArrayBuffer {
    assert(rows >= LOOKS && rows <= 2 ** 24, () => `${rows} rows`);
    assert((rows & (rows - 1)) === 0, () => `rows ${rows} is no power of two`);
    return new SharedArrayBuffer(rows * WORDS * 4);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#mask = this.#words.length / WORDS - 1;
  }

  /**
   * The row of a key, claimed when it has none.
   * @param key 64 evenly spread bits; rows are told apart by their upper half
   * @returns its number, or NO_ROW when all places for it are taken
   */
  rowOf(key: bigint): number {
    const name = Number(BigInt.asIntN(32, key >> 32n)) || 1;
    const home = Number(BigInt.asUintN(32, key));
    for (let look = 0; look < LOOKS; look += 1) {
      const row = (home + look) & this.#mask;
      const before = Atomics.compareExchange(this.#words, row * WORDS, 0, name);
      if (before === 0 || before === name) return row;
    }
    return NO_ROW;
  }

  /** @param tally 0 … TALLIES − 1 */
  get(row: number, tally: number): number {
    return Atomics.load(this.#words, row * WORDS + 1 + tally);
  }

  /** Adds to a counter; it wraps beyond 2³¹, which nothing that is counted here reaches. */
  add(row: number, tally: number, by: number): void {
    assert(tally >= 0 && tally < TALLIES, () => `tally ${tally}`);
    Atomics.add(this.#words, row * WORDS + 1 + tally, by);
  }

  /** Sets one of 64 marks. Mostly it is set already, which costs a read. */
  mark(row: number, mark: number): void {
    const at = row * WORDS + LOW_MARKS + ((mark >>> 5) & 1);
    const bit = 1 << (mark & 31);
    if (((this.#words[at] as number) & bit) === 0) Atomics.or(this.#words, at, bit);
  }

  /** The 64 marks in two unsigned halves. */
  marks(row: number): readonly [low: number, high: number] {
    const at = row * WORDS + LOW_MARKS;
    return [Atomics.load(this.#words, at) >>> 0, Atomics.load(this.#words, at + 1) >>> 0];
  }

  /** Sets all marks of two halves. */
  join(row: number, [low, high]: readonly [low: number, high: number]): void {
    const at = row * WORDS + LOW_MARKS;
    Atomics.or(this.#words, at, low | 0);
    Atomics.or(this.#words, at + 1, high | 0);
  }
}

/**
 * How many different things have set marks, each one of 64 at random: linear counting (Whang et al., TODS 1990).
 * @returns 0 … 267; from about 150 on a lower bound, since nearly all marks are set then
 */
export function estimateMarked([low, high]: readonly [low: number, high: number]): number {
  const clear = MARKS - ones(low) - ones(high);
  return Math.round(-MARKS * Math.log(Math.max(clear, 1) / MARKS)) + (clear === 0 ? 1 : 0);
}

function ones(word: number): number {
  let count = 0;
  for (let rest = word >>> 0; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
