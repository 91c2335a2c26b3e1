// Drives a dispatcher by a virtual clock: the simulator's half of the actor system (DESIGN.md §11). Several of these may share one clock
// (shards simulated on one thread): the kernel asks each for its next event, moves the clock to the earliest, and lets each run what is
// due. A lone one does both by `advanceTo`.
import { assert } from '../base/assert.ts';
import type { MonotonicMs } from '../base/units.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Messages after which a run without passing time is taken for an endless loop. */
const MESSAGES_AT_ONE_TIME_MAX = 10_000_000;

/** Options of {@link VirtualDispatcher}. */
export type VirtualDispatcherOptions = Omit<DispatcherOptions, 'clock' | 'stopwatch' | 'onWork'> & {
  readonly clock: VirtualClock;
};

/** A dispatcher with its deterministic driver. */
export class VirtualDispatcher {
  readonly dispatcher: Dispatcher;
  readonly clock: VirtualClock;

  constructor(options: VirtualDispatcherOptions) {
    this.clock = options.clock;
    this.dispatcher = new Dispatcher(options);
  }

  /** When something happens next: now if an actor has mail, else the earliest timer, else Infinity. */
  nextEventTime(): number {
    if (!this.dispatcher.isIdle) return this.clock.now();
    return Math.max(this.clock.now(), this.dispatcher.nextTimerAt);
  }

  /** Fires the timers that are due and runs until no actor has mail. The clock stands still. */
  runDue(): number {
    let handled = 0;
    while (this.nextEventTime() <= this.clock.now()) {
      this.dispatcher.fireTimers();
      handled += this.dispatcher.runUntilIdle(MESSAGES_AT_ONE_TIME_MAX);
      assert(handled < MESSAGES_AT_ONE_TIME_MAX, () => `${handled} messages at one instant`);
    }
    return handled;
  }

  /** Moves the clock to `time`, running every event and ringing every alarm on the way in order. */
  advanceTo(time: number): void {
    this.runDue();
    for (;;) {
      const next = Math.min(this.nextEventTime(), this.clock.nextAlarmAt);
      if (next > time) break;
      this.clock.advanceTo(Math.max(next, this.clock.now()));
      this.runDue();
    }
    this.clock.advanceTo(time as MonotonicMs);
  }
}
