// One immutable sorted run of the seen set, read on a shard (step 4): the fences say which 4 KiB page a key can be on, one positional read
// fetches it. The last page is kept, so that keys confirmed in ascending order read each page once.
// Verified on opening: header and index always, the keys themselves when asked (one pass over the file). A damaged run is a value, for the
// caller to rebuild the set from the frontier log or to refuse; it never throws for what the file holds.

import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { CrawlError } from '../base/errors.ts';
import { onDisk, readFully } from './files.ts';
import {
  decodeRunHeader,
  filterBits,
  filterWord,
  indexPosition,
  PAGE_BYTES,
  PAGE_KEYS,
  pageCount,
  type RunHeader,
} from './seen-format.ts';

export type OpenRunResult =
  | { readonly kind: 'run'; readonly run: SeenRun }
  | { readonly kind: 'damaged'; readonly reason: string };

const SCAN_BYTES = 256 * PAGE_BYTES;

export class SeenRun {
  readonly #path: string;
  readonly #fd: number;
  readonly #header: RunHeader;
  /** Pairs low, high: the first key of each page. */
  readonly #fences: Uint32Array;
  #filter: Uint32Array | undefined;
  readonly #page = new Uint32Array(PAGE_KEYS * 2);
  readonly #pageBytes = new Uint8Array(this.#page.buffer);
  #pageIndex = -1;

  private constructor(path: string, fd: number, header: RunHeader, fences: Uint32Array) {
    this.#path = path;
    this.#fd = fd;
    this.#header = header;
    this.#fences = fences;
  }

  /**
   * Opens a run.
   * @throws CrawlError `disk` when the system refuses to read
   * @param options `verifyKeys` reads the whole file and compares its checksum; `filter` loads the filter (1.25 bytes a key)
   */
  static open(
    path: string,
    options: { readonly verifyKeys: boolean; readonly filter: boolean },
  ): OpenRunResult {
    if (!existsSync(path)) return { kind: 'damaged', reason: `${path} is missing` };
    const fd = onDisk(path, () => openSync(path, 'r'));
    let run: SeenRun | undefined;
    try {
      const loaded = onDisk(path, () => SeenRun.#load(path, fd, options));
      if (typeof loaded === 'string') return { kind: 'damaged', reason: `${path} is ${loaded}` };
      run = loaded;
      return { kind: 'run', run };
    } finally {
      if (run === undefined) closeSync(fd);
    }
  }

  static #load(
    path: string,
    fd: number,
    options: { readonly verifyKeys: boolean; readonly filter: boolean },
  ): SeenRun | string {
    const page = Buffer.alloc(PAGE_BYTES);
    const header = decodeRunHeader(page.subarray(0, readFully(fd, page, 0)));
    if (typeof header === 'string') return header;
    const indexAt = indexPosition(header.keys);
    const fenceBytes = pageCount(header.keys) * 8;
    const size = indexAt + fenceBytes + header.filterWords * 4;
    if (fstatSync(fd).size !== size) return 'cut short or too long';
    const index = new Uint8Array(fenceBytes + header.filterWords * 4);
    if (readFully(fd, index, indexAt) !== index.length) return 'cut short';
    if (crc32(index) !== header.indexChecksum) return 'damaged in its index';
    const fences = new Uint32Array(index.buffer.slice(0, fenceBytes));
    const run = new SeenRun(path, fd, header, fences);
    if (options.verifyKeys && !run.#keysAreSound()) return 'damaged in its keys';
    if (options.filter && header.filterWords > 0) {
      run.#filter = new Uint32Array(index.buffer, fenceBytes);
    }
    return run;
  }

  /** Number of keys. */
  get keys(): number {
    return this.#header.keys;
  }

  /** Bytes held in memory. */
  get memoryBytes(): number {
    return this.#fences.byteLength + PAGE_BYTES + (this.#filter?.byteLength ?? 0);
  }

  /** Loads the filter, if the file has one and it is not loaded; it was verified when the run was opened. */
  loadFilter(): void {
    const { filterWords, keys } = this.#header;
    if (this.#filter !== undefined || filterWords === 0) return;
    const filter = new Uint32Array(filterWords);
    this.#read(new Uint8Array(filter.buffer), indexPosition(keys) + this.#fences.byteLength);
    this.#filter = filter;
  }

  /** Lets go of the filter: the largest run is asked last, when a filter cannot spare much. */
  dropFilter(): void {
    this.#filter = undefined;
  }

  /**
   * Whether the key is in this run: no read when the filter says no, at most one otherwise.
   * @throws CrawlError `disk` when the file cannot be read, `data-damaged` when it was cut since it was opened
   */
  has(high: number, low: number): boolean {
    const filter = this.#filter;
    if (filter !== undefined) {
      const bits = filterBits(high);
      if ((filter[filterWord(low, filter.length)]! & bits) !== bits) return false;
    }
    const page = lastNotAbove(this.#fences, this.#fences.length / 2, high, low);
    if (page < 0) return false;
    if (page !== this.#pageIndex) this.#readPage(page);
    const keysOnPage = Math.min(PAGE_KEYS, this.#header.keys - page * PAGE_KEYS);
    const at = lastNotAbove(this.#page, keysOnPage, high, low);
    return at >= 0 && this.#page[at * 2] === low && this.#page[at * 2 + 1] === high;
  }

  /** All keys in ascending order, in blocks of pairs low, high; a block is valid until the next is asked for. */
  *keyBlocks(): Generator<Uint32Array, void, undefined> {
    const bytes = new Uint8Array(Math.min(SCAN_BYTES, this.#header.keys * 8));
    const end = indexPosition(this.#header.keys);
    for (let at = PAGE_BYTES; at < end; at += bytes.length) {
      const wanted = Math.min(bytes.length, end - at);
      this.#read(bytes.subarray(0, wanted), at);
      yield new Uint32Array(bytes.buffer, 0, wanted / 4);
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #readPage(page: number): void {
    this.#pageIndex = -1;
    const position = PAGE_BYTES + page * PAGE_BYTES;
    const wanted = Math.min(PAGE_BYTES, indexPosition(this.#header.keys) - position);
    this.#read(this.#pageBytes.subarray(0, wanted), position);
    this.#pageIndex = page;
  }

  /** Fills `target`; the size was checked on opening, so a file that ends early was cut since. */
  #read(target: Uint8Array, position: number): void {
    const read = onDisk(this.#path, () => readFully(this.#fd, target, position));
    if (read === target.length) return;
    throw new CrawlError('data-damaged', `${this.#path} was cut short while it was in use`, {
      remedy: 'The seen set is rebuilt from the frontier log when the crawl starts again.',
    });
  }

  #keysAreSound(): boolean {
    let checksum = 0;
    let keys = 0;
    for (const block of this.keyBlocks()) {
      checksum = crc32(new Uint8Array(block.buffer, 0, block.byteLength), checksum);
      keys += block.length / 2;
    }
    return keys === this.#header.keys && checksum === this.#header.keysChecksum;
  }
}

/** Index of the last of `count` ascending pairs (low, high) that is not above the key; −1 when all are. */
function lastNotAbove(pairs: Uint32Array, count: number, high: number, low: number): number {
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const middleHigh = pairs[middle * 2 + 1]!;
    const above = middleHigh > high || (middleHigh === high && pairs[middle * 2]! > low);
    if (above) to = middle;
    else from = middle + 1;
  }
  return from - 1;
}
