// A shard on its thread: builds the shard's ports (storage client, links to the other shards, and what the entry gives it of the network),
// assembles the shard on a real dispatcher and serves the main thread's control port. Everything the shard decides is in src/actors; this
// file only connects.

import { type MessagePort, workerData } from 'node:worker_threads';
import xxhash from 'xxhash-wasm';
import type { ShardPeerMessage } from '../actors/messages.ts';
import type { FetchPort, ResolvePort } from '../actors/ports.ts';
import { SeenCheck } from '../actors/seen-check.ts';
import { assembleShard, type RunningShard } from '../actors/shard-assembly.ts';
import type { ShardStatus } from '../actors/shard-ports.ts';
import { unreachable } from '../base/assert.ts';
import { SeededRandom } from '../base/random.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import { leastGapMs } from '../config/conflicts.ts';
import { SimhashIndex } from '../domain/simhash-index.ts';
import { createHasher } from '../domain/url-key.ts';
import { AddressGuard } from '../net/address-guard.ts';
import { GuardedParser } from '../parsers/guarded-parser.ts';
import { RenderClient } from '../render/render-client.ts';
import { BloomGenerations } from '../runtime/bloom-generations.ts';
import { Codec } from '../runtime/codec.ts';
import type { LinkEnd } from '../runtime/link.ts';
import { RealAlarms, RealClock, randomSeed } from '../runtime/real-clock.ts';
import { RealDispatcher } from '../runtime/real-dispatcher.ts';
import { RecentKeys } from '../runtime/recent-keys.ts';
import { SharedAllowance } from '../runtime/shared-allowance.ts';
import { SharedBudget } from '../runtime/shared-budget.ts';
import { SharedTallies } from '../runtime/shared-tallies.ts';
import { onThreadStop, threadReady } from '../runtime/thread-entry.ts';
import { openThreadLink } from '../runtime/thread-link.ts';
import { openCheckpointClient, type ShardStorage } from '../storage/open-client.ts';
import { SeenStore } from '../storage/seen-store.ts';
import { WARC_PREFIX } from '../storage/warc-names.ts';
import { HostSettings } from './host-settings.ts';
import { isShardPeerMessage } from './peer-messages.ts';
import { answerQuery, ShardTraces } from './shard-inspection.ts';
import { ShardNetworks } from './shard-networks.ts';
import { ShardOptOut } from './shard-opt-out.ts';
import { recrawlPolicyOf, shardPlanOf, shardRing } from './shard-plan.ts';
import { ShardRemote } from './shard-remote.ts';
import type {
  FromShardThread,
  ShardQuery,
  ShardThreadGift,
  ShardThreadPlan,
  ToShardThread,
} from './thread-plan.ts';

/** How often a shard shows that its event loop turns, milliseconds; see shard-watch.ts. */
const PULSE_MS = 1_000;
/** How often a finishing shard looks whether it may end, milliseconds. */
const FINISH_LOOK_MS = 20;
/** Notices about hosts in one run of a thread; a web can have millions of odd hosts, and they are counted all the same. */
const NOTICES_MAX = 1_000;

/** Step 9 and the names it needs, as an entry provides them. */
export interface ShardNetwork {
  readonly fetcher: FetchPort & {
    /** Origins with a connection, or lately with one. */
    readonly clients: number;
    /** Ends whatever is in flight, and says no more. */
    close(): void;
  };
  readonly resolver: ResolvePort & { close(): void };
}

/** What a shard lends to its network. */
export interface NetworkMeans {
  readonly plan: ShardThreadPlan;
  readonly guard: AddressGuard;
  readonly clock: RealClock;
  readonly watch: RealDispatcher['watch'];
  /** What the operator has set for single hosts; it may change. */
  readonly settings: HostSettings;
  /** Asked before each request, in a cluster: false once the host is no longer ours. */
  readonly mayRequest: ((url: string) => boolean) | undefined;
}

/** Runs the shard of this thread until it is told to end. An entry calls it once, as the last it does. */
export async function runShard(openNetwork: (means: NetworkMeans) => ShardNetwork): Promise<void> {
  const plan = await planOf(workerData as ShardThreadGift);
  const hasher = createHasher(await xxhash(), plan.hashSeed);
  const clock = new RealClock(plan.anchor);
  const control = plan.controlPort;
  const report = (message: FromShardThread): void => control.postMessage(message);
  const driver = new RealDispatcher({
    clock,
    random: new SeededRandom(randomSeed()),
    onFailure: ({ actor, error, stack }) => report({ kind: 'actor-failed', actor, error, stack }),
  });
  const bloom = BloomGenerations.attach(plan.memories.bloom);
  const guard = new AddressGuard(plan.config.allowNets);
  const isRemote = plan.remote !== undefined;
  const mayRequest = isRemote ? (url: string) => remote?.mayRequest(url) ?? false : undefined;
  const { watch } = driver;
  const settings = new HostSettings(plan.config);
  const means = { plan, guard, clock, watch, settings, mayRequest };
  const { fetcher, resolver } = openNetwork(means);
  const storage = openStorage(plan, () => shard);
  const seen = new SeenCheck(
    readyFilter(bloom, plan.memories.bloomReady),
    new RecentKeys(plan.memories.recent),
    plan.config.seen === 'exact' ? storage.seen : undefined,
  );
  const remote =
    plan.remote === undefined
      ? undefined
      : new ShardRemote({
          seat: plan.remote,
          hasher,
          partitions: plan.partitions,
          busShard: plan.shards,
          now: () => clock.now(),
          reader: storage.storage.client,
          seen,
        });
  const guarded = new GuardedParser({ alarms: new RealAlarms(), productToken: PRODUCT_TOKEN });
  const render = plan.renderPort === undefined ? undefined : new RenderClient(plan.renderPort);
  const parsing = new BigUint64Array(plan.memories.parsing);
  const peers = new Map<number, LinkEnd<ShardPeerMessage, ShardPeerMessage>>();
  const { config } = plan;
  const optOut = new ShardOptOut(config.optOut, plan.optOut);
  const networks = new ShardNetworks(plan.memories.networks);
  const shardPlan = shardPlanOf(plan, hasher, (host) => optOut.has(host), settings, remote?.tenure);
  let notices = 0;
  const shard: RunningShard = assembleShard(driver.dispatcher, shardPlan, {
    fetch: fetcher,
    render,
    checkpoint: storage.storage.client,
    reader: storage.storage.client,
    remote: remote?.ports,
    resolver,
    addresses: new SharedBudget(plan.memories.addresses, {
      thread: plan.shard,
      gapMs: config.addressGapMs,
      openMax: config.addressInFlightMax,
    }),
    networks,
    notice: (notice) => {
      notices += 1;
      if (notices <= NOTICES_MAX) report({ kind: 'noticed', notice });
    },
    pages: new SharedAllowance(plan.memories.pages),
    seen,
    fingerprints: new SimhashIndex(plan.memories.fingerprints),
    domains: new SharedTallies(plan.memories.domains),
    hasher,
    startedMs: plan.anchor.monotonic,
    startedAt: plan.anchor.wall,
    leastGapMsOf: (address) => leastGapMs(0, guard.isAllowed(address)),
    sendPeer: (peer, message) =>
      peer === plan.shards && remote !== undefined
        ? remote.sendPeer(message)
        : (peers.get(peer)?.send(message) ?? false),
    storageFailed: (event) => report({ kind: 'storage-failed', event }),
    markParsing: (urlKey) => Atomics.store(parsing, plan.shard, urlKey),
    crashesOf: (urlKey) => plan.suspects.get(urlKey) ?? 0,
    guarded,
  });
  for (const [peer, port] of plan.peerPorts.entries()) {
    if (port !== null) peers.set(peer, linkTo(port, peer, shard));
  }
  const turns = new Int32Array(plan.memories.turns);
  const pulse = setInterval(() => Atomics.add(turns, plan.shard, 1), PULSE_MS);
  const end = async (): Promise<void> => {
    driver.stop();
    fetcher.close();
    resolver.close();
    for (const link of peers.values()) link.close();
    remote?.close();
    render?.close();
    clearInterval(pulse);
    await guarded.close();
    await storage.storage.close();
    report({ kind: 'finished' });
    control.close();
  };
  const traces = new ShardTraces(driver.dispatcher, (id, event) =>
    report({ kind: 'traced', id, event }),
  );
  const inspected = async (id: number, query: ShardQuery): Promise<void> => {
    const asked = answerQuery(driver.dispatcher, shard, query, driver);
    // An operator's question that cannot be answered harms nobody: undefined is read as such.
    const answer = await Promise.resolve(asked).catch(() => undefined);
    report({ kind: 'inspected', id, answer });
  };
  control.on('message', (message: ToShardThread) => {
    switch (message.kind) {
      case 'command':
        shard.tell(message.command);
        return;
      case 'report-status':
        report({ kind: 'status', id: message.id, status: statusOf(), load: loadOf() });
        return;
      case 'bloom-grown':
        bloom.adopt(message.buffer);
        return;
      case 'opt-out':
        optOut.replace(message.domains);
        return;
      case 'host-settings':
        settings.replace(message.options);
        return;
      case 'asn-table':
        void networks.adopt(message.table);
        return;
      case 'finish':
        finish(shard, message.graceMs, end);
        return;
      case 'inspect':
        void inspected(message.id, message.query);
        return;
      case 'trace':
        traces.begin(message.id, message.actor, message.eventsMax);
        return;
      case 'end-trace':
        traces.end(message.id);
        return;
      default:
        unreachable(message);
    }
  });
  const statusOf = (): ShardStatus => {
    const status = shard.status();
    // A message not yet handled may be work: injected URLs, or the end of a request.
    return driver.dispatcher.isIdle ? status : { ...status, quiet: false };
  };
  const loadOf = () => {
    const delay = driver.takeLoopDelay();
    return {
      loopDelayMs: delay.smoothedMs,
      loopDelayMaxMs: delay.maxMs,
      hostsActive: shard.hosts.size,
      seen: seen.counts(),
      connections: fetcher.clients,
      busyMs: driver.busyMs,
      remoteActivity: remote?.activity ?? 0,
      deadLetters: driver.dispatcher.deadLetters.count,
      responses: shard.shard.gate.responseTimes.counts(),
    };
  };
  onThreadStop(() => finish(shard, 0, end));
  const ring = shardRing(plan.shards, plan.partitions, hasher);
  const hosts = shard.recover((partition) => ring.ownerOf(partition) === plan.shard);
  remote?.serve(shard);
  report({ kind: 'recovered', hosts });
  threadReady();
}

interface OpenedStorage {
  readonly storage: ShardStorage;
  readonly seen: SeenStore;
}

function openStorage(plan: ShardThreadPlan, shard: () => RunningShard): OpenedStorage {
  let store: SeenStore | undefined;
  const storage = openCheckpointClient({
    port: plan.storagePort,
    dir: plan.config.dataDir,
    partitions: plan.partitions,
    warcPrefix: WARC_PREFIX,
    recrawl: recrawlPolicyOf(plan.config),
    onEvent: (event) => shard().tell({ kind: 'storage', event }),
    onSeenRuns: (change) => {
      store?.replaceRuns(change.removed, change.added);
      for (const id of change.frozenIds) store?.dropFrozen(id);
    },
    onSeenFlushWanted: () => store?.freeze(),
  });
  const seen = new SeenStore({
    directory: `${plan.config.dataDir}/frontier`,
    runs: plan.seenRuns,
    onMemtableFull: (frozen) => storage.client.sendSeenKeys(frozen),
  });
  store = seen;
  return { storage, seen };
}

/** The filter as long as it does not yet hold every key of an earlier run: it then answers that it may have anything. */
function readyFilter(bloom: BloomGenerations, readyWord: SharedArrayBuffer) {
  const ready = new Int32Array(readyWord);
  let isReady = false;
  return {
    mayHave: (high: number, low: number): boolean => {
      if (!isReady) isReady = Atomics.load(ready, 0) === 1;
      return !isReady || bloom.mayHave(high, low);
    },
    add: (high: number, low: number): boolean => bloom.add(high, low),
  };
}

function linkTo(port: MessagePort, peer: number, shard: RunningShard) {
  return openThreadLink<ShardPeerMessage, ShardPeerMessage>(port, {
    name: `shard-${peer}`,
    codec: new Codec({ batchBytesMax: 16 * 1024 * 1024 }),
    alarms: new RealAlarms(),
    validate: isShardPeerMessage,
    onMessage: (message) => shard.tell(message),
    onCredit: () => shard.tell({ kind: 'pump' }),
    creditsMax: 64,
    batchCountMax: 8,
  });
}

/** Waits until nothing is in flight and everything staged is durable, then ends. */
function finish(shard: RunningShard, graceMs: number, end: () => Promise<void>): void {
  shard.tell({ kind: 'drain' });
  const abortAt = performance.now() + graceMs;
  let aborted = false;
  const timer = setInterval(() => {
    if (!aborted && performance.now() >= abortAt) {
      aborted = true;
      shard.shard.gate.abortAll();
    }
    if (!shard.shard.isSettled) return;
    clearInterval(timer);
    void end();
  }, FINISH_LOOK_MS);
}

/** Waits for the plan; the port is not needed after it. */
function planOf({ planPort }: ShardThreadGift): Promise<ShardThreadPlan> {
  return new Promise((resolve) => {
    planPort.once('message', (plan: ShardThreadPlan) => {
      planPort.close();
      resolve(plan);
    });
  });
}
