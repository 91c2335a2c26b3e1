// One run of the process: shards put together by the very code that runs in production (actors/shard-assembly.ts), on simulated ports. A
// crash kills the run; the disk and the web go on, and another run starts on them, perhaps with another number of shards.
import type { HostOperation, ShardMessage } from '../../../src/actors/messages.ts';
import { outlinksOf } from '../../../src/actors/page-outlinks.ts';
import type { GuardedParsePort, StorageEvent } from '../../../src/actors/ports.ts';
import {
  assembleShard,
  type RunningShard,
  type ShardPlan,
} from '../../../src/actors/shard-assembly.ts';
import type { SeededRandom } from '../../../src/base/random.ts';
import type { MonotonicMs, WallMs } from '../../../src/base/units.ts';
import { type BaseUrl, parseBase } from '../../../src/domain/base-url.ts';
import { CRAWL_RULES } from '../../../src/domain/canonical-url.ts';
import type { RecrawlPolicy } from '../../../src/domain/recrawl.ts';
import { partitionOf, Ring } from '../../../src/domain/ring.ts';
import { Scope } from '../../../src/domain/scope.ts';
import { SimhashIndex } from '../../../src/domain/simhash-index.ts';
import { trapOptions } from '../../../src/domain/traps.ts';
import { URL_BUDGET } from '../../../src/domain/url-budget.ts';
import { createAllowanceMemory, SharedAllowance } from '../../../src/runtime/shared-allowance.ts';
import { createBudgetMemory, SharedBudget } from '../../../src/runtime/shared-budget.ts';
import { SharedTallies } from '../../../src/runtime/shared-tallies.ts';
import { createWordsMemory } from '../../../src/runtime/shared-words.ts';
import { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';
import type { World } from '../world/world.ts';
import { truthOf } from '../world/world-truth.ts';
import type { SimDisk } from './sim-disk.ts';
import { SimDns } from './sim-dns.ts';
import { SimFetch, type SimFetchOptions, USER_AGENT } from './sim-fetch.ts';
import type { SimKernel } from './sim-kernel.ts';
import { SimLinks } from './sim-links.ts';
import { SimNetworks } from './sim-networks.ts';
import type { Boundary, SimPlan } from './sim-plan.ts';
import { SimReceipts } from './sim-receipts.ts';
import { SimSeen } from './sim-seen.ts';
import { SimStorage, type SimStorageOptions } from './sim-storage.ts';

export interface SimNodeOptions {
  readonly kernel: SimKernel;
  readonly plan: SimPlan;
  readonly world: World;
  readonly disk: SimDisk;
  readonly log: SimFetchOptions['log'];
  readonly shards: number;
  /** Counts the runs; names this one's streams of chance. */
  readonly run: number;
  readonly boundary: (boundary: Boundary) => void;
  readonly dueAtOf: SimFetchOptions['dueAtOf'];
  readonly committed: SimStorageOptions['committed'];
}

/** A running process. */
export class SimNode {
  readonly startedMs: MonotonicMs;
  readonly startedAt: WallMs;
  readonly dispatchers: readonly VirtualDispatcher[];
  readonly shards: readonly RunningShard[];
  readonly storage: SimStorage;
  readonly links: SimLinks;
  readonly fetch: SimFetch;
  readonly allowance: SharedAllowance;
  /** Set when storage reported that it cannot go on. */
  hasStorageFailed = false;
  readonly #options: SimNodeOptions;
  readonly #dns: SimDns;
  readonly #ring: Ring;
  readonly #seen: SimSeen;

  constructor(options: SimNodeOptions) {
    const { kernel, plan, world, disk, shards, run, boundary, log } = options;
    this.#options = options;
    this.startedMs = kernel.clock.now();
    this.startedAt = kernel.clock.wallNow();
    const stream = (name: string): SeededRandom => kernel.stream(`${name} ${run}`);
    const members = Array.from({ length: shards }, (_, at) => ({
      name: `thread-${at}`,
      weight: 1,
    }));
    this.#ring = new Ring(members, plan.partitions, (text) => kernel.hasher.hostKey(text));
    this.storage = new SimStorage({
      ...{ kernel, disk, shards, boundary, committed: options.committed },
      rollEntries: plan.rollEntries,
      commitMs: plan.commitMs,
      stallRate: plan.faults.commitStall,
      random: stream('storage'),
      deliver: (shard, event) => this.tell(shard, { kind: 'storage', event }),
    });
    this.#seen = new SimSeen(disk, plan);
    const receipts = new SimReceipts({
      isOnlyInMemory: ({ urlKey }) => this.#seen.isKnown(urlKey) && !disk.seenKeys.has(urlKey),
      isAllowed: ({ url }) =>
        truthOf(world.options, url, { userAgent: USER_AGENT, atMs: kernel.nowMs }).allowed,
      fail: (text) => kernel.fail(text),
    });
    this.links = new SimLinks({
      ...{ kernel, boundary, receipts },
      creditsMax: plan.creditsMax,
      stallRate: plan.faults.linkStall,
      random: stream('links'),
      deliver: (shard, message) => this.tell(shard, message),
      credit: (shard) => this.tell(shard, { kind: 'pump' }),
    });
    const faults = plan.faults;
    this.fetch = new SimFetch({
      ...{ kernel, world, log, faults, boundary, dueAtOf: options.dueAtOf },
      random: stream('fetch'),
    });
    this.#dns = new SimDns(kernel, world, faults, stream('dns'));
    const pages = disk.counters.get('pages') ?? 0;
    this.allowance = new SharedAllowance(createAllowanceMemory(plan.maxPages, pages));
    this.dispatchers = members.map(
      ({ name }) =>
        new VirtualDispatcher({
          clock: kernel.clock,
          random: stream(name),
          messagesPerTurn: plan.messagesPerTurn,
          onFailure: (failure) => kernel.fail(`${failure.actor} failed: ${failure.stack}`),
        }),
    );
    this.shards = this.#assemble();
  }

  /** Recovers, and injects the seeds as every start does. */
  start(): void {
    const { kernel, world, plan } = this.#options;
    let hosts = 0;
    for (const [shard, running] of this.shards.entries()) {
      hosts += running.recover((partition) => this.#ring.ownerOf(partition) === shard);
    }
    kernel.note(`start ${this.shards.length} shards, ${hosts} hosts with work`);
    const urls = [...world.seeds(seedCount(plan, world))].map((url) => ({ url, depth: 0 }));
    this.tell(0, { kind: 'inject-urls', urls });
  }

  tell(shard: number, message: ShardMessage): void {
    this.shards[shard]?.tell(message);
  }

  tellAll(message: ShardMessage): void {
    for (const shard of this.shards) shard.tell(message);
  }

  operate(host: string, operation: HostOperation): void {
    const { kernel, plan } = this.#options;
    const hostKey = kernel.hasher.hostKey(host);
    const partition = partitionOf(hostKey, plan.partitions);
    const identity = { host, hostKey, partition };
    const shard = this.#ring.ownerOf(partition);
    this.tell(shard, { kind: 'operate-host', host: identity, operation });
  }

  /** True when nothing is staged, under way or waiting to be parsed. Requests may be in flight. */
  get isQuiet(): boolean {
    if (!this.storage.isIdle || !this.links.isIdle) return false;
    return this.shards.every((shard) => shard.status().quiet);
  }

  /** The process is gone. */
  kill(): void {
    this.storage.kill();
    this.links.kill();
    this.fetch.kill();
    this.#dns.kill();
  }

  #assemble(): RunningShard[] {
    const { kernel, plan, world } = this.#options;
    const seen = this.#seen;
    const budget = createBudgetMemory({ rows: 1024, threads: this.dispatchers.length });
    const networks = createWordsMemory(64);
    const domains = SharedTallies.createMemory(256);
    const fingerprints = SimhashIndex.createMemory(64);
    const budgetPlan = { gapMs: plan.addressGapMs, openMax: 2 };
    return this.dispatchers.map(({ dispatcher }, shard) =>
      assembleShard(dispatcher, this.#planOf(shard, world), {
        fetch: this.fetch.portOf(shard),
        checkpoint: this.storage.client(shard),
        reader: this.storage.client(shard),
        remote: undefined,
        resolver: this.#dns,
        addresses: new SharedBudget(budget, { thread: shard, ...budgetPlan }),
        networks: new SimNetworks(networks),
        notice: () => kernel.count('notice'),
        domains: new SharedTallies(domains),
        fingerprints: new SimhashIndex(fingerprints),
        pages: this.allowance,
        seen: seen.check(),
        hasher: kernel.hasher,
        startedMs: this.startedMs,
        startedAt: this.startedAt,
        leastGapMsOf: () => 0,
        sendPeer: (peer, message) => this.links.send(shard, peer, message),
        storageFailed: (_event: StorageEvent) => {
          this.hasStorageFailed = true;
        },
        markParsing: () => {},
        crashesOf: () => 0,
        guarded: SIM_GUARDED,
      }),
    );
  }

  #planOf(shard: number, world: World): ShardPlan {
    const { plan } = this.#options;
    const seeds = [...world.seeds(seedCount(plan, world))];
    const gap = {
      minGapMs: plan.minGapMs,
      maxCrawlDelayMs: plan.maxCrawlDelayMs,
      latencyFactor: 10,
    };
    return {
      options: {
        shard,
        shards: this.dispatchers.length,
        productToken: 'hostler',
        slotsMax: plan.slotsMax,
        bandWeights: [6, 3, 1],
        freshnessShare: plan.freshnessShare,
        recrawls: plan.recrawls,
        flushMs: plan.flushMs,
        pendingBytesMax: plan.pendingBytesMax,
        backlogBytesMax: plan.backlogBytesMax,
        residentEntriesMax: plan.residentEntriesMax,
        sitemaps: true,
        wellKnownSitemaps: false,
      },
      policy: {
        gap,
        productToken: 'hostler',
        redirectsMax: 10,
        robotsBytesMax: 512_000,
        robotsAskMs: plan.robotsAskMs,
        budget: {
          ...URL_BUDGET,
          urlsPerHost: plan.hostUrls,
          ordinaryPagesMin: 8,
          urlsPerDomain: plan.hostUrls,
        },
        waitingHigh: plan.waitingHigh,
        reviewMsMin: plan.reviewMs,
        reviewMsMax: 4 * plan.reviewMs,
        recrawl: SIM_RECRAWL,
        freshnessShare: plan.freshnessShare,
        renderShare: 30,
        renders: false,
      },
      gapPolicyOf: () => gap,
      urlsOf: () => plan.hostUrls,
      isOptedOut: () => false,
      rules: CRAWL_RULES,
      // But for the world that is about them, traps without end are bounded by the operator's own rules: what they hold is no page.
      scope: new Scope({ mode: 'all', seeds, exclude: plan.isEndless ? [OUTSIDE] : TRAPS }),
      traps: trapOptions(2026),
      depthMax: Infinity,
      partitions: plan.partitions,
      shardOf: (partition) => this.#ring.ownerOf(partition),
      hostsActiveMax: plan.hostsActiveMax,
    };
  }
}

/** Short enough for several visits in a simulation. */
export const SIM_RECRAWL: RecrawlPolicy = { firstMs: 90_000, leastMs: 60_000, longestMs: 900_000 };

/** All but the first pages of the web's traps, and the hosts outside it. */
const OUTSIDE = 'outside\\.invalid';
const TRAPS = ['/calendar/(?!2026/)', '/cart\\?sid=(?!00000001)', OUTSIDE];

/** The guarded pool simulated: it parses as a shard does, at once, and nothing it is given is dangerous. */
const SIM_GUARDED: GuardedParsePort = {
  parse: (page, answered) => {
    const base = parseBase(page.url) as BaseUrl;
    answered({ kind: 'parsed', outlinks: outlinksOf(page, base, 'hostler') });
  },
};

/** A third of the hosts are seeds, one at least: the others are found. */
export function seedCount(plan: SimPlan, world: World): number {
  return plan.world === 'deep' ? world.options.hosts : Math.ceil(world.options.hosts / 3);
}
