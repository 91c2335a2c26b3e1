// The stored row of a host: the pace that a host restored from it starts with (steps 8 and 10).

import { monotonicMs } from '../base/units.ts';
import type { GapPolicy } from '../domain/politeness.ts';
import type { Clock } from '../runtime/clock.ts';
import { HostPace } from './host-pace.ts';
import type { HostRow } from './rows.ts';
import type { HostServices } from './services.ts';

/** The pace of a host at its activation: fresh, or as its row says, never sooner than a full gap after this process started. */
export function restoredPace(
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
