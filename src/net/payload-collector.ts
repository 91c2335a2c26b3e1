// Gathers a message body (step 9 of a URL's life), bounded (I10). Most bodies of a crawl arrive in one read and are then not copied at all;
// of a declared length an area is set aside once, if the length is modest: a large one is only believed as its bytes arrive.

/** Largest declared length for which memory is set aside before its bytes are there. */
const TRUSTED_LENGTH_MAX = 1_048_576;

/** One body on its way. */
export class PayloadCollector {
  readonly #bytesMax: number;
  readonly #declared: number | undefined;
  #first: Uint8Array | undefined;
  #area: Uint8Array | undefined;
  #chunks: Uint8Array[] | undefined;
  #length = 0;

  /**
   * @param declared Content-Length, if there is one
   * @param bytesMax bytes kept; what follows is cut off
   */
  constructor(declared: number | undefined, bytesMax: number) {
    this.#declared = declared;
    this.#bytesMax = bytesMax;
  }

  /** Bytes gathered, 0 … bytesMax. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds the next bytes; they must stay unchanged.
   * @returns false when the bound is passed: the rest of these bytes was dropped
   */
  add(bytes: Uint8Array): boolean {
    const room = this.#bytesMax - this.#length;
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, room);
    if (kept.length > 0) this.#keep(kept);
    return kept.length === bytes.length;
  }

  /** The whole body as one array. */
  join(): Uint8Array {
    if (this.#area !== undefined) return this.#area.subarray(0, this.#length);
    if (this.#chunks !== undefined) return joinChunks(this.#chunks, this.#length);
    return this.#first ?? new Uint8Array(0);
  }

  #keep(kept: Uint8Array): void {
    if (this.#length === 0) {
      this.#first = kept;
    } else if (this.#area === undefined && this.#chunks === undefined) {
      this.#second(kept);
    } else if (this.#area !== undefined && this.#length + kept.length <= this.#area.length) {
      this.#area.set(kept, this.#length);
    } else if (this.#area !== undefined) {
      // More than was declared.
      this.#chunks = [this.#area.subarray(0, this.#length), kept];
      this.#area = undefined;
    } else {
      this.#chunks?.push(kept);
    }
    this.#length += kept.length;
  }

  /** A second piece: from now on an area for all, or a list. */
  #second(kept: Uint8Array): void {
    const first = this.#first as Uint8Array;
    const size = Math.min(this.#declared ?? Number.POSITIVE_INFINITY, this.#bytesMax);
    if (size <= TRUSTED_LENGTH_MAX && first.length + kept.length <= size) {
      // Not cleared: every byte that is handed out was written.
      this.#area = Buffer.allocUnsafeSlow(size);
      this.#area.set(first);
      this.#area.set(kept, first.length);
    } else {
      this.#chunks = [first, kept];
    }
    this.#first = undefined;
  }
}

/** Several pieces as one array. */
export function joinChunks(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const joined = Buffer.allocUnsafeSlow(length);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}
