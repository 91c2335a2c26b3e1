// The front of the frontier as an operator sees it (DESIGN.md §10, `front`): hosts and URLs by band, and what limits the rate now. A crawler's
// rate is the number of hosts it may talk to at once divided by their gap; a front that is too small explains a rate that is too low.

import type { FrontReport } from '../ops/reports.ts';
import type { ShardNews } from './crawl-process.ts';
import type { OperatedCrawl } from './process-operator.ts';

export function frontReport(
  { reading }: Pick<OperatedCrawl, 'reading'>,
  news: readonly ShardNews[],
  _rowsMax: number,
): FrontReport {
  const { config, store } = reading;
  const counters = store.counters();
  const statuses = news.map(({ status }) => status);
  const sum = (of: (status: ShardNews['status']) => number): number =>
    statuses.reduce((total, status) => total + of(status), 0);
  const ready = sum(({ due }) => due);
  const inFlight = sum((status) => status.inFlight);
  const hosts = [0, 1, 2].map((band) => sum(({ waiting }) => waiting[band as 0 | 1 | 2]));
  return {
    bands: hosts.map((count, band) => ({
      band: band + 1,
      weight: config.bandWeights[band] ?? 0,
      hosts: count,
      urls: Math.max(counters.get(`queued.${band}`) ?? 0, 0),
    })),
    hostsReady: ready,
    hostsNeeded: config.concurrency,
    limitedBy: limit({
      ready,
      inFlight,
      slots: config.concurrency,
      hosts: hosts.reduce((a, b) => a + b, 0),
    }),
    next: [],
  };
}

function limit(front: {
  readonly ready: number;
  readonly inFlight: number;
  readonly slots: number;
  readonly hosts: number;
}): string {
  if (front.inFlight >= front.slots)
    return `all ${front.slots} fetch slots are in use (--concurrency)`;
  if (front.ready > 0)
    return 'hosts are ready and slots are free: commits or parsing hold fetching back';
  if (front.hosts > 0)
    return `all ${front.hosts} hosts with work wait for their gap: more hosts or a shorter --min-gap would raise the rate`;
  return 'no host has a URL to fetch';
}
