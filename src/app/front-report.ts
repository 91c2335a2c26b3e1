// The front of the frontier as an operator sees it (DESIGN.md §10, `front`): hosts and URLs by band, the hosts next in turn, and what limits
// the rate now. A polite crawler's rate is the number of hosts it may talk to divided by their gap; a front that is too small explains a rate
// that is too low, and no thread or slot more would help.

import { hostKey, partitionIndex } from '../base/units.ts';
import { partitionOf } from '../domain/ring.ts';
import type { CrawlOverview } from '../ops/overview.ts';
import { type FrontReach, frontReach, ratesBetween } from '../ops/overview-rates.ts';
import type { FrontReport } from '../ops/reports.ts';
import type { CrawlReading } from './read-crawl.ts';
import type { NextHostRow } from './shard-inspection.ts';

/** @param next hosts next in turn by shard; undefined for a shard that did not answer */
export function frontReport(
  overview: CrawlOverview,
  reading: CrawlReading,
  next: readonly (readonly NextHostRow[] | undefined)[],
  rowsMax: number,
): FrontReport {
  // Response times of the whole run: a question asked once has no interval of its own.
  const reach = frontReach(overview, ratesBetween(undefined, overview));
  const { hosts, queuedByBand } = overview;
  const rows = next.flatMap((rows, shard) => (rows ?? []).map((row) => ({ ...row, shard })));
  return {
    bands: queuedByBand.map((urls, band) => ({
      band: band + 1,
      weight: reading.config.bandWeights[band] ?? 0,
      urls,
    })),
    hostsReady: hosts.ready,
    hostsWaiting: hosts.waiting,
    hostsBackingOff: hosts.backingOff,
    hostsAtHand: reach.hostsAtHand,
    hostsNeeded: reach.hostsNeeded,
    requestsPerSecondMax: reach.requestsPerSecondMax,
    limitedBy: limitOf(overview, reach),
    next: rows
      .sort((one, other) => one.inMs - other.inMs)
      .slice(0, rowsMax)
      .map(({ hostKey: key, shard, band, inMs }) => ({
        host: nameOf(reading, key),
        shard,
        band: band === undefined ? 0 : band + 1,
        inMs: Math.round(inMs),
        reason: band === undefined ? 'trouble' : inMs > 0 ? 'gap' : 'ready',
      })),
  };
}

/** One sentence: what limits the rate now. */
export function limitOf(overview: CrawlOverview, reach: FrontReach): string {
  const { hosts, inFlight, slots, state, minGapMs } = overview;
  if (state !== 'running') return `the crawl is ${state}`;
  if (inFlight >= slots) return `all ${slots} fetch slots are in use (--concurrency)`;
  if (hosts.ready > 0)
    return 'hosts are ready and slots are free: commits, parsing or address budgets hold fetching back';
  if (reach.hostsAtHand === 0 && hosts.backingOff > 0)
    return `all ${hosts.backingOff} hosts with work wait after trouble (see \`hosts failed\`)`;
  if (reach.hostsAtHand === 0) return 'no host has a URL to fetch';
  return (
    `the front is too small: ${hosts.waiting} hosts wait for their gap of at least ${minGapMs} ms, ${inFlight} are being asked and ` +
    `${hosts.backingOff} wait after trouble; that allows ${reach.requestsPerSecondMax.toFixed(1)} requests/s at most, and ` +
    `${reach.hostsNeeded} hosts would keep all ${slots} slots busy`
  );
}

/** The name is in the host's row; one that has none yet is told by its key. */
function nameOf({ store }: CrawlReading, key: bigint): string {
  const partition = partitionOf(hostKey(key), store.identity.partitions);
  const row = store.rows.host(hostKey(key), partitionIndex(partition));
  return row?.host ?? `key ${key.toString(16).padStart(16, '0')}`;
}
