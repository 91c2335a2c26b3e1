// A clock that moves only when told, with alarms: the time of simulations and unit tests. Alarms ring inside `advanceTo`, in the order of
// their times and then of their setting, with the clock at exactly their time, so that a run depends on its inputs alone (invariant I11).
import { assert } from '../base/assert.ts';
import { type MonotonicMs, monotonicMs, type WallMs, wallMs } from '../base/units.ts';
import type { AlarmId, Alarms, Clock } from './clock.ts';
import { Timers } from './timers.ts';

/** Time under the caller's control. */
export class VirtualClock implements Clock, Alarms {
  readonly #alarms = new Timers<() => void>();
  #nowMs = 0;
  /** Wall time at monotonic 0; `skewWall` moves it. */
  #wallZeroMs: number;

  /** @param wallStartMs what the wall clock shows at monotonic 0; default 2024-01-01T00:00:00Z */
  constructor(wallStartMs = 1_704_067_200_000) {
    this.#wallZeroMs = wallStartMs;
  }

  now(): MonotonicMs {
    return monotonicMs(this.#nowMs);
  }

  wallNow(): WallMs {
    return wallMs(this.#wallZeroMs + this.#nowMs);
  }

  /** Lets the wall clock jump, as a time server would. */
  skewWall(byMs: number): void {
    this.#wallZeroMs += byMs;
  }

  after(ms: number, callback: () => void): AlarmId {
    assert(ms >= 0, () => `alarm in ${ms} ms`);
    return this.#alarms.set(this.#nowMs + ms, callback);
  }

  cancel(id: AlarmId): void {
    this.#alarms.cancel(id as Parameters<Timers<() => void>['cancel']>[0]);
  }

  /** When the next alarm rings, or Infinity. */
  get nextAlarmAt(): number {
    return this.#alarms.nextDeadline;
  }

  /** Moves to a time not before now, ringing every alarm on the way, those set meanwhile included. */
  advanceTo(time: number): void {
    assert(time >= this.#nowMs, () => `time cannot go back from ${this.#nowMs} to ${time}`);
    for (
      let due = this.#alarms.takeDue(time);
      due !== undefined;
      due = this.#alarms.takeDue(time)
    ) {
      this.#nowMs = Math.max(this.#nowMs, due.deadline);
      due.payload();
    }
    this.#nowMs = time;
  }
}
