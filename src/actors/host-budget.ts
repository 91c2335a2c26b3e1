// The budget of one host (step 5, DESIGN.md §4): decides whether a new URL enters a band or is parked, learns from the host's pages what its
// URLs are worth, and looks at parked URLs again. Parked URLs wait in a queue of their own (host-queues.ts), as durable as the others, so
// none is ever dropped: whenever a new page has earned the host more, the oldest are admitted, and at reviews, further and further apart,
// some are tried without having earned it. No assertion can tell worth from waste; `why` repeats each decision from the stored row.

import { type WallMs, wallMs } from '../base/units.ts';
import { UrlBudget, type UrlBudgetOptions } from '../domain/url-budget.ts';
import { ordinaryShape, type UrlShape } from '../domain/url-shape.ts';
import type { DomainAccount } from './domain-accounts.ts';
import { HostKnown, type PageSeen } from './host-known.ts';
import type { HostQueues } from './host-queues.ts';
import type { HostPlaceIdentity } from './messages.ts';
import type { Band, HostRow, HostWorthRow, QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';

/** Parked URLs looked at in one review, and URLs that a review grants. */
const REVIEWED_MAX = 64;
const GRANTED = 16;
/** Parked URLs admitted at once when a page has earned them. */
const RELEASED_MAX = 4;
/** Decisions that rest on one reading of the domain's account. */
const TALLY_USES = 32;

export class HostBudget {
  readonly #services: HostServices;
  readonly #queues: HostQueues;
  readonly #budget: UrlBudget;
  readonly #account: DomainAccount;
  readonly #known: HostKnown;
  #domain: ReturnType<HostServices['domains']['tallyOf']>;
  #tallyUses = 0;
  #isEntered: boolean;
  #reviews: number;
  #reviewAt: WallMs;

  constructor(
    services: HostServices,
    id: HostPlaceIdentity,
    queues: HostQueues,
    row: HostRow | undefined,
  ) {
    this.#services = services;
    this.#queues = queues;
    const { worth } = row ?? {};
    this.#budget = new UrlBudget(worth?.tally, budgetOf(services, id.host));
    this.#account = services.domains.accountOf(id.host);
    this.#known = new HostKnown(services, worth?.repeats);
    this.#isEntered = worth?.enteredAt === services.startedAt;
    this.#reviews = worth?.reviews ?? 0;
    this.#reviewAt = worth?.reviewAt ?? wallMs(0);
    if (worth !== undefined && worth.tally.urls > 0) this.#enter(worth.votes);
    this.#domain = services.domains.tallyOf(this.#account);
  }

  /** Registrable domains, other than its own, that link to the host's; read anew with every few decisions. */
  get inLinkDomains(): number {
    return this.#domain.inLinkDomains;
  }

  /** Puts a URL that was not seen before into its band, or parks it. A seed and a sitemap are the operator's and the site's own wish. */
  place(band: Band, entry: Omit<QueueEntry, 'sequence'>, isSuspect: boolean): void {
    const shape = isSuspect ? this.#services.shapeOf(entry.url) : ordinaryShape(entry.url);
    if (isWished(entry)) {
      this.#admit(band, entry, shape);
      return;
    }
    const place = this.#known.placeOf(entry.url);
    const lane = place === 'own' ? band : 2;
    if (this.#isCrowded(lane)) this.#park(entry, 'skipped.frontier');
    else if (place === 'twin') this.#park(entry, 'skipped.twin');
    else if (this.#judge(shape) !== undefined) this.#park(entry, 'skipped.budget');
    else this.#admit(lane, entry, shape);
  }

  /**
   * Whether the head of a band is not to be fetched: its shape has meanwhile shown known content only, or its twin has it. It is then parked,
   * and the caller advances. A URL that was tried before is not parked for its twin: a review may have sent it.
   */
  isSpent(entry: QueueEntry): boolean {
    if (isWished(entry)) return false;
    const shape = this.#services.shapeOf(entry.url);
    const isTwin = entry.attempts === 0 && this.#known.placeOf(entry.url) === 'twin';
    if (!isTwin && !this.#budget.isSpent(shape)) return false;
    this.setAside(entry);
    this.#services.stage.count(isTwin ? 'skipped.twin' : 'skipped.budget');
    return true;
  }

  /** Parks what was admitted. */
  setAside(entry: Omit<QueueEntry, 'sequence'>): void {
    this.#budget.withdrawn(this.#services.shapeOf(entry.url));
    this.#services.domains.urlsAdmitted(this.#account, -1);
    this.#queues.park(entry);
  }

  /** Learns what a URL of the host was worth; the host's row must be staged in the same turn. @returns whether its content counts as new */
  pageSeen(page: PageSeen): boolean {
    const isSoft404 = this.#known.pageSeen(page);
    const { form } = page;
    const isNew = page.isNew && !isSoft404;
    const isFresh = this.#budget.pageSeen(this.#services.shapeOf(page.url), { isNew, form });
    this.#services.domains.pageSeen(this.#account, isFresh);
    if (isFresh) this.#release(RELEASED_MAX);
    return isFresh;
  }

  /** When parked URLs are looked at next; undefined when there are none. */
  reviewAt(wallNow: WallMs): WallMs | undefined {
    if (this.#queues.parked === 0) return undefined;
    const latest = this.#nextReviewAt(wallNow);
    // Later than that it is due only if the clock was put back since.
    if (this.#reviewAt === 0 || this.#reviewAt > latest) this.#reviewAt = latest;
    return this.#reviewAt;
  }

  /**
   * Looks at parked URLs again, if it is time: the host is granted some, and the oldest that may go are admitted.
   * @returns whether it was time: the host's row must then be staged in the same turn
   */
  review(wallNow: WallMs): boolean {
    const dueAt = this.reviewAt(wallNow);
    if (dueAt === undefined || wallNow < dueAt) return false;
    this.#services.stage.count('parked.reviews');
    this.#budget.grant(GRANTED);
    this.#tallyUses = 0;
    this.#reviews += 1;
    this.#reviewAt = this.#nextReviewAt(wallNow);
    const looks = Math.min(this.#queues.parked, REVIEWED_MAX);
    for (let look = 0; look < looks; look += 1) {
      // The first few come back however full the frontier is: what fills it may never be fetched.
      if (this.#release(1, look < GRANTED)) continue;
      const entry = this.#queues.takeParked();
      if (entry !== undefined) this.#queues.park(entry);
    }
    return true;
  }

  /** The part of the host's row that the budget keeps. */
  row(): HostWorthRow {
    const { services, account } = { services: this.#services, account: this.#account };
    return {
      tally: this.#budget.stored(),
      votes: services.domains.votesOf(account),
      enteredAt: this.#isEntered ? services.startedAt : wallMs(0),
      reviews: this.#reviews,
      reviewAt: this.#queues.parked === 0 ? wallMs(0) : this.#reviewAt,
      repeats: this.#known.row(),
    };
  }

  #judge(shape: UrlShape) {
    if (this.#tallyUses % TALLY_USES === 0) {
      this.#domain = this.#services.domains.tallyOf(this.#account);
    }
    this.#tallyUses += 1;
    return this.#budget.judge(shape, this.#domain);
  }

  #admit(band: Band, entry: Omit<QueueEntry, 'sequence'>, shape: UrlShape): void {
    if (!this.#isEntered) this.#enter([0, 0]);
    this.#budget.admitted(shape);
    this.#services.domains.urlsAdmitted(this.#account, 1);
    this.#queues.push(band, entry);
  }

  /** True above the frontier's high-water mark, for what is worth least; home pages and their like always find room. */
  #isCrowded(band: Band): boolean {
    const { residency, policy } = this.#services;
    return band > 0 && residency.waiting >= policy.waitingHigh * (band === 2 ? 1 : 2);
  }

  #park(
    entry: Omit<QueueEntry, 'sequence'>,
    reason: 'skipped.budget' | 'skipped.frontier' | 'skipped.twin',
  ): void {
    this.#services.stage.count(reason);
    this.#queues.park(entry);
  }

  /** Admits the oldest parked URLs that may go, up to `countMax`. @returns whether there was one */
  #release(countMax: number, isGranted = false): boolean {
    for (let count = 0; count < countMax; count += 1) {
      if (!isGranted && this.#isCrowded(2)) return count > 0;
      const entry = this.#queues.peekParked();
      const shape = entry === undefined ? undefined : this.#services.shapeOf(entry.url);
      if (entry === undefined || shape === undefined) return count > 0;
      if (this.#judge(shape) !== undefined) return count > 0;
      // New pages of its host earn it nothing: they may be the twin's own. Reviews try it all the same.
      const isTwin = this.#known.placeOf(entry.url) === 'twin';
      if (isTwin && !isGranted) return count > 0;
      const released = this.#queues.takeParked();
      if (released === undefined) continue;
      this.#admit(2, isTwin ? { ...released, attempts: released.attempts + 1 } : released, shape);
    }
    return true;
  }

  /** Enters the host in the account of its domain, once a process. */
  #enter(votes: readonly [low: number, high: number]): void {
    if (this.#isEntered) return;
    this.#isEntered = true;
    const { urls, pages, freshPages } = this.#budget.stored();
    this.#services.domains.hostEntered(this.#account, { urls, pages, freshPages, votes });
  }

  #nextReviewAt(wallNow: WallMs): WallMs {
    const { reviewMsMin, reviewMsMax } = this.#services.policy;
    return wallMs(wallNow + Math.min(reviewMsMin * 2 ** this.#reviews, reviewMsMax));
  }
}

/** The crawl's budget, or for a host with a number of URLs of its own the same with that. */
function budgetOf({ policy, urlsOf }: HostServices, host: string): UrlBudgetOptions {
  const urlsPerHost = urlsOf(host);
  const { budget } = policy;
  return urlsPerHost === budget.urlsPerHost ? budget : { ...budget, urlsPerHost };
}

/** True for what the operator or the site's owner names: it is not for a budget to refuse. */
function isWished(entry: Omit<QueueEntry, 'sequence'>): boolean {
  return entry.depth === 0 || entry.purpose === 'sitemap';
}
