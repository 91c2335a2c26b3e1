// Time as the actor system sees it. Only `real-*.ts` touches the machine's clocks and timers (STYLE.md 3); everything else asks one of
// these interfaces, so the same code runs in production and, under a virtual clock, in the deterministic simulator (DESIGN.md §11).
import type { MonotonicMs, WallMs } from '../base/units.ts';

/** Reads the time. */
export interface Clock {
  /** Never goes back; fractions of a millisecond are kept. */
  now(): MonotonicMs;
  /** The wall clock; may jump. */
  wallNow(): WallMs;
}

/** Names an alarm so that it can be cancelled. */
export type AlarmId = number;

/** Calls back later: for the few users outside actors (links, pools, thread start). Actors use `context.after`. */
export interface Alarms {
  /** Calls back once, `ms` milliseconds from now (0 means as soon as possible, never at once). */
  after(ms: number, callback: () => void): AlarmId;
  /** Forgets an alarm; one that rang or is unknown is ignored. */
  cancel(id: AlarmId): void;
}
