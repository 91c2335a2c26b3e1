// The main thread's handle on the storage thread (step 10): starts it, gives each shard a port to it, asks for metrics, ends it. Wiring:
//   const storage = await StorageThread.start(options, events)
//   const port = storage.attach(shard)            → transfer to the shard's thread as workerData or by message
//   const client = openCheckpointClient({ port, … })   on the shard thread (open-client.ts)
//   … client.close() on every shard, then await storage.close()

import type { MessagePort } from 'node:worker_threads';
import { MessageChannel, Worker } from 'node:worker_threads';
import { unreachable } from '../base/assert.ts';
import type { CrawlErrorCode } from '../base/errors.ts';
import { CrawlError } from '../base/errors.ts';
import type { BloomSnapshot } from './bloom-snapshot.ts';
import type { StorageMetrics } from './commit-timings.ts';
import type { CrawlIdentity } from './crawl-identity.ts';
import type { StoreOptions } from './open-store.ts';
import type { RecoveryReport } from './recovery.ts';
import type { SeenRunEntry } from './seen-merge.ts';
import type { ArchivePolicy, CommitPolicy, StorageNews } from './storage-loop.ts';

/** The thread's workerData. */
export interface StorageThreadOptions {
  readonly store: StoreOptions;
  readonly policy: CommitPolicy;
  readonly archive: ArchivePolicy;
}

/** What opening found. */
export interface OpenedStorage {
  readonly identity: CrawlIdentity;
  readonly recovery: RecoveryReport;
  /** Runs of the exact seen set, for each shard's SeenStore. */
  readonly seenRuns: readonly SeenRunEntry[];
  /** Why the runs had to be made anew; empty when they were whole. */
  readonly seenDamage: readonly string[];
}

/** Messages to the thread. */
export type ToStorageThread =
  | { readonly kind: 'attach'; readonly shard: number; readonly port: MessagePort }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'save-bloom'; readonly id: number; readonly snapshot: BloomSnapshot }
  | { readonly kind: 'close' };

/** Messages from the thread. */
export type FromStorageThread =
  | { readonly kind: 'opened'; readonly opened: OpenedStorage }
  | {
      readonly kind: 'open-failed';
      readonly code: CrawlErrorCode;
      readonly message: string;
      readonly remedy: string;
      readonly retriable: boolean;
    }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: StorageMetrics }
  | { readonly kind: 'bloom-saved'; readonly id: number; readonly error: string | undefined }
  | { readonly kind: 'news'; readonly news: StorageNews }
  | {
      readonly kind: 'failed';
      readonly code: 'disk-full' | 'disk' | 'data-damaged';
      readonly detail: string;
    }
  | { readonly kind: 'closed' };

/** What the main thread hears without asking. */
export interface StorageOwnerEvents {
  /** Told what an operator may want to know. */
  readonly onNews: (news: StorageNews) => void;
  /** Nothing more becomes durable; the shards were told the same. */
  readonly onFailure: (error: CrawlError) => void;
  /** The thread threw: a bug of ours. The process must end (DESIGN.md §3, crash-only). */
  readonly onCrash: (error: unknown) => void;
}

/** See the head of this file. */
export class StorageThread {
  readonly opened: OpenedStorage;
  readonly #worker: Worker;
  readonly #dir: string;
  readonly #events: StorageOwnerEvents;
  readonly #answers = new Map<number, (message: FromStorageThread) => void>();
  #nextId = 1;
  #closed: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    worker: Worker,
    opened: OpenedStorage,
    options: { readonly dir: string; readonly events: StorageOwnerEvents },
  ) {
    this.#worker = worker;
    this.opened = opened;
    this.#dir = options.dir;
    this.#events = options.events;
    worker.on('message', (message: FromStorageThread) => this.#receive(message));
    worker.on('error', options.events.onCrash);
  }

  /**
   * Starts the thread and waits until the store is open and recovered.
   * @throws CrawlError data-locked, data-version, data-damaged, disk-full, disk, config
   */
  static async start(
    options: StorageThreadOptions,
    events: StorageOwnerEvents,
  ): Promise<StorageThread> {
    // The compiled name: a URL in a string is not rewritten by the compiler.
    const worker = new Worker(new URL('./storage-thread.js', import.meta.url), {
      workerData: options,
      name: 'storage',
    });
    const first = await new Promise<FromStorageThread>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    if (first.kind === 'open-failed') {
      const { code, message, remedy, retriable } = first;
      throw new CrawlError(code, message, { remedy, retriable });
    }
    if (first.kind !== 'opened') throw new CrawlError('internal', `storage said ${first.kind}`);
    return new StorageThread(worker, first.opened, { dir: options.store.dir, events });
  }

  /** A port for one shard, to be transferred to its thread. */
  attach(shard: number): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#send({ kind: 'attach', shard, port: port1 }, [port1]);
    return port2;
  }

  /** Counts and times of the thread. */
  async metrics(): Promise<StorageMetrics> {
    const answer = await this.#ask((id) => ({ kind: 'metrics', id }));
    if (answer.kind !== 'metrics') throw new CrawlError('internal', `storage said ${answer.kind}`);
    return answer.metrics;
  }

  /**
   * Saves the Bloom filter as `frontier/bloom.snapshot`.
   * @param snapshot its bytes must be over a SharedArrayBuffer, which is shared and not copied
   * @throws CrawlError disk when it cannot be written; the previous snapshot stays then
   */
  async saveBloom(snapshot: BloomSnapshot): Promise<void> {
    const answer = await this.#ask((id) => ({ kind: 'save-bloom', id, snapshot }));
    if (answer.kind === 'bloom-saved' && answer.error !== undefined) {
      throw new CrawlError('disk', `cannot save the Bloom filter: ${answer.error}`, {
        remedy: 'Nothing is lost: the filter is rebuilt from the seen runs at the next start.',
      });
    }
  }

  /** Last commit and orderly end; to be called when every shard's client was closed. Waits at most ten seconds for those. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#closed = resolve;
      this.#send({ kind: 'close' });
    });
    return this.#closing;
  }

  #ask(message: (id: number) => ToStorageThread): Promise<FromStorageThread> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#send(message(id));
    });
  }

  #send(message: ToStorageThread, transfer: readonly MessagePort[] = []): void {
    this.#worker.postMessage(message, [...transfer]);
  }

  #receive(message: FromStorageThread): void {
    switch (message.kind) {
      case 'metrics':
      case 'bloom-saved':
        this.#answers.get(message.id)?.(message);
        this.#answers.delete(message.id);
        return;
      case 'news':
        this.#events.onNews(message.news);
        return;
      case 'failed':
        this.#events.onFailure(this.#failureOf(message));
        return;
      case 'closed':
        this.#worker.once('exit', () => this.#closed?.());
        return;
      case 'opened':
      case 'open-failed':
        return;
      default:
        unreachable(message);
    }
  }

  #failureOf({ code, detail }: Extract<FromStorageThread, { kind: 'failed' }>): CrawlError {
    const remedy =
      code === 'disk-full'
        ? 'Free space on this disk, then run the same command again: the crawl continues.'
        : 'Check the disk, then run the same command again: the crawl continues from its last commit.';
    return new CrawlError(code, `${this.#dir}: ${detail}`, { remedy });
  }
}
