// Bounds-checked reading of what byte-writer.ts wrote. Every length is checked against what is left before it is used, so damaged bytes
// give a ByteDamage and never an endless loop, a huge allocation or an out-of-range read. Callers turn ByteDamage into a CrawlError that
// names the file or row.

const VARINT_BYTES_MAX = 8;

/** The bytes are not what the writer writes. */
export class ByteDamage extends Error {
  override readonly name = 'ByteDamage';
}

/** Reads values in the order they were written. */
export class ByteReader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Position of the next byte. */
  get position(): number {
    return this.#position;
  }

  /** Bytes not yet read. */
  get left(): number {
    return this.#bytes.length - this.#position;
  }

  #advance(count: number): number {
    const start = this.#position;
    if (count > this.#bytes.length - start) {
      throw new ByteDamage(`${count} bytes wanted at ${start} of ${this.#bytes.length}`);
    }
    this.#position = start + count;
    return start;
  }

  u8(): number {
    return this.#bytes[this.#advance(1)] as number;
  }

  u16(): number {
    return this.#bytes.readUInt16BE(this.#advance(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#advance(4));
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64BE(this.#advance(8));
  }

  f64(): number {
    return this.#bytes.readDoubleLE(this.#advance(8));
  }

  /** @returns 0 … 2^53 − 1 */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < VARINT_BYTES_MAX; count++) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) {
        if (!Number.isSafeInteger(value)) throw new ByteDamage(`varint at ${this.#position}`);
        return value;
      }
      scale *= 128;
    }
    throw new ByteDamage(`varint too long at ${this.#position}`);
  }

  /** The next `count` bytes as a view, not a copy. */
  raw(count: number): Buffer {
    const start = this.#advance(count);
    return this.#bytes.subarray(start, start + count);
  }

  /** A varint length, then that many bytes as a view. */
  block(): Buffer {
    return this.raw(this.varint());
  }

  text(): string {
    const count = this.varint();
    const start = this.#advance(count);
    return this.#bytes.toString('utf8', start, start + count);
  }

  optionalText(): string | undefined {
    return this.u8() === 0 ? undefined : this.text();
  }

  /** @throws ByteDamage when anything is left over */
  end(): void {
    if (this.left !== 0) throw new ByteDamage(`${this.left} bytes left over`);
  }
}
