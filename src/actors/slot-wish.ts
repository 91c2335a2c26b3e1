// When a host wants its next slot (step 8), and what it would do with it: what its actor tells the shard, which puts the host into the schedule
// by it. A host with nothing but parked URLs wants one for their review. Pure.

import { type MonotonicMs, monotonicMs } from '../base/units.ts';
import type { Clock } from '../runtime/clock.ts';
import type { WaitReason } from './host-pace.ts';
import type { HostParts } from './host-row.ts';
import type { Band } from './rows.ts';

/** A host's next slot, by the monotonic clock. */
export interface SlotWish {
  readonly atMs: MonotonicMs;
  readonly band: Band;
  readonly reason: WaitReason;
}

/** The slot in which parked URLs are looked at again; undefined when there are none. */
export function reviewWish(
  { budget, pace }: Pick<HostParts, 'budget' | 'pace'>,
  clock: Clock,
): SlotWish | undefined {
  const wallNow = clock.wallNow();
  const reviewAt = budget.reviewAt(wallNow);
  if (reviewAt === undefined) return undefined;
  const dueMs = clock.now() + Math.max(reviewAt - wallNow, 0);
  const atMs = monotonicMs(Math.max(dueMs, pace.nextFetchMs()));
  return { atMs, band: 2, reason: 'review' };
}
