// Near-duplicate fingerprints (steps 10 and 11): a 64-bit simhash over shingles of three words of a page's visible text, so that pages
// that differ in a few words differ in a few bits. Words are taken from the bytes, without decoding. The low six bits of the 64 counters
// are kept as bit planes: adding a feature is a dozen logical operations on each 32-bit half instead of 64 additions, and only what
// carries out of the planes, one bit of 64, is counted singly; that keeps a 100 KB page under 400 µs (bench/link-scanner.bench.ts).
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

/** Bits of each counter that are kept in planes. */
const PLANES = 6;

/** Collects the features of one page. Give it to scanLinks as its text sink, then call finish. */
export class SimhashBuilder implements TextSink {
  readonly #carries = new Int32Array(64);
  readonly #low = new Int32Array(PLANES);
  readonly #high = new Int32Array(PLANES);
  #features = 0;
  #form = 0;
  #previous = 0;
  #beforePrevious = 0;

  /** Adds the words of `bytes[start, end)`. Letters count without case; other ASCII bytes separate words. */
  addText(bytes: Uint8Array, start: number, end: number): void {
    let hash = 0;
    let digits = 0;
    for (let at = start; at < end; at++) {
      const letter = LETTERS[bytes[at]!]!;
      if (letter === 0 || letter >= BEGINS_WORD) {
        if (hash !== 0) this.#addWord(hash, digits & DIGIT);
        hash = 0;
        digits = 0;
        if (letter === 0) continue;
      }
      hash = (Math.imul(hash, 0x01000193) + (letter & 0xff)) | 0;
      digits |= letter;
    }
    if (hash !== 0) this.#addWord(hash, digits & DIGIT);
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
    this.#count(addToPlanes(this.#low, low), 0);
    this.#count(addToPlanes(this.#high, high), 32);
    this.#features++;
  }

  /** The fingerprint of all that was added: a bit is set where more than half of the features have it. */
  finish(): Simhash {
    let high = 0;
    let low = 0;
    for (let bit = 0; bit < 32; bit++) {
      if (this.#total(this.#low, bit, 0) * 2 > this.#features) low |= 1 << bit;
      if (this.#total(this.#high, bit, 32) * 2 > this.#features) high |= 1 << bit;
    }
    return { high: high >>> 0, low: low >>> 0, features: this.#features };
  }

  #addWord(hash: number, digits: number): void {
    if (digits === 0) this.#form = scramble(Math.imul(this.#form, 0x2c1b3c6d) ^ hash) | 1;
    const first = Math.imul(this.#beforePrevious, 0x2c1b3c6d);
    const mixed = (Math.imul(first ^ this.#previous, 0x297a2d39) ^ hash) | 0;
    this.#beforePrevious = this.#previous;
    this.#previous = hash;
    this.addFeature(scramble(mixed ^ 0x5bd1e995), scramble(mixed));
  }

  /** Counts the bits that carried out of the planes. */
  #count(carry: number, offset: number): void {
    for (let bits = carry; bits !== 0; bits &= bits - 1) {
      this.#carries[offset + 31 - Math.clz32(bits & -bits)]!++;
    }
  }

  #total(planes: Int32Array, bit: number, offset: number): number {
    let total = this.#carries[offset + bit]! << PLANES;
    for (let plane = 0; plane < PLANES; plane++) total += ((planes[plane]! >>> bit) & 1) << plane;
    return total;
  }
}

/** Adds one to the counter of every bit set; answers the bits whose counter overflowed its planes. */
function addToPlanes(planes: Int32Array, bits: number): number {
  const zero = planes[0]!;
  const one = planes[1]!;
  const two = planes[2]!;
  planes[0] = zero ^ bits;
  let carry = bits & zero;
  planes[1] = one ^ carry;
  carry &= one;
  planes[2] = two ^ carry;
  carry &= two;
  for (let plane = 3; carry !== 0 && plane < PLANES; plane++) {
    const old = planes[plane]!;
    planes[plane] = old ^ carry;
    carry &= old;
  }
  return carry;
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
