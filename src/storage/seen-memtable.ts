// The newest part of the exact seen set (DESIGN.md §6, step 4): a fixed-size hash table of 64-bit keys in one typed array, filled by one
// shard and then frozen into a sorted run. Open addressing with linear probing at a load of at most one half: one cache line a look-up.
// Keys are kept as (low, high) pairs of 32-bit words, which on the little-endian machines Node runs on are unsigned 64-bit integers in
// memory: the export is a copy without conversion. No bigint is made per key.

import { assert } from '../base/assert.ts';

const GOLDEN = 0x9e3779b1;

/** Default capacity in keys: 2^20, in 16 MiB. */
export const MEMTABLE_KEYS_DEFAULT = 1 << 20;

export class SeenMemtable {
  readonly #keysMax: number;
  readonly #shift: number;
  /** Two words a slot: low, high. The pair (0, 0) is an empty slot; key zero is kept in a flag of its own. */
  readonly #words: Uint32Array;
  #hasZero = false;
  #used = 0;

  /** @param keysMax 1 … 2^28; memory is 16 to 32 bytes for each */
  constructor(keysMax: number = MEMTABLE_KEYS_DEFAULT) {
    assert(keysMax >= 1 && keysMax <= 2 ** 28, () => `memtable of ${keysMax} keys`);
    this.#keysMax = keysMax;
    const bits = Math.max(4, Math.ceil(Math.log2(keysMax * 2)));
    this.#shift = 32 - bits;
    this.#words = new Uint32Array(2 ** bits * 2);
  }

  /** Number of keys. */
  get size(): number {
    return this.#used + (this.#hasZero ? 1 : 0);
  }

  /** True when no further key may be added. */
  get full(): boolean {
    return this.size >= this.#keysMax;
  }

  /** Whether the key is here. Both halves unsigned 32-bit. */
  has(high: number, low: number): boolean {
    if (high === 0 && low === 0) return this.#hasZero;
    return !this.#isEmpty(this.#find(high, low));
  }

  /**
   * Adds a key; the table must not be full.
   * @returns true when it was not here before
   */
  add(high: number, low: number): boolean {
    assert(!this.full, () => `memtable holds ${this.size} keys already`);
    if (high === 0 && low === 0) {
      const added = !this.#hasZero;
      this.#hasZero = true;
      return added;
    }
    const at = this.#find(high, low);
    if (!this.#isEmpty(at)) return false;
    this.#words[at] = low;
    this.#words[at + 1] = high;
    this.#used += 1;
    return true;
  }

  /** A copy of all keys, unordered, in an ArrayBuffer of its own, so that it can be transferred to another thread. */
  keys(): BigUint64Array<ArrayBuffer> {
    const out = new Uint32Array(this.size * 2);
    let at = this.#hasZero ? 2 : 0;
    const words = this.#words;
    for (let slot = 0; slot < words.length; slot += 2) {
      const low = words[slot]!;
      const high = words[slot + 1]!;
      if (low === 0 && high === 0) continue;
      out[at] = low;
      out[at + 1] = high;
      at += 2;
    }
    assert(at === out.length, () => `memtable counted ${this.size} keys, holds ${at / 2}`);
    return new BigUint64Array(out.buffer);
  }

  /** Index of the low word of the slot that holds the key, or of the empty one where it belongs. */
  #find(high: number, low: number): number {
    const words = this.#words;
    const mask = words.length - 1;
    let at = (Math.imul(low ^ Math.imul(high, GOLDEN), GOLDEN) >>> this.#shift) * 2;
    for (;;) {
      const slotLow = words[at]!;
      const slotHigh = words[at + 1]!;
      if (slotLow === low && slotHigh === high) return at;
      if (slotLow === 0 && slotHigh === 0) return at;
      at = (at + 2) & mask;
    }
  }

  #isEmpty(at: number): boolean {
    return this.#words[at] === 0 && this.#words[at + 1] === 0;
  }
}
