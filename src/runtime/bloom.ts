// The seen set's first answer (step 4): a blocked Bloom filter in shared memory. A key sets its bits inside one 64-byte line, so a
// look-up is one cache miss; any thread may look, without locks, and only the owner of a URL adds it. A bit is read before it is set:
// most adds of a filled filter change little, and an atomic OR costs far more than a load (PERFORMANCE.md). "No" is always true; "yes" is
// wrong at the rate the size was computed for (bloom-sizing.ts). The buffer has a 64-byte header, then the blocks; it is the handle by
// which other threads attach.
import { assert } from '../base/assert.ts';
import { BLOCK_BITS, sizeBloom } from './bloom-sizing.ts';

/** First word of a filter's header. */
export const BLOOM_MAGIC = 0x484c_424d;
/** Second word; changes with the header or with the way bits are chosen. */
export const BLOOM_VERSION = 1;
/** Bytes before the first block. */
export const BLOOM_HEADER_BYTES = 64;
const BLOCK_WORDS = BLOCK_BITS / 32;
const HEADER_WORDS = BLOOM_HEADER_BYTES / 4;

/** Words of the header. */
const FIELD = { magic: 0, version: 1, blocks: 2, bitsPerKey: 3, keysMax: 4, keys: 5 } as const;

/** Options of a new filter. */
export interface BloomOptions {
  /** Keys at which the rate is met, 1 … 2^31. */
  readonly expectedKeys: number;
  /** 1e-6 … 0.5. */
  readonly falsePositiveRate: number;
}

/** A filter over a SharedArrayBuffer. */
export class BloomFilter {
  /** What other threads attach to. */
  readonly buffer: SharedArrayBuffer;
  readonly blocks: number;
  readonly bitsPerKey: number;
  /** Keys at which the rate is met. */
  readonly keysMax: number;
  readonly #words: Uint32Array;

  private constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#words = new Uint32Array(buffer);
    this.blocks = this.#words[FIELD.blocks] as number;
    this.bitsPerKey = this.#words[FIELD.bitsPerKey] as number;
    this.keysMax = this.#words[FIELD.keysMax] as number;
  }

  /** Makes an empty filter. */
  static create(options: BloomOptions): BloomFilter {
    assert(options.expectedKeys <= 2 ** 31, () => `a filter for ${options.expectedKeys} keys`);
    const { blocks, bitsPerKey } = sizeBloom(options.expectedKeys, options.falsePositiveRate);
    const words = new Uint32Array(
      new SharedArrayBuffer(BLOOM_HEADER_BYTES + blocks * BLOCK_WORDS * 4),
    );
    words[FIELD.magic] = BLOOM_MAGIC;
    words[FIELD.version] = BLOOM_VERSION;
    words[FIELD.blocks] = blocks;
    words[FIELD.bitsPerKey] = bitsPerKey;
    words[FIELD.keysMax] = Math.ceil(options.expectedKeys);
    return new BloomFilter(words.buffer);
  }

  /** Attaches to a filter of another thread or of a snapshot. */
  static attach(buffer: SharedArrayBuffer): BloomFilter {
    const problem = bloomHeaderProblem(buffer);
    assert(problem === undefined, () => `not a filter: ${problem}`);
    return new BloomFilter(buffer);
  }

  /** Keys added, as far as they changed a bit; several threads may count at once. */
  get keys(): number {
    return Atomics.load(this.#words, FIELD.keys);
  }

  /** Whether the filter holds as many keys as its rate allows. */
  get isFull(): boolean {
    return this.keys >= this.keysMax;
  }

  get bytes(): number {
    return this.buffer.byteLength;
  }

  /** False: the key was never added. True: it was, or this is one of the false positives. */
  mayHave(hi: number, lo: number): boolean {
    const words = this.#words;
    const base = this.#lineOf(hi);
    let mixed = bitSeed(hi, lo);
    for (let bit = this.bitsPerKey; bit > 0; bit--) {
      mixed = nextBit(mixed);
      const position = mixed >>> 23;
      const word = Atomics.load(words, base + (position >>> 5));
      if ((word & (1 << (position & 31))) === 0) return false;
    }
    return true;
  }

  /** Adds a key. True when that changed the filter: the key was certainly new. */
  add(hi: number, lo: number): boolean {
    const words = this.#words;
    const base = this.#lineOf(hi);
    let mixed = bitSeed(hi, lo);
    let wasNew = false;
    for (let bit = this.bitsPerKey; bit > 0; bit--) {
      mixed = nextBit(mixed);
      const position = mixed >>> 23;
      const index = base + (position >>> 5);
      const mask = 1 << (position & 31);
      if ((Atomics.load(words, index) & mask) !== 0) continue;
      if ((Atomics.or(words, index, mask) & mask) === 0) wasNew = true;
    }
    if (wasNew) Atomics.add(words, FIELD.keys, 1);
    return wasNew;
  }

  /** The fraction of bits set, from up to `blocksMax` blocks spread over the filter. */
  fillRatio(blocksMax = 1024): number {
    const sampled = Math.min(blocksMax, this.blocks);
    let ones = 0;
    for (let sample = 0; sample < sampled; sample++) {
      const block = Math.floor((sample * this.blocks) / sampled);
      const base = HEADER_WORDS + block * BLOCK_WORDS;
      for (let word = base; word < base + BLOCK_WORDS; word++) {
        ones += popCount(Atomics.load(this.#words, word));
      }
    }
    return ones / (sampled * BLOCK_BITS);
  }

  /** First word of the line a key lives in: the upper half scaled to the number of blocks. */
  #lineOf(hi: number): number {
    const block = Math.floor(((hi >>> 0) / 2 ** 32) * this.blocks);
    return HEADER_WORDS + block * BLOCK_WORDS;
  }
}

/** The bytes that a header (64 bytes at the start of a buffer) claims for its filter; undefined when it is none. */
export function bloomBytesByHeader(buffer: ArrayBufferLike): number | undefined {
  if (buffer.byteLength < BLOOM_HEADER_BYTES) return undefined;
  const words = new Uint32Array(buffer, 0, HEADER_WORDS);
  if (words[FIELD.magic] !== BLOOM_MAGIC || words[FIELD.version] !== BLOOM_VERSION)
    return undefined;
  const blocks = words[FIELD.blocks] as number;
  const bitsPerKey = words[FIELD.bitsPerKey] as number;
  if (blocks === 0 || bitsPerKey < 1 || bitsPerKey > 16) return undefined;
  return BLOOM_HEADER_BYTES + blocks * BLOCK_WORDS * 4;
}

/** Says what is wrong with a buffer that should hold a filter; undefined when nothing is. */
export function bloomHeaderProblem(buffer: ArrayBufferLike): string | undefined {
  const bytes = bloomBytesByHeader(buffer);
  if (bytes === undefined) return 'no header of this version';
  return buffer.byteLength === bytes ? undefined : `${buffer.byteLength} bytes, not ${bytes}`;
}

/** Mixes both halves into the start of a key's sequence of bits; the line uses the upper half alone. */
function bitSeed(hi: number, lo: number): number {
  const mixed = Math.imul(lo ^ Math.imul(hi, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 16);
}

/** The next word of the sequence (a 32-bit linear congruence, odd increment); its top nine bits are a position. */
function nextBit(word: number): number {
  const next = (Math.imul(word, 0x2c1b3c6d) + 0x3c6ef35f) | 0;
  return next ^ (next >>> 15);
}

function popCount(word: number): number {
  let count = word - ((word >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
