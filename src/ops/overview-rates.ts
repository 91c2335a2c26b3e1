// Rates from two snapshots of the crawl. Each watcher keeps its own earlier snapshot, so that the
// length of its interval is its own matter. Also how far the hosts at hand carry the crawl, which
// sets the rate of a polite one (steps 8 and 9). Pure: no clock.

import type { CrawlOverview, DurationHistogram } from './overview.ts';

/** What happened between two snapshots, per second, and quantiles of response times within it. */
export interface OverviewRates {
  /** Length of the interval, seconds; 0 for the first snapshot, whose rates are all 0. */
  readonly seconds: number;
  readonly pagesPerSecond: number;
  readonly fetchedPerSecond: number;
  readonly bytesPerSecond: number;
  readonly discoveredPerSecond: number;
  readonly failedPerSecond: number;
  /** CPU cores in use, 1 for one. */
  readonly cpuCores: number;
  /** Undefined when nothing was measured in the interval. */
  readonly responseP50Ms: number | undefined;
  readonly responseP90Ms: number | undefined;
  readonly responseP99Ms: number | undefined;
}

/** The rates from `before` (undefined: no earlier snapshot) to `now`. Counters that went back, as after a restart, count as 0. */
export function ratesBetween(before: CrawlOverview | undefined, now: CrawlOverview): OverviewRates {
  const seconds = before === undefined ? 0 : Math.max((now.at - before.at) / 1_000, 0);
  const rate = (of: (overview: CrawlOverview) => number): number => {
    if (before === undefined || seconds === 0) return 0;
    return Math.max(of(now) - of(before), 0) / seconds;
  };
  const quantile = quantilesOf(before?.responseMs, now.responseMs);
  return {
    seconds,
    pagesPerSecond: rate(({ pages }) => pages),
    fetchedPerSecond: rate(({ fetched }) => fetched),
    bytesPerSecond: rate(({ bytes }) => bytes),
    discoveredPerSecond: rate(({ discovered }) => discovered),
    failedPerSecond: rate(({ failures, retries }) => total(failures) + total(retries)),
    cpuCores: rate(({ cpuSeconds }) => cpuSeconds),
    responseP50Ms: quantile(0.5),
    responseP90Ms: quantile(0.9),
    responseP99Ms: quantile(0.99),
  };
}

/** The sum of a record of counts. */
export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** How far the hosts at hand carry a polite crawl (DESIGN.md §4): each takes a slot while it answers, then rests for its gap. */
export interface FrontReach {
  /** Hosts that are not in trouble: ready, waiting for their gap, or in flight. */
  readonly hostsAtHand: number;
  /** Hosts that would keep every slot busy: slots × (response + gap) / response. With fewer the front, not the slots, sets the rate. */
  readonly hostsNeeded: number;
  /** The most requests per second that the hosts at hand can take. */
  readonly requestsPerSecondMax: number;
}

/** The reach of the front, with the median response time of the last interval (0 when none was measured: then it is an upper bound). */
export function frontReach(overview: CrawlOverview, rates: OverviewRates): FrontReach {
  const { hosts, inFlight, slots, minGapMs } = overview;
  const responseMs = rates.responseP50Ms ?? 0;
  const hostsAtHand = hosts.ready + hosts.waiting + inFlight;
  const turnMs = Math.max(responseMs + minGapMs, 1);
  return {
    hostsAtHand,
    hostsNeeded: responseMs === 0 ? slots : Math.ceil((slots * turnMs) / responseMs),
    requestsPerSecondMax: (hostsAtHand * 1_000) / turnMs,
  };
}

/** Linear within a bucket; above the last bound that bound is all that is known. */
function quantilesOf(
  before: DurationHistogram | undefined,
  now: DurationHistogram | undefined,
): (share: number) => number | undefined {
  if (now === undefined) return () => undefined;
  const counts = now.counts.map((count, index) =>
    Math.max(count - (before?.counts[index] ?? 0), 0),
  );
  const all = counts.reduce((sum, count) => sum + count, 0);
  return (share) => {
    if (all === 0) return undefined;
    let left = share * all;
    for (const [index, count] of counts.entries()) {
      const upper = now.boundsMs[index];
      if (upper === undefined) break;
      if (left <= count) {
        const lower = now.boundsMs[index - 1] ?? 0;
        return lower + (upper - lower) * (count === 0 ? 1 : left / count);
      }
      left -= count;
    }
    return now.boundsMs.at(-1);
  };
}
