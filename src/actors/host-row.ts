// The stored row of a host: its totals, and the pace that a host restored from it starts with (steps 8 and 10).

import { monotonicMs } from '../base/units.ts';
import type { GapPolicy } from '../domain/politeness.ts';
import type { Clock } from '../runtime/clock.ts';
import { HostPace } from './host-pace.ts';
import type { HostCounts, HostRow } from './ports.ts';
import type { HostServices } from './services.ts';

export const ZERO_COUNTS: HostCounts = {
  discovered: 0,
  fetched: 0,
  stored: 0,
  duplicates: 0,
  failed: 0,
  robotsDenied: 0,
  trapped: 0,
  inLinks: 0,
};

/** `counts` with one of its totals raised. */
export function raised(counts: HostCounts, name: keyof HostCounts, by = 1): HostCounts {
  return { ...counts, [name]: counts[name] + by };
}

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
    nowMs,
    wallNow: clock.wallNow(),
  });
}
