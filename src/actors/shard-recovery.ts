// The hosts of a shard after a start (step 8): each that has work is placed in the schedule by what its row says. The actor, once awake, knows
// better; what matters here is that it is woken, and not before its gap has passed (I2).

import { type MonotonicMs, monotonicMs, type PartitionIndex, type WallMs } from '../base/units.ts';
import type { HostSchedule } from './host-schedule.ts';
import type { StateReader } from './ports.ts';
import type { Residency } from './residency.ts';

/** Hosts with parked URLs only are woken within this time of a start, whatever their rows say: the clock may have been put back. */
const REVIEW_LOOK_MS = 3_600_000;

export interface RecoveryMeans {
  readonly reader: Pick<StateReader, 'hostsWithWork'>;
  readonly schedule: HostSchedule;
  /** URLs waiting are counted there. */
  readonly residency: Residency;
  readonly now: MonotonicMs;
  readonly wallNow: WallMs;
}

/** @returns how many hosts have work */
export function placeHostsWithWork(
  { reader, schedule, residency, now, wallNow }: RecoveryMeans,
  owns: (partition: PartitionIndex) => boolean,
): number {
  let hosts = 0;
  for (const { hostKey, row } of reader.hostsWithWork(owns)) {
    const gapMs = row.lastEndedAt === 0 ? 0 : row.crawlDelayMs;
    const queued = row.queues.reduce((sum, { head, tail }) => sum + tail - head, 0);
    residency.waiting += queued;
    const reviewMs = (row.worth?.reviewAt ?? 0) - wallNow;
    const waitMs = queued > 0 ? gapMs : Math.max(gapMs, Math.min(reviewMs, REVIEW_LOOK_MS));
    schedule.put(hostKey, monotonicMs(now + waitMs), 0, queued > 0 ? 'gap' : 'review');
    hosts += 1;
  }
  return hosts;
}
