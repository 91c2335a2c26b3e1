// Step 7: the back queue of one host for one priority band. The head is in memory, the middle on disk in chunk rows, the newest entries
// in a buffer whose durable copy is the frontier log. Sequences have no holes, so three cursors describe the whole queue (ports.ts,
// QueueCursors): that is all a checkpoint has to write when a URL is done (I8), and all a recovery has to read.
//
//   done …  head ── loaded ── on disk ── chunkEnd ── buffer ── tail
//
// Memory is bounded (I10): a part of one chunk loaded, and at most two chunks' worth buffered before the buffer becomes chunks.

import { assert } from '../base/assert.ts';
import type { QueueCursors, QueueEntry } from './rows.ts';

/** Entries of one chunk row: at 80 bytes a URL, a row of about 5 KB (PERFORMANCE.md: 0.25–0.7 µs per URL in rows of 1–7 KB). */
export const CHUNK_ENTRIES = 64;
/**
 * Entries of a chunk row taken into memory at a time. Ten thousand hosts awake with whole chunks would hold 640,000 entries; reading a row
 * four times costs about a microsecond for each of its URLs (`npm run bench -- memory`).
 */
const LOADED_ENTRIES = 16;

/** How a queue reaches its chunk rows; the host actor ties it to its own key and band. */
export interface ChunkStore {
  /** The chunk that contains `sequence`, or undefined when there is none (damage). */
  read(sequence: number): readonly QueueEntry[] | undefined;
  write(entries: readonly QueueEntry[]): void;
  remove(firstSequence: number): void;
}

export const EMPTY_CURSORS: QueueCursors = { head: 0, chunkEnd: 0, tail: 0 };

export class BackQueue {
  readonly #chunks: ChunkStore;
  #head: number;
  #chunkEnd: number;
  #tail: number;
  /** Entries head … loadedEnd, oldest first from `#loadedAt`; a prefix of what chunk rows hold. */
  #loaded: readonly QueueEntry[] = [];
  #loadedAt = 0;
  #loadedEnd: number;
  /** First sequences of the chunk rows that `#loaded` came from, oldest first, with the sequence after their last entry. */
  #loadedRows: { first: number; end: number }[] = [];
  #buffer: QueueEntry[] = [];

  constructor(chunks: ChunkStore, cursors: QueueCursors) {
    assert(
      cursors.head <= cursors.chunkEnd,
      () => `head beyond chunks: ${JSON.stringify(cursors)}`,
    );
    assert(
      cursors.chunkEnd === cursors.tail,
      () => `entries without chunk or log: ${JSON.stringify(cursors)}`,
    );
    this.#chunks = chunks;
    this.#head = cursors.head;
    this.#chunkEnd = cursors.chunkEnd;
    this.#tail = cursors.tail;
    this.#loadedEnd = cursors.head;
  }

  get length(): number {
    return this.#tail - this.#head;
  }

  /** Entries held in memory. */
  get resident(): number {
    return this.#loaded.length - this.#loadedAt + this.#buffer.length;
  }

  /** Entries whose only durable copy is the frontier log. */
  get buffered(): number {
    return this.#buffer.length;
  }

  cursors(): QueueCursors {
    return { head: this.#head, chunkEnd: this.#chunkEnd, tail: this.#tail };
  }

  /** Appends an entry; its sequence is assigned here. A full buffer becomes a chunk row. */
  push(entry: Omit<QueueEntry, 'sequence'>): QueueEntry {
    const { url, urlKey, depth, attempts, hops, purpose } = entry;
    // Field by field: a spread costs several times as much, and this runs for every discovered URL.
    const placed = { sequence: this.#tail, url, urlKey, depth, attempts, hops, purpose };
    this.#tail += 1;
    this.#buffer.push(placed);
    if (this.#buffer.length >= CHUNK_ENTRIES && this.#head < this.#chunkEnd) this.spill();
    else if (this.#buffer.length >= 2 * CHUNK_ENTRIES) this.spill();
    return placed;
  }

  /** The oldest entry, which stays the head until `advance`. Undefined when the queue is empty. */
  peek(): QueueEntry | undefined {
    if (this.#head === this.#tail) return undefined;
    if (this.#loadedAt === this.#loaded.length && this.#head < this.#chunkEnd) this.#load();
    const entry =
      this.#loadedAt < this.#loaded.length ? this.#loaded[this.#loadedAt] : this.#buffer[0];
    assert(entry !== undefined, () => `queue of ${this.length} has no head`);
    assert(entry.sequence === this.#head, () => `head ${this.#head} is entry ${entry.sequence}`);
    return entry;
  }

  /** The head is done: fetched, failed for good, or denied. */
  advance(): void {
    assert(this.#head < this.#tail, () => 'advanced an empty queue');
    if (this.#loadedAt < this.#loaded.length) {
      this.#loadedAt += 1;
    } else {
      assert(this.#head === this.#chunkEnd, () => 'advanced past an entry that was never loaded');
      this.#buffer.shift();
      this.#chunkEnd += 1;
      this.#loadedEnd = this.#chunkEnd;
    }
    this.#head += 1;
    const row = this.#loadedRows[0];
    if (row !== undefined && this.#head >= row.end) {
      this.#loadedRows.shift();
      this.#chunks.remove(row.first);
    }
  }

  /** Moves the buffer into chunk rows, so that the log is no longer needed for it. */
  spill(): void {
    if (this.#buffer.length === 0) return;
    const continues = this.#loadedEnd === this.#chunkEnd;
    const nearlyEmpty = this.#loaded.length - this.#loadedAt < CHUNK_ENTRIES / 2;
    for (let at = 0; at < this.#buffer.length; at += CHUNK_ENTRIES) {
      const entries = this.#buffer.slice(at, at + CHUNK_ENTRIES);
      this.#chunks.write(entries);
      if (at === 0 && continues && nearlyEmpty) this.#keep(entries);
    }
    this.#chunkEnd = this.#tail;
    this.#buffer = [];
  }

  /** Spills, and forgets what is in memory: the queue then lives on disk alone. */
  unload(): void {
    this.spill();
    this.#loaded = [];
    this.#loadedAt = 0;
    this.#loadedRows = [];
    this.#loadedEnd = this.#head;
  }

  #keep(entries: readonly QueueEntry[]): void {
    const first = entries[0];
    assert(first !== undefined, () => 'an empty chunk');
    this.#loaded = [...this.#loaded.slice(this.#loadedAt), ...entries];
    this.#loadedAt = 0;
    this.#loadedEnd = first.sequence + entries.length;
    this.#loadedRows.push({ first: first.sequence, end: this.#loadedEnd });
  }

  #load(): void {
    const row = this.#chunks.read(this.#head);
    assert(row !== undefined, () => `no chunk row holds entry ${this.#head}`);
    const first = row[0];
    assert(first !== undefined, () => 'an empty chunk row');
    const skip = this.#head - first.sequence;
    assert(skip >= 0 && skip < row.length, () => `chunk ${first.sequence} lacks ${this.#head}`);
    this.#loaded = row.slice(skip, skip + LOADED_ENTRIES);
    this.#loadedAt = 0;
    this.#loadedEnd = this.#head + this.#loaded.length;
    this.#loadedRows = [{ first: first.sequence, end: first.sequence + row.length }];
  }
}
