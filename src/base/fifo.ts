// A first-in first-out queue in a ring buffer with a hard bound: mailboxes, run queues, outboxes. Every queue in the crawl has a limit
// (invariant I10), so `push` refuses instead of growing for ever, and the caller decides what refusal means. The ring starts empty and
// doubles on demand, because most queues of a million hosts hold nothing; it is let go when a burst has drained.
import { assert } from './assert.ts';

const RING_MIN = 4;
const RING_KEPT_WHEN_EMPTY = 64;

/** A bounded queue. Push and shift are O(1) amortised. */
export class Fifo<Item> {
  /** The most items it ever holds. */
  readonly countMax: number;
  #ring: (Item | undefined)[] = [];
  #head = 0;
  #count = 0;

  /** @param countMax the bound, at least 1 */
  constructor(countMax: number) {
    assert(countMax >= 1, () => `a queue needs room for one item, got ${countMax}`);
    this.countMax = countMax;
  }

  get size(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.countMax;
  }

  /** Adds at the tail. Returns false, and changes nothing, when the queue is full. */
  push(item: Item): boolean {
    if (this.#count >= this.countMax) return false;
    if (this.#count === this.#ring.length) this.#resize(Math.max(RING_MIN, this.#count * 2));
    this.#ring[(this.#head + this.#count) & (this.#ring.length - 1)] = item;
    this.#count += 1;
    return true;
  }

  /** Takes the oldest item, or undefined when the queue is empty. */
  shift(): Item | undefined {
    if (this.#count === 0) return undefined;
    const item = this.#ring[this.#head];
    this.#ring[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#count -= 1;
    if (this.#count === 0 && this.#ring.length > RING_KEPT_WHEN_EMPTY) this.clear();
    return item;
  }

  /** The oldest item without taking it, or undefined. */
  peek(): Item | undefined {
    return this.#count === 0 ? undefined : this.#ring[this.#head];
  }

  /** The item at a position counted from the oldest, or undefined past the end. */
  at(index: number): Item | undefined {
    if (index < 0 || index >= this.#count) return undefined;
    return this.#ring[(this.#head + index) & (this.#ring.length - 1)];
  }

  /** Forgets every item and the memory they were kept in. */
  clear(): void {
    this.#ring = [];
    this.#head = 0;
    this.#count = 0;
  }

  /** Oldest first. The queue must not change meanwhile. */
  *[Symbol.iterator](): IterableIterator<Item> {
    for (let index = 0; index < this.#count; index++) yield this.at(index) as Item;
  }

  #resize(ringSize: number): void {
    const ring: (Item | undefined)[] = [];
    for (let index = 0; index < ringSize; index++) ring.push(this.at(index));
    assert((ringSize & (ringSize - 1)) === 0, () => `ring size ${ringSize} is no power of two`);
    this.#ring = ring;
    this.#head = 0;
  }
}
