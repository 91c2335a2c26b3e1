// A map from 64-bit keys to numbers, and a set of 64-bit keys, in typed arrays: open addressing, linear probing, deletion by shifting
// back (no tombstones, so a table that churns for months does not rot). A JavaScript Map of bigints costs about 100 bytes an entry and
// makes the collector walk them all; this costs 8 for the key plus 8, 4 or 0 for the value, over the load (at most 3/4), and is no work
// for the collector. Growth is bounded by `countMax` (invariant I10): a full table refuses.
import { assert } from './assert.ts';
import { keyHi, keyLo, keyOf, keySpread } from './key64.ts';

/** What is kept beside each key. */
export type ValueKind = 'none' | 'uint32' | 'float64';

/** Options of {@link HashTable64}. */
export interface HashTable64Options {
  /** The most keys it holds, at most 2^30. */
  readonly countMax: number;
  /** Keys it has room for at once; it doubles after that. Default 16. */
  readonly countInitial?: number;
  /** Default 'float64'. */
  readonly values?: ValueKind;
}

/** A bounded map from 64-bit keys to numbers. Expected O(1) for every operation. */
export class HashTable64 {
  readonly countMax: number;
  readonly #valueKind: ValueKind;
  /** Two words a slot: low half, high half. Both 0 mark an empty slot; the key 0 has its own place. */
  #keys: Uint32Array;
  #values: Float64Array | Uint32Array;
  #mask: number;
  #count = 0;
  #hasZero = false;
  #zeroValue = 0;

  constructor(options: HashTable64Options) {
    assert(options.countMax >= 1, () => 'a table needs room for one key');
    assert(options.countMax <= 2 ** 30, () => 'a table holds at most 2^30 keys');
    this.countMax = options.countMax;
    this.#valueKind = options.values ?? 'float64';
    const slots = slotsFor(Math.min(options.countInitial ?? 16, options.countMax));
    this.#keys = new Uint32Array(slots * 2);
    this.#values = newValues(this.#valueKind, slots);
    this.#mask = slots - 1;
  }

  get size(): number {
    return this.#count + (this.#hasZero ? 1 : 0);
  }

  /** Bytes of the arrays it lives in. */
  get bytes(): number {
    return this.#keys.byteLength + this.#values.byteLength;
  }

  /** Whether the key is present. */
  has(hi: number, lo: number): boolean {
    if (hi === 0 && lo === 0) return this.#hasZero;
    return this.#slotOf(hi, lo) >= 0;
  }

  /** The value of the key, or undefined when absent. */
  get(hi: number, lo: number): number | undefined {
    if (hi === 0 && lo === 0) return this.#hasZero ? this.#zeroValue : undefined;
    const slot = this.#slotOf(hi, lo);
    return slot < 0 ? undefined : this.#values[slot];
  }

  /** Sets the value of a key, new or not. Returns false, and changes nothing, when the table is full. */
  set(hi: number, lo: number, value: number): boolean {
    if (hi === 0 && lo === 0) return this.#setZero(value);
    const found = this.#slotOf(hi, lo);
    if (found >= 0) {
      this.#values[found] = value;
      return true;
    }
    if (this.size >= this.countMax) return false;
    if ((this.#count + 1) * 4 > (this.#mask + 1) * 3) this.#grow();
    this.#place(this.#slotOf(hi, lo), hi >>> 0, lo >>> 0, value);
    this.#count += 1;
    return true;
  }

  /** Removes a key. Returns whether it was present. */
  delete(hi: number, lo: number): boolean {
    if (hi === 0 && lo === 0) {
      const had = this.#hasZero;
      this.#hasZero = false;
      return had;
    }
    const slot = this.#slotOf(hi, lo);
    if (slot < 0) return false;
    this.#shiftBack(slot);
    this.#count -= 1;
    assert(this.#count >= 0, () => 'a table lost count of its keys');
    return true;
  }

  /** {@link has} for a bigint key. */
  hasKey(key: bigint): boolean {
    return this.has(keyHi(key), keyLo(key));
  }

  /** {@link get} for a bigint key. */
  getKey(key: bigint): number | undefined {
    return this.get(keyHi(key), keyLo(key));
  }

  /** {@link set} for a bigint key. */
  setKey(key: bigint, value: number): boolean {
    return this.set(keyHi(key), keyLo(key), value);
  }

  /** {@link delete} for a bigint key. */
  deleteKey(key: bigint): boolean {
    return this.delete(keyHi(key), keyLo(key));
  }

  /** Removes every key; keeps the arrays. */
  clear(): void {
    this.#keys.fill(0);
    this.#count = 0;
    this.#hasZero = false;
  }

  /** Every key with its value, in no useful order. The table must not change meanwhile. */
  *entries(): IterableIterator<[bigint, number]> {
    if (this.#hasZero) yield [0n, this.#zeroValue];
    for (let slot = 0; slot <= this.#mask; slot++) {
      const lo = this.#keys[slot * 2] as number;
      const hi = this.#keys[slot * 2 + 1] as number;
      if (lo !== 0 || hi !== 0) yield [keyOf(hi, lo), this.#values[slot] ?? 0];
    }
  }

  /** The slot of a key, or the complement (negative) of the empty slot where its probe ended. */
  #slotOf(hi: number, lo: number): number {
    const keys = this.#keys;
    const wantedLo = lo >>> 0;
    const wantedHi = hi >>> 0;
    let slot = keySpread(hi, lo) & this.#mask;
    for (;;) {
      const slotLo = keys[slot * 2];
      const slotHi = keys[slot * 2 + 1];
      if (slotLo === wantedLo && slotHi === wantedHi) return slot;
      if (slotLo === 0 && slotHi === 0) return ~slot;
      slot = (slot + 1) & this.#mask;
    }
  }

  #place(complement: number, hi: number, lo: number, value: number): void {
    const slot = ~complement;
    this.#keys[slot * 2] = lo;
    this.#keys[slot * 2 + 1] = hi;
    if (this.#valueKind !== 'none') this.#values[slot] = value;
  }

  #setZero(value: number): boolean {
    if (!this.#hasZero && this.size >= this.countMax) return false;
    this.#hasZero = true;
    this.#zeroValue = value;
    return true;
  }

  /** Closes the gap at a slot: each follower that may live nearer to its home moves up (Knuth 6.4 R). */
  #shiftBack(gap: number): void {
    const keys = this.#keys;
    let hole = gap;
    let slot = (gap + 1) & this.#mask;
    while (keys[slot * 2] !== 0 || keys[slot * 2 + 1] !== 0) {
      const lo = keys[slot * 2] as number;
      const hi = keys[slot * 2 + 1] as number;
      const home = keySpread(hi, lo) & this.#mask;
      if (((slot - home) & this.#mask) >= ((slot - hole) & this.#mask)) {
        this.#place(~hole, hi, lo, this.#values[slot] ?? 0);
        hole = slot;
      }
      slot = (slot + 1) & this.#mask;
    }
    keys[hole * 2] = 0;
    keys[hole * 2 + 1] = 0;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    const slots = (this.#mask + 1) * 2;
    this.#keys = new Uint32Array(slots * 2);
    this.#values = newValues(this.#valueKind, slots);
    this.#mask = slots - 1;
    for (let slot = 0; slot < slots / 2; slot++) {
      const lo = keys[slot * 2] as number;
      const hi = keys[slot * 2 + 1] as number;
      if (lo !== 0 || hi !== 0) this.#place(this.#slotOf(hi, lo), hi, lo, values[slot] ?? 0);
    }
  }
}

/** A bounded set of 64-bit keys: {@link HashTable64} without values. */
export class HashSet64 {
  readonly #table: HashTable64;

  constructor(options: { readonly countMax: number; readonly countInitial?: number }) {
    this.#table = new HashTable64({ ...options, values: 'none' });
  }

  get size(): number {
    return this.#table.size;
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  has(hi: number, lo: number): boolean {
    return this.#table.has(hi, lo);
  }

  /** Adds a key, present or not. Returns false, and changes nothing, when it is absent and the set is full. */
  add(hi: number, lo: number): boolean {
    return this.#table.set(hi, lo, 0);
  }

  /** Removes a key. Returns whether it was present. */
  delete(hi: number, lo: number): boolean {
    return this.#table.delete(hi, lo);
  }

  hasKey(key: bigint): boolean {
    return this.#table.hasKey(key);
  }

  addKey(key: bigint): boolean {
    return this.#table.setKey(key, 0);
  }

  deleteKey(key: bigint): boolean {
    return this.#table.deleteKey(key);
  }

  clear(): void {
    this.#table.clear();
  }

  /** Every key, in no useful order. The set must not change meanwhile. */
  *keys(): IterableIterator<bigint> {
    for (const [key] of this.#table.entries()) yield key;
  }
}

/** The power of two of slots that holds `count` keys at a load of at most 3/4. */
function slotsFor(count: number): number {
  let slots = 16;
  while (slots * 3 < count * 4) slots *= 2;
  return slots;
}

function newValues(kind: ValueKind, slots: number): Float64Array | Uint32Array {
  if (kind === 'float64') return new Float64Array(slots);
  return new Uint32Array(kind === 'uint32' ? slots : 0);
}
