// What an operator sees of one host (debug socket, `host`): its parts as plain values, read between two turns. Nothing here changes anything.

import type { HostRequests } from './host-requests.ts';
import type { HostParts } from './host-row.ts';

/** @param contact whether the row that announces the first contact is durable */
export function hostInspection(
  { id, queues, pace, addresses, robots, ledger }: HostParts,
  requests: HostRequests,
  contact: string,
): unknown {
  return {
    host: id.host,
    partition: id.partition,
    queued: queues.lengths(),
    parked: queues.parked,
    inFlight: requests.inFlight?.url,
    gapMs: pace.gapMs(),
    crawlDelayMs: pace.crawlDelayMs,
    nextFetchMs: pace.nextFetchMs(),
    waitsFor: pace.waitReason(),
    addresses: addresses.list,
    addressesPending: addresses.pending,
    addressesExpireMs: addresses.expiresMs,
    robots: robots.rows().map(({ rules: _rules, ...row }) => row),
    counts: ledger.counts,
    renders: ledger.renders,
    contact,
  };
}
