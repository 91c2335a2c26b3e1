// One node at work: drives the ownership state machine on the real bus and clock, carries batches, receipts and errands, and tells how quiet it
// is. It decides nothing itself: what may be fetched is Ownership's word, written at once into memory that the shards read before each
// request; when the crawl is over is CrawlEnd's. The order matters in one place: what is lost is shut before a new lease's deadline is set.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '@nats-io/nats-core';
import { CrawlError } from '../base/errors.ts';
import { Bus, type BusOptions } from './bus.ts';
import { CrawlEnd } from './crawl-end.ts';
import { type Envelope, EnvelopeCodec } from './envelopes.ts';
import { Ownership } from './ownership.ts';
import type { OwnershipAction, OwnershipOptions } from './ownership-actions.ts';

/** Memory that shards read (runtime/shared-tenure.ts). */
export interface TenureWriter {
  setDeadline(ms: number): void;
  open(partition: number, fromMs: number): void;
  shut(partition: number): void;
}

/** What the node does with what it hears. */
export interface ClusterNodeEvents {
  /** The partitions' hosts may be scheduled. */
  readonly gained: (partitions: readonly number[]) => void;
  /** Nothing may be in flight there. */
  readonly lost: (partitions: readonly number[]) => void;
  /** Another node owns them. */
  readonly elsewhere: (partitions: readonly number[]) => void;
  readonly heard: (subject: string, envelope: Exclude<Envelope, { kind: 'state' }>) => void;
  readonly warn: (text: string) => void;
  /** The node cannot go on. */
  readonly failed: (error: CrawlError) => void;
}

export interface ClusterNodeOptions {
  readonly ownership: Omit<OwnershipOptions, 'nowMs'>;
  readonly bus: Omit<BusOptions, 'reconnected'>;
  /** Random, of this process. */
  readonly run: string;
  readonly now: () => number;
  readonly tenure: TenureWriter;
  /** The longest gap a host may have: waited in a partition that another node had (rule 5). */
  readonly fullGapMs: number;
  readonly events: ClusterNodeEvents;
}

/** How often the state machine looks at the clock. */
const TICK_MS = 250;
const STATE_MS = 500;
/** How long requests in flight may go on in a partition that is handed over, and how long it takes to cut them off. */
const HAND_OVER_MS = 1_000;
const CUT_MS = 50;
/** How long a node that leaves waits for its last writes. */
const QUIT_MS = 4_000;

export class ClusterNode {
  readonly run: string;
  readonly name: string;
  readonly #options: ClusterNodeOptions;
  readonly #ownership: Ownership;
  readonly #codec = new EnvelopeCodec();
  readonly #end = new CrawlEnd();
  readonly #subscriptions = new Map<number, Subscription[]>();
  /** Tokens of the owners elsewhere that the shards were told of. */
  readonly #toldElsewhere = new Map<number, number>();
  readonly #servers = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  #bus: Bus | undefined;
  #seenMs = 0;
  #isQuiet = false;
  #activity = 0;
  #ending: string | undefined;
  #hasLeft = false;

  private constructor(options: ClusterNodeOptions) {
    this.#options = options;
    this.run = options.run;
    this.name = options.ownership.name;
    this.#ownership = new Ownership({ ...options.ownership, nowMs: options.now() });
  }

  /** @throws CrawlError bus when the bus cannot be used */
  static async start(options: ClusterNodeOptions): Promise<ClusterNode> {
    const node = new ClusterNode(options);
    const bus = await Bus.open({ ...options.bus, reconnected: () => node.#reconnected() });
    node.#bus = bus;
    node.#servers.add(bus.serverId);
    node.#listen(bus);
    node.#watch();
    node.#timers.push(setInterval(() => node.#tick(), TICK_MS));
    node.#timers.push(setInterval(() => node.#tellState(), STATE_MS));
    return node;
  }

  /** Nodes alive as far as is known. */
  get liveNodes(): readonly string[] {
    return this.#ownership.liveNodes();
  }

  /** Partitions this node owns. */
  get owned(): number {
    return this.#ownership.owned.length;
  }

  /** True when every partition is another node's, and the shards were told. */
  get isAllElsewhere(): boolean {
    return this.#toldElsewhere.size === this.#options.ownership.partitions;
  }

  /** Why the crawl ends, once some node has decided. */
  get ending(): string | undefined {
    return this.#ending;
  }

  get incarnation(): string {
    return this.#ownership.incarnation;
  }

  /** True for a sender whose lease is the one it writes of. */
  isCurrent(node: string, incarnation: string): boolean {
    return this.#ownership.isCurrent(node, incarnation);
  }

  /** @param activity grows with everything done */
  report(isQuiet: boolean, activity: number): void {
    this.#isQuiet = isQuiet;
    this.#activity = activity;
  }

  /** Ends the crawl on all nodes. */
  endAll(reason: string): void {
    this.#ending ??= reason;
    this.#tellState();
  }

  publish(subject: string, envelope: Envelope): void {
    this.#bus?.publish(subject, this.#codec.encode(envelope));
  }

  /** Hands every partition to the other nodes. @returns false when there is nobody to take them, or it takes too long */
  async drain(waitMs: number): Promise<boolean> {
    const others = (): number => this.liveNodes.filter((node) => node !== this.name).length;
    if (others() === 0) return false;
    this.#input(() => this.#ownership.leave(this.#options.now()));
    const untilMs = this.#options.now() + waitMs;
    while (this.owned > 0 && others() > 0 && this.#options.now() < untilMs) await sleep(50);
    return this.owned === 0 && others() > 0;
  }

  /**
   * Gives the lease back and closes. Nothing may be in flight.
   * @param isLast true where the bus runs here and the crawl ends everywhere: the others give theirs back first
   */
  async quit(isLast: boolean): Promise<void> {
    if (!this.#hasLeft) this.#input(() => this.#ownership.quit(this.#options.now()));
    const untilMs = this.#options.now() + QUIT_MS;
    const isAwaited = (): boolean =>
      !this.#hasLeft || (isLast && this.#ending !== undefined && this.liveNodes.length > 0);
    while (isAwaited() && this.#options.now() < untilMs) await sleep(20);
    for (const timer of this.#timers) clearInterval(timer);
    this.#tellState();
    await this.#bus?.close();
  }

  #listen(bus: Bus): void {
    bus.subscribe('state', (_subject, bytes) => {
      const state = this.#codec.read('state', bytes);
      if (state === undefined) return;
      this.#end.heard(state, this.#options.now());
      const isOther = state.node !== this.name || state.run !== this.run;
      if (isOther && state.ending !== undefined) this.#ending ??= state.ending;
    });
    for (const kind of ['acks', 'answer'] as const) {
      bus.subscribe(`${kind}.${this.name}`, (subject, bytes) => this.#hear(kind, subject, bytes));
    }
  }

  #hear(kind: 'links' | 'acks' | 'ask' | 'answer', subject: string, bytes: Uint8Array): void {
    const envelope = this.#codec.read(kind, bytes);
    if (envelope !== undefined) this.#options.events.heard(subject, envelope);
  }

  /** Every change of the state machine goes through here: what follows from it is done before anything else happens. */
  #input(change: () => void): void {
    this.#meetServer();
    change();
    this.#perform();
  }

  /** Rule 7: a server we have not spoken to yet may be one that was started again without its newest data. */
  #meetServer(): void {
    const id = this.#bus?.serverId ?? '';
    if (id === '' || this.#servers.has(id)) return;
    this.#servers.add(id);
    this.#ownership.suspectBus(this.#options.now());
  }

  #perform(): void {
    const { tenure, fullGapMs, now, events } = this.#options;
    const gained: number[] = [];
    const lost: number[] = [];
    const handOver: number[] = [];
    for (const action of this.#ownership.takeActions()) {
      switch (action.kind) {
        case 'write':
          void this.#write(action);
          break;
        case 'gained':
          tenure.open(action.partition, action.isForeign ? now() + fullGapMs : now());
          this.#toldElsewhere.delete(action.partition);
          this.#subscribe(action.partition);
          gained.push(action.partition);
          break;
        case 'lost':
        case 'hand-over':
          tenure.shut(action.partition);
          this.#unsubscribe(action.partition);
          if (action.kind === 'lost') lost.push(action.partition);
          else handOver.push(action.partition);
          break;
        case 'view':
          events.warn(`the view of the cluster is taken afresh (${action.why})`);
          this.#watch();
          break;
        case 'name-taken':
          events.failed(nameTaken(this.name));
          break;
        default:
          this.#hasLeft = true;
      }
    }
    tenure.setDeadline(this.#ownership.deadlineMs);
    if (lost.length > 0) events.lost(lost);
    if (gained.length > 0) events.gained(gained);
    if (handOver.length > 0) void this.#handOver(handOver);
  }

  /** Nothing is started there any more; what is in flight may end, so that nobody has to fetch it again, and is then cut off. */
  async #handOver(partitions: readonly number[]): Promise<void> {
    await sleep(HAND_OVER_MS);
    this.#options.events.lost(partitions);
    await sleep(CUT_MS);
    for (const partition of partitions) {
      this.#input(() => this.#ownership.handedOver(partition, this.#options.now()));
    }
  }

  async #write(write: Extract<OwnershipAction, { kind: 'write' }>): Promise<void> {
    const outcome = (await this.#bus?.write(write.key, write.expect, write.text)) ?? UNKNOWN;
    this.#input(() => this.#ownership.answered(write.op, outcome, this.#options.now()));
  }

  #watch(): void {
    this.#seenMs = this.#options.now();
    void this.#bus?.watch({
      began: () => this.#ownership.viewBegins(),
      seen: (key, text, revision) => {
        this.#seenMs = this.#options.now();
        this.#input(() => this.#ownership.seen(key, text, revision, this.#options.now()));
        if (key.startsWith('part.')) this.#lookElsewhere(Number(key.slice('part.'.length)));
      },
      ended: () => this.#input(() => this.#ownership.viewEnds(this.#options.now())),
    });
  }

  #reconnected(): void {
    this.#options.events.warn('the bus is back');
    this.#meetServer();
    this.#watch();
  }

  #tick(): void {
    const now = this.#options.now();
    this.#input(() => this.#ownership.tick(now));
    // Our own renewals are seen every heartbeat: a watch that shows none has ended without a word.
    if (now - this.#seenMs > 4 * this.#options.ownership.times.heartbeatMs) this.#watch();
    for (let partition = 0; partition < this.#options.ownership.partitions; partition += 1) {
      this.#lookElsewhere(partition);
    }
    this.#decideEnd(now);
  }

  #lookElsewhere(partition: number): void {
    const owner = this.#ownership.ownerOf(partition);
    if (owner === undefined || owner === this.name) return;
    const token = this.#ownership.tokenOf(partition);
    if (this.#toldElsewhere.get(partition) === token) return;
    this.#toldElsewhere.set(partition, token);
    this.#options.events.elsewhere([partition]);
  }

  #decideEnd(now: number): void {
    const live = this.liveNodes;
    this.#ending ??= this.#end.endingOf(live);
    if (this.#ending !== undefined || live[0] !== this.name) return;
    const { partitions } = this.#options.ownership;
    let areAllOwned = true;
    for (let partition = 0; partition < partitions && areAllOwned; partition += 1) {
      areAllOwned = this.#ownership.ownerOf(partition) !== undefined;
    }
    if (this.#end.isDone(live, areAllOwned, now)) this.endAll('done');
  }

  #tellState(): void {
    const { name: node, run } = this;
    const ending = this.#ending;
    const activity = this.#activity;
    this.publish('state', { kind: 'state', node, run, isQuiet: this.#isQuiet, activity, ending });
  }

  #subscribe(partition: number): void {
    const bus = this.#bus;
    if (bus === undefined || this.#subscriptions.has(partition)) return;
    const hear = (kind: 'links' | 'ask') => (subject: string, bytes: Uint8Array) =>
      this.#hear(kind, subject, bytes);
    this.#subscriptions.set(partition, [
      bus.subscribe(`links.${partition}`, hear('links')),
      bus.subscribe(`ask.${partition}`, hear('ask')),
    ]);
  }

  #unsubscribe(partition: number): void {
    for (const each of this.#subscriptions.get(partition) ?? []) each.unsubscribe();
    this.#subscriptions.delete(partition);
  }
}

const UNKNOWN = { kind: 'unknown' } as const;

function nameTaken(name: string): CrawlError {
  return new CrawlError('config', `another process runs as node ${name} of this cluster`, {
    remedy: 'End it, or give this machine a line and a name of its own (--me NAME).',
  });
}
