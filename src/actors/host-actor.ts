// One host: its back queue, robots rules, addresses and pace (steps 5 to 9 of a URL's life). A virtual actor: activated by its first
// message, passivated when the shard needs the memory. Nobody else touches this state, so politeness needs no lock (DESIGN.md §3).
//
// A turn with a slot (`take-slot`) does exactly one of: start one request, with a permit of this host's pace, or give the slot back. The
// queue's head stays the head until its outcome is staged, so a crash repeats it and never loses it. After each message the host tells
// the shard when it wants its next slot.

import { assert, unreachable } from '../base/assert.ts';
import { monotonicMs, wallMs } from '../base/units.ts';
import type { Actor, ActorContext } from '../runtime/actor.ts';
import { HostAddresses } from './host-addresses.ts';
import { HostAdmission } from './host-admission.ts';
import { HostBudget } from './host-budget.ts';
import { HostHandOver } from './host-hand-over.ts';
import { hostInspection } from './host-inspection.ts';
import { refusedPage } from './host-known.ts';
import { HostLedger } from './host-ledger.ts';
import type { HostPace } from './host-pace.ts';
import { HostQueues } from './host-queues.ts';
import { type HostRequest, HostRequests } from './host-requests.ts';
import { HostResources } from './host-resources.ts';
import { type Admission, HostRobots } from './host-robots.ts';
import { type HostParts, hostRow, paceAtActivation } from './host-row.ts';
import { HostVisits } from './host-visits.ts';
import type { HostMessage, HostPlaceIdentity } from './messages.ts';
import { isRefusal, robotsAnswerOf, verdictOf } from './page-outcome.ts';
import type { FetchOutcome, ResolveOutcome } from './ports.ts';
import { RobotsDesk } from './robots-desk.ts';
import type { Band, HostRow, QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';
import { reviewWish, type SlotWish } from './slot-wish.ts';

/** Denied or forbidden entries that are passed over in one turn, so that no turn grows with the queue. */
const PASSED_OVER_PER_TURN = 64;
/** How soon a host that found the page allowance used up asks again, milliseconds. */
const ALLOWANCE_RETRY_MS = 250;

export class HostActor implements Actor<HostMessage> {
  readonly #services: HostServices;
  readonly #id: HostPlaceIdentity;
  /** The parts below, as they know each other. */
  readonly #parts: HostParts;
  readonly #queues: HostQueues;
  readonly #robots: HostRobots;
  readonly #pace: HostPace;
  readonly #addresses = new HostAddresses();
  readonly #desk: RobotsDesk;
  readonly #ledger: HostLedger;
  readonly #budget: HostBudget;
  readonly #admission: HostAdmission;
  readonly #requests: HostRequests;
  readonly #handOver: HostHandOver;
  readonly #resources: HostResources;
  /** Whether the row that announces the first contact is durable; until then no request is made (see #contacted). */
  #contact: 'none' | 'committing' | 'committed';
  /** The slot time the shard was last told, or −1. */
  #announcedMs = -1;
  #announcedBand: Band = 2;

  constructor(services: HostServices, id: HostPlaceIdentity, context: ActorContext<HostMessage>) {
    this.#services = services;
    this.#id = id;
    const row = services.reader.host(id.hostKey, id.partition);
    this.#queues = new HostQueues(services, id, row);
    const robotsRows = services.reader.robots(id.hostKey, id.partition);
    this.#robots = new HostRobots(services.policy, robotsRows, services);
    this.#pace = paceAtActivation(services, id.host, row, context);
    this.#contact = row === undefined || row.lastEndedAt === 0 ? 'none' : 'committed';
    this.#ledger = new HostLedger(services, id, row);
    this.#handOver = new HostHandOver(services, id, this.#queues);
    this.#budget = new HostBudget(services, id, this.#queues, row);
    this.#parts = {
      services,
      id,
      robots: this.#robots,
      queues: this.#queues,
      pace: this.#pace,
      ledger: this.#ledger,
      addresses: this.#addresses,
      budget: this.#budget,
      visits: new HostVisits({ services, id, queues: this.#queues }),
    };
    this.#admission = new HostAdmission(this.#parts);
    this.#requests = new HostRequests(this.#parts);
    this.#desk = new RobotsDesk(this.#parts);
    this.#resources = new HostResources(this.#parts);
  }

  receive(message: HostMessage, context: ActorContext<HostMessage>): void {
    switch (message.kind) {
      case 'offer-urls':
        for (const link of message.links) this.#admission.admit(link);
        this.#handOver.remind(context);
        message.token.applied();
        if (this.#keepsTurn()) return;
        break;
      case 'visit-pages':
      case 'pages-changed':
        this.#parts.visits.heard(message, context.wallNow());
        break;
      case 'take-slot':
        this.#announcedMs = -1;
        if (this.#budget.review(context.wallNow())) this.#touch(context);
        if (!this.#tryStart(context)) this.#services.gate.returnSlot();
        break;
      case 'host-resolved':
        this.#resolved(message.outcome, context);
        break;
      case 'fetch-ended':
        this.#fetchEnded(message.outcome, context);
        break;
      case 'page-seen':
        this.#ledger.seen(this.#budget.pageSeen(message.page));
        this.#touch(context);
        break;
      case 'ask-robots':
        this.#desk.asked(message.ask);
        break;
      case 'robots-answered':
        if (this.#desk.askAnswered(message.askId, message.answer, context)) this.#touch(context);
        break;
      case 'ask-resource':
        this.#resources.take(message.ask);
        break;
      case 'render-ended':
        this.#ledger.rendered(message.result);
        this.#touch(context);
        break;
      case 'contact-committed':
        this.#contact = 'committed';
        break;
      case 'sweep':
        this.#queues.spill();
        this.#touch(context);
        message.token.applied();
        return;
      case 'give-away':
        if (this.#requests.inFlight === undefined) this.#handOver.give(context);
        this.#touch(context);
        break;
      case 'operate':
        this.#services.settings.operate(message.operation, this.#parts, context.now());
        this.#touch(context);
        break;
      default:
        unreachable(message);
    }
    this.#announce(context);
  }

  /** URLs waiting, over all bands. */
  get queued(): number {
    return this.#queues.length;
  }

  /** True when the host's owner asked not to be crawled, as of now: the list may change at any time. */
  get #isOptedOut(): boolean {
    return this.#services.isOptedOut(this.#id.host);
  }

  /** True when the host may be passivated now. */
  isIdle(): boolean {
    if (this.#requests.inFlight !== undefined || this.#contact === 'committing') return false;
    if (this.#resources.isWaiting) return false;
    return this.#desk.errands.isEmpty && !this.#addresses.pending;
  }

  inspect(): unknown {
    return hostInspection(this.#parts, this.#requests, this.#contact);
  }

  // --------------------------------------------------------------------------------------------------- step 8: use of a slot

  /** True when a request was started in the slot. */
  #tryStart(context: ActorContext<HostMessage>): boolean {
    const now = context.now();
    if (this.#requests.inFlight !== undefined || this.#desk.errands.isAwaiting) return false;
    if (!this.#isOptedOut) {
      this.#pace.holdUntilOpen(this.#services.tenures.opensMs(this.#id.partition));
      if (now < this.#pace.nextFetchMs()) return false;
      if (!this.#addresses.usable(now) || !this.#contacted(context)) return false;
    }
    const errand = this.#desk.errands.next();
    if (errand !== undefined) {
      if (!this.#start({ kind: 'robots', ...errand }, context)) return false;
      this.#desk.errands.done();
      return true;
    }
    return this.#startFromQueue(context);
  }

  #startFromQueue(context: ActorContext<HostMessage>): boolean {
    const wanted = this.#resources.next(context);
    if (wanted !== undefined) {
      const begin = () => this.#resources.begin((request) => this.#start(request, context));
      return this.#startAdmitted(wanted, begin, context);
    }
    for (let passed = 0; passed < PASSED_OVER_PER_TURN; passed += 1) {
      const head = this.#queues.peek();
      if (head === undefined) return false;
      const admission = this.#admission.judge(head, context.wallNow());
      if (admission !== undefined) {
        const begin = () => this.#startPage(head.band, head.entry, context);
        return this.#startAdmitted(admission, begin, context);
      }
      this.#advance(head.band, context);
    }
    return false;
  }

  #startAdmitted(
    admission: Exclude<Admission, { kind: 'denied' }>,
    begin: () => boolean,
    context: ActorContext<HostMessage>,
  ): boolean {
    switch (admission.kind) {
      case 'allowed':
        return begin();
      case 'fetch-first': {
        const { origin, robotsUrl: url } = admission;
        if (!this.#start({ kind: 'robots', url, origin, ask: undefined }, context)) return false;
        this.#robots.asked(origin);
        return true;
      }
      case 'wait':
        return false;
      default:
        return unreachable(admission);
    }
  }

  #startPage(band: Band, entry: QueueEntry, context: ActorContext<HostMessage>): boolean {
    const { pages } = this.#services;
    if (!pages.tryReserve()) {
      this.#pace.holdUntil(monotonicMs(context.now() + ALLOWANCE_RETRY_MS));
      return false;
    }
    const prior = this.#parts.visits.priorOf(band, entry, context.wallNow());
    if (this.#start({ kind: 'page', url: entry.url, band, entry, prior }, context)) return true;
    pages.settle(false);
    return false;
  }

  /** True when the request was started. A robots request of a host that must not be contacted ends here, as one that could not be made. */
  #start(request: HostRequest, context: ActorContext<HostMessage>): boolean {
    if (!this.#addresses.forbidden && !this.#isOptedOut) {
      return this.#requests.start(request, context);
    }
    if (request.kind === 'robots') this.#desk.refused(request, context);
    return false;
  }

  /**
   * Before the very first request to a host, its row is made durable, with the longest crawl delay we would obey as long as the robots
   * rules are unknown (see #row). If we crash before the real delay is durable, the next run still waits long enough (I2).
   */
  #contacted(context: ActorContext<HostMessage>): boolean {
    if (this.#contact === 'committed') return true;
    if (this.#contact === 'none') {
      this.#contact = 'committing';
      this.#services.stage.count('hosts');
      this.#touch(context);
      const self = context.self;
      this.#services.stage.afterCommit(() =>
        this.#services.toHost(self, { kind: 'contact-committed' }),
      );
    }
    return false;
  }

  #fetchEnded(outcome: FetchOutcome, context: ActorContext<HostMessage>): void {
    const verdict = verdictOf(outcome, context.wallNow());
    const { request, gapMs } = this.#requests.ended(outcome, verdict);
    this.#handOver.remind(context);
    const isPage = request.kind === 'page';
    if (request.kind !== 'robots') this.#resources.served(request.kind);
    this.#ledger.audited({
      url: request.url,
      purpose: isPage ? request.entry.purpose : request.kind,
      gapMs,
      robotsAt: request.kind === 'robots' ? wallMs(0) : this.#robots.fetchedAt(request.url),
      outcome,
      verdict,
    });
    if (isPage) {
      const settlement = this.#ledger.settled(request, outcome, verdict);
      if (settlement.again !== undefined) this.#queues.push(request.band, settlement.again);
      if (request.prior === undefined && isRefusal(outcome)) {
        this.#budget.pageSeen(refusedPage(request.url));
      }
      this.#advance(request.band, context);
      return;
    }
    this.#ledger.archived(request.url, outcome, request.kind);
    if (request.kind === 'resource') {
      this.#resources.ended(request.ask, outcome);
      this.#touch(context);
      return;
    }
    const answer = robotsAnswerOf(outcome, verdict, this.#services.policy.robotsBytesMax);
    this.#desk.answered(request, answer, context);
    this.#touch(context);
  }

  /** The head of a band is done: its done mark and the host's row go into the same batch as what was written about it. */
  #advance(band: Band, context: ActorContext<HostMessage>): void {
    this.#queues.advance(band);
    this.#touch(context);
  }

  #resolve(context: ActorContext<HostMessage>): void {
    if (this.#addresses.pending) return;
    this.#addresses.asked();
    const self = context.self;
    this.#services.resolver.resolve(this.#id.host, (outcome) =>
      this.#services.toHost(self, { kind: 'host-resolved', outcome }),
    );
  }

  #resolved(outcome: ResolveOutcome, context: ActorContext<HostMessage>): void {
    const failure = this.#addresses.answered(outcome, context.now());
    if (failure === undefined) {
      const least = this.#addresses.list.map((address) => this.#services.leastGapMsOf(address));
      this.#pace.setLeast(Math.max(0, ...least));
      return;
    }
    this.#services.stage.count(`retries.${failure}`);
    this.#pace.unresolved(failure, context.now());
    this.#touch(context);
  }

  /** Tells the shard when this host wants its next slot, if that has changed. */
  #announce(context: ActorContext<HostMessage>): void {
    const wanted = this.#wanted(context);
    if (wanted === undefined) return;
    const { atMs, band, reason } = wanted;
    if (atMs === this.#announcedMs && band === this.#announcedBand) return;
    this.#announcedMs = atMs;
    this.#announcedBand = band;
    this.#services.toShard({ kind: 'host-ready', ...this.#id, atMs, band, reason });
  }

  /** True for a host that links woke while it waits for a turn that they do not hasten: its queue need not be read for them. */
  #keepsTurn(): boolean {
    const isNew = this.#announcedMs === -1;
    const band = isNew ? this.#services.scheduledBand(this.#id.hostKey) : undefined;
    return band !== undefined && !this.#queues.hasBefore(band);
  }

  #wanted(context: ActorContext<HostMessage>): SlotWish | undefined {
    if (this.#requests.inFlight !== undefined || this.#desk.errands.isAwaiting) return undefined;
    if (this.#handOver.isElsewhere) {
      this.#resources.refuseAll('elsewhere');
      return undefined;
    }
    const now = context.now();
    const atMs = this.#pace.nextFetchMs();
    const reason = this.#pace.waitReason();
    const head = this.#queues.peek();
    const urgent = this.#desk.errands.next() !== undefined;
    const isWanted = this.#resources.isWaiting;
    if (!urgent && head === undefined && !isWanted) return reviewWish(this.#parts, context);
    // What waits of a host that asked to be left alone is set aside at once: that takes no request.
    if (this.#isOptedOut) return { atMs: now, band: 2, reason: 'gap' };
    if (!this.#addresses.usable(now)) {
      if (this.#pace.backsOff(now)) return { atMs, band: 2, reason };
      this.#resolve(context);
      return undefined;
    }
    if (!this.#contacted(context)) return undefined;
    if (urgent || isWanted || head === undefined) return { atMs, band: 0, reason };
    if (this.#addresses.forbidden) return { atMs, band: head.band, reason };
    const admission = this.#robots.admission(head.entry.url, context.wallNow());
    if (admission.kind !== 'wait') return { atMs, band: head.band, reason };
    if (admission.untilAt === 0) return undefined;
    const untilMs = monotonicMs(now + Math.max(admission.untilAt - context.wallNow(), 0));
    if (untilMs <= atMs) return { atMs, band: head.band, reason };
    return { atMs: untilMs, band: head.band, reason: 'backoff' };
  }

  /** Passivation: everything in memory is written down. A host with work keeps its place in the schedule. */
  stopped(context: ActorContext<HostMessage>): void {
    assert(this.isIdle(), () => `${this.#id.host} stopped while busy`);
    this.#queues.unload();
    this.#robots.released();
    const row = this.#row(context);
    this.#services.stage.host(this.#id.hostKey, () => row);
  }

  #touch(context: ActorContext<HostMessage>): void {
    this.#services.stage.host(this.#id.hostKey, () => this.#row(context));
  }

  #row(context: ActorContext<HostMessage>): HostRow {
    return hostRow(this.#parts, this.#contact !== 'none', context);
  }
}
