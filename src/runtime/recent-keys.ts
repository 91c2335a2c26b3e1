// The shared exact table of recently seen URL keys (DESIGN.md §6): a link that the Bloom filter knows dies at the parsing thread only if
// its key is here too, so a false "present" would lose a URL and must be impossible, while a false "absent" costs only a message. It is
// set-associative: a key may stand in the eight 64-bit places of one 64-byte line, and a newcomer replaces one of them. Each place is
// written and confirmed as one 64-bit atomic, so a torn read cannot put halves of two keys together whatever threads do; a look-up
// compares the lower halves first, by plain 32-bit reads, which never tear (ECMA-262, IsNoTearConfiguration) and of which a stale one is just a
// false "absent": V8 calls a function for each atomic one, and a 64-bit one in JavaScript makes a bigint. Two writers of one place lose
// one of the two keys, which is a false "absent". No locks, so a thread may die anywhere.
import { assert } from '../base/assert.ts';

const WAYS = 8;
const LINE_BYTES = WAYS * 8;

const pair = new Int32Array(2);
const whole = new BigInt64Array(pair.buffer);
const LOW = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/** A bounded table of 64-bit keys over a SharedArrayBuffer. */
export class RecentKeys {
  /** What other threads attach to. */
  readonly buffer: SharedArrayBuffer;
  readonly #halves: Int32Array;
  readonly #places: BigInt64Array;
  readonly #lineMask: number;

  /** @param buffer of a table made by `create`, here or in another thread */
  constructor(buffer: SharedArrayBuffer) {
    const lines = buffer.byteLength / LINE_BYTES;
    assert(Number.isInteger(Math.log2(lines)), () => `${buffer.byteLength} bytes is no table`);
    this.buffer = buffer;
    this.#halves = new Int32Array(buffer);
    this.#places = new BigInt64Array(buffer);
    this.#lineMask = lines - 1;
  }

  /** Makes an empty table with room for at least `keysMax` keys (rounded up to a power of two, 8 bytes each). */
  static create(keysMax: number): RecentKeys {
    assert(keysMax >= 1, () => `a table for ${keysMax} keys`);
    assert(keysMax <= 2 ** 30, () => `a table for ${keysMax} keys`);
    const lines = 2 ** Math.ceil(Math.log2(Math.max(1, keysMax / WAYS)));
    return new RecentKeys(new SharedArrayBuffer(lines * LINE_BYTES));
  }

  /** Keys it can hold. */
  get keysMax(): number {
    return (this.#lineMask + 1) * WAYS;
  }

  /** True only if the key was added (since the last `clear`). False when it never was, or has been replaced. */
  has(hi: number, lo: number): boolean {
    const wantedLo = lo | 0;
    const wantedHi = hi | 0;
    if (wantedLo === 0 && wantedHi === 0) return false;
    const first = this.#lineOf(hi, lo);
    const halves = this.#halves;
    for (let place = first; place < first + WAYS; place++) {
      if (halves[place * 2 + LOW] !== wantedLo) continue;
      pair[LOW] = wantedLo;
      pair[HIGH] = wantedHi;
      if (Atomics.load(this.#places, place) === (whole[0] as bigint)) return true;
    }
    return false;
  }

  /** Remembers a key. The key 0 marks empty places and is never remembered. */
  add(hi: number, lo: number): void {
    if ((hi | 0) === 0 && (lo | 0) === 0) return;
    if (this.has(hi, lo)) return;
    const first = this.#lineOf(hi, lo);
    const halves = this.#halves;
    let target = first + (victim(hi, lo) & (WAYS - 1));
    for (let place = first; place < first + WAYS; place++) {
      if (halves[place * 2 + LOW] !== 0 || halves[place * 2 + HIGH] !== 0) continue;
      target = place;
      break;
    }
    pair[LOW] = lo | 0;
    pair[HIGH] = hi | 0;
    Atomics.store(this.#places, target, whole[0] as bigint);
  }

  /** Forgets every key. Keys added meanwhile by others may stay. */
  clear(): void {
    for (let place = 0; place < this.#places.length; place++) {
      Atomics.store(this.#places, place, 0n);
    }
  }

  /** First place of the line of a key. */
  #lineOf(hi: number, lo: number): number {
    const mixed = Math.imul(hi ^ (lo >>> 16), 0x9e3779b1);
    return ((mixed ^ (mixed >>> 15)) & this.#lineMask) * WAYS;
  }
}

/** Which place a newcomer takes when its line is full: spread by the key itself, no state to share. */
function victim(hi: number, lo: number): number {
  return Math.imul(lo ^ (hi >>> 11), 0x85ebca6b) >>> 26;
}
