// Ports and timers around the checkpoint service (step 10): one window timer that begins with the first batch of a group, one look at the free
// disk a second, seen-run merges in the background, and an orderly end. Lives on the storage thread.

import type { MessagePort } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import { unreachable } from '../base/assert.ts';
import { ArchiveKeeper, type ArchiveNews } from './archive-keeper.ts';
import type { ArchiveWork } from './archive-work.ts';
import type { BloomSnapshot } from './bloom-snapshot.ts';
import { saveBloomSnapshot } from './bloom-snapshot.ts';
import { CheckpointService } from './checkpoint-service.ts';
import type { StorageMetrics } from './commit-timings.ts';
import { bloomPath, folderOf } from './directory.ts';
import type { OpenStore } from './open-store.ts';
import type { SeenMergePlan, SeenRunEntry } from './seen-merge.ts';
import type { SeenMergeOrder } from './seen-merge-thread.ts';
import { SeenPublisher } from './seen-publisher.ts';
import { type SpaceLimits, type SpaceVerdict, SpaceWatch } from './space-watch.ts';
import type { ToShard, ToStorage } from './storage-message.ts';
import { firstUnparsedFile } from './table-reader.ts';

/** When to commit; times in milliseconds. */
export interface CommitPolicy {
  /** `always` acknowledges after the durable commit; `interval` before it, see checkpoint-service.ts. */
  readonly fsync: 'always' | 'interval';
  /** How long a group collects batches, 1 … 250; default 100. */
  readonly commitWindowMs: number;
  /** With `interval`: time between commits, 250 … 60,000; default 5,000. */
  readonly intervalMs: number;
  /** A group of this many bytes is committed at once; bytes, default 8 MiB. */
  readonly groupBytesMax: number;
}

/** Defaults of the policy (DESIGN.md §5: a window of at most 250 ms). */
export const DEFAULT_POLICY: CommitPolicy = {
  fsync: 'always',
  commitWindowMs: 100,
  intervalMs: 5_000,
  groupBytesMax: 8 * 1024 * 1024,
};

/** What becomes of closed WARC files. */
export interface ArchivePolicy extends Pick<ArchiveWork, 'objectStore' | 'keepsLocal'> {
  /** gzip level of members that arrived uncompressed, 1 … 9; 0 leaves them as they are. */
  readonly gzipLevel: number;
  /** An orderly end waits for work on at most so many bytes of closed files; the rest is left for the next start. */
  readonly finishBytesMax: number;
}

/** Time between two looks at what no batch brings about: free disk, the age of files. */
const LOOK_MS = 1_000;
/** How long `close` waits for shards to say that they are done. */
const DETACH_WAIT_MS = 10_000;
/** In `interval` mode bodies wait in memory for the commit; this many windows' worth force it. */
const INTERVAL_GROUPS_MAX = 8;

/** What an operator may want to know of the storage thread. */
export type StorageNews = ArchiveNews | Extract<SpaceVerdict, { kind: 'quota-near' }>;

/** What the loop reports to the thread that started it. */
export interface StorageLoopEvents {
  readonly onNews: (news: StorageNews) => void;
  readonly onFailure: (code: 'disk-full' | 'disk' | 'data-damaged', detail: string) => void;
}

/** See the head of this file. */
export class StorageLoop {
  readonly #store: OpenStore;
  readonly #policy: CommitPolicy;
  readonly #events: StorageLoopEvents;
  readonly #seen: SeenPublisher;
  readonly #service: CheckpointService;
  readonly #keeper: ArchiveKeeper;
  readonly #archivePolicy: ArchivePolicy;
  readonly #space: SpaceWatch;
  readonly #ports = new Map<number, MessagePort>();
  readonly #detached = new Set<number>();
  readonly #spaceTimer: NodeJS.Timeout;
  readonly #intervalTimer: NodeJS.Timeout | undefined;
  #windowTimer: NodeJS.Timeout | undefined;
  #merge: Worker | undefined;
  #onDetached: (() => void) | undefined;
  #failureReported = false;
  #quotaTold = false;

  constructor(
    store: OpenStore,
    options: {
      readonly policy: CommitPolicy;
      readonly archive: ArchivePolicy;
      readonly space: SpaceLimits;
    },
    events: StorageLoopEvents,
  ) {
    this.#store = store;
    this.#policy = options.policy;
    this.#events = events;
    this.#seen = new SeenPublisher(store.seenRuns);
    this.#archivePolicy = options.archive;
    this.#space = new SpaceWatch(store.directory.dir, options.space, () => performance.now());
    this.#keeper = this.#openKeeper(options);
    const { directory, tables, archive, frontier, audit, feed, committed } = store;
    this.#service = new CheckpointService({
      dir: directory.dir,
      tables,
      archive,
      frontier,
      audit,
      feed,
      feedKeptBytes: store.feedKeptBytes,
      seen: this.#seen,
      committed,
      fsync: options.policy.fsync,
      deliver: (shard, message) => this.#deliver(shard, message),
      onArchiveClosed: (paths) => this.#keeper.take(paths),
      now: () => performance.now(),
    });
    this.#keeper.takeLeftovers();
    this.#spaceTimer = setInterval(() => this.#eachSecond(), LOOK_MS);
    if (options.policy.fsync === 'interval') {
      this.#intervalTimer = setInterval(() => this.#commit(), options.policy.intervalMs);
    }
  }

  /** Takes a shard's port. */
  attach(shard: number, port: MessagePort): void {
    this.#ports.set(shard, port);
    port.on('message', (message: ToStorage) => this.#receive(shard, message));
    port.on('close', () => this.#detach(shard));
    this.#service.attach(shard);
    this.#checkSpace();
  }

  metrics(): StorageMetrics {
    return this.#service.metrics();
  }

  /** Saves the Bloom filter; batches go on being committed meanwhile. @throws what the disk, or a quota, has against it */
  async saveBloom(snapshot: BloomSnapshot): Promise<void> {
    if (snapshot.bytes.length > this.#space.spareBytes(this.#service.receivedBytes)) {
      throw new Error('the disk quota has no room for the snapshot');
    }
    await saveBloomSnapshot(bloomPath(this.#store.directory.dir), snapshot);
  }

  /** Waits for the shards' last messages, commits, closes everything and gives the lock back. */
  async close(): Promise<void> {
    await this.#allDetached();
    clearInterval(this.#spaceTimer);
    clearInterval(this.#intervalTimer);
    clearTimeout(this.#windowTimer);
    await this.#merge?.terminate();
    this.#service.close();
    this.#reportFailure();
    const { finishBytesMax } = this.#archivePolicy;
    await this.#keeper.finish(this.#service.failure === undefined ? finishBytesMax : 0);
    for (const port of this.#ports.values()) port.close();
    await this.#store.tables.root.close();
    this.#store.directory.lock.release();
  }

  #openKeeper(options: {
    readonly archive: ArchivePolicy;
    readonly space: SpaceLimits;
  }): ArchiveKeeper {
    const { directory, warcPrefix } = this.#store;
    const keeper = new ArchiveKeeper(
      {
        directory: folderOf(directory.dir, 'warc'),
        prefix: warcPrefix,
        gzipLevel: options.archive.gzipLevel,
        objectStore: options.archive.objectStore,
        keepsLocal: options.archive.keepsLocal,
        reserveBytes: options.space.reserveBytes,
      },
      {
        onNews: this.#events.onNews,
        spareBytes: () => this.#space.spareBytes(this.#service.receivedBytes),
        firstNeededFile: () => firstUnparsedFile(this.#store.tables),
      },
    );
    return keeper;
  }

  #receive(shard: number, message: ToStorage): void {
    switch (message.kind) {
      case 'batch':
        this.#service.receive(shard, message.sequence, message.bytes);
        this.#schedule();
        return;
      case 'seen-keys':
        this.#service.receiveSeenKeys(shard, message.frozenId, message.keys);
        this.#schedule();
        return;
      case 'detach':
        this.#detach(shard);
        return;
      default:
        unreachable(message);
    }
  }

  #schedule(): void {
    const { groupBytesMax, fsync, commitWindowMs } = this.#policy;
    const queued = this.#service.queuedBytes;
    const limit = fsync === 'always' ? groupBytesMax : groupBytesMax * INTERVAL_GROUPS_MAX;
    if (queued >= limit) {
      this.#commit();
      return;
    }
    this.#windowTimer ??= setTimeout(() => this.#endWindow(), commitWindowMs);
  }

  #endWindow(): void {
    this.#windowTimer = undefined;
    this.#service.endWindow();
    this.#afterCommit();
  }

  #commit(): void {
    clearTimeout(this.#windowTimer);
    this.#windowTimer = undefined;
    this.#service.commit();
    this.#afterCommit();
  }

  #eachSecond(): void {
    this.#checkSpace();
    this.#service.rollWhileIdle();
    this.#keeper.removeMoved();
    this.#reportFailure();
  }

  #checkSpace(): void {
    if (this.#service.failure !== undefined) return;
    const verdict = this.#space.look(this.#service.receivedBytes);
    if (verdict.kind === 'full') this.#service.endFull(verdict.detail);
    if (verdict.kind === 'quota-near' && !this.#quotaTold) {
      this.#quotaTold = true;
      this.#events.onNews(verdict);
    }
  }

  #afterCommit(): void {
    this.#checkSpace();
    this.#reportFailure();
    if (this.#merge !== undefined || this.#service.failure !== undefined) return;
    const plan = this.#seen.planMerge();
    if (plan !== undefined) this.#startMerge(plan);
  }

  #startMerge(plan: SeenMergePlan): void {
    const order: SeenMergeOrder = {
      directory: folderOf(this.#store.directory.dir, 'frontier'),
      plan,
    };
    // The compiled name: a URL in a string is not rewritten by the compiler.
    const merge = new Worker(new URL('./seen-merge-thread.js', import.meta.url), {
      workerData: order,
    });
    this.#merge = merge;
    let done: SeenRunEntry | undefined;
    merge.on('message', (entry: SeenRunEntry) => {
      done = entry;
    });
    // A failed merge leaves the set as it was; the disk's trouble, if it is that, will show at the next commit.
    merge.on('error', () => undefined);
    merge.on('exit', () => {
      this.#merge = undefined;
      if (done === undefined) this.#seen.mergeFailed();
      else {
        this.#seen.merged(plan, done);
        this.#schedule();
      }
    });
  }

  #deliver(shard: number, message: ToShard): void {
    this.#ports.get(shard)?.postMessage(message);
  }

  #reportFailure(): void {
    const { failure } = this.#service;
    if (failure === undefined || this.#failureReported) return;
    this.#failureReported = true;
    this.#events.onFailure(failure.code, failure.detail);
  }

  /** The shard has nothing more to send; its port stays open for receipts until `close`. */
  #detach(shard: number): void {
    this.#detached.add(shard);
    if (this.#detached.size >= this.#ports.size) this.#onDetached?.();
  }

  #allDetached(): Promise<void> {
    if (this.#detached.size >= this.#ports.size) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DETACH_WAIT_MS);
      this.#onDetached = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
