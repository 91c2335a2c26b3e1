// Growing byte buffer for hand-packed rows, log entries and checkpoint batches (step 10 of a URL's life). Hand packing costs 0.28 µs for
// a URL where structured clone costs 2.0 (PERFORMANCE.md), and the bytes cross threads by transfer, without a copy. Keys are big-endian
// so that LMDB's byte order is numeric order; everything else is little-endian or a varint. The reading side is byte-reader.ts.

import { assert } from '../base/assert.ts';

const VARINT_SPLIT = 2 ** 28;
/** Most bytes one varint takes: 53 bits in groups of seven. */
const VARINT_BYTES_MAX = 8;

/** Appends values to a buffer that grows by doubling. Not shared between threads while it is written. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  readonly #transferable: boolean;

  /**
   * @param capacity first size in bytes; an estimate saves copies
   * @param use `transfer` gives the bytes an ArrayBuffer of their own; small ones of those are costly, so rows share pooled memory
   */
  constructor(capacity = 1024, use: 'row' | 'transfer' = 'row') {
    this.#transferable = use === 'transfer';
    this.#bytes = this.#allocate(Math.max(capacity, 16));
  }

  /** Bytes written so far; also the position of the next one. */
  get length(): number {
    return this.#length;
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = this.#allocate(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  #allocate(capacity: number): Buffer {
    if (!this.#transferable) return Buffer.allocUnsafe(capacity);
    return Buffer.allocUnsafeSlow(capacity);
  }

  u8(value: number): void {
    this.reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** Big-endian, as keys need it. */
  u16(value: number): void {
    this.reserve(2);
    this.#length = this.#bytes.writeUInt16BE(value, this.#length);
  }

  /** Little-endian. */
  u32(value: number): void {
    this.reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  /** Big-endian, as keys need it. */
  u64(value: bigint): void {
    this.reserve(8);
    this.#length = this.#bytes.writeBigUInt64BE(value, this.#length);
  }

  f64(value: number): void {
    this.reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** @param value a whole number, 0 … 2^53 − 1; seven bits a byte, lowest first */
  varint(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, () => `varint of ${value}`);
    this.reserve(VARINT_BYTES_MAX);
    let rest = value;
    while (rest >= VARINT_SPLIT) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Bytes as they are, without a length. */
  raw(value: Uint8Array): void {
    this.reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Room for `count` bytes, which the caller writes before anything else is written. */
  claim(count: number): Buffer {
    this.reserve(count);
    this.#length += count;
    return this.#bytes.subarray(this.#length - count, this.#length);
  }

  /** A length as varint, then the bytes. */
  block(value: Uint8Array): void {
    this.varint(value.length);
    this.raw(value);
  }

  /** A length in bytes as varint, then UTF-8. Lone surrogates become U+FFFD. */
  text(value: string): void {
    const length = value.length;
    this.reserve(length * 3 + VARINT_BYTES_MAX);
    if (length < 43) {
      // Even at three bytes a unit the length fits one varint byte: write first, then state how much it was.
      const written = this.#bytes.write(value, this.#length + 1, 'utf8');
      this.#bytes[this.#length] = written;
      this.#length += 1 + written;
      return;
    }
    this.varint(Buffer.byteLength(value, 'utf8'));
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  /** Text that may be absent. */
  optionalText(value: string | undefined): void {
    this.u8(value === undefined ? 0 : 1);
    if (value !== undefined) this.text(value);
  }

  /** Overwrites four bytes written earlier, little-endian. */
  setU32(position: number, value: number): void {
    assert(position + 4 <= this.#length, () => `setU32 at ${position} of ${this.#length}`);
    this.#bytes.writeUInt32LE(value, position);
  }

  /** The bytes from `start`, as a view that is valid until the next write. */
  view(start = 0): Buffer {
    return this.#bytes.subarray(start, this.#length);
  }

  /** A copy of everything written; the writer may be used again after `clear`. */
  copy(): Buffer {
    return Buffer.from(this.view());
  }

  /** The bytes, of a `transfer` writer over an ArrayBuffer of their own; the writer must not be used afterwards. */
  take(): Buffer {
    const taken = this.view();
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }

  /** Forgets what was written and keeps the room. */
  clear(): void {
    this.#length = 0;
  }
}
