// A seen set that outgrows its filter: generations of Bloom filters (Almeida et al., Scalable Bloom Filters, 2007). A key is looked for in
// all of them, newest first, and added to the newest. Each new one doubles the room, and the rates are a geometric series (3/4 of the
// target, then a quarter of the last each time), so that their sum never passes the target. One thread decides to grow and tells the
// others by a message that carries the new buffer; until they have it they go on adding to the one before, which only fills it a little
// further. A key that one thread has not yet the generation for looks new to it: harmless, since only the owner of a URL adds it.
import { assert } from '../base/assert.ts';
import { BloomFilter, type BloomOptions } from './bloom.ts';

const GENERATIONS_MAX = 24;
const RATE_MIN = 1e-6;

/** What another thread needs to attach: structured-cloneable, memory shared. */
export interface BloomHandle {
  /** Oldest first. */
  readonly buffers: SharedArrayBuffer[];
  readonly expectedKeys: number;
  readonly falsePositiveRate: number;
}

/** Bloom filters that together answer for all keys. */
export class BloomGenerations {
  readonly #options: BloomOptions;
  readonly #filters: BloomFilter[];
  #newest: BloomFilter;

  private constructor(options: BloomOptions, filters: BloomFilter[]) {
    const newest = filters[filters.length - 1];
    assert(newest !== undefined, () => 'no generation at all');
    this.#options = options;
    this.#filters = filters;
    this.#newest = newest;
  }

  /** Makes the first generation, with room for the expected keys. */
  static create(options: BloomOptions): BloomGenerations {
    return new BloomGenerations(options, [BloomFilter.create(generation(options, 0))]);
  }

  /** Attaches to the generations of another thread or of a snapshot. */
  static attach(handle: BloomHandle): BloomGenerations {
    const { expectedKeys, falsePositiveRate, buffers } = handle;
    const filters = buffers.map((buffer) => BloomFilter.attach(buffer));
    return new BloomGenerations({ expectedKeys, falsePositiveRate }, filters);
  }

  get handle(): BloomHandle {
    const { expectedKeys, falsePositiveRate } = this.#options;
    return {
      buffers: this.#filters.map((filter) => filter.buffer),
      expectedKeys,
      falsePositiveRate,
    };
  }

  /** Oldest first; for snapshots and inspection. */
  get filters(): readonly BloomFilter[] {
    return this.#filters;
  }

  /** Keys in all generations. */
  get keys(): number {
    let keys = 0;
    for (const filter of this.#filters) keys += filter.keys;
    return keys;
  }

  get bytes(): number {
    let bytes = 0;
    for (const filter of this.#filters) bytes += filter.bytes;
    return bytes;
  }

  /** Whether the thread that decides should call `grow` now. */
  get needsGrowth(): boolean {
    return this.#newest.isFull && this.#filters.length < GENERATIONS_MAX;
  }

  /** False: the key was never added. True: it was, or this is a false positive. */
  mayHave(hi: number, lo: number): boolean {
    for (let index = this.#filters.length - 1; index >= 0; index--) {
      if (this.#filters[index]?.mayHave(hi, lo)) return true;
    }
    return false;
  }

  /** Adds a key to the newest generation unless an older one may have it. True when it was certainly new. */
  add(hi: number, lo: number): boolean {
    for (let index = this.#filters.length - 2; index >= 0; index--) {
      if (this.#filters[index]?.mayHave(hi, lo)) return false;
    }
    return this.#newest.add(hi, lo);
  }

  /** Makes the next generation and returns its buffer, for the message to the other threads. */
  grow(): SharedArrayBuffer {
    assert(
      this.#filters.length < GENERATIONS_MAX,
      () => `more than ${GENERATIONS_MAX} generations`,
    );
    const filter = BloomFilter.create(generation(this.#options, this.#filters.length));
    this.#append(filter);
    return filter.buffer;
  }

  /** Takes the generation that another thread made. One that is known already is ignored. */
  adopt(buffer: SharedArrayBuffer): void {
    const filter = BloomFilter.attach(buffer);
    if (this.#filters.some((known) => known.buffer === buffer)) return;
    assert(
      this.#filters.length < GENERATIONS_MAX,
      () => `more than ${GENERATIONS_MAX} generations`,
    );
    this.#append(filter);
  }

  #append(filter: BloomFilter): void {
    this.#filters.push(filter);
    this.#newest = filter;
  }
}

/** The options of a generation, counted from 0. */
function generation(options: BloomOptions, index: number): BloomOptions {
  const growth = index === 0 ? 1 : 2 ** (index - 1);
  const rate = options.falsePositiveRate * 0.75 * 0.25 ** index;
  return {
    expectedKeys: Math.min(2 ** 31, options.expectedKeys * growth),
    falsePositiveRate: Math.max(RATE_MIN, rate),
  };
}
