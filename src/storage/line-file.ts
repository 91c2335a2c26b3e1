// Binary search and reading by lines in a sorted text file, by positional reads of a page at a time, so that an index of any size is looked up
// in about log2(size / page) reads and never loaded. Used by the CDXJ index (cdxj.ts).
// Lines are strings of bytes (Latin-1), so that comparing strings compares bytes, the order in which the file is sorted.

import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFully } from './files.ts';

const PAGE_BYTES = 8192;
const LINE_FEED = 10;
/** A line longer than this ends the file for us: 4 MiB, above any header a record can hold. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;

export class LineFile {
  readonly #fd: number;
  readonly #size: number;
  #page = Buffer.alloc(0);
  #pageStart = 0;

  private constructor(fd: number) {
    this.#fd = fd;
    this.#size = fstatSync(fd).size;
  }

  /**
   * The lines of a sorted file from the first one that is not less than `key`, without line feeds. The file is closed when the iteration
   * ends or is left.
   */
  static *linesFrom(path: string, key: string): Generator<string, void, undefined> {
    const fd = openSync(path, 'r');
    try {
      const file = new LineFile(fd);
      let at = key === '' ? 0 : file.#lowerBound(key);
      for (;;) {
        const line = file.#lineAt(at);
        if (line === undefined) return;
        at += line.length + 1;
        if (line >= key) yield line;
      }
    } finally {
      closeSync(fd);
    }
  }

  /** Offset of a line start at or before the first line ≥ key, at most a page before it. */
  #lowerBound(key: string): number {
    let low = 0;
    let high = this.#size;
    while (high - low > PAGE_BYTES) {
      const middle = low + Math.floor((high - low) / 2);
      const start = this.#nextLineStart(middle);
      if (start >= high) {
        high = middle;
        continue;
      }
      const line = this.#lineAt(start);
      if (line !== undefined && line < key) low = start;
      else high = middle;
    }
    return low;
  }

  /** Offset just after the first line feed at or after `at`. */
  #nextLineStart(at: number): number {
    const line = this.#lineAt(at);
    return line === undefined ? this.#size : at + line.length + 1;
  }

  /** Text from `at` to the next line feed; undefined at the file's end. */
  #lineAt(at: number): string | undefined {
    if (at >= this.#size) return undefined;
    const pageEnd = this.#pageStart + this.#page.length;
    if (at < this.#pageStart || at >= pageEnd) this.#load(at, PAGE_BYTES);
    for (let bytes = PAGE_BYTES * 4; ; bytes *= 4) {
      const from = at - this.#pageStart;
      const lineFeed = this.#page.indexOf(LINE_FEED, from);
      if (lineFeed >= 0) return this.#page.toString('latin1', from, lineFeed);
      const atEnd = this.#pageStart + this.#page.length >= this.#size;
      if (atEnd) return this.#page.toString('latin1', from);
      if (bytes > LINE_BYTES_MAX) return undefined;
      this.#load(at, bytes);
    }
  }

  #load(at: number, bytes: number): void {
    const page = Buffer.allocUnsafeSlow(Math.min(bytes, this.#size - at));
    this.#page = page.subarray(0, readFully(this.#fd, page, at));
    this.#pageStart = at;
  }
}
