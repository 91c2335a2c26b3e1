// The core of the storage thread: group commit (step 10, DESIGN.md §5). Batches of all shards that arrive within one window become durable
// together: bodies appended to the WARC file and fdatasynced → frontier and audit logs likewise → one LMDB transaction that holds all
// rows and the committed ends of those files → only then receipts (I7, I8). Synchronous inside; the caller owns timers and ports.
// Any trouble with the disk ends it: nothing of the group is acknowledged, the logs go back to their committed ends (the WARC file does at the next
// open), later batches are refused.
// `--fsync interval` acknowledges when bodies are with the system, and commits every few seconds: what a crash loses is then a suffix of
// what was acknowledged, up to that window, and never consistency.

import type { PageReceipt, StorageEvent } from '../actors/ports.ts';
import { assert } from '../base/assert.ts';
import type { PackedBatch } from './batch-codec.ts';
import { readBatch } from './batch-codec.ts';
import type { StorageMetrics } from './commit-timings.ts';
import { RecentDurations } from './commit-timings.ts';
import type { CommittedState } from './committed-state.ts';
import { putCommitted } from './committed-state.ts';
import { addCounters } from './counters.ts';
import { troubleOf } from './disk-error.ts';
import { DueWriter } from './due-table.ts';
import { forgettable } from './feed-log.ts';
import { idKey } from './keys.ts';
import { PagePlacement } from './page-placement.ts';
import type { SeenPublisher } from './seen-publisher.ts';
import type { SegmentLog } from './segment-log.ts';
import { tryRevert } from './segment-log.ts';
import type { ToShard } from './storage-message.ts';
import { SweepLedger } from './sweep-ledger.ts';
import type { Table, Tables } from './tables.ts';
import { BATCH_TABLES, tableFileBytes } from './tables.ts';
import type { WarcWriter } from './warc-writer.ts';

/** The points between which a crash leaves a different state on the disk, in order. */
export type CommitBoundary =
  | 'placed'
  | 'bodies-synced'
  | 'frontier-synced'
  | 'audit-synced'
  | 'in-transaction'
  | 'committed'
  | 'acknowledged';

/** What the service works on: everything opened and recovered (open-store.ts). */
export interface CheckpointServiceOptions {
  readonly dir: string;
  readonly tables: Tables;
  readonly archive: WarcWriter;
  readonly frontier: SegmentLog;
  readonly audit: SegmentLog;
  readonly feed: SegmentLog;
  /** Bytes of the change feed that are kept at least. */
  readonly feedKeptBytes: number;
  readonly seen: SeenPublisher;
  readonly committed: CommittedState;
  readonly fsync: 'always' | 'interval';
  /** Sends to a shard; never throws. */
  readonly deliver: (shard: number, message: ToShard) => void;
  /** Closed WARC files that the last commit no longer names: they may be compressed, indexed, moved. */
  readonly onArchiveClosed: (paths: readonly string[]) => void;
  /** A monotonic clock in milliseconds, for metrics. */
  readonly now: () => number;
  /** Called at every boundary; crash tests copy the directory or throw here. */
  readonly onBoundary?: ((boundary: CommitBoundary) => void) | undefined;
}

interface QueuedBatch {
  readonly shard: number;
  readonly sequence: number;
  readonly bytes: number;
  readonly batch: PackedBatch;
}

/** See the head of this file. No method throws for trouble with the disk; it becomes the event `storage-failed`. */
export class CheckpointService {
  readonly #options: CheckpointServiceOptions;
  readonly #tables: Tables;
  readonly #batchTables: readonly Table[];
  readonly #sweeps: SweepLedger;
  readonly #due: DueWriter;
  readonly #shards = new Set<number>();
  readonly #lastSequence = new Map<number, number>();
  readonly #syncs = new RecentDurations();
  readonly #commits = new RecentDurations();
  /** Arrived, nothing done yet. */
  #queue: QueuedBatch[] = [];
  /** Bodies appended; in `interval` mode also acknowledged. */
  #placed: QueuedBatch[] = [];
  #placement: PagePlacement;
  #committed: CommittedState;
  #failure: Extract<StorageEvent, { kind: 'storage-failed' }> | undefined;
  /** Closed since the last commit. */
  #closedArchives: string[] = [];
  #closed = false;
  #totals = { batches: 0, groups: 0, pages: 0, bytes: 0 };

  constructor(options: CheckpointServiceOptions) {
    this.#options = options;
    this.#tables = options.tables;
    this.#batchTables = BATCH_TABLES.map((name) => options.tables[name]);
    this.#committed = options.committed;
    this.#placement = this.#newPlacement(options.committed.nextUnparsedId);
    this.#sweeps = new SweepLedger();
    this.#due = new DueWriter(options.tables.due);
  }

  /** What ended the service, if anything did. */
  get failure(): Extract<StorageEvent, { kind: 'storage-failed' }> | undefined {
    return this.#failure;
  }

  /** Bytes received and not yet durable. */
  get queuedBytes(): number {
    let bytes = 0;
    for (const queued of this.#queue) bytes += queued.bytes;
    for (const placed of this.#placed) bytes += placed.bytes;
    return bytes;
  }

  /** Bytes of all batches that ever came. */
  get receivedBytes(): number {
    return this.#totals.bytes;
  }

  /** Makes a shard known; it hears of every roll and failure from now on. */
  attach(shard: number): void {
    this.#shards.add(shard);
    this.#sweeps.attach(shard, this.#options.frontier.current);
    if (this.#failure !== undefined) this.#options.deliver(shard, this.#failure);
  }

  /** Takes a packed batch in; it is committed with the next group. Ignored after a failure. */
  receive(shard: number, sequence: number, bytes: Uint8Array): void {
    if (this.#failure !== undefined) return;
    assert(!this.#closed, () => 'batch after close');
    const before = this.#lastSequence.get(shard) ?? 0;
    assert(sequence === before + 1, () => `batch ${sequence} of shard ${shard} after ${before}`);
    this.#lastSequence.set(shard, sequence);
    const batch = readBatch(bytes);
    this.#queue.push({ shard, sequence, bytes: bytes.byteLength, batch });
    this.#totals.batches += 1;
    this.#totals.bytes += bytes.byteLength;
  }

  /** Takes a shard's memtable of seen keys; written as a sorted run before the next commit. */
  receiveSeenKeys(shard: number, frozenId: number, keys: BigUint64Array<ArrayBuffer>): void {
    if (this.#failure === undefined) this.#options.seen.receive({ shard, frozenId, keys });
  }

  /** Ends a window: commits in `always` mode; in `interval` mode appends bodies and acknowledges. */
  endWindow(): void {
    if (this.#options.fsync === 'always') {
      this.commit();
      return;
    }
    if (this.#failure !== undefined || this.#queue.length === 0) return;
    this.#guard(() => {
      const receipts = this.#placeQueue();
      this.#options.archive.flush();
      this.#acknowledge(receipts, false);
    });
  }

  /** Makes everything received so far durable and acknowledges it. */
  commit(): void {
    if (this.#failure !== undefined) return;
    const { seen } = this.#options;
    const waiting = this.#queue.length + this.#placed.length + this.#closedArchives.length;
    if (waiting === 0 && !seen.waiting) return;
    this.#guard(() => {
      const started = this.#options.now();
      const receipts = this.#placeQueue();
      const batches = this.#placed;
      for (const shard of seen.writeRuns()) {
        this.#sweeps.covered(shard, this.#options.frontier.current - 1);
      }
      this.#writeFiles(batches);
      this.#commitRows(batches);
      this.#commits.add(this.#options.now() - started);
      this.#totals.groups += 1;
      this.#placed = [];
      this.#acknowledge(receipts, true);
      if (this.#options.fsync === 'interval') this.#announceDurable(batches);
      this.#publishSeen();
      this.#boundary('acknowledged');
      this.#announceArchives();
      this.#rollFiles();
    });
  }

  /** There is no more room: commits what is there, and ends. */
  endFull(detail: string): void {
    this.commit();
    if (this.#failure === undefined) this.#fail('disk-full', detail);
  }

  /** Closes files that grew old while nothing came; to be called about once a second. */
  rollWhileIdle(): void {
    if (this.#failure !== undefined || this.#queue.length + this.#placed.length > 0) return;
    this.#guard(() => this.#rollFiles());
    this.commit();
  }

  /** Last commit; closes the WARC file under its final name and the logs. */
  close(): void {
    if (this.#closed) return;
    this.commit();
    this.#closed = true;
    if (this.#failure !== undefined) return;
    this.#guard(() => {
      const { archive, frontier, audit, feed } = this.#options;
      this.#closedArchives.push(...archive.close());
      const state = { ...this.#committed, warc: archive.ends() };
      this.#tables.root.transactionSync(() => putCommitted(this.#tables, state));
      this.#announceArchives();
      frontier.close();
      audit.close();
      feed.close();
    });
  }

  /** Numbers for the metrics page. */
  metrics(): StorageMetrics {
    const sync = this.#syncs.summary();
    const commit = this.#commits.summary();
    return {
      ...this.#totals,
      seenKeys: this.#options.seen.keysReceived,
      queuedBytes: this.queuedBytes,
      syncP50Ms: sync.p50,
      syncMaxMs: sync.max,
      commitP50Ms: commit.p50,
      commitMaxMs: commit.max,
      frontierSegments: this.#options.frontier.segments.length,
    };
  }

  #newPlacement(nextUnparsedId: number): PagePlacement {
    return new PagePlacement(this.#tables, this.#options.archive, nextUnparsedId);
  }

  #placeQueue(): Map<QueuedBatch, readonly PageReceipt[]> {
    const receipts = new Map<QueuedBatch, readonly PageReceipt[]>();
    for (const queued of this.#queue) {
      const { pages } = queued.batch;
      receipts.set(
        queued,
        pages.map((page) => this.#placement.place(page)),
      );
      this.#totals.pages += pages.length;
      this.#placed.push(queued);
    }
    this.#queue = [];
    this.#boundary('placed');
    return receipts;
  }

  #writeFiles(batches: readonly QueuedBatch[]): void {
    const { archive, frontier, audit, feed, now } = this.#options;
    const started = now();
    archive.sync();
    this.#boundary('bodies-synced');
    frontier.append(blocksOf(batches, 'frontierBlock'));
    frontier.sync();
    this.#boundary('frontier-synced');
    audit.append(blocksOf(batches, 'auditBlock'));
    audit.sync();
    const events = this.#placement.feedBlock();
    if (events !== undefined) feed.append([events]);
    feed.sync();
    this.#boundary('audit-synced');
    this.#syncs.add(now() - started);
  }

  #commitRows(batches: readonly QueuedBatch[]): void {
    const { archive, frontier, audit, feed, dir } = this.#options;
    for (const { shard, batch } of batches) {
      if (batch.sweptThroughSegment !== undefined) {
        this.#sweeps.swept(shard, batch.sweptThroughSegment);
      }
    }
    const forgot = frontier.forget(this.#sweeps.through());
    const feedForgot = feed.forget(forgettable(feed.segments, this.#options.feedKeptBytes));
    const state: CommittedState = {
      warc: archive.ends(),
      frontier: frontier.segments,
      audit: audit.segments,
      feed: feed.segments,
      nextUnparsedId: this.#placement.nextUnparsedId,
      tableBytes: tableFileBytes(dir),
    };
    this.#tables.root.transactionSync(() => {
      this.#placement.putRows();
      for (const { batch } of batches) this.#putBatchRows(batch);
      addCounters(
        this.#tables,
        batches.map(({ batch }) => batch.counters),
      );
      this.#options.seen.putManifest(this.#tables);
      putCommitted(this.#tables, state);
      this.#boundary('in-transaction');
    });
    this.#committed = state;
    this.#placement = this.#newPlacement(state.nextUnparsedId);
    this.#boundary('committed');
    if (forgot) frontier.removeForgotten();
    if (feedForgot) feed.removeForgotten();
  }

  #putBatchRows(batch: PackedBatch): void {
    for (const { table, key, value } of batch.rows) {
      const rows = this.#batchTables[table] as Table;
      if (value === undefined) rows.removeSync(key);
      else rows.putSync(key, value);
    }
    for (const id of batch.parsedIds) this.#tables.unparsed.removeSync(idKey(id));
    this.#due.add(batch.due);
    this.#due.taken(batch.dueTaken);
  }

  #acknowledge(receipts: Map<QueuedBatch, readonly PageReceipt[]>, durable: boolean): void {
    for (const [{ shard, sequence }, list] of receipts) {
      this.#options.deliver(shard, { kind: 'committed', sequence, receipts: list, durable });
    }
  }

  #announceDurable(batches: readonly QueuedBatch[]): void {
    const last = new Map<number, number>();
    for (const { shard, sequence } of batches) last.set(shard, sequence);
    for (const [shard, sequence] of last) {
      this.#options.deliver(shard, { kind: 'durable', sequence });
    }
  }

  #announceArchives(): void {
    if (this.#closedArchives.length > 0) this.#options.onArchiveClosed(this.#closedArchives);
    this.#closedArchives = [];
  }

  #publishSeen(): void {
    const publication = this.#options.seen.publish();
    if (publication === undefined) return;
    const { added, removed, frozen } = publication;
    for (const shard of this.#shards) {
      const frozenIds = frozen.filter((one) => one.shard === shard).map((one) => one.frozenId);
      this.#options.deliver(shard, { kind: 'seen-runs', added, removed, frozenIds });
    }
  }

  /** After a commit: the next one names the new files. Receipts of all entries in older segments were delivered before this. */
  #rollFiles(): void {
    const { archive, frontier, audit, feed } = this.#options;
    this.#closedArchives.push(...archive.rollIfNeeded());
    audit.roll();
    feed.roll();
    const segment = frontier.roll();
    if (segment === undefined) return;
    this.#broadcast({ kind: 'log-rolled', segment });
    for (const shard of this.#sweeps.uncovered(segment)) {
      this.#options.deliver(shard, { kind: 'seen-flush-wanted' });
    }
  }

  #broadcast(message: ToShard): void {
    for (const shard of this.#shards) this.#options.deliver(shard, message);
  }

  #boundary(boundary: CommitBoundary): void {
    this.#options.onBoundary?.(boundary);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#fail(troubleOf(error, this.#options.dir), text);
    }
  }

  #fail(code: 'disk-full' | 'disk' | 'data-damaged', detail: string): void {
    this.#failure = { kind: 'storage-failed', code, detail };
    this.#queue = [];
    this.#placed = [];
    this.#revertFiles();
    this.#broadcast(this.#failure);
  }

  /** Gives uncommitted bytes back to a full disk at once; where that fails too, recovery does it at the next open. */
  #revertFiles(): void {
    for (const log of ['frontier', 'audit', 'feed'] as const) {
      tryRevert(this.#options[log], this.#committed[log]);
    }
  }
}

function blocksOf(
  batches: readonly QueuedBatch[],
  which: 'frontierBlock' | 'auditBlock',
): Buffer[] {
  return batches.map(({ batch }) => batch[which]).filter((block) => block.length > 0);
}
