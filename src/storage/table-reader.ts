// Synchronous reads of committed rows by any thread (the StateReader of ports.ts, but without the shard's own uncommitted writes, which
// pending-writes.ts adds). A row that cannot be decoded is damage of our own data and is not survived: CrawlError data-damaged.

import type { DeniedCheckpoint, DueLook, StateReader, UnparsedPage } from '../actors/ports.ts';
import type { HostRow, Lane, PageRow, QueueEntry, RobotsRow } from '../actors/rows.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import { partitionIndex } from '../base/units.ts';
import { ByteDamage } from './byte-reader.ts';
import { damaged } from './disk-error.ts';
import { readDue } from './due-table.ts';
import { decodeChunk, decodeDenied } from './entry-codec.ts';
import {
  chunkRowKey,
  hostOfKey,
  hostRange,
  hostRowKey,
  idOfKey,
  outboxIdOfKey,
  outboxRowKey,
  partitionRange,
  sequenceOfKey,
  urlOfKey,
  urlRowKey,
} from './keys.ts';
import { decodePageRow } from './page-codec.ts';
import type { DigestRow } from './row-codec.ts';
import {
  decodeDigestRow,
  decodeHostRow,
  decodeRobotsRow,
  decodeUnparsed,
  hostRowHasWork,
} from './row-codec.ts';
import type { Tables } from './tables.ts';
import { rowsOf } from './tables.ts';

/** A host row with its key. */
export interface HostAt {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly row: HostRow;
}

/** Names the chunk that contains an entry. */
export interface ChunkPlace {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly band: Lane;
  readonly sequence: number;
}

/** Reads committed rows. Iterables see one snapshot; do not keep one unfinished across turns of the event loop. */
export class TableReader {
  readonly #tables: Tables;
  readonly #partitions: number;

  /** @param partitions of the crawl (crawl-identity.ts) */
  constructor(tables: Tables, partitions: number) {
    this.#tables = tables;
    this.#partitions = partitions;
  }

  /** Makes the next read see the newest commit. */
  refresh(): void {
    this.#tables.root.resetReadTxn();
  }

  host(hostKey: HostKey, partition: PartitionIndex): HostRow | undefined {
    const value = this.#tables.hosts.get(hostRowKey(partition, hostKey));
    return value && decoding('host row', () => decodeHostRow(value, partition));
  }

  robots(hostKey: HostKey, partition: PartitionIndex): RobotsRow[] {
    const rows: RobotsRow[] = [];
    for (const { value } of rowsOf(this.#tables.robots, hostRange(partition, hostKey))) {
      rows.push(decoding('robots row', () => decodeRobotsRow(value)));
    }
    return rows;
  }

  /** The chunk that contains an entry: the one with the greatest first sequence not above it. */
  chunk(at: ChunkPlace): QueueEntry[] | undefined {
    const { hostKey, partition, band, sequence } = at;
    const start = chunkRowKey({ partition, hostKey, band, firstSequence: sequence });
    const end = chunkRowKey({ partition, hostKey, band, firstSequence: 0 });
    // Backwards from the entry; the end is left out, so the very first chunk is asked for by its key.
    const range = { start, end, reverse: true, limit: 1 };
    for (const { key, value } of this.#tables.chunks.getRange(range)) {
      return entriesWith(value, sequenceOfKey(key), sequence);
    }
    const first = this.#tables.chunks.get(end);
    return first && entriesWith(first, 0, sequence);
  }

  page(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined {
    const value = this.#tables.pages.get(urlRowKey(partition, hostKey, urlKey));
    return value && decoding('page row', () => decodePageRow(value));
  }

  /** What a browser made of a page; a store of an older version has no such table, and is opened without it where it may not be written. */
  rendered(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined {
    const table: Tables['renders'] | undefined = this.#tables.renders;
    const value = table?.get(urlRowKey(partition, hostKey, urlKey));
    return value && decoding('row of a rendering', () => decodePageRow(value));
  }

  /** Where a body was stored first; the digest is hexadecimal as in a page row. */
  firstCopy(contentDigest: string): DigestRow | undefined {
    if (contentDigest === '') return undefined;
    const value = this.#tables.digests.get(Buffer.from(contentDigest, 'hex'));
    return value && decoding('digest row', () => decodeDigestRow(value));
  }

  *denied(hostKey: HostKey, partition: PartitionIndex): Generator<DeniedCheckpoint> {
    for (const { value } of rowsOf(this.#tables.denied, hostRange(partition, hostKey))) {
      yield { hostKey, partition, ...decoding('denied row', () => decodeDenied(value)) };
    }
  }

  isDenied(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): boolean {
    return this.#tables.denied.get(urlRowKey(partition, hostKey, urlKey)) !== undefined;
  }

  /** All hosts of a crawl, or those of the partitions asked for. */
  *hosts(owns: (partition: PartitionIndex) => boolean = () => true): Generator<HostAt> {
    for (const { at, value } of this.#hostValues(owns)) {
      yield { ...at, row: decoding('host row', () => decodeHostRow(value, at.partition)) };
    }
  }

  /** Hosts with queued or parked entries. */
  *hostsWithWork(owns: (partition: PartitionIndex) => boolean): Generator<HostAt> {
    for (const { at, value } of this.#hostValues(owns)) {
      if (!decoding('host row', () => hostRowHasWork(value))) continue;
      yield { ...at, row: decoding('host row', () => decodeHostRow(value, at.partition)) };
    }
  }

  /** See StateReader.due. */
  due(
    owns: (partition: PartitionIndex) => boolean,
    look: Parameters<StateReader['due']>[1],
  ): DueLook {
    return decoding('due row', () => readDue(this.#tables.due, this.#owned(owns), look));
  }

  *#owned(owns: (partition: PartitionIndex) => boolean): Generator<PartitionIndex> {
    for (let index = 0; index < this.#partitions; index++) {
      if (owns(partitionIndex(index))) yield partitionIndex(index);
    }
  }

  *unparsed(owns: (partition: PartitionIndex) => boolean): Generator<UnparsedPage> {
    for (const { key, value } of rowsOf(this.#tables.unparsed)) {
      const { partition, ...page } = decoding('unparsed row', () =>
        decodeUnparsed(value, idOfKey(key)),
      );
      if (owns(partitionIndex(partition))) yield page;
    }
  }

  *outbox(): Generator<{ partition: PartitionIndex; id: number; size: number }> {
    for (const { key, value } of rowsOf(this.#tables.outbox)) {
      yield { ...outboxIdOfKey(key), size: value.length };
    }
  }

  /** A copy: the row may go while it is being sent. */
  outboxBytes(partition: PartitionIndex, id: number): Uint8Array | undefined {
    const value = this.#tables.outbox.get(outboxRowKey(partition, id));
    return value && new Uint8Array(value);
  }

  *settledKeys(partition: PartitionIndex): Generator<UrlKey> {
    for (const key of this.#tables.pages.getKeys(partitionRange(partition))) yield urlOfKey(key);
  }

  *#hostValues(
    owns: (partition: PartitionIndex) => boolean,
  ): Generator<{ at: { hostKey: HostKey; partition: PartitionIndex }; value: Buffer }> {
    for (const partition of this.#owned(owns)) {
      for (const { key, value } of rowsOf(this.#tables.hosts, partitionRange(partition))) {
        yield { at: hostOfKey(key), value };
      }
    }
  }
}

/** The WARC file of the oldest page that waits to be parsed, and so the first that crawl threads may read; Infinity when none waits. */
export function firstUnparsedFile(tables: Tables): number {
  for (const { key, value } of tables.unparsed.getRange({ limit: 1 })) {
    return decoding('unparsed row', () => decodeUnparsed(value, idOfKey(key))).pointer.file;
  }
  return Number.POSITIVE_INFINITY;
}

/** The entries of a chunk row, if `sequence` is among them. */
function entriesWith(
  value: Uint8Array,
  firstSequence: number,
  sequence: number,
): QueueEntry[] | undefined {
  const entries = decoding('chunk row', () => decodeChunk(value, firstSequence));
  return sequence < firstSequence + entries.length ? entries : undefined;
}

/** Runs a decoder and says which row was damaged. */
export function decoding<Row>(what: string, decode: () => Row): Row {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ByteDamage) throw damaged(what, error);
    throw error;
  }
}
