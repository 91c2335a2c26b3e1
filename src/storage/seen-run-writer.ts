// Writes one seen run from keys in ascending order (step 4; storage thread or a pool thread). Memory is bounded whatever the run's size: one
// block of keys, the fences (1/64 byte a key), and the filter (seen-format.ts bounds it).
// The file appears under its name whole and durable, or not at all.

import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { assert } from '../base/assert.ts';
import { renameDurably, writeFully } from './files.ts';
import {
  encodeRunHeader,
  filterBits,
  filterWord,
  filterWordsFor,
  indexPosition,
  PAGE_BYTES,
  PAGE_KEYS,
} from './seen-format.ts';

const BLOCK_KEYS = PAGE_KEYS * 256;

export class SeenRunWriter {
  readonly #path: string;
  readonly #fd: number;
  readonly #block: Uint32Array;
  readonly #filter: Uint32Array;
  readonly #fences: number[] = [];
  #blockKeys = 0;
  #keys = 0;
  #lastHigh = -1;
  #lastLow = -1;
  #checksum = 0;

  /**
   * @param path final name; `<path>.tmp` is written meanwhile
   * @param keysMax upper bound of the number of keys, which sizes the filter
   */
  constructor(path: string, keysMax: number) {
    this.#path = path;
    this.#block = new Uint32Array(Math.max(1, Math.min(BLOCK_KEYS, keysMax)) * 2);
    this.#filter = new Uint32Array(filterWordsFor(keysMax));
    this.#fd = openSync(`${path}.tmp`, 'w');
  }

  /** Appends a key that is not less than the last one; a repeat is left out. */
  add(high: number, low: number): void {
    if (high === this.#lastHigh && low === this.#lastLow) return;
    const ascends = high > this.#lastHigh || (high === this.#lastHigh && low > this.#lastLow);
    assert(ascends, () => 'seen run keys out of order');
    this.#lastHigh = high;
    this.#lastLow = low;
    if (this.#keys % PAGE_KEYS === 0) this.#fences.push(low, high);
    const at = this.#blockKeys * 2;
    this.#block[at] = low;
    this.#block[at + 1] = high;
    this.#blockKeys += 1;
    this.#keys += 1;
    if (this.#filter.length > 0) {
      this.#filter[filterWord(low, this.#filter.length)]! |= filterBits(high);
    }
    if (this.#blockKeys * 2 === this.#block.length) this.#flush();
  }

  /**
   * Writes the index and the header, makes the file durable and gives it its name.
   * @returns keys written
   */
  finish(): number {
    this.#flush();
    // One piece: crc32 of an empty view answers 0 instead of the checksum so far, and a large run has no filter.
    const fenceWords = this.#fences.length;
    const index = new Uint32Array(fenceWords + this.#filter.length);
    index.set(this.#fences);
    index.set(this.#filter, fenceWords);
    const indexBytes = new Uint8Array(index.buffer);
    writeFully(this.#fd, indexBytes, indexPosition(this.#keys));
    const header = encodeRunHeader({
      keys: this.#keys,
      keysChecksum: this.#checksum,
      indexChecksum: crc32(indexBytes),
      filterWords: this.#filter.length,
    });
    writeFully(this.#fd, header, 0);
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    renameDurably(`${this.#path}.tmp`, this.#path);
    return this.#keys;
  }

  /** Gives up: closes and removes the temporary file. */
  abandon(): void {
    closeSync(this.#fd);
    rmSync(`${this.#path}.tmp`, { force: true });
  }

  #flush(): void {
    if (this.#blockKeys === 0) return;
    const bytes = new Uint8Array(this.#block.buffer, 0, this.#blockKeys * 8);
    this.#checksum = crc32(bytes, this.#checksum);
    writeFully(this.#fd, bytes, PAGE_BYTES + (this.#keys - this.#blockKeys) * 8);
    this.#blockKeys = 0;
  }
}
