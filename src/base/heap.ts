// A binary min-heap with look-up by key: the host schedule (step 8: hosts by next fetch time) and the timers. Built for a million
// hosts: everything is in typed arrays, no object an entry. An entry is its key (8 bytes), its priority (8) and the slot that finds it
// again (4); the index is an open-addressing table of heap positions (4 bytes a slot, load at most 3/4). That makes 25–41 bytes an entry
// against 72–102 for a Map<bigint, number> beside plain arrays, and a third (20,000 hosts) to an eighth (a million) of its CPU time
// (bench/runtime.bench.ts).
// Equal priorities leave in order of key, so that what leaves depends on the contents alone and never on history: a simulation replays
// (invariant I11) and a restarted shard goes on as the old one would have.
import { assert } from './assert.ts';
import { keyHi, keyLo, keyOf, keySpread } from './key64.ts';

/** Options of {@link IndexedHeap}. */
export interface IndexedHeapOptions {
  /** The most entries it holds, at most 2^30; default 2^24. */
  readonly countMax?: number;
  /** The type of the keys; numbers must be whole, 0 … 2^53 − 1. Default 'bigint'. */
  readonly keys?: 'bigint' | 'number';
}

/** A bounded min-heap of (key, priority). O(log n) for every change, expected O(1) for look-up by key. */
export class IndexedHeap<Key extends bigint | number = bigint> {
  readonly countMax: number;
  readonly #numeric: boolean;
  #count = 0;
  /** By heap position: priority, halves of the key, slot in the index. */
  #priorities = new Float64Array(16);
  #his = new Uint32Array(16);
  #los = new Uint32Array(16);
  #slots = new Int32Array(16);
  /** Open addressing: heap position + 1, or 0 for an empty slot. */
  #index = new Int32Array(32);

  constructor(options: IndexedHeapOptions = {}) {
    this.countMax = options.countMax ?? 2 ** 24;
    assert(this.countMax >= 1, () => 'a heap needs room for one entry');
    assert(this.countMax <= 2 ** 30, () => 'a heap holds at most 2^30 entries');
    this.#numeric = options.keys === 'number';
  }

  get size(): number {
    return this.#count;
  }

  /** Bytes of the arrays it lives in. */
  get bytes(): number {
    return this.#priorities.length * 20 + this.#index.byteLength;
  }

  /**
   * Adds an entry whose key must be absent.
   * @param priority any number but NaN; the smallest leaves first
   * @returns false, and changes nothing, when the heap is full
   */
  push(key: Key, priority: number): boolean {
    assert(!Number.isNaN(priority), () => `priority of ${key} is NaN`);
    if (this.#count >= this.countMax) return false;
    if (this.#count === this.#priorities.length) this.#growEntries();
    if ((this.#count + 1) * 4 > this.#index.length * 3) this.#growIndex();
    const hi = this.#hiOf(key);
    const lo = this.#loOf(key);
    const slot = this.#slotOf(hi, lo);
    assert(slot < 0, () => `${key} is in the heap already`);
    const position = this.#count;
    this.#count += 1;
    this.#write(position, priority, hi, lo, ~slot);
    this.#siftUp(position);
    return true;
  }

  /** Changes the priority of an entry. Returns false when the key is absent. */
  update(key: Key, priority: number): boolean {
    assert(!Number.isNaN(priority), () => `priority of ${key} is NaN`);
    const slot = this.#slotOf(this.#hiOf(key), this.#loOf(key));
    if (slot < 0) return false;
    const position = (this.#index[slot] as number) - 1;
    this.#priorities[position] = priority;
    this.#siftDown(this.#siftUp(position));
    return true;
  }

  /** Adds the entry or changes its priority. Returns false only when it is absent and the heap is full. */
  set(key: Key, priority: number): boolean {
    return this.update(key, priority) || this.push(key, priority);
  }

  /** Removes an entry by key. Returns whether it was present. */
  remove(key: Key): boolean {
    const slot = this.#slotOf(this.#hiOf(key), this.#loOf(key));
    if (slot < 0) return false;
    this.#removeAt((this.#index[slot] as number) - 1);
    return true;
  }

  /** Takes the key with the smallest priority, or undefined when empty. Read `peekPriority` before. */
  pop(): Key | undefined {
    const key = this.peekKey();
    if (key !== undefined) this.#removeAt(0);
    return key;
  }

  /** The key that `pop` would take, or undefined. */
  peekKey(): Key | undefined {
    return this.#count === 0 ? undefined : this.#keyAt(0);
  }

  /** The smallest priority; Infinity when empty. */
  peekPriority(): number {
    return this.#count === 0 ? Infinity : (this.#priorities[0] as number);
  }

  has(key: Key): boolean {
    return this.#slotOf(this.#hiOf(key), this.#loOf(key)) >= 0;
  }

  /** The priority of a key, or undefined when absent. */
  priorityOf(key: Key): number | undefined {
    const slot = this.#slotOf(this.#hiOf(key), this.#loOf(key));
    return slot < 0 ? undefined : this.#priorities[(this.#index[slot] as number) - 1];
  }

  /** Removes everything and lets the memory go. */
  clear(): void {
    this.#count = 0;
    this.#priorities = new Float64Array(16);
    this.#his = new Uint32Array(16);
    this.#los = new Uint32Array(16);
    this.#slots = new Int32Array(16);
    this.#index = new Int32Array(32);
  }

  /** Entries with a priority of at most `priority`, counted up to `countMax`. Costs what it counts, not the size of the heap. */
  countAtMost(priority: number, countMax: number): number {
    let count = 0;
    const open = [0];
    for (let position = open.pop(); position !== undefined; position = open.pop()) {
      if (position >= this.#count || (this.#priorities[position] as number) > priority) continue;
      count += 1;
      if (count >= countMax) break;
      open.push(2 * position + 1, 2 * position + 2);
    }
    return count;
  }

  /** The first entries in the order they would leave, at most `countMax`. Costs O(countMax²), whatever the size of the heap. */
  smallest(countMax: number): [Key, number][] {
    const found: [Key, number][] = [];
    const open = this.#count === 0 ? [] : [0];
    while (found.length < countMax && open.length > 0) {
      let best = 0;
      for (let at = 1; at < open.length; at += 1) {
        if (this.#priorityAt(open, at) < this.#priorityAt(open, best)) best = at;
      }
      const [position = 0] = open.splice(best, 1);
      found.push([this.#keyAt(position), this.#priorities[position] as number]);
      for (const child of [2 * position + 1, 2 * position + 2]) {
        if (child < this.#count) open.push(child);
      }
    }
    return found;
  }

  #priorityAt(positions: readonly number[], at: number): number {
    return this.#priorities[positions[at] as number] as number;
  }

  /** Every entry in heap order (not sorted). The heap must not change meanwhile. */
  *entries(): IterableIterator<[Key, number]> {
    for (let position = 0; position < this.#count; position++) {
      yield [this.#keyAt(position), this.#priorities[position] as number];
    }
  }

  #hiOf(key: Key): number {
    return typeof key === 'bigint' ? keyHi(key) : Math.floor(Number(key) / 2 ** 32);
  }

  #loOf(key: Key): number {
    return typeof key === 'bigint' ? keyLo(key) : Number(key) >>> 0;
  }

  #keyAt(position: number): Key {
    const hi = this.#his[position] as number;
    const lo = this.#los[position] as number;
    return (this.#numeric ? hi * 2 ** 32 + lo : keyOf(hi, lo)) as Key;
  }

  /** Whether the entry (priority, hi, lo) leaves before the one at a position. */
  #before(priority: number, hi: number, lo: number, position: number): boolean {
    const other = this.#priorities[position] as number;
    if (priority !== other) return priority < other;
    const otherHi = this.#his[position] as number;
    return hi !== otherHi ? hi < otherHi : lo < (this.#los[position] as number);
  }

  #write(position: number, priority: number, hi: number, lo: number, slot: number): void {
    this.#priorities[position] = priority;
    this.#his[position] = hi;
    this.#los[position] = lo;
    this.#slots[position] = slot;
    this.#index[slot] = position + 1;
  }

  #copy(from: number, to: number): void {
    const slot = this.#slots[from] as number;
    this.#priorities[to] = this.#priorities[from] as number;
    this.#his[to] = this.#his[from] as number;
    this.#los[to] = this.#los[from] as number;
    this.#slots[to] = slot;
    this.#index[slot] = to + 1;
  }

  /** Moves the entry at a position up to where it belongs; returns its new position. */
  #siftUp(start: number): number {
    const priority = this.#priorities[start] as number;
    const hi = this.#his[start] as number;
    const lo = this.#los[start] as number;
    const slot = this.#slots[start] as number;
    let position = start;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.#before(priority, hi, lo, parent)) break;
      this.#copy(parent, position);
      position = parent;
    }
    if (position !== start) this.#write(position, priority, hi, lo, slot);
    return position;
  }

  #siftDown(start: number): void {
    const priority = this.#priorities[start] as number;
    const hi = this.#his[start] as number;
    const lo = this.#los[start] as number;
    const slot = this.#slots[start] as number;
    let position = start;
    for (;;) {
      let child = position * 2 + 1;
      if (child >= this.#count) break;
      if (child + 1 < this.#count && this.#isBefore(child + 1, child)) child += 1;
      if (this.#before(priority, hi, lo, child)) break;
      this.#copy(child, position);
      position = child;
    }
    if (position !== start) this.#write(position, priority, hi, lo, slot);
  }

  #isBefore(left: number, right: number): boolean {
    const hi = this.#his[left] as number;
    return this.#before(this.#priorities[left] as number, hi, this.#los[left] as number, right);
  }

  #removeAt(position: number): void {
    assert(position < this.#count, () => `no entry at ${position} of ${this.#count}`);
    this.#shiftBack(this.#slots[position] as number);
    this.#count -= 1;
    if (position === this.#count) return;
    this.#copy(this.#count, position);
    this.#siftDown(this.#siftUp(position));
  }

  /** The index slot of a key, or the complement (negative) of the empty slot where its probe ended. */
  #slotOf(hi: number, lo: number): number {
    const mask = this.#index.length - 1;
    let slot = keySpread(hi, lo) & mask;
    for (;;) {
      const entry = this.#index[slot] as number;
      if (entry === 0) return ~slot;
      if (this.#los[entry - 1] === lo && this.#his[entry - 1] === hi) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** Empties an index slot and closes the gap (Knuth 6.4 R); entries that move learn their new slot. */
  #shiftBack(gap: number): void {
    const mask = this.#index.length - 1;
    let hole = gap;
    let slot = (gap + 1) & mask;
    for (;;) {
      const entry = this.#index[slot] as number;
      if (entry === 0) break;
      const hi = this.#his[entry - 1] as number;
      const home = keySpread(hi, this.#los[entry - 1] as number) & mask;
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        this.#index[hole] = entry;
        this.#slots[entry - 1] = hole;
        hole = slot;
      }
      slot = (slot + 1) & mask;
    }
    this.#index[hole] = 0;
  }

  /** Half as much again, not double: at a million entries the slack is what breaks the budget. */
  #growEntries(): void {
    const length = Math.min(this.countMax, Math.ceil(this.#priorities.length * 1.5));
    this.#priorities = grown(new Float64Array(length), this.#priorities);
    this.#his = grown(new Uint32Array(length), this.#his);
    this.#los = grown(new Uint32Array(length), this.#los);
    this.#slots = grown(new Int32Array(length), this.#slots);
  }

  #growIndex(): void {
    this.#index = new Int32Array(this.#index.length * 2);
    for (let position = 0; position < this.#count; position++) {
      const slot = ~this.#slotOf(this.#his[position] as number, this.#los[position] as number);
      assert(slot >= 0, () => 'a key is in the heap twice');
      this.#slots[position] = slot;
      this.#index[slot] = position + 1;
    }
  }
}

function grown<Numbers extends Float64Array | Uint32Array | Int32Array>(
  target: Numbers,
  source: Numbers,
): Numbers {
  target.set(source);
  return target;
}
