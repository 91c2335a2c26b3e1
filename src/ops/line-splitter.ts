// Cuts a stream of bytes into lines of bounded length: whoever sends a line without end costs one
// line's memory, not more. Used by both ends of the debug socket; knows nothing of what the lines
// say (DESIGN.md §10, I10).

/** What a chunk completed. */
export interface SplitLines {
  readonly lines: readonly string[];
  /** A line was longer than allowed; nothing more can be read from this stream. */
  readonly overflow: boolean;
}

/** See the head of this file. */
export class LineSplitter {
  readonly #lineBytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isBroken = false;

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  /** Takes bytes in; gives the lines they complete, as UTF-8, without their ends (LF or CR LF). */
  push(chunk: Buffer): SplitLines {
    const lines: string[] = [];
    let rest = chunk;
    while (!this.#isBroken) {
      const end = rest.indexOf(0x0a);
      const part = end < 0 ? rest : rest.subarray(0, end);
      this.#bytes += part.byteLength;
      if (this.#bytes > this.#lineBytesMax) {
        this.#isBroken = true;
        this.#parts = [];
        break;
      }
      if (part.byteLength > 0) this.#parts.push(part);
      if (end < 0) break;
      lines.push(this.#take());
      rest = rest.subarray(end + 1);
    }
    return { lines, overflow: this.#isBroken };
  }

  /** The line the stream ended in, if it did not end with one; undefined when there is none. */
  finish(): string | undefined {
    if (this.#isBroken || this.#bytes === 0) return undefined;
    return this.#take();
  }

  #take(): string {
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#bytes = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
