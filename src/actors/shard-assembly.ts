// Puts one shard together on a dispatcher: the shard actor, its virtual host actors, the router and the seen check. The worker thread and
// the simulator both build their shards here, so what is simulated is what runs (DESIGN.md §11).

import { assert } from '../base/assert.ts';
import type { HostKey, MonotonicMs, PartitionIndex, WallMs } from '../base/units.ts';
import { parseBase } from '../domain/base-url.ts';
import type { IdentityRules } from '../domain/canonical-query.ts';
import { canonicalize } from '../domain/canonical-url.ts';
import type { GapPolicy } from '../domain/politeness.ts';
import { partitionOf } from '../domain/ring.ts';
import type { Scope } from '../domain/scope.ts';
import type { TrapOptions } from '../domain/traps.ts';
import type { UrlHasher } from '../domain/url-key.ts';
import { shapeOf } from '../domain/url-shape.ts';
import type { Dispatcher } from '../runtime/dispatcher.ts';
import type { SharedTallies } from '../runtime/shared-tallies.ts';
import type { SupervisionPolicy } from '../runtime/supervisor.ts';
import { VirtualActors } from '../runtime/virtual-actors.ts';
import { DomainAccounts } from './domain-accounts.ts';
import { ALWAYS_OURS, TenureBook } from './fetch-tenure.ts';
import { HostActor } from './host-actor.ts';
import { LinkRouter } from './link-router.ts';
import type { HostMessage, HostPlaceIdentity, ShardMessage } from './messages.ts';
import { OperatorSettings } from './operator-settings.ts';
import type { GuardedParsePort, ResolvePort } from './ports.ts';
import type { SeenCheck } from './seen-check.ts';
import type {
  AddressBudget,
  CrawlPolicy,
  HostNotice,
  HostServices,
  NetworkBackoff,
  PageAllowance,
} from './services.ts';
import { ShardActor } from './shard-actor.ts';
import type { ShardOptions, ShardPorts, ShardStatus } from './shard-ports.ts';
import { StagedReader } from './staged-reader.ts';

/** Everything that makes this shard's crawl this crawl. */
export interface ShardPlan {
  readonly options: ShardOptions;
  readonly policy: CrawlPolicy;
  readonly gapPolicyOf: (host: string) => GapPolicy;
  readonly urlsOf: (host: string) => number;
  readonly isOptedOut: (host: string) => boolean;
  readonly rules: IdentityRules;
  readonly scope: Scope;
  readonly traps: TrapOptions;
  /** Infinity for no bound. */
  readonly depthMax: number;
  readonly partitions: number;
  readonly shardOf: (partition: PartitionIndex) => number;
  /** Host actors awake at once; each costs a few kilobytes. */
  readonly hostsActiveMax: number;
}

export interface ShardMeans
  extends Omit<
    ShardPorts,
    | 'router'
    | 'partitionOf'
    | 'settings'
    | 'offerHost'
    | 'activeHosts'
    | 'restHosts'
    | 'resolvesPending'
    | 'parseGuarded'
  > {
  readonly guarded: GuardedParsePort;
  readonly resolver: ResolvePort;
  readonly addresses: AddressBudget;
  readonly networks: NetworkBackoff;
  readonly notice: (notice: HostNotice) => void;
  readonly pages: PageAllowance;
  readonly seen: SeenCheck;
  /** Accounts of registrable domains, shared by all shards of the process. */
  readonly domains: SharedTallies;
  readonly hasher: UrlHasher;
  readonly startedMs: MonotonicMs;
  readonly startedAt: WallMs;
  readonly leastGapMsOf: (address: string) => number;
}

/** A bug in a host actor or the shard is not survived in the thread: its state may be half changed. The thread is replaced. */
const NO_RESTART: SupervisionPolicy = {
  restartsMax: 0,
  windowMs: 60_000,
  backoffMinMs: 100,
  backoffMaxMs: 100,
  escalation: 'stop',
};

/** A shard that runs. */
export interface RunningShard {
  tell(message: ShardMessage): void;
  status(): ShardStatus;
  /** Host actors awake. */
  readonly hosts: VirtualActors<HostKey, HostMessage>;
  readonly shard: ShardActor;
  /** See ShardActor.recover. */
  recover(owns: (partition: PartitionIndex) => boolean): number;
}

export function assembleShard(
  dispatcher: Dispatcher,
  plan: ShardPlan,
  means: ShardMeans,
): RunningShard {
  const { hasher } = means;
  const domains = new DomainAccounts(means.domains, (name) => hasher.hostKey(name));
  let shard: ShardActor | undefined;
  const running = (): ShardActor => {
    assert(shard !== undefined, () => 'the shard has not started');
    return shard;
  };
  const router = new LinkRouter({
    rules: plan.rules,
    scope: plan.scope,
    isOptedOut: plan.isOptedOut,
    traps: plan.traps,
    depthMax: plan.depthMax,
    hasher,
    partitionOf: (hostKey) => partitionOf(hostKey, plan.partitions),
    shardOf: plan.shardOf,
    seen: means.seen,
    domains,
    count: (name) => running().stage.count(name),
  });
  const settings = new OperatorSettings();
  let services: HostServices | undefined;
  const names = new Map<HostKey, HostPlaceIdentity>();
  const identityOf = (hostKey: HostKey): HostPlaceIdentity => {
    const named = names.get(hostKey);
    if (named !== undefined) return named;
    const partition = partitionOf(hostKey, plan.partitions);
    assert(services !== undefined, () => 'a host woke up before its shard');
    const row = services.reader.host(hostKey, partition);
    assert(row !== undefined, () => `host ${hostKey} is in the schedule and has no row`);
    return { host: row.host, hostKey, partition };
  };
  const hosts = new VirtualActors<HostKey, HostMessage>({
    dispatcher,
    name: 'host',
    activeMax: plan.hostsActiveMax,
    supervision: NO_RESTART,
    activate: (hostKey) => (context) => {
      assert(services !== undefined, () => 'a host woke up before its shard');
      const actor = new HostActor(services, identityOf(hostKey), context);
      // From here on the row, written at the latest when it falls asleep, knows the name.
      names.delete(hostKey);
      return actor;
    },
  });
  let resolvesPending = 0;
  const counted: ResolvePort = {
    resolve: (host, answered) => {
      resolvesPending += 1;
      means.resolver.resolve(host, (outcome) => {
        resolvesPending -= 1;
        answered(outcome);
      });
    },
  };
  const ports: ShardPorts = {
    fetch: means.fetch,
    render: means.render,
    checkpoint: means.checkpoint,
    reader: means.reader,
    fingerprints: means.fingerprints,
    router,
    remote: means.remote,
    partitionOf: (hostKey) => partitionOf(hostKey, plan.partitions),
    settings,
    offerHost: (host, message) => {
      if (typeof host === 'bigint') return hosts.offer(host, message);
      if (!hosts.isActive(host.hostKey)) names.set(host.hostKey, host);
      const isTaken = hosts.offer(host.hostKey, message);
      names.delete(host.hostKey);
      return isTaken;
    },
    activeHosts: () => hosts.keys(),
    restHosts: (countMax) => hosts.rest(countMax),
    resolvesPending: () => resolvesPending,
    sendPeer: (peer, message) => means.sendPeer(peer, message),
    storageFailed: (event) => means.storageFailed(event),
    markParsing: (urlKey) => means.markParsing(urlKey),
    crashesOf: (urlKey) => means.crashesOf(urlKey),
    parseGuarded: (page) => {
      const { unparsedId } = page;
      means.guarded.parse(page, (outcome) =>
        dispatcher.tell(ref, { kind: 'page-parsed', unparsedId, outcome }),
      );
    },
  };
  const ref = dispatcher.spawn<ShardMessage>(
    'shard',
    (context) => {
      shard = new ShardActor(plan.options, ports, context);
      return shard;
    },
    { supervision: NO_RESTART, mailboxMax: SHARD_MAILBOX_MAX },
  );
  const self = running();
  services = {
    policy: plan.policy,
    residency: self.residency,
    gapPolicyOf: plan.gapPolicyOf,
    urlsOf: plan.urlsOf,
    isOptedOut: plan.isOptedOut,
    leastGapMsOf: means.leastGapMsOf,
    reader: new StagedReader(self.stage, means.reader),
    resolver: counted,
    stage: self.stage,
    gate: self.gate,
    tenures: new TenureBook(means.remote?.tenure ?? ALWAYS_OURS),
    giveAway: (links) => self.remote?.giveAway(links),
    mayReturn: (host, urlKey) => self.remote?.moved.mayReturn(host, urlKey) ?? false,
    isDoneAlready: (host, urlKey) => self.remote?.moved.isDone(host, urlKey) ?? false,
    addresses: means.addresses,
    settings,
    networks: means.networks,
    notice: means.notice,
    pages: means.pages,
    seen: means.seen,
    domains,
    shapeOf: (url) => shapeOf(url, plan.traps),
    startedMs: means.startedMs,
    startedAt: means.startedAt,
    toShard: (message) => dispatcher.tell(ref, message),
    scheduledBand: (hostKey) => self.schedule.bandOf(hostKey),
    toHost: (host, message) => dispatcher.answer(host, message),
    keyOf: (url) => hasher.urlKey(canonicalOf(url, plan.rules)),
    canonicalOf: (url) => canonicalOf(url, plan.rules),
    spellingKeyOf: (url) => hasher.urlKey(url),
    hostOf: (url) => parseBase(url)?.host ?? '',
    askRobots: (asker, url) => self.robots.ask(asker, url),
    answerRobots: (ask, answer) => self.robots.answer(ask, answer),
    answerResource: (ask, answer) => self.render.answer(ask, answer),
    hasStoppedRendering: () => self.render.isStopped,
    robotsRead: (host, origin, sitemaps) => self.robots.rulesRead(host, origin, sitemaps),
  };
  return {
    tell: (message) => dispatcher.tell(ref, message),
    status: () => self.status(dispatcher.clock.now()),
    hosts,
    shard: self,
    recover: (owns) => self.recover(owns),
  };
}

/** Every host of the shard may have told it that it is ready, and every peer have sent what its credits allow. */
const SHARD_MAILBOX_MAX = 2 ** 20;

/** The canonical form of a URL; one that cannot be canonicalised is its own. */
function canonicalOf(url: string, rules: IdentityRules): string {
  const canonical = canonicalize(url, rules);
  return canonical.kind === 'canonical' ? canonical.canonical : url;
}
