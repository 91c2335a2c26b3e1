// An append-only log in numbered files, for the frontier (step 6) and the audit. Each block carries its length and CRC-32. What counts is
// what LMDB says was committed: the numbers of the live segments and the committed length of each. Bytes beyond it are a crash's leavings
// and are cut off at open; damage below it is an error that names file and offset. A file that outgrows its bound is followed by the next
// number. All calls are synchronous and belong to the storage thread.

import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
  writevSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../base/assert.ts';
import { damaged } from './disk-error.ts';
import { syncDirectory } from './files.ts';

/** One live file of a log and how much of it is committed, in bytes. */
export interface LogSegment {
  readonly number: number;
  readonly bytes: number;
}

/** Bytes before a block's payload: length and CRC-32, little-endian. */
export const BLOCK_HEAD_BYTES = 8;
/** Longest payload of one block; a batch's entries stay far below. */
export const BLOCK_BYTES_MAX = 64 * 1024 * 1024;

/** Fills in the head of a block whose payload was written after `BLOCK_HEAD_BYTES` left free. */
export function sealBlock(block: Buffer): Buffer {
  const payload = block.subarray(BLOCK_HEAD_BYTES);
  assert(payload.length <= BLOCK_BYTES_MAX, () => `log block of ${payload.length} bytes`);
  block.writeUInt32LE(payload.length, 0);
  block.writeUInt32LE(crc32(payload), 4);
  return block;
}

/** The writing side of one log. */
export class SegmentLog {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #rollBytes: number;
  readonly #segments: LogSegment[];
  #file: number | undefined;
  #dirty = false;

  /**
   * Opens a log and cuts every file back to what is committed; files of no committed segment are removed.
   * @param options `prefix` begins the file names (`urls-`); `rollBytes` length after which a file is followed by the next
   * @param committed from LMDB, ascending; empty for a new crawl
   * @throws CrawlError data-damaged when a file is shorter than committed; system errors
   */
  constructor(
    options: { readonly folder: string; readonly prefix: string; readonly rollBytes: number },
    committed: readonly LogSegment[],
  ) {
    this.#folder = options.folder;
    this.#prefix = options.prefix;
    this.#rollBytes = options.rollBytes;
    this.#segments = [...committed];
    this.#cutBack(committed);
    if (this.#segments.length === 0) this.#segments.push({ number: 1, bytes: 0 });
  }

  /** Live segments with the bytes appended so far, ascending; what to commit. */
  get segments(): readonly LogSegment[] {
    return this.#segments.map((segment) => ({ ...segment }));
  }

  /** Number of the segment that the next block goes to. */
  get current(): number {
    return (this.#segments.at(-1) as LogSegment).number;
  }

  /** Path of a segment's file. */
  pathOf(number: number): string {
    return segmentPath(this.#folder, this.#prefix, number);
  }

  /** Appends sealed blocks; in the system's hands at return, on the disk after `sync`. */
  append(blocks: readonly Buffer[]): void {
    if (blocks.length === 0) return;
    const file = this.#open();
    const last = this.#segments.at(-1) as LogSegment;
    let at = last.bytes;
    for (const block of blocks) at += block.length;
    this.#dirty = true;
    writeAll(file, blocks, last.bytes);
    this.#segments[this.#segments.length - 1] = { number: last.number, bytes: at };
  }

  /** fdatasync of what was appended. */
  sync(): void {
    if (!this.#dirty || this.#file === undefined) return;
    fdatasyncSync(this.#file);
    this.#dirty = false;
  }

  /**
   * Begins the next segment when the current one is long enough, or at once with `force` unless it is empty.
   * @returns the number of the new segment, if one began
   */
  roll(force = false): number | undefined {
    const last = this.#segments.at(-1) as LogSegment;
    const wanted = force ? last.bytes > 0 : last.bytes >= this.#rollBytes;
    if (!wanted) return undefined;
    this.sync();
    this.close();
    this.#segments.push({ number: last.number + 1, bytes: 0 });
    return last.number + 1;
  }

  /** Forgets segments up to a number, but never the current one; their files go with `removeForgotten` after the commit. */
  forget(through: number): boolean {
    const kept = this.#segments.filter(
      (segment, index) => segment.number > through || index === this.#segments.length - 1,
    );
    const changed = kept.length < this.#segments.length;
    this.#segments.splice(0, this.#segments.length, ...kept);
    return changed;
  }

  /** Deletes files of segments that are no longer live. */
  removeForgotten(): void {
    const oldest = (this.#segments[0] as LogSegment).number;
    for (const number of this.#numbersOnDisk()) {
      if (number < oldest) unlinkSync(this.pathOf(number));
    }
  }

  /** Goes back to a committed state after a failed commit, as far as the disk lets us; recovery does the same at the next open. */
  revert(committed: readonly LogSegment[]): void {
    this.close();
    this.#segments.splice(0, this.#segments.length, ...committed);
    this.#cutBack(committed);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#dirty = false;
  }

  #open(): number {
    if (this.#file !== undefined) return this.#file;
    const path = this.pathOf(this.current);
    const isNew = !existsSync(path);
    this.#file = openSync(path, isNew ? 'w' : 'r+');
    if (isNew) syncDirectory(this.#folder);
    return this.#file;
  }

  #numbersOnDisk(): number[] {
    const pattern = new RegExp(`^${this.#prefix}(\\d{1,15})\\.log$`);
    return readdirSync(this.#folder)
      .map((name) => Number(pattern.exec(name)?.[1] ?? -1))
      .filter((number) => number >= 0);
  }

  #cutBack(committed: readonly LogSegment[]): void {
    const live = new Map(committed.map((segment) => [segment.number, segment.bytes]));
    for (const number of this.#numbersOnDisk()) {
      if (!live.has(number)) unlinkSync(this.pathOf(number));
    }
    for (const { number, bytes } of committed) {
      const path = this.pathOf(number);
      const size = existsSync(path) ? statSync(path).size : 0;
      if (size < bytes) throw damaged(`${path} holds ${size} bytes of ${bytes} committed`);
      if (size > bytes) cutFile(path, bytes);
    }
  }
}

/** Goes back to a committed state if the disk lets us; the failure that led here is the better message. */
export function tryRevert(log: SegmentLog, committed: readonly LogSegment[]): void {
  try {
    log.revert(committed);
  } catch {
    // The next open cuts the files back.
  }
}

/** Path of one file of a log. */
export function segmentPath(folder: string, prefix: string, number: number): string {
  return join(folder, `${prefix}${number}.log`);
}

/**
 * Reads the blocks of one segment in order, one at a time.
 * @param bytes committed length
 * @param from where the first block begins
 * @returns each block's payload, valid until the next step
 * @throws CrawlError data-damaged naming file and offset; system errors
 */
export function* readBlocks(path: string, bytes: number, from = 0): Generator<Buffer> {
  if (bytes <= from) return;
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(BLOCK_HEAD_BYTES);
    let at = from;
    while (at < bytes) {
      readWhole(file, head, at, path);
      const length = head.readUInt32LE(0);
      const end = at + BLOCK_HEAD_BYTES + length;
      if (length > BLOCK_BYTES_MAX || end > bytes) throw damaged(`${path} at offset ${at}`);
      const payload = Buffer.allocUnsafe(length);
      readWhole(file, payload, at + BLOCK_HEAD_BYTES, path);
      if (crc32(payload) !== head.readUInt32LE(4)) throw damaged(`${path} at offset ${at}`);
      yield payload;
      at = end;
    }
  } finally {
    closeSync(file);
  }
}

function readWhole(file: number, target: Buffer, at: number, path: string): void {
  let filled = 0;
  while (filled < target.length) {
    const count = readSync(file, target, filled, target.length - filled, at + filled);
    if (count === 0) throw damaged(`${path} ends at offset ${at + filled}`);
    filled += count;
  }
}

/** writev until everything is written; a short write is continued, and an error reported, by the next call. */
function writeAll(file: number, blocks: readonly Buffer[], position: number): void {
  let at = position;
  let rest = [...blocks];
  while (rest.length > 0) {
    let written = writevSync(file, rest.slice(0, WRITEV_MAX), at);
    at += written;
    const next: Buffer[] = [];
    for (const block of rest) {
      if (written >= block.length) written -= block.length;
      else {
        next.push(written > 0 ? block.subarray(written) : block);
        written = 0;
      }
    }
    rest = next;
  }
}

/** Buffers in one writev call; Linux allows 1,024 (IOV_MAX). */
const WRITEV_MAX = 512;

function cutFile(path: string, bytes: number): void {
  const file = openSync(path, 'r+');
  try {
    ftruncateSync(file, bytes);
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}
