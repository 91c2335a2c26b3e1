// Lines out of a stream of bytes, with a bound on their length: readline has none, and one line of a gigabyte would take the memory of a
// command that is meant to run for days. A line that is too long is skipped to its end and told as such; whoever does not want to hear the
// end of it asks `isSkipping` and hangs up. Used by the NDJSON commands, the reader of seeds and both ends of the debug socket (I10).

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** One line, or the news that it was too long and was skipped. */
export type Line = { readonly text: string } | { readonly tooLong: true };

/** Cuts chunks into lines. Holds at most one line of `lineBytesMax` bytes. */
export class LineSplitter {
  readonly #lineBytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isSkipping = false;

  /** @param lineBytesMax longest line, without its end */
  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  /** True while the line that has begun is already too long. */
  get isSkipping(): boolean {
    return this.#isSkipping;
  }

  /** The lines that end in this chunk. Ends are LF or CRLF; bytes are UTF-8. */
  *push(chunk: Buffer): IterableIterator<Line> {
    let from = 0;
    while (from < chunk.length) {
      const end = chunk.indexOf(NEWLINE, from);
      this.#keep(chunk.subarray(from, end === -1 ? chunk.length : end));
      if (end === -1) return;
      yield this.#take();
      from = end + 1;
    }
  }

  /** A last line that has no end. */
  *finish(): IterableIterator<Line> {
    if (this.#isSkipping || this.#bytes > 0) yield this.#take();
  }

  #keep(part: Buffer): void {
    if (this.#isSkipping || part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes <= this.#lineBytesMax) {
      this.#parts.push(part);
      return;
    }
    this.#isSkipping = true;
    this.#parts = [];
  }

  #take(): Line {
    const isTooLong = this.#isSkipping;
    const [first] = this.#parts;
    let bytes = this.#parts.length === 1 ? (first as Buffer) : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#isSkipping = false;
    if (isTooLong) return { tooLong: true };
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    return { text: bytes.toString('utf8') };
  }
}
