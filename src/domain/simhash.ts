// Near-duplicate fingerprints (steps 10 and 11): a 64-bit simhash over shingles of three words of a page's visible text, so that pages
// that differ in a few words differ in a few bits. Words are taken from the bytes, without decoding, and their shingles counted in batches
// with upright counters, which keeps a 100 KB page under 400 µs (bench/link-scanner.bench.ts).
// Source: Charikar, STOC 2002; Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.
import type { TextSink } from './link-scanner.ts';

/** A fingerprint: two halves of 32 bits, unsigned, and how many features went into it. */
export interface Simhash {
  readonly high: number;
  readonly low: number;
  /** Shingles counted; 0 for a page without text, whose fingerprint says nothing. */
  readonly features: number;
}

/** Pages at most this many bits apart are near duplicates. Source: Manku et al. §4.1.1, for eight billion pages. */
export const NEAR_DUPLICATE_BITS_MAX = 3;

/** Features counted in one go: what the six bit planes of `countBatch` hold without a carry. */
const BATCH = 63;

/** Collects the features of one page. Give it to scanLinks as its text sink, then call finish. */
export class SimhashBuilder implements TextSink {
  /** For each of the 64 bits, the low half first, how many features have it. Plain arrays of small integers: made for every page. */
  readonly #counts: number[] = new Array<number>(64).fill(0);
  readonly #lows = new Array<number>(BATCH).fill(0);
  readonly #highs = new Array<number>(BATCH).fill(0);
  #waiting = 0;
  #features = 0;
  #form = 0;
  #previous = 0;
  #beforePrevious = 0;

  /** Adds the words of `bytes[start, end)`. Letters count without case; other ASCII bytes separate words. */
  addText(bytes: Uint8Array, start: number, end: number): void {
    let hash = 0;
    let marks = 0;
    for (let at = start; at < end; at++) {
      const letter = LETTERS[bytes[at]!]!;
      if (letter === 0 || letter >= BEGINS_WORD) {
        if (hash !== 0) this.#addWord(hash, marks & DIGIT);
        hash = 0;
        marks = 0;
        if (letter === 0) continue;
      }
      hash = (Math.imul(hash, 0x01000193) + (letter & 0xff)) | 0;
      marks |= letter;
    }
    if (hash !== 0) this.#addWord(hash, marks & DIGIT);
  }

  /**
   * A hash of the text with all numbers and ids left out: 32 bits, unsigned, 0 for no words. Pages of a trap that counts, be it days or
   * sessions, show no other difference and have one form, however short their text, where a fingerprint of few features says little.
   */
  get form(): number {
    return this.#form >>> 0;
  }

  /** Adds one feature by its hash, in two halves of 32 bits. */
  addFeature(high: number, low: number): void {
    this.#highs[this.#waiting] = high | 0;
    this.#lows[this.#waiting] = low | 0;
    this.#waiting += 1;
    if (this.#waiting === BATCH) this.#count();
  }

  /** The fingerprint of all that was added: a bit is set where more than half of the features have it. */
  finish(): Simhash {
    this.#count();
    const half = (offset: number): number => {
      let bits = 0;
      for (let bit = 0; bit < 32; bit++) {
        if (this.#counts[offset + bit]! * 2 > this.#features) bits |= 1 << bit;
      }
      return bits >>> 0;
    };
    return { high: half(32), low: half(0), features: this.#features };
  }

  /** A shingle: the word and the two before it. */
  #addWord(hash: number, digits: number): void {
    if (digits === 0) this.#form = scramble(Math.imul(this.#form, 0x2c1b3c6d) ^ hash) | 1;
    const first = Math.imul(this.#beforePrevious, 0x2c1b3c6d);
    this.#beforePrevious = this.#previous;
    const mixed = (Math.imul(first ^ this.#previous, 0x297a2d39) ^ hash) | 0;
    this.#previous = hash;
    this.addFeature(scramble(mixed ^ 0x5bd1e995), scramble(mixed));
  }

  #count(): void {
    countBatch(this.#lows, this.#waiting, this.#counts, 0);
    countBatch(this.#highs, this.#waiting, this.#counts, 32);
    this.#features += this.#waiting;
    this.#waiting = 0;
  }
}

/**
 * Adds 32 bits of each feature to their counters. While a batch runs the counters stand upright, one bit of all 32 in each of six words, so
 * that a feature takes a dozen and a half logical operations instead of 32 additions.
 * @param halves of features
 * @param length how many, at most BATCH
 * @param counts the counters from `offset` on
 */
function countBatch(
  halves: readonly number[],
  length: number,
  counts: number[],
  offset: number,
): void {
  let [ones, twos, fours, eights, sixteens, rest] = [0, 0, 0, 0, 0, 0];
  for (let at = 0; at < length; at++) {
    let carry = halves[at]!;
    let sum = ones ^ carry;
    carry &= ones;
    ones = sum;
    sum = twos ^ carry;
    carry &= twos;
    twos = sum;
    sum = fours ^ carry;
    carry &= fours;
    fours = sum;
    sum = eights ^ carry;
    carry &= eights;
    eights = sum;
    sum = sixteens ^ carry;
    carry &= sixteens;
    sixteens = sum;
    rest ^= carry;
  }
  for (let bit = 0; bit < 32; bit++) {
    const low = ((ones >>> bit) & 1) + ((twos >>> bit) & 1) * 2 + ((fours >>> bit) & 1) * 4;
    const high = ((eights >>> bit) & 1) + ((sixteens >>> bit) & 1) * 2 + ((rest >>> bit) & 1) * 4;
    counts[offset + bit]! += low + high * 8;
  }
}

/** Mixes 32 bits so that each depends on all. Source: the finaliser of MurmurHash3 with Wellons' "lowbias32" constants. */
function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}

/** Marks in LETTERS: a digit, which makes its word a number or an id; a byte that begins a word of its own. */
const DIGIT = 0x100;
const BEGINS_WORD = 0x200;
/** The first byte of a UTF-8 character from U+3000 on: scripts without blanks, in which each character is taken as a word. */
const IDEOGRAPH_BYTE = 0xe3;

/** What each byte adds to a word's hash, letters without case, with its marks; 0 for bytes that separate words. */
const LETTERS = Uint16Array.from({ length: 256 }, (_, byte) => {
  if (byte >= IDEOGRAPH_BYTE) return byte | BEGINS_WORD;
  if (byte < 0x80 && !/[0-9A-Za-z]/.test(String.fromCharCode(byte))) return 0;
  if (byte >= 0x30 && byte <= 0x39) return byte | DIGIT;
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
});

/**
 * The fingerprint of a plain text.
 * @param bytes of the text, in UTF-8 or another encoding that extends ASCII
 */
export function simhashOfText(bytes: Uint8Array): Simhash {
  const builder = new SimhashBuilder();
  builder.addText(bytes, 0, bytes.length);
  return builder.finish();
}

/** The number of bits in which two fingerprints differ, 0 … 64. */
export function hammingDistance(
  a: Pick<Simhash, 'high' | 'low'>,
  b: Pick<Simhash, 'high' | 'low'>,
): number {
  return bitCount(a.high ^ b.high) + bitCount(a.low ^ b.low);
}

/** True when two pages are near duplicates; pages without text are near duplicates of nothing. */
export function isNearDuplicate(a: Simhash, b: Simhash): boolean {
  if (a.features === 0 || b.features === 0) return false;
  return hammingDistance(a, b) <= NEAR_DUPLICATE_BITS_MAX;
}

/** The fingerprint as sixteen hexadecimal digits. */
export function simhashHex(simhash: Pick<Simhash, 'high' | 'low'>): string {
  const half = (value: number) => (value >>> 0).toString(16).padStart(8, '0');
  return half(simhash.high) + half(simhash.low);
}

/** What `simhashHex` wrote, as a fingerprint that says something. */
export function simhashOfHex(text: string): Simhash {
  const half = (at: number): number => Number.parseInt(text.slice(at, at + 8), 16) >>> 0;
  return { high: half(0), low: half(8), features: 1 };
}

function bitCount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
