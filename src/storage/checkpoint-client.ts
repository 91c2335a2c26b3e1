// A shard's end of the storage thread (step 10): packs batches and sends them, reads committed rows and its own pending ones, hands on what
// storage reports. Lives on the shard thread and only reads LMDB (DESIGN.md §3: one thread owns all writes). Events come as messages,
// hence never from within `submit`.

import type { MessagePort } from 'node:worker_threads';
import type {
  CheckpointBatch,
  CheckpointPort,
  DeniedCheckpoint,
  DueLook,
  PageCheckpoint,
  StateReader,
  StorageEvent,
  StoredBody,
  UnparsedPage,
} from '../actors/ports.ts';
import {
  type BodyPointer,
  type HostRow,
  hasWork,
  type Lane,
  type PageRow,
  type QueueEntry,
  type RobotsRow,
} from '../actors/rows.ts';
import { assert, unreachable } from '../base/assert.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import type { RecrawlPolicy } from '../domain/recrawl.ts';
import type { StoredCopy } from './batch-packer.ts';
import { packBatch } from './batch-packer.ts';
import type { BodyReader } from './body-reader.ts';
import { PendingWrites } from './pending-writes.ts';
import type { FrozenKeys } from './seen-store.ts';
import type { SeenRunsChange, ToShard, ToStorage } from './storage-message.ts';
import type { HostAt, TableReader } from './table-reader.ts';

/** What a client is made of; all of it belongs to the shard thread. */
export interface CheckpointClientOptions {
  /** The shard's end of the channel that `StorageThread.attach` made. */
  readonly port: MessagePort;
  readonly reader: TableReader;
  readonly bodies: BodyReader;
  readonly recrawl: RecrawlPolicy;
  /** Receipts, rolls and failures, in the order storage sent them. */
  readonly onEvent: (event: StorageEvent) => void;
  /** The set of seen runs changed: `SeenStore.replaceRuns` and `dropFrozen`, in this order. */
  readonly onSeenRuns: (change: SeenRunsChange) => void;
  /** Storage would delete old log segments once it has this shard's keys: `SeenStore.freeze`. */
  readonly onSeenFlushWanted: () => void;
}

/** See the head of this file. */
export class CheckpointClient implements CheckpointPort, StateReader {
  readonly #options: CheckpointClientOptions;
  readonly #pending = new PendingWrites();
  /** Bytes of batches not yet acknowledged, by sequence. */
  readonly #unacknowledged = new Map<number, number>();
  #pendingBytes = 0;
  #sequence = 0;
  #state: 'open' | 'failed' | 'closed' = 'open';

  constructor(options: CheckpointClientOptions) {
    this.#options = options;
    options.port.on('message', (message: ToShard) => this.#receive(message));
  }

  /**
   * Packs and sends a batch. After `storage-failed` nothing more becomes durable and nothing is sent; but while the shard drains it goes on
   * reading what it wrote, or a host that slept for a moment would wake up with a row older than its queue.
   */
  submit(batch: CheckpointBatch): void {
    assert(this.#state !== 'closed', () => `batch ${batch.sequence} after close`);
    assert(batch.sequence === this.#sequence + 1, () => `batch ${batch.sequence} out of order`);
    this.#sequence = batch.sequence;
    const { bytes, rows } = packBatch(batch, this.#options.recrawl, (page) =>
      this.#storedCopy(page),
    );
    this.#pending.add(batch, rows);
    if (this.#state === 'failed') return;
    this.#unacknowledged.set(batch.sequence, bytes.byteLength);
    this.#pendingBytes += bytes.byteLength;
    this.#send({ kind: 'batch', sequence: batch.sequence, bytes }, [bytes.buffer as ArrayBuffer]);
  }

  pendingBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * Hands a full memtable of seen keys over, to become a sorted run. All keys of entries submitted so far must be in it or in an earlier
   * one: log segments are deleted on that promise.
   * @param frozen what `SeenStore` gave to `onMemtableFull`; its keys are transferred
   */
  sendSeenKeys(frozen: FrozenKeys): void {
    const { id: frozenId, keys } = frozen;
    this.#send({ kind: 'seen-keys', frozenId, keys }, [keys.buffer]);
  }

  /** Tells storage that nothing more comes; receipts of what was sent are still delivered. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#send({ kind: 'detach' }, []);
    this.#state = 'closed';
  }

  host(hostKey: HostKey, partition: PartitionIndex): HostRow | undefined {
    const pending = this.#pending.host(hostKey);
    return pending === undefined ? this.#options.reader.host(hostKey, partition) : pending.value;
  }

  robots(hostKey: HostKey, partition: PartitionIndex): readonly RobotsRow[] {
    const stored = this.#options.reader.robots(hostKey, partition);
    const pending = this.#pending.robots(hostKey);
    if (pending === undefined) return stored;
    const rows = stored.filter((row) => !pending.has(row.origin));
    for (const { value } of pending.values()) if (value !== undefined) rows.push(value);
    return rows;
  }

  chunk(
    hostKey: HostKey,
    partition: PartitionIndex,
    band: Lane,
    sequence: number,
  ): readonly QueueEntry[] | undefined {
    const pending = this.#pending.chunkWith({ hostKey, band, sequence });
    if (pending !== undefined) return pending;
    const stored = this.#options.reader.chunk({ hostKey, partition, band, sequence });
    const first = stored?.[0]?.sequence;
    if (first === undefined) return undefined;
    return this.#pending.hasChunk({ hostKey, band, sequence: first }) ? undefined : stored;
  }

  page(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined {
    const pending = this.#pending.page(urlKey);
    if (pending !== undefined) return pending.value;
    return this.#options.reader.page(hostKey, partition, urlKey);
  }

  rendered(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined {
    return this.#options.reader.rendered(hostKey, partition, urlKey);
  }

  *denied(hostKey: HostKey, partition: PartitionIndex): Generator<DeniedCheckpoint> {
    const pending = this.#pending.denied(hostKey);
    for (const denied of this.#options.reader.denied(hostKey, partition)) {
      if (pending?.has(denied.entry.urlKey) !== true) yield denied;
    }
    if (pending === undefined) return;
    for (const { value } of pending.values()) if (value !== undefined) yield value;
  }

  isDenied(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): boolean {
    const pending = this.#pending.denied(hostKey)?.get(urlKey);
    if (pending !== undefined) return pending.value !== undefined;
    return this.#options.reader.isDenied(hostKey, partition, urlKey);
  }

  *hostsWithWork(owns: (partition: PartitionIndex) => boolean): Generator<HostAt> {
    const pending = new Map(this.#pending.hosts());
    for (const at of this.#options.reader.hostsWithWork(owns)) {
      if (!pending.has(at.hostKey)) yield at;
    }
    for (const [hostKey, { value: row }] of pending) {
      if (row === undefined || !owns(row.partition)) continue;
      if (hasWork(row)) {
        yield { hostKey, partition: row.partition, row };
      }
    }
  }

  *unparsed(owns: (partition: PartitionIndex) => boolean): Generator<UnparsedPage> {
    for (const page of this.#options.reader.unparsed(owns)) {
      if (!this.#pending.isParsed(page.unparsedId)) yield page;
    }
  }

  due(
    owns: (partition: PartitionIndex) => boolean,
    look: Parameters<StateReader['due']>[1],
  ): DueLook {
    this.#options.reader.refresh();
    return this.#options.reader.due(owns, look);
  }

  body(pointer: BodyPointer): StoredBody | undefined {
    return this.#options.bodies.read(pointer);
  }

  outbox(): Iterable<{ partition: PartitionIndex; id: number; size: number }> {
    return this.#options.reader.outbox();
  }

  outboxBytes(partition: PartitionIndex, id: number): Uint8Array | undefined {
    return this.#options.reader.outboxBytes(partition, id);
  }

  settledKeys(partition: PartitionIndex): Iterable<UrlKey> {
    return this.#options.reader.settledKeys(partition);
  }

  #storedCopy(page: PageCheckpoint): StoredCopy | undefined {
    const row = this.page(page.hostKey, page.partition, page.urlKey);
    if (row?.pointer === undefined) return undefined;
    return { row, first: this.#options.reader.firstCopy(row.contentDigest) };
  }

  #send(message: ToStorage, transfer: readonly ArrayBuffer[]): void {
    this.#options.port.postMessage(message, [...transfer]);
  }

  #receive(message: ToShard): void {
    switch (message.kind) {
      case 'committed':
        this.#committed(message);
        return;
      case 'durable':
        this.#settle(message.sequence);
        return;
      case 'seen-runs':
        this.#options.onSeenRuns(message);
        return;
      case 'seen-flush-wanted':
        this.#options.onSeenFlushWanted();
        return;
      case 'storage-failed':
        this.#state = this.#state === 'closed' ? 'closed' : 'failed';
        this.#pendingBytes = 0;
        this.#unacknowledged.clear();
        this.#options.onEvent(message);
        return;
      case 'log-rolled':
        this.#options.onEvent(message);
        return;
      default:
        unreachable(message);
    }
  }

  #committed(message: Extract<ToShard, { kind: 'committed' }>): void {
    const { sequence, receipts } = message;
    const bytes = this.#unacknowledged.get(sequence);
    assert(bytes !== undefined, () => `receipt for unknown batch ${sequence}`);
    this.#unacknowledged.delete(sequence);
    this.#pendingBytes -= bytes;
    if (message.durable) this.#settle(sequence);
    this.#options.onEvent({ kind: 'checkpoint-committed', sequence, receipts });
  }

  /** The tables hold these batches now, if the next read looks at the newest commit. */
  #settle(through: number): void {
    this.#options.reader.refresh();
    this.#pending.settle(through);
  }
}
