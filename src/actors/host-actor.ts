// One host: its back queue, robots rules, addresses and pace (steps 5 to 9 of a URL's life). A virtual actor: activated by its first
// message, passivated when the shard needs the memory. Nobody else touches this state, so politeness needs no lock (DESIGN.md §3).
//
// A turn with a slot (`take-slot`) does exactly one of: start one request, with a permit of this host's pace, or give the slot back. The
// queue's head stays the head until its outcome is staged, so a crash repeats it and never loses it. After each message the host tells
// the shard when it wants its next slot.

import { assert, unreachable } from '../base/assert.ts';
import type { MonotonicMs, UrlKey } from '../base/units.ts';
import { monotonicMs, wallMs } from '../base/units.ts';
import { priorityBand } from '../domain/priority.ts';
import type { Actor, ActorContext } from '../runtime/actor.ts';
import { HostAddresses } from './host-addresses.ts';
import { HostLedger } from './host-ledger.ts';
import type { HostPace, WaitReason } from './host-pace.ts';
import { HostQueues } from './host-queues.ts';
import { type Admission, HostRobots } from './host-robots.ts';
import { restoredPace } from './host-row.ts';
import type { HostMessage, HostOperation, HostPlaceIdentity, RoutedLink } from './messages.ts';
import { type PageVerdict, robotsAnswerOf, verdictOf } from './page-outcome.ts';
import type { Band, FetchOutcome, HostRow, QueueEntry, ResolveOutcome } from './ports.ts';
import { RobotsDesk } from './robots-desk.ts';
import type { RobotsErrand } from './robots-errands.ts';
import type { HostServices } from './services.ts';

/** Denied or forbidden entries that are passed over in one turn, so that no turn grows with the queue. */
const PASSED_OVER_PER_TURN = 64;
/** How soon a host that found the page allowance used up asks again, milliseconds. */
const ALLOWANCE_RETRY_MS = 250;

/** What is in flight for this host. */
type InFlight =
  | { readonly kind: 'page'; readonly url: string; readonly band: Band; readonly entry: QueueEntry }
  | ({ readonly kind: 'robots' } & RobotsErrand);

/** When a host wants its next slot, and what it would do with it. */
interface SlotWish {
  readonly atMs: MonotonicMs;
  readonly band: Band;
  readonly reason: WaitReason;
}

export class HostActor implements Actor<HostMessage> {
  readonly #services: HostServices;
  readonly #id: HostPlaceIdentity;
  readonly #queues: HostQueues;
  readonly #robots: HostRobots;
  readonly #pace: HostPace;
  readonly #addresses = new HostAddresses();
  readonly #desk: RobotsDesk;
  readonly #ledger: HostLedger;
  #inFlight: InFlight | undefined;
  /** The gap that the permit of the request in flight was given under. */
  #inFlightGapMs = 0;
  /** A place at the host's address, promised for this time. */
  #addressTicketMs: MonotonicMs | undefined;
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
    const { productToken, robotsBytesMax } = services.policy;
    this.#robots = new HostRobots(productToken, robotsBytesMax, robotsRows);
    this.#pace = restoredPace(services, row, context);
    this.#contact = row === undefined || row.lastEndedAt === 0 ? 'none' : 'committed';
    this.#ledger = new HostLedger(services, id, row);
    const { robots, queues, pace } = {
      robots: this.#robots,
      queues: this.#queues,
      pace: this.#pace,
    };
    this.#desk = new RobotsDesk({ services, id, robots, queues, pace });
  }

  receive(message: HostMessage, context: ActorContext<HostMessage>): void {
    switch (message.kind) {
      case 'offer-urls':
        for (const link of message.links) this.#offer(link);
        message.token.applied();
        break;
      case 'take-slot':
        this.#announcedMs = -1;
        if (!this.#tryStart(context)) this.#services.gate.returnSlot();
        break;
      case 'host-resolved':
        this.#resolved(message.outcome, context);
        break;
      case 'fetch-ended':
        this.#fetchEnded(message.outcome, context);
        break;
      case 'ask-robots':
        this.#desk.asked(message.ask);
        break;
      case 'robots-answered':
        if (this.#desk.askAnswered(message.askId, message.answer, context)) this.#touch(context);
        break;
      case 'contact-committed':
        this.#contact = 'committed';
        break;
      case 'sweep':
        this.#queues.spill();
        this.#touch(context);
        message.token.applied();
        return;
      case 'operate':
        this.#operate(message.operation, context);
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

  /** True when the host may be passivated now. */
  isIdle(): boolean {
    if (this.#inFlight !== undefined || this.#contact === 'committing') return false;
    return this.#desk.errands.isEmpty && !this.#addresses.pending;
  }

  inspect(): unknown {
    return {
      host: this.#id.host,
      partition: this.#id.partition,
      queued: this.#queues.lengths(),
      inFlight: this.#inFlight?.url,
      gapMs: this.#pace.gapMs(),
      crawlDelayMs: this.#pace.crawlDelayMs,
      nextFetchMs: this.#pace.nextFetchMs(),
      waitsFor: this.#pace.waitReason(),
      addresses: this.#addresses.list,
      addressesPending: this.#addresses.pending,
      robots: this.#robots.rows().map(({ rules: _rules, ...row }) => row),
      counts: this.#ledger.counts,
      contact: this.#contact,
    };
  }

  // ------------------------------------------------------------------------------------------------ step 5: admit to the queue

  #offer(link: RoutedLink): void {
    const { seen } = this.#services;
    if (link.fromOtherHost) this.#ledger.linkedFromOutside();
    const verdict = this.#robots.knownVerdict(link.url);
    if (verdict !== undefined && !verdict.allowed) {
      this.#ledger.refused();
      return;
    }
    // The rules that would refuse this spelling are not known yet: it must not stand in the way of another one (see #prove).
    const isUnproven = verdict === undefined && link.isRespelled;
    const urlKey = isUnproven ? this.#services.spellingKeyOf(link.url) : link.urlKey;
    if (!seen.addIfNew(urlKey)) {
      // Another spelling of this URL may have been denied by robots.txt; the first spelling that is admitted is the one to send.
      const mayReplace = !isUnproven && (link.isRespelled || link.hops > 0);
      if (!mayReplace || !this.#replacesDenied(urlKey)) return;
    } else if (!isUnproven) {
      this.#ledger.discovered();
    }
    const { url, depth, hops, purpose } = link;
    const inLinkHosts = this.#ledger.counts.inLinks;
    const band = priorityBand({
      depth,
      inLinkHosts,
      isHome: link.isHome,
      isSuspect: link.isSuspect,
    });
    this.#queues.push(band, { url, urlKey, depth, attempts: 0, hops, purpose });
  }

  /** True when the URL was denied in another spelling; that denial is then lifted. */
  #replacesDenied(urlKey: UrlKey): boolean {
    const { stage, reader } = this.#services;
    const { hostKey, partition } = this.#id;
    if (!reader.isDenied(hostKey, partition, urlKey)) return false;
    stage.removeDenied(hostKey, partition, urlKey);
    return true;
  }

  /**
   * A spelling that was queued under its own key, before the rules were known, has turned out to be allowed: only now the URL enters the
   * seen set, unless another spelling did before. So a disallowed spelling never hides an allowed one (DESIGN.md §4).
   */
  #prove(head: { readonly band: Band; readonly entry: QueueEntry }): void {
    const urlKey = this.#services.keyOf(head.entry.url);
    if (this.#services.seen.addIfNew(urlKey) || this.#replacesDenied(urlKey)) {
      this.#ledger.discovered();
      const { sequence: _sequence, ...entry } = head.entry;
      this.#queues.push(head.band, { ...entry, urlKey });
    }
  }

  // --------------------------------------------------------------------------------------------------- step 8: use of a slot

  /** True when a request was started in the slot. */
  #tryStart(context: ActorContext<HostMessage>): boolean {
    const now = context.now();
    if (this.#inFlight !== undefined || this.#desk.errands.isAwaiting) return false;
    if (now < this.#pace.nextFetchMs()) return false;
    if (!this.#addresses.usable(now) || !this.#contacted(context)) return false;
    const errand = this.#desk.errands.next();
    if (errand !== undefined) {
      if (!this.#start({ kind: 'robots', ...errand }, context)) return false;
      this.#desk.errands.done();
      return true;
    }
    return this.#startFromQueue(context);
  }

  #startFromQueue(context: ActorContext<HostMessage>): boolean {
    for (let passed = 0; passed < PASSED_OVER_PER_TURN; passed += 1) {
      const head = this.#queues.peek();
      if (head === undefined) return false;
      if (this.#addresses.forbidden) {
        this.#ledger.forbidden(head.entry, context.wallNow());
        this.#advance(head.band, context);
        continue;
      }
      const admission = this.#robots.admission(head.entry.url, context.wallNow());
      const isUnproven = head.entry.urlKey !== this.#services.keyOf(head.entry.url);
      if (admission.kind === 'allowed' && isUnproven) this.#prove(head);
      else if (admission.kind === 'denied') this.#ledger.denied(head.band, head.entry);
      else return this.#startAdmitted(admission, head, context);
      this.#advance(head.band, context);
    }
    return false;
  }

  #startAdmitted(
    admission: Exclude<Admission, { kind: 'denied' }>,
    head: { readonly band: Band; readonly entry: QueueEntry },
    context: ActorContext<HostMessage>,
  ): boolean {
    switch (admission.kind) {
      case 'allowed':
        return this.#startPage(head.band, head.entry, context);
      case 'fetch-first': {
        const { origin, robotsUrl } = admission;
        const errand = { url: robotsUrl, origin, ask: undefined };
        if (!this.#start({ kind: 'robots', ...errand }, context)) return false;
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
    if (this.#start({ kind: 'page', url: entry.url, band, entry }, context)) return true;
    pages.settle(false);
    return false;
  }

  #start(inFlight: InFlight, context: ActorContext<HostMessage>): boolean {
    const { addresses, gate } = this.#services;
    const now = context.now();
    const list = this.#addresses.list;
    const address = list[0];
    if (address === undefined) {
      if (inFlight.kind === 'robots') this.#desk.refused(inFlight, context);
      return false;
    }
    const place = addresses.tryTake(address, now, this.#addressTicketMs);
    if (place.kind === 'wait') {
      this.#addressTicketMs = place.ticketMs;
      this.#pace.holdUntil(place.ticketMs);
      return false;
    }
    this.#addressTicketMs = undefined;
    const permit = this.#pace.tryPermit(now);
    assert(permit !== undefined, () => `${this.#id.host} was not ready after all`);
    this.#inFlight = inFlight;
    this.#inFlightGapMs = permit.gapMs;
    const purpose = inFlight.kind === 'page' ? inFlight.entry.purpose : 'robots';
    const self = context.self;
    gate.start({
      hostKey: this.#id.hostKey,
      permit,
      nowMs: now,
      request: {
        purpose,
        url: inFlight.url,
        addresses: list,
        etag: undefined,
        lastModified: undefined,
      },
      ended: (outcome) => {
        addresses.release(address);
        this.#services.toHost(self, { kind: 'fetch-ended', outcome });
      },
    });
    return true;
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

  // ------------------------------------------------------------------------------------------------------- after a request

  #fetchEnded(outcome: FetchOutcome, context: ActorContext<HostMessage>): void {
    const inFlight = this.#inFlight;
    assert(inFlight !== undefined, () => `${this.#id.host}: an end without a request`);
    this.#inFlight = undefined;
    const verdict = verdictOf(outcome, context.wallNow());
    this.#paceEnded(outcome, verdict);
    this.#ledger.audited({
      url: inFlight.url,
      purpose: inFlight.kind === 'page' ? inFlight.entry.purpose : 'robots',
      gapMs: this.#inFlightGapMs,
      robotsAt: inFlight.kind === 'page' ? this.#robots.fetchedAt(inFlight.url) : wallMs(0),
      outcome,
      verdict,
    });
    if (inFlight.kind === 'page') {
      const settlement = this.#ledger.settled(inFlight.entry, outcome, verdict);
      if (settlement.again !== undefined) this.#queues.push(inFlight.band, settlement.again);
      this.#advance(inFlight.band, context);
      return;
    }
    this.#ledger.archived(inFlight.url, outcome);
    const answer = robotsAnswerOf(outcome, verdict, this.#services.policy.robotsBytesMax);
    this.#desk.answered(inFlight, answer, context);
    this.#touch(context);
  }

  /** The head of a band is done: its done mark and the host's row go into the same batch as what was written about it. */
  #advance(band: Band, context: ActorContext<HostMessage>): void {
    this.#queues.advance(band);
    this.#touch(context);
  }

  #paceEnded(outcome: FetchOutcome, verdict: PageVerdict): void {
    if (verdict.failure !== undefined) {
      this.#pace.failed(verdict.failure, outcome.endedMs, verdict.retryAfterMs);
      this.#addresses.suspect(verdict.failure);
      return;
    }
    const firstByteMs = outcome.kind === 'response' ? outcome.firstByteMs : outcome.endedMs;
    const responseMs = firstByteMs - outcome.startedMs - this.#services.loopDelayMs();
    this.#pace.succeeded(outcome.endedMs, responseMs);
    if (verdict.retryAfterMs > 0) this.#pace.pause(outcome.endedMs, verdict.retryAfterMs);
  }

  // --------------------------------------------------------------------------------------------------------- robots and names

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
    if (failure === undefined) return;
    this.#services.stage.count(`retries.${failure}`);
    this.#pace.unresolved(failure, context.now());
    this.#touch(context);
  }

  // ------------------------------------------------------------------------------------------------- schedule and passivation

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

  #wanted(context: ActorContext<HostMessage>): SlotWish | undefined {
    if (this.#inFlight !== undefined || this.#desk.errands.isAwaiting) return undefined;
    const now = context.now();
    const atMs = this.#pace.nextFetchMs();
    const reason = this.#pace.waitReason();
    const head = this.#queues.peek();
    const urgent = this.#desk.errands.next() !== undefined;
    if (!urgent && head === undefined) return undefined;
    if (!this.#addresses.usable(now)) {
      if (this.#pace.backsOff(now)) return { atMs, band: 2, reason };
      this.#resolve(context);
      return undefined;
    }
    if (!this.#contacted(context)) return undefined;
    if (urgent || head === undefined) return { atMs, band: 0, reason };
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
    const row = this.#row(context);
    this.#services.stage.host(this.#id.hostKey, () => row);
  }

  #operate(operation: HostOperation, context: ActorContext<HostMessage>): void {
    switch (operation.kind) {
      case 'pause':
        this.#pace.pause(context.now(), operation.forMs);
        break;
      case 'resume':
        this.#pace.resume();
        break;
      case 'set-gap':
        this.#pace.override(operation.gapMs);
        break;
      case 'refresh-robots':
        this.#robots.refresh();
        break;
      case 'flush-addresses':
        this.#addresses.flush();
        break;
      default:
        unreachable(operation);
    }
    this.#touch(context);
  }

  // --------------------------------------------------------------------------------------------------------- the durable row

  #touch(context: ActorContext<HostMessage>): void {
    this.#services.stage.host(this.#id.hostKey, () => this.#row(context));
  }

  #row(context: ActorContext<HostMessage>): HostRow {
    const rulesKnown = this.#robots.rows().length > 0;
    const asked = this.#pace.everAsked;
    const contactedAt = this.#contact === 'none' ? wallMs(0) : context.wallNow();
    return {
      host: this.#id.host,
      partition: this.#id.partition,
      queues: this.#queues.cursors(),
      lastEndedAt: asked ? this.#ledger.wallOf(this.#pace.lastEndedMs) : contactedAt,
      gap: this.#pace.row(context.now(), context.wallNow()),
      crawlDelayMs: rulesKnown
        ? this.#pace.crawlDelayMs
        : this.#services.policy.gap.maxCrawlDelayMs,
      counts: this.#ledger.counts,
    };
  }
}
