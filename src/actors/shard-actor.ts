// One shard: the hosts of its partitions, their schedule and fetch slots (step 8), the shard's checkpoint (10) and parse (11, 12). It
// decides who may act; the acting is in the stages it owns and in the host actors. Every message is one short turn: one page parsed, one
// batch of links dealt out, so that no host waits long for another (DESIGN.md §2, §3).

import { unreachable } from '../base/assert.ts';
import type { MonotonicMs, PartitionIndex } from '../base/units.ts';
import { parseBase } from '../domain/base-url.ts';
import type { Actor, ActorContext, TimerId } from '../runtime/actor.ts';
import { CheckpointStage } from './checkpoint-stage.ts';
import { FetchGate } from './fetch-gate.ts';
import { HostSchedule } from './host-schedule.ts';
import { LinkExchange } from './link-exchange.ts';
import type { InjectedUrl, RoutedLink, ShardMessage } from './messages.ts';
import { NearDuplicates } from './near-duplicates.ts';
import { PageParsing } from './page-parsing.ts';
import { ParseStage } from './parse-stage.ts';
import type { StorageEvent } from './ports.ts';
import { RecrawlDesk } from './recrawl-desk.ts';
import { openRemoteShard, type RemoteShard } from './remote-shard.ts';
import { RenderDesk } from './render-desk.ts';
import type { Residency } from './residency.ts';
import { RobotsCounter } from './robots-counter.ts';
import type { ShardOptions, ShardPorts, ShardStatus } from './shard-ports.ts';
import { placeHostsWithWork } from './shard-recovery.ts';
import { CountdownToken } from './work-token.ts';

/** How soon what could not be delivered is tried again, milliseconds. */
const RETRY_MS = 5;

/** How soon at the earliest a full gate is looked at again by time; a request that ends frees its slot at once. */
const FULL_LOOK_MS = 50;

/** Hosts put to sleep at once when memory is short. */
const HOSTS_RESTED = 64;

export class ShardActor implements Actor<ShardMessage> {
  readonly #options: ShardOptions;
  readonly #ports: ShardPorts;
  readonly schedule: HostSchedule;
  readonly gate: FetchGate;
  readonly stage: CheckpointStage;
  /** Counted by the host actors. */
  readonly residency: Residency = { entries: 0, visits: 0, waiting: 0 };
  readonly #parse: ParseStage;
  readonly #exchange: LinkExchange;
  readonly #parsing: PageParsing;
  readonly #recrawl: RecrawlDesk;
  /** Pages that need a browser. */
  readonly render: RenderDesk;
  /** The rest of the cluster; undefined on one machine. */
  readonly remote: RemoteShard | undefined;
  /** What host actors are lent for their robots errands. */
  readonly robots: RobotsCounter;
  #paused = false;
  #draining = false;
  /** Nothing more becomes durable: there is no commit to wait for. */
  #storageFailed = false;
  #parseQueued = false;
  #pumpQueued = false;
  #flushTimer = false;
  #wakeAtMs = Infinity;
  #wakeTimer: TimerId | undefined;
  #retryTimer = false;
  #context: ActorContext<ShardMessage>;

  constructor(options: ShardOptions, ports: ShardPorts, context: ActorContext<ShardMessage>) {
    this.#options = options;
    this.#ports = ports;
    this.#context = context;
    this.schedule = new HostSchedule(options.bandWeights, options.freshnessShare);
    this.gate = new FetchGate(ports.fetch, options.slotsMax, () => this.#queuePump());
    this.stage = new CheckpointStage(ports.checkpoint, {
      pageCommitted: (page, receipt) => this.#parsing.pageCommitted(page, receipt),
      opened: () => this.#armFlush(),
      full: () => context.tell(context.self, { kind: 'flush' }),
    });
    this.remote = openRemoteShard(options, ports, {
      ...{ stage: this.stage, gate: this.gate, schedule: this.schedule },
      giveHost: (host, message) => this.#exchange.giveHost(host, message),
      deal: (links, token) => this.#exchange.deal(links, token),
      scheduled: () => this.#queuePump(),
    });
    this.#exchange = new LinkExchange({
      remote: this.remote?.outbox,
      shard: options.shard,
      shards: options.shards,
      router: ports.router,
      stage: this.stage,
      offerHost: (host, message) => ports.offerHost(host, message),
      sendPeer: (shard, message) => ports.sendPeer(shard, message),
      toSelf: (message) => context.tell(context.self, message),
      stalled: () => this.#retrySoon(),
    });
    this.#parse = new ParseStage(this.stage, () => this.#exchange.committedMarks());
    this.render = new RenderDesk({
      ...{ ...options, port: ports.render, router: ports.router, reader: ports.reader },
      ...{ stage: this.stage, waiting: this.#parse, exchange: this.#exchange },
      toSelf: (message) => context.tell(context.self, message),
    });
    this.#parsing = new PageParsing({
      ...{ stage: this.stage, waiting: this.#parse, exchange: this.#exchange, desk: this.render },
      near: new NearDuplicates({
        ...{ index: ports.fingerprints, stage: this.stage, reader: ports.reader },
        partitionOf: (hostKey) => ports.router.partitionOf(hostKey),
      }),
      ports,
      productToken: options.productToken,
    });
    this.#recrawl = new RecrawlDesk({
      ...{ stage: this.stage, residency: this.residency, reader: ports.reader },
      offerHost: (host, message) => ports.offerHost(host, message),
    });
    this.robots = new RobotsCounter({
      shard: options.shard,
      readsSitemaps: options.sitemaps,
      asksWellKnown: options.wellKnownSitemaps,
      router: ports.router,
      exchange: this.#exchange,
      offerHost: (hostKey, message) => ports.offerHost(hostKey, message),
    });
  }

  receive(message: ShardMessage, context: ActorContext<ShardMessage>): void {
    this.#context = context;
    switch (message.kind) {
      case 'host-ready':
        this.schedule.put(message.hostKey, message.atMs, message.band, message.reason);
        this.#queuePump();
        break;
      case 'pump':
        this.#pumpQueued = false;
        this.#pump();
        break;
      case 'retry':
        this.#retryTimer = false;
        this.#pump();
        break;
      case 'wake':
        this.#wakeAtMs = Infinity;
        this.#wakeTimer = undefined;
        this.#pump();
        break;
      case 'parse-next':
        this.#parseQueued = false;
        this.#parseNext();
        break;
      case 'look-for-due':
        this.#lookForDue();
        break;
      case 'page-parsed':
        this.#parsing.pageParsed(message.unparsedId, message.outcome);
        this.#queueParse();
        break;
      case 'flush':
        this.stage.flush();
        break;
      case 'flush-due':
        this.#flushTimer = false;
        this.#checkpoint();
        break;
      case 'checkpoint':
        this.#checkpoint();
        break;
      case 'offer-links':
        this.#exchange.take(message.from, message.batch, message.links);
        break;
      case 'links-committed':
        this.#exchange.committed(message.from, message.through);
        this.#parse.settle();
        this.#queueParse();
        break;
      case 'offer-remote':
      case 'remote-committed':
      case 'partitions-gained':
      case 'partitions-lost':
      case 'partitions-elsewhere':
        this.remote?.receive(message);
        break;
      case 'render-wants':
      case 'page-rendered':
      case 'ask-resource':
      case 'resource-answered':
        this.render.receive(message, context.wallNow());
        break;
      case 'ask-robots':
        this.#exchange.giveHost(message.host, { kind: 'ask-robots', ask: message.ask });
        break;
      case 'robots-answered':
        this.robots.answered(message.askId, message.answer);
        break;
      case 'storage':
        this.#storageEvent(message.event);
        break;
      case 'inject-urls':
        this.#inject(message.urls);
        break;
      case 'pause-all':
      case 'resume-all':
        this.#paused = message.kind === 'pause-all';
        if (!this.#paused) this.#queuePump();
        break;
      case 'pause-address':
        this.#ports.settings.pauseAddress(message.address, message.isPaused);
        break;
      case 'drain':
        this.#draining = true;
        this.render.stop();
        break;
      case 'operate-host':
        this.#exchange.giveHost(message.host, { kind: 'operate', operation: message.operation });
        break;
      default:
        unreachable(message);
    }
    this.#armFlush();
  }

  /** True when nothing is in flight and everything staged is durable: a shard that drains may end. What is unparsed is in its log. */
  get isSettled(): boolean {
    return this.gate.inFlight === 0 && (this.stage.idle || this.#storageFailed);
  }

  inspect(): unknown {
    return { ...this.status(this.#context.now()), asksOpen: this.robots.asksOpen };
  }

  status(nowMs: MonotonicMs): ShardStatus {
    const { byBand, backingOff } = this.schedule.counts();
    return {
      shard: this.#options.shard,
      inFlight: this.gate.inFlight,
      quiet: this.stage.idle && this.#parsing.isIdle && this.#exchange.isIdle,
      waiting: byBand,
      backingOff,
      awaiting: this.#ports.resolvesPending() + this.robots.asksOpen,
      due: this.schedule.countDue(nowMs),
      nextGapInMs: Math.max(this.schedule.nextGapMs() - nowMs, 0),
      nextInMs: Math.max(this.schedule.nextMs() - nowMs, 0),
      dueInMs: this.#recrawl.dueInMs(this.#context.wallNow()),
      parseBacklog: this.#parsing.backlog,
      rendering: this.render.size,
      pendingBytes: this.stage.pendingBytes(),
      linksWaiting: this.#exchange.waiting,
      draining: this.#draining,
    };
  }

  /** Places the hosts that have work and sets pages of an earlier run to be parsed, once, at the start. */
  recover(owns: (partition: PartitionIndex) => boolean): number {
    const { reader } = this.#ports;
    const now = this.#context.now();
    // In a cluster hosts follow when their partitions are gained.
    const places = this.remote === undefined ? owns : () => false;
    const { schedule, residency } = this;
    const wallNow = this.#context.wallNow();
    const hosts = placeHostsWithWork({ reader, schedule, residency, now, wallNow }, places);
    if (this.#options.recrawls) {
      this.#recrawl.open(owns);
      this.#lookForDue();
    }
    this.#parse.recover(reader.unparsed(owns));
    this.#queueParse();
    this.#queuePump();
    return hosts;
  }

  #lookForDue(): void {
    const isHeld = this.#paused || this.#storageFailed;
    const inMs = isHeld ? RETRY_MS * 100 : this.#recrawl.look(this.#context.wallNow());
    if (!this.#draining) this.#context.after(inMs, { kind: 'look-for-due' });
  }

  #inject(urls: readonly InjectedUrl[]): void {
    const own: RoutedLink[] = [];
    for (const { url, depth } of urls) {
      const base = parseBase(url);
      if (base === undefined) continue;
      const source = { base, host: base.host, depth, hops: 0, purpose: 'page' as const };
      own.push(...this.#exchange.routeAll([url], source));
    }
    this.#exchange.deal(own, undefined);
    this.#exchange.seal();
  }

  // ---------------------------------------------------------------------------------------------------------------- step 8

  #queuePump(): void {
    if (this.#pumpQueued) return;
    this.#pumpQueued = true;
    this.#context.tell(this.#context.self, { kind: 'pump' });
  }

  /** Something waits for a full mailbox or a link without credit: neither changes within this turn, so the next try is a little later. */
  #retrySoon(): void {
    if (this.#retryTimer) return;
    this.#retryTimer = true;
    this.#context.after(RETRY_MS, { kind: 'retry' });
  }

  #pump(): void {
    if (this.residency.entries > this.#options.residentEntriesMax) {
      this.#ports.restHosts(HOSTS_RESTED);
    }
    this.#exchange.pump();
    this.#queueParse();
    const now = this.#context.now();
    while (this.#mayFetch() && this.gate.tryReserve(now)) {
      const hostKey = this.schedule.take(now);
      if (hostKey === undefined || !this.#ports.offerHost(hostKey, { kind: 'take-slot' })) {
        if (hostKey !== undefined) this.schedule.put(hostKey, now, 2, 'gap');
        this.gate.cancelReservation();
        break;
      }
    }
    this.#armWake(now);
  }

  #mayFetch(): boolean {
    if (this.#paused || this.#draining) return false;
    if (this.#parsing.backlogBytes >= this.#options.backlogBytesMax) return false;
    return this.stage.pendingBytes() < this.#options.pendingBytesMax;
  }

  /** A timer for the next host that becomes due; none while nothing may be fetched anyway. */
  #armWake(now: MonotonicMs): void {
    const nextMs = this.schedule.nextMs();
    if (nextMs === Infinity) return;
    // What holds fetching back ends with a message (a receipt, a parse, a freed slot); a due host is then taken by that pump.
    const slotMs = this.gate.isFull ? Math.max(this.gate.nextSlowMs(), now + FULL_LOOK_MS) : 0;
    const atMs = Math.max(nextMs, now + 1, slotMs);
    if (atMs >= this.#wakeAtMs || (nextMs <= now && !this.#mayFetch())) return;
    if (this.#wakeTimer !== undefined) this.#context.cancel(this.#wakeTimer);
    this.#wakeAtMs = atMs;
    this.#wakeTimer = this.#context.after(atMs - now, { kind: 'wake' });
  }

  #storageEvent(event: StorageEvent): void {
    switch (event.kind) {
      case 'checkpoint-committed':
        this.stage.committed(event.sequence, event.receipts);
        this.#parse.settle();
        this.#queueParse();
        this.#queuePump();
        break;
      case 'log-rolled':
        this.#sweep(event.segment - 1);
        break;
      case 'storage-failed':
        this.#draining = true;
        this.#storageFailed = true;
        this.#ports.storageFailed(event);
        break;
      default:
        unreachable(event);
    }
  }

  #queueParse(): void {
    if (this.#parseQueued || !this.#parsing.canStep) return;
    this.#parseQueued = true;
    this.#context.tell(this.#context.self, { kind: 'parse-next' });
  }

  #parseNext(): void {
    // Links that cannot leave stay unparsed: the backlog fills and fetching pauses. A receipt or a pump starts it again.
    if (this.#exchange.isBlocked) return;
    this.#parsing.step();
    this.#queueParse();
    if (this.gate.inFlight === 0) this.#queuePump();
  }

  /** Entries that only an old log segment holds move into chunk rows; passive hosts have done so when they fell asleep. */
  #sweep(throughSegment: number): void {
    let isWhole = true;
    const token = new CountdownToken(() => {
      if (isWhole) this.stage.swept(throughSegment);
    });
    for (const hostKey of this.#ports.activeHosts()) {
      token.expect();
      if (this.#ports.offerHost(hostKey, { kind: 'sweep', token })) continue;
      // A full mailbox: this host keeps its entries in the log, and the next roll sweeps again.
      isWhole = false;
      token.applied();
    }
    token.applied();
  }

  /** Hands over what waits, for other shards and for the disk. */
  #checkpoint(): void {
    this.#exchange.seal();
    this.stage.flush();
  }

  #armFlush(): void {
    if (this.#flushTimer || !(this.stage.hasOpen || this.#exchange.waiting > 0)) return;
    this.#flushTimer = true;
    this.#context.after(this.#options.flushMs, { kind: 'flush-due' });
  }
}
