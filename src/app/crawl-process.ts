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
import { SimhashIndex } from '../domain/simhash-index.ts';
import type { RenderNews } from '../render/render-messages.ts';
import { BloomGenerations } from '../runtime/bloom-generations.ts';
import { type ClockAnchor, RealAlarms, RealClock } from '../runtime/real-clock.ts';
import { RecentKeys } from '../runtime/recent-keys.ts';
import { createAllowanceMemory } from '../runtime/shared-allowance.ts';
import { createBudgetMemory } from '../runtime/shared-budget.ts';
import { SharedTallies } from '../runtime/shared-tallies.ts';
import { createWordsMemory } from '../runtime/shared-words.ts';
import type { ThreadExit, ThreadHost } from '../runtime/thread-host.ts';
import type { CrawlIdentity } from '../storage/crawl-identity.ts';
import type { StorageNews } from '../storage/storage-loop.ts';
import type { StorageThread } from '../storage/storage-owner.ts';
import { FilterKeeper } from './filter-keeper.ts';
import { openCrawl, type PreparedCrawl } from './open-crawl.ts';
import { ourBug } from './our-bug.ts';
import { type RenderCrew, startRenderCrew } from './render-crew.ts';
import { NETWORK_ROWS } from './shard-networks.ts';
import { ShardQuestions } from './shard-questions.ts';
import type { RemoteSeat } from './shard-remote.ts';
import { ShardWatch } from './shard-watch.ts';
import { meshOf } from './thread-mesh.ts';
import type {
  FromShardThread,
  ShardLoad,
  ShardThreadPlan,
  SharedMemories,
  ToShardThread,
} from './thread-plan.ts';
import { WaitingShard } from './waiting-shard.ts';

/** Rows of the address table: 2^16 (shared-budget.ts). */
const ADDRESS_ROWS = 65_536;
/** Registrable domains with a budget of their own: 32 MiB, of which the system provides what is used. */
const DOMAIN_ROWS = 2 ** 20;
/** Bytes of one key in the table of recent keys. */
const RECENT_KEY_BYTES = 8;
/** How long requests in flight may go on after a stop was asked for. */
export const STOP_GRACE_MS = 5_000;

/** Why a shard whose event loop stands still is given up. */
const STUCK = 'its event loop has stood still for half a minute';

export interface CrawlProcessOptions {
  readonly config: CrawlConfig;
  readonly userAgent: string;
  readonly software: string;
  readonly trustedCertificates: readonly string[];
  /** Domains of the opt-out file. */
  readonly optOut: readonly string[];
  /** The module that shard threads run; see SHARD_ENTRY. */
  readonly shardEntry: URL;
  /** The node's part of a cluster; undefined on one machine. */
  readonly cluster: ClusterSeats | undefined;
  /** Told what an operator may want to know about a host. */
  readonly noticed: (notice: HostNotice) => void;
  /** Told what becomes of closed WARC files, and of a quota that is nearly used up. */
  readonly storageNews: (news: StorageNews) => void;
  /** Told what becomes of the browser, when pages are rendered. */
  readonly renderNews: (news: RenderNews) => void;
  /** Told once of trouble that ends the crawl. */
  readonly failed: (error: CrawlError) => void;
}

/** What the process needs of the cluster it is a node of. */
export interface ClusterSeats {
  /** The crawl that all nodes are on. */
  readonly identity: CrawlIdentity;
  seat(shard: number): RemoteSeat;
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
  /** It ended by itself, an actor of it failed, or it is stuck: it answers nothing any more. */
  isDead: boolean;
}

export class CrawlProcess {
  readonly storage: StorageThread;
  readonly anchor: ClockAnchor;
  readonly #options: CrawlProcessOptions;
  readonly #memories: SharedMemories;
  readonly #filter: FilterKeeper;
  readonly #watch: ShardWatch;
  readonly #shards: Shard[] = [];
  /** Questions of operators to single shards. */
  readonly questions = new ShardQuestions((shard, message) => this.#send(shard, message));
  readonly #statusAnswers = new Map<number, () => void>();
  readonly #crew: RenderCrew | undefined;
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
    this.#crew = startRenderCrew(options.config, state.anchor, options.renderNews);
    this.#watch = new ShardWatch({
      dir: options.config.dataDir,
      shards: options.config.threads,
      turns: state.memories.turns,
      parsing: state.memories.parsing,
      alarms: new RealAlarms(),
      stuck: (shard) => this.#shardDied(shard, `shard thread ${shard}`, STUCK),
    });
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
      (_, shard) =>
        new WaitingShard(shard, config.activeHostsMax, options.shardEntry, (exit) =>
          exited(shard, exit),
        ),
    );
    const { storage, prepared, suspects } = await openCrawl(options, fail, prepare).catch(
      async (error) => {
        await Promise.all(waiting.map((shard) => shard.abandon()));
        throw error;
      },
    );
    const { storedPages, scopeSeeds } = prepared;
    const process = CrawlProcess.#assemble(options, storage, { anchor, storedPages });
    self.process = process;
    await process.#fillFilter();
    await process.#startShards(waiting, { scopeSeeds, suspects });
    process.#watch.start();
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
      domains: SharedTallies.createMemory(DOMAIN_ROWS),
      fingerprints: SimhashIndex.createMemory(config.fingerprintsMax),
      pages: createAllowanceMemory(config.maxPages ?? 0, storedPages),
      parsing: new SharedArrayBuffer(8 * config.threads),
      turns: new SharedArrayBuffer(4 * config.threads),
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

  /** Checkpoints and ends everything; requests in flight get `graceMs`. Returns when the data directory is closed. */
  async stop(graceMs: number): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    const alive = (): Shard[] => this.#shards.filter(({ isDead }) => !isDead);
    this.sendAll({ kind: 'finish', graceMs });
    await Promise.all(this.#shards.map(({ whenFinished }) => whenFinished));
    await Promise.all(alive().map(({ host }) => host.stop()));
    this.#watch.stop();
    await this.#filter.save();
    await this.storage.close();
    // A dead shard that still runs has nothing to write, and nobody to write to (DESIGN.md §3).
    await Promise.all([this.#crew?.stop(), ...this.#shards.map(({ host }) => host.terminate())]);
  }

  async #startShards(
    waiting: readonly WaitingShard[],
    facts: Pick<ShardThreadPlan, 'scopeSeeds' | 'suspects'>,
  ): Promise<void> {
    const { config, userAgent, trustedCertificates, optOut, cluster } = this.#options;
    const { identity, seenRuns } = this.storage.opened;
    const peers = meshOf(config.threads);
    await Promise.all(
      peers.map(async (peerPorts, shard) => {
        const channel = new MessageChannel();
        const storagePort = this.storage.attach(shard);
        const plan: ShardThreadPlan = {
          shard,
          shards: config.threads,
          ...{ config, userAgent, optOut, trustedCertificates },
          hashSeed: identity.hashSeed,
          partitions: identity.partitions,
          ...facts,
          anchor: this.anchor,
          memories: this.#memories,
          seenRuns,
          storagePort,
          controlPort: channel.port2,
          peerPorts,
          remote: cluster?.seat(shard),
          renderPort: this.#crew?.portOf(shard),
        };
        const thread = waiting[shard] as WaitingShard;
        this.#listenTo(shard, thread.host, channel.port1);
        const ports = [storagePort, channel.port2, ...peerPorts.filter((port) => port !== null)];
        for (const port of [plan.remote?.port, plan.renderPort])
          if (port !== undefined) ports.push(port);
        const started = await thread.begin(plan, ports);
        if (started.kind === 'ready') return;
        const why = started.kind === 'exited' ? started.exit.error : 'it took too long';
        throw ourBug(`shard thread ${shard}, at its start,`, why);
      }),
    );
  }

  #listenTo(shard: number, host: ThreadHost, control: MessagePort): void {
    let finished = (): void => {};
    const whenFinished = new Promise<void>((resolve) => {
      finished = resolve;
    });
    this.#shards[shard] = {
      host,
      control,
      news: undefined,
      finished: () => finished(),
      whenFinished,
      isDead: false,
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
        this.questions.answered(message.id, message.answer);
        return;
      case 'traced':
        this.questions.traced(message.id, message.event);
        return;
      case 'storage-failed':
        // The storage thread has told the main thread itself, with the directory's name.
        return;
      case 'actor-failed':
        this.#shardDied(shard, `actor ${message.actor}`, `${message.error}\n${message.stack}`);
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
    this.#shardDied(shard, `shard thread ${shard}`, exit.error || `exit code ${exit.code}`);
  }

  /** Crash-only: the page it was handling is recorded, and the process ends with what is durable. Nobody waits for this shard any more. */
  #shardDied(shard: number, where: string, how: string): void {
    const entry = this.#shards[shard];
    if (entry === undefined || entry.isDead) return;
    entry.isDead = true;
    entry.finished();
    for (const answer of this.#statusAnswers.values()) answer();
    this.#statusAnswers.clear();
    try {
      const [cause = ''] = how.split('\n');
      this.#fail(ourBug(`${where}${this.#watch.accuse(shard, cause)}`, how));
    } catch (error) {
      // The suspect could not be recorded; the death is what has to be told.
      this.#fail(ourBug(where, `${how}\n${String(error)}`));
    }
  }

  #fail(error: CrawlError): void {
    this.#options.failed(error);
  }

  #askStatus(shard: number): Promise<void> {
    const id = this.#nextId++;
    if (this.#shards[shard]?.isDead === true) return Promise.resolve();
    return new Promise((resolve) => {
      this.#statusAnswers.set(id, resolve);
      this.#send(shard, { kind: 'report-status', id });
    });
  }

  #send(shard: number, message: ToShardThread): void {
    this.#shards[shard]?.control.postMessage(message);
  }
}
