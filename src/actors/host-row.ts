// The stored row of a host (steps 8 and 10): how it comes about, and the pace that a host restored from it starts with.

import { monotonicMs, wallMs } from '../base/units.ts';
import type { GapPolicy } from '../domain/politeness.ts';
import type { Clock } from '../runtime/clock.ts';
import type { HostAddresses } from './host-addresses.ts';
import type { HostBudget } from './host-budget.ts';
import type { HostLedger } from './host-ledger.ts';
import { HostPace } from './host-pace.ts';
import type { HostQueues } from './host-queues.ts';
import type { HostRobots } from './host-robots.ts';
import type { HostVisits } from './host-visits.ts';
import type { HostPlaceIdentity } from './messages.ts';
import type { HostRow } from './rows.ts';
import type { HostServices } from './services.ts';

/** The pace of a host at its activation: fresh, or as its row says, never sooner than a full gap after this process started; on it what an operator has set meanwhile. */
export function paceAtActivation(
  services: Pick<HostServices, 'startedMs' | 'startedAt' | 'settings' | 'gapPolicyOf'>,
  host: string,
  row: HostRow | undefined,
  clock: Clock,
): HostPace {
  const pace = restoredPace(services, services.gapPolicyOf(host), row, clock);
  services.settings.apply(host, pace);
  return pace;
}

function restoredPace(
  services: Pick<HostServices, 'startedMs' | 'startedAt'>,
  policy: GapPolicy,
  row: HostRow | undefined,
  clock: Clock,
): HostPace {
  if (row === undefined || row.lastEndedAt === 0) return HostPace.fresh(policy);
  const sinceStartMs = Math.max(row.lastEndedAt - services.startedAt, 0);
  const nowMs = clock.now();
  return HostPace.restored({
    policy,
    row: row.gap,
    crawlDelayMs: row.crawlDelayMs,
    lastEndedMs: monotonicMs(Math.min(services.startedMs + sinceStartMs, nowMs)),
    lastEndedAt: row.lastEndedAt,
    nowMs,
    wallNow: clock.wallNow(),
  });
}

/** What a host consists of. */
export interface HostParts {
  readonly services: HostServices;
  readonly id: HostPlaceIdentity;
  readonly queues: HostQueues;
  readonly robots: HostRobots;
  readonly pace: HostPace;
  readonly ledger: HostLedger;
  readonly addresses: HostAddresses;
  readonly budget: HostBudget;
  readonly visits: HostVisits;
}

/**
 * The host as it is now.
 * @param isContacted a request to it was made, or is about to be
 */
export function hostRow(parts: HostParts, isContacted: boolean, clock: Clock): HostRow {
  const { services, id, queues, robots, pace, ledger, budget } = parts;
  const wallNow = clock.wallNow();
  const contactedAt = isContacted ? wallNow : wallMs(0);
  return {
    host: id.host,
    partition: id.partition,
    queues: queues.cursors(),
    lastEndedAt: pace.everAsked ? ledger.wallOf(pace.lastEndedMs) : contactedAt,
    gap: pace.row(clock.now(), wallNow),
    // As long as its rules are unknown: the longest delay that we would obey. A failed robots.txt leaves them unknown: the answer that
    // follows may be lost by a crash, and with it a delay that we have been told.
    crawlDelayMs: robots.areKnown
      ? pace.crawlDelayMs
      : services.gapPolicyOf(id.host).maxCrawlDelayMs,
    counts: ledger.counts,
    parked: queues.parkedCursors(),
    due: queues.dueCursors(),
    worth: budget.row(),
    renders: ledger.renders,
  };
}
