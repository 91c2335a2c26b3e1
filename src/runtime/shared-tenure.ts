// Which slots of a fixed number may be used, from when, and until when all of them may be: one deadline, and for each slot the time from which
// it is open. Written by one thread, read by any, without a lock: each value is one 64-bit word, so a reader never sees half of one. A
// slot counts as shut until it is opened; times are microseconds of a clock that all threads share.

import { assert } from '../base/assert.ts';

/** Passes between threads as it is. */
export interface TenureMemory {
  readonly words: SharedArrayBuffer;
}

const DEADLINE = 0;
const SHUT = -1n;
const BYTES = 8;
/** 2^53 µs are 285 years. */
const NEVER_US = 2 ** 53;

/** @param slots at least 1, at most 65,536; all shut, the deadline passed */
export function createTenureMemory(slots: number): TenureMemory {
  assert(slots >= 1 && slots <= 65_536, () => `${slots} slots`);
  const words = new SharedArrayBuffer(BYTES * (slots + 1));
  const view = new BigInt64Array(words).fill(SHUT);
  view[DEADLINE] = 0n;
  return { words };
}

export class SharedTenure {
  readonly #words: BigInt64Array;

  constructor(memory: TenureMemory) {
    this.#words = new BigInt64Array(memory.words);
  }

  /** Until when open slots may be used; any time in the past ends all of them. */
  setDeadline(ms: number): void {
    Atomics.store(this.#words, DEADLINE, microseconds(ms));
  }

  open(slot: number, fromMs: number): void {
    Atomics.store(this.#words, this.#at(slot), microseconds(fromMs));
  }

  shut(slot: number): void {
    Atomics.store(this.#words, this.#at(slot), SHUT);
  }

  get deadlineMs(): number {
    return Number(Atomics.load(this.#words, DEADLINE)) / 1_000;
  }

  /** From when the slot may be used, as far as it depends on itself; Infinity for one that is shut. */
  opensMs(slot: number): number {
    const word = Atomics.load(this.#words, this.#at(slot));
    return word === SHUT ? Number.POSITIVE_INFINITY : Number(word) / 1_000;
  }

  /** True while the slot may be used. */
  holds(slot: number, nowMs: number): boolean {
    return nowMs < this.deadlineMs && nowMs >= this.opensMs(slot);
  }

  #at(slot: number): number {
    assert(slot >= 0 && slot + 1 < this.#words.length, () => `no slot ${slot}`);
    return slot + 1;
  }
}

/** Rounded down, so that no deadline is ever late. */
function microseconds(ms: number): bigint {
  return BigInt(Math.floor(Math.min(Math.max(ms * 1_000, 0), NEVER_US)));
}
