// One crawling process: the storage thread, the shard threads, the memory they share and the links between them (DESIGN.md §3). Starts them
// in order, hears how they are, tells when the crawl is done, and ends them in order. Crash-only where it matters: a shard or the
// storage that dies by a bug ends the process; everything acknowledged is on disk, and the next start goes on from there.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { InjectedUrl, ShardCommand } from '../actors/messages.ts';
import type { HostNotice } from '../actors/services.ts';
import type { ShardStatus } from '../actors/shard-ports.ts';
import { unreachable } from '../base/assert.ts';
import type { CrawlError } from '../base/errors.ts';
import type { CrawlConfig } from '../config/options.ts';
import { BloomGenerations } from '../runtime/bloom-generations.ts';
import { type ClockAnchor, RealClock } from '../runtime/real-clock.ts';
import { RecentKeys } from '../runtime/recent-keys.ts';
import { createAllowanceMemory } from '../runtime/shared-allowance.ts';
import { createBudgetMemory } from '../runtime/shared-budget.ts';
import { createWordsMemory } from '../runtime/shared-words.ts';
import type { ThreadExit, ThreadHost } from '../runtime/thread-host.ts';
import type { StorageThread } from '../storage/storage-owner.ts';
import { FilterKeeper } from './filter-keeper.ts';
import { openStorage } from './open-storage.ts';
import { ourBug } from './our-bug.ts';
import { NETWORK_ROWS } from './shard-networks.ts';
import type {
  FromShardThread,
  ShardLoad,
  ShardQuery,
  ShardThreadPlan,
  SharedMemories,
  ToShardThread,
} from './thread-plan.ts';
import { WaitingShard } from './waiting-shard.ts';

/** Rows of the address table: 2^16 (shared-budget.ts). */
const ADDRESS_ROWS = 65_536;
/** Bytes of one key in the table of recent keys. */
const RECENT_KEY_BYTES = 8;
/** How long requests in flight may go on after a stop was asked for. */
export const STOP_GRACE_MS = 5_000;

export interface CrawlProcessOptions {
  readonly config: CrawlConfig;
  readonly userAgent: string;
  readonly software: string;
  readonly trustedCertificates: readonly string[];
  /** Domains of the opt-out file. */
  readonly optOut: readonly string[];
  /** Told what an operator may want to know about a host. */
  readonly noticed: (notice: HostNotice) => void;
  /** Told once of trouble that ends the crawl. */
  readonly failed: (error: CrawlError) => void;
}

/** What is made ready once the data directory is open. */
export interface PreparedCrawl {
  /** 200 pages that earlier runs stored, for `--max-pages`. */
  readonly storedPages: number;
  readonly scopeSeeds: readonly string[];
}

/** What a shard said last. */
export interface ShardNews {
  readonly status: ShardStatus;
  readonly load: ShardLoad;
}

interface Shard {
  readonly host: ThreadHost;
  readonly control: MessagePort;
  news: ShardNews | undefined;
  finished: () => void;
  readonly whenFinished: Promise<void>;
}

export class CrawlProcess {
  readonly storage: StorageThread;
  readonly anchor: ClockAnchor;
  readonly #options: CrawlProcessOptions;
  readonly #memories: SharedMemories;
  readonly #filter: FilterKeeper;
  readonly #shards: Shard[] = [];
  readonly #answers = new Map<number, (answer: unknown) => void>();
  readonly #statusAnswers = new Map<number, () => void>();
  #nextId = 1;
  #ending = false;
  /** Hosts with work found on disk. */
  recoveredHosts = 0;

  private constructor(
    options: CrawlProcessOptions,
    storage: StorageThread,
    state: { anchor: ClockAnchor; memories: SharedMemories; filter: FilterKeeper },
  ) {
    this.#options = options;
    this.storage = storage;
    this.anchor = state.anchor;
    this.#memories = state.memories;
    this.#filter = state.filter;
  }

  /**
   * Opens the data directory and starts all threads.
   * @throws CrawlError as StorageThread.start does
   */
  static async start(
    options: CrawlProcessOptions,
    prepare: (storage: StorageThread) => PreparedCrawl,
  ): Promise<CrawlProcess> {
    const { config } = options;
    const anchor = new RealClock().anchor;
    const self: { process?: CrawlProcess } = {};
    const fail = (error: CrawlError): void => {
      if (self.process === undefined) options.failed(error);
      else self.process.#fail(error);
    };
    const exited = (shard: number, exit: ThreadExit): void => {
      if (self.process !== undefined) self.process.#shardExited(shard, exit);
    };
    const waiting = Array.from(
      { length: config.threads },
      (_, shard) => new WaitingShard(shard, (exit) => exited(shard, exit)),
    );
    const { storage, prepared } = await opening(options, fail, prepare).catch(async (error) => {
      await Promise.all(waiting.map((shard) => shard.abandon()));
      throw error;
    });
    const { storedPages, scopeSeeds } = prepared;
    const process = CrawlProcess.#assemble(options, storage, { anchor, storedPages });
    self.process = process;
    await process.#fillFilter();
    await process.#startShards(waiting, scopeSeeds);
    return process;
  }

  static #assemble(
    options: CrawlProcessOptions,
    storage: StorageThread,
    { anchor, storedPages }: { readonly anchor: ClockAnchor; readonly storedPages: number },
  ): CrawlProcess {
    const { config } = options;
    const bloom = BloomGenerations.create({
      expectedKeys: config.expectedUrls,
      falsePositiveRate: config.falsePositiveRate,
    });
    const memories: SharedMemories = {
      bloom: bloom.handle,
      bloomReady: new SharedArrayBuffer(4),
      recent: RecentKeys.create(config.recentKeysBytes / RECENT_KEY_BYTES).buffer,
      addresses: createBudgetMemory({ rows: ADDRESS_ROWS, threads: config.threads }),
      networks: createWordsMemory(NETWORK_ROWS),
      pages: createAllowanceMemory(config.maxPages ?? 0, storedPages),
      parsing: new SharedArrayBuffer(8 * config.threads),
    };
    const filter = new FilterKeeper({
      dir: config.dataDir,
      bloom,
      ready: memories.bloomReady,
      storage,
    });
    return new CrawlProcess(options, storage, { anchor, memories, filter });
  }

  /** With an exact seen set the shards need not wait for the filter. */
  async #fillFilter(): Promise<void> {
    const filled = this.#filter.fill();
    if (this.#options.config.seen === 'bloom') await filled;
    else filled.catch((error) => this.#fail(ourBug('the rebuild of the Bloom filter', error)));
  }

  get shards(): number {
    return this.#shards.length;
  }

  get memories(): SharedMemories {
    return this.#memories;
  }

  /** What each shard said last. */
  news(): readonly ShardNews[] {
    return this.#shards.map(({ news }) => news).filter((news) => news !== undefined);
  }

  /** Sends a command to every shard. */
  commandAll(command: ShardCommand): void {
    this.sendAll({ kind: 'command', command });
  }

  /** Sends a message to every shard. */
  sendAll(message: ToShardThread): void {
    for (let shard = 0; shard < this.#shards.length; shard += 1) this.#send(shard, message);
  }

  command(shard: number, command: ShardCommand): void {
    this.#send(shard, { kind: 'command', command });
  }

  /** Hands URLs in; any shard will do, it routes them to their owners. */
  inject(urls: readonly InjectedUrl[]): void {
    this.command(0, { kind: 'inject-urls', urls });
  }

  /** Asks every shard how it is and waits for all answers. */
  async refresh(): Promise<readonly ShardNews[]> {
    await Promise.all(this.#shards.map((_, shard) => this.#askStatus(shard)));
    const buffer = this.#filter.growIfNeeded();
    if (buffer !== undefined) this.sendAll({ kind: 'bloom-grown', buffer });
    return this.news();
  }

  /** Asks one shard a read-only question; undefined when it does not answer within the time. */
  ask(shard: number, query: ShardQuery, timeoutMs = 4_000): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#answers.delete(id);
        resolve(undefined);
      }, timeoutMs);
      this.#answers.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#send(shard, { kind: 'inspect', id, query });
    });
  }

  /** Checkpoints and ends everything; requests in flight get `graceMs`. Returns when the data directory is closed. */
  async stop(graceMs: number): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    this.sendAll({ kind: 'finish', graceMs });
    await Promise.all(this.#shards.map(({ whenFinished }) => whenFinished));
    await Promise.all(this.#shards.map(({ host }) => host.stop()));
    await this.#filter.save();
    await this.storage.close();
  }

  async #startShards(
    waiting: readonly WaitingShard[],
    scopeSeeds: readonly string[],
  ): Promise<void> {
    const { config, userAgent, trustedCertificates, optOut } = this.#options;
    const { identity, seenRuns } = this.storage.opened;
    const peers = meshOf(config.threads);
    await Promise.all(
      peers.map(async (peerPorts, shard) => {
        const channel = new MessageChannel();
        const storagePort = this.storage.attach(shard);
        const plan: ShardThreadPlan = {
          shard,
          shards: config.threads,
          config,
          userAgent,
          hashSeed: identity.hashSeed,
          partitions: identity.partitions,
          scopeSeeds,
          optOut,
          trustedCertificates,
          anchor: this.anchor,
          memories: this.#memories,
          seenRuns,
          storagePort,
          controlPort: channel.port2,
          peerPorts,
        };
        const thread = waiting[shard] as WaitingShard;
        this.#listenTo(shard, thread.host, channel.port1);
        const ports = [storagePort, channel.port2, ...peerPorts.filter((port) => port !== null)];
        const started = await thread.begin(plan, ports);
        if (started.kind === 'ready') return;
        const why = started.kind === 'exited' ? started.exit.error : 'it took too long';
        throw ourBug(`shard thread ${shard}, at its start,`, why);
      }),
    );
  }

  #listenTo(shard: number, host: ThreadHost, control: MessagePort): void {
    const { promise, resolve } = withResolvers();
    this.#shards[shard] = {
      host,
      control,
      news: undefined,
      finished: resolve,
      whenFinished: promise,
    };
    control.on('message', (message: FromShardThread) => this.#heard(shard, message));
  }

  #heard(shard: number, message: FromShardThread): void {
    const entry = this.#shards[shard] as Shard;
    switch (message.kind) {
      case 'status':
        entry.news = { status: message.status, load: message.load };
        this.#statusAnswers.get(message.id)?.();
        this.#statusAnswers.delete(message.id);
        return;
      case 'recovered':
        this.recoveredHosts += message.hosts;
        return;
      case 'noticed':
        this.#options.noticed(message.notice);
        return;
      case 'inspected':
        this.#answers.get(message.id)?.(message.answer);
        this.#answers.delete(message.id);
        return;
      case 'storage-failed':
        // The storage thread has told the main thread itself, with the directory's name.
        return;
      case 'actor-failed':
        this.#fail(ourBug(`actor ${message.actor}`, `${message.error}\n${message.stack}`));
        return;
      case 'finished':
        entry.finished();
        return;
      default:
        unreachable(message);
    }
  }

  #shardExited(shard: number, exit: ThreadExit): void {
    this.#shards[shard]?.finished();
    if (this.#ending && exit.kind === 'stopped') return;
    if (this.#ending && exit.code === 0) return;
    this.#fail(ourBug(`shard thread ${shard}`, exit.error || `exit code ${exit.code}`));
  }

  #fail(error: CrawlError): void {
    this.#options.failed(error);
  }

  #askStatus(shard: number): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#statusAnswers.set(id, resolve);
      this.#send(shard, { kind: 'report-status', id });
    });
  }

  #send(shard: number, message: ToShardThread): void {
    this.#shards[shard]?.control.postMessage(message);
  }
}

async function opening(
  options: CrawlProcessOptions,
  fail: (error: CrawlError) => void,
  prepare: (storage: StorageThread) => PreparedCrawl,
): Promise<{ readonly storage: StorageThread; readonly prepared: PreparedCrawl }> {
  const storage = await openStorage(options, fail);
  return { storage, prepared: prepare(storage) };
}

/** A port from each thread to each other one. */
function meshOf(threads: number): (MessagePort | null)[][] {
  const rows = Array.from({ length: threads }, () =>
    new Array<MessagePort | null>(threads).fill(null),
  );
  for (let one = 0; one < threads; one += 1) {
    for (let other = one + 1; other < threads; other += 1) {
      const { port1, port2 } = new MessageChannel();
      (rows[one] as (MessagePort | null)[])[other] = port1;
      (rows[other] as (MessagePort | null)[])[one] = port2;
    }
  }
  return rows;
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
