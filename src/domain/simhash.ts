// Near-duplicate fingerprints (steps 10 and 11): a 64-bit simhash over shingles of three words of a page's visible text, so that pages
// that differ in a few words differ in a few bits. Words are taken from the bytes, without decoding. The 64 counters are kept as bit
// planes: adding a feature is a few logical operations on two 32-bit halves instead of 64 additions, and every fifteenth time the planes
// are emptied into real counters; that keeps a 100 KB page under 400 µs (bench/link-scanner.bench.ts).
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

/** Adds planes hold up to 2⁴ − 1. */
const PLANE_CAPACITY = 15;

/** Collects the features of one page. Give it to scanLinks as its text sink, then call finish. */
export class SimhashBuilder implements TextSink {
  readonly #counts = new Int32Array(64);
  readonly #low = new Int32Array(4);
  readonly #high = new Int32Array(4);
  #pending = 0;
  #features = 0;
  #previous = 0;
  #beforePrevious = 0;

  /** Adds the words of `bytes[start, end)`. Letters count without case; other ASCII bytes separate words. */
  addText(bytes: Uint8Array, start: number, end: number): void {
    let hash = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      const class_ = BYTE_CLASS[byte]!;
      if (class_ === SEPARATOR) {
        if (hash !== 0) this.#addWord(hash);
        hash = 0;
        continue;
      }
      if (class_ === IDEOGRAPH && hash !== 0) {
        this.#addWord(hash);
        hash = 0;
      }
      hash = (Math.imul(hash, 0x01000193) + FOLDED[byte]! + 1) | 0;
    }
    if (hash !== 0) this.#addWord(hash);
  }

  /** Adds one feature by its hash, in two halves of 32 bits. */
  addFeature(high: number, low: number): void {
    addToPlanes(this.#low, low);
    addToPlanes(this.#high, high);
    this.#features++;
    if (++this.#pending === PLANE_CAPACITY) this.#empty();
  }

  /** The fingerprint of all that was added: a bit is set where more than half of the features have it. */
  finish(): Simhash {
    this.#empty();
    let high = 0;
    let low = 0;
    for (let bit = 0; bit < 32; bit++) {
      if (this.#counts[bit]! * 2 > this.#features) low |= 1 << bit;
      if (this.#counts[bit + 32]! * 2 > this.#features) high |= 1 << bit;
    }
    return { high: high >>> 0, low: low >>> 0, features: this.#features };
  }

  #addWord(hash: number): void {
    const first = Math.imul(this.#beforePrevious, 0x2c1b3c6d);
    const mixed = (Math.imul(first ^ this.#previous, 0x297a2d39) ^ hash) | 0;
    this.#beforePrevious = this.#previous;
    this.#previous = hash;
    this.addFeature(scramble(mixed ^ 0x5bd1e995), scramble(mixed));
  }

  #empty(): void {
    const counts = this.#counts;
    for (let plane = 0; plane < 4; plane++) {
      const low = this.#low[plane]!;
      const high = this.#high[plane]!;
      for (let bit = 0; bit < 32; bit++) {
        counts[bit]! += ((low >>> bit) & 1) << plane;
        counts[bit + 32]! += ((high >>> bit) & 1) << plane;
      }
    }
    this.#low.fill(0);
    this.#high.fill(0);
    this.#pending = 0;
  }
}

function addToPlanes(planes: Int32Array, bits: number): void {
  const ones = planes[0]!;
  planes[0] = ones ^ bits;
  const carryTwo = ones & bits;
  const twos = planes[1]!;
  planes[1] = twos ^ carryTwo;
  const carryFour = twos & carryTwo;
  const fours = planes[2]!;
  planes[2] = fours ^ carryFour;
  planes[3]! ^= fours & carryFour;
}

/** Mixes 32 bits so that each depends on all. Source: the finaliser of MurmurHash3 with Wellons' "lowbias32" constants. */
function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}

const SEPARATOR = 0;
const LETTER = 1;
/** The first byte of a UTF-8 character from U+3000 on: scripts without blanks, in which each character is taken as a word. */
const IDEOGRAPH = 2;

const BYTE_CLASS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0xe3) return IDEOGRAPH;
  if (byte >= 0x80) return LETTER;
  return /[0-9A-Za-z]/.test(String.fromCharCode(byte)) ? LETTER : SEPARATOR;
});
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

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

function bitCount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
