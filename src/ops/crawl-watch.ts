// Looks at the crawl once a second and keeps the last minutes, for everything that shows the crawl
// over time: the dashboard and its stream, metrics, health. One question a second whatever the
// number of watchers, so watching costs the crawl nothing more.

import { ANSWER_TIMEOUT_MS, withinDeadline } from './answer-request.ts';
import { type Answer, type Operator, refused } from './operator.ts';
import type { CrawlOverview } from './overview.ts';
import { type FrontReach, frontReach, type OverviewRates, ratesBetween } from './overview-rates.ts';
import type { HostLine } from './reports.ts';

/** How often the crawl is looked at, milliseconds. */
const INTERVAL_MS = 1_000;
/** Points kept: ten minutes. */
const POINTS_MAX = 600;
/** Top hosts are asked for every so many snapshots, and so many of them: it touches every active host. */
const HOSTS_EVERY = 5;
const HOSTS_MAX = 20;
/** Rates are taken over so many snapshots: a second alone is too rough for a crawl of few pages. */
const RATE_SPAN = 5;

/** One moment of the charts: small, as ten minutes of them are sent to each page that opens. */
export interface WatchPoint {
  readonly at: number;
  /** Rates are undefined in the first point, which has nothing before it. */
  readonly pagesPerSecond: number | undefined;
  readonly fetchedPerSecond: number | undefined;
  readonly bytesPerSecond: number | undefined;
  readonly responseP50Ms: number | undefined;
  readonly responseP90Ms: number | undefined;
  readonly responseP99Ms: number | undefined;
  readonly queuedByBand: readonly number[];
  readonly hostsReady: number;
  readonly hostsWaiting: number;
  readonly hostsBackingOff: number;
  readonly inFlight: number;
  /** URLs found for each one fetched. */
  readonly discoveredPerFetched: number;
  readonly memoryBytes: number;
  readonly cpuCores: number | undefined;
}

/** What is sent to a watcher each second. */
export interface WatchNews {
  readonly overview: CrawlOverview;
  readonly rates: OverviewRates;
  readonly reach: FrontReach;
  readonly point: WatchPoint;
  readonly topHosts: readonly HostLine[];
}

/** See the head of this file. */
export class CrawlWatch {
  readonly #operator: Operator;
  readonly #points: WatchPoint[] = [];
  readonly #recent: CrawlOverview[] = [];
  readonly #listeners = new Set<(news: WatchNews) => void>();
  #latest: WatchNews | undefined;
  #topHosts: readonly HostLine[] = [];
  #looks = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #lastError = 'the crawl was not looked at yet';
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(operator: Operator) {
    this.#operator = operator;
  }

  /** Looks once, then every second until `close`. */
  async start(): Promise<void> {
    await this.look();
    this.#schedule();
  }

  /** Looks at the crawl now. Never rejects. */
  async look(): Promise<void> {
    const answer = await this.overview();
    this.#looks += 1;
    if (answer.kind === 'refused') {
      this.#lastError = answer.reason;
      return;
    }
    if (this.#looks % HOSTS_EVERY === 1) await this.#askTopHosts();
    this.#keep(answer.value);
  }

  /** A fresh snapshot. */
  overview(): Promise<Answer<CrawlOverview>> {
    const limits = { timeoutMs: ANSWER_TIMEOUT_MS, rowsMax: HOSTS_MAX };
    return withinDeadline('the overview', ANSWER_TIMEOUT_MS, () => this.#operator.overview(limits));
  }

  /** The latest news, or why there is none. */
  latest(): Answer<WatchNews> {
    if (this.#latest === undefined) return refused('timeout', this.#lastError);
    return { kind: 'answered', value: this.#latest };
  }

  /** Milliseconds since the crawl last answered; infinite when it never did. By our own clock, whatever the snapshot says. */
  ageMs(): number {
    return performance.now() - this.#answeredAtMs;
  }

  /** The points of the last ten minutes, oldest first. */
  points(): readonly WatchPoint[] {
    return this.#points;
  }

  /** Calls the listener with all news to come, until the returned function is called. */
  listen(listener: (news: WatchNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** The next look begins a second after the last one ended: a busy crawl is asked less often. */
  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      void this.look().then(() => this.#schedule());
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  async #askTopHosts(): Promise<void> {
    const limits = { timeoutMs: ANSWER_TIMEOUT_MS, rowsMax: HOSTS_MAX };
    const answer = await withinDeadline('the top hosts', ANSWER_TIMEOUT_MS, () =>
      this.#operator.hosts('fetched', limits),
    );
    if (answer.kind === 'answered') this.#topHosts = answer.value.slice(0, HOSTS_MAX);
  }

  #keep(overview: CrawlOverview): void {
    this.#answeredAtMs = performance.now();
    const before = this.#recent[0];
    this.#recent.push(overview);
    if (this.#recent.length > RATE_SPAN) this.#recent.shift();
    const rates = ratesBetween(before, overview);
    const point = pointOf(overview, rates);
    this.#points.push(point);
    if (this.#points.length > POINTS_MAX) this.#points.shift();
    this.#latest = {
      overview,
      rates,
      reach: frontReach(overview, rates),
      point,
      topHosts: this.#topHosts,
    };
    for (const listener of this.#listeners) listener(this.#latest);
  }
}

function pointOf(overview: CrawlOverview, rates: OverviewRates): WatchPoint {
  const { at, hosts, memory } = overview;
  const rate = (value: number): number | undefined => (rates.seconds > 0 ? value : undefined);
  return {
    at,
    pagesPerSecond: rate(rates.pagesPerSecond),
    fetchedPerSecond: rate(rates.fetchedPerSecond),
    bytesPerSecond: rate(rates.bytesPerSecond),
    responseP50Ms: rates.responseP50Ms,
    responseP90Ms: rates.responseP90Ms,
    responseP99Ms: rates.responseP99Ms,
    queuedByBand: overview.queuedByBand,
    hostsReady: hosts.ready,
    hostsWaiting: hosts.waiting,
    hostsBackingOff: hosts.backingOff,
    inFlight: overview.inFlight,
    discoveredPerFetched: overview.discovered / Math.max(overview.fetched, 1),
    memoryBytes: memory.anonBytes + memory.sharedBytes,
    cpuCores: rate(rates.cpuCores),
  };
}
