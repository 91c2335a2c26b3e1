// A bounded map that forgets what was used longest ago: active hosts, open connections, cached answers. It leans on the insertion order
// that a Map keeps: a use moves the key to the end, the first key is the oldest. What falls out is handed to a callback, because in
// this crawl it nearly always needs an ending (passivate, close). The bound is a count (invariant I10).
import { assert } from './assert.ts';

/** A bounded least-recently-used map. All operations are O(1) amortised. */
export class Lru<Key, Value> {
  /** The most entries it holds. */
  readonly countMax: number;
  readonly #entries = new Map<Key, Value>();
  readonly #onEvict: ((key: Key, value: Value) => void) | undefined;

  /**
   * @param countMax the bound, at least 1
   * @param onEvict called for each entry that falls out because of the bound (never for `delete`)
   */
  constructor(countMax: number, onEvict?: (key: Key, value: Value) => void) {
    assert(countMax >= 1, () => `an LRU needs room for one entry, got ${countMax}`);
    this.countMax = countMax;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, which becomes the newest; undefined when absent. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** The value of a key without counting as a use. */
  peek(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Adds or replaces; the key becomes the newest. Evicts the oldest entry when the bound is passed. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.countMax) this.evictOldest();
    assert(this.#entries.size <= this.countMax, () => 'an LRU grew past its bound');
  }

  /** Removes without calling the eviction callback. Returns whether the key was present. */
  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  /** Evicts the entry used longest ago, with the callback. Returns its key, or undefined when empty. */
  evictOldest(): Key | undefined {
    for (const [key, value] of this.#entries) {
      this.#entries.delete(key);
      this.#onEvict?.(key, value);
      return key;
    }
    return undefined;
  }

  /** Oldest first. */
  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  /** Removes everything without calling the eviction callback. */
  clear(): void {
    this.#entries.clear();
  }
}
