// How long before a moment this thread had last looked at its sockets. A response time that was measured through a busy loop is too long,
// and ten times too long once it sets a gap (step 8, DESIGN.md §4; PERFORMANCE.md 8): bytes that came while actors ran are seen only when
// the loop polls again. The mean delay of a loop does not help there, since the long turns are rare and do the harm; this tells the delay
// that one callback suffered.
//
// The loop polls after each pump. If it then waited for something to happen (its idle time grew), the event came at the end of that wait;
// if it did not wait, the event may have come at any time since the pump began.

import { performance } from 'node:perf_hooks';

/** Waits shorter than this are the cost of polling, milliseconds. */
const WAIT_LEAST_MS = 0.05;

/** The source of the loop's idle time: milliseconds spent waiting in the poll phase since the thread began. */
export type IdleClock = () => number;

export class LoopWatch {
  readonly #idle: IdleClock;
  /** The last moment known, and the idle time then. */
  #markMs = 0;
  #markIdleMs = 0;
  /** How long before the mark the sockets had last been looked at. */
  #blindMs = 0;

  /** @param idle the calling thread's own unless given */
  constructor(idle: IdleClock = () => performance.eventLoopUtilization().idle) {
    this.#idle = idle;
    this.#markIdleMs = idle();
  }

  /** Actors ran from `beganMs` to `endedMs`, and nobody looked at the sockets. */
  ran(beganMs: number, endedMs: number): void {
    this.#mark(endedMs, this.#idle(), endedMs - beganMs);
  }

  /** Called from the callback of an event. @returns how long before `nowMs` the event may have come, milliseconds, ≥ 0 */
  blindMs(nowMs: number): number {
    const idleMs = this.#idle();
    const waitedMs = idleMs - this.#markIdleMs;
    const sinceMs = Math.max(nowMs - this.#markMs, 0);
    const blindMs =
      waitedMs > WAIT_LEAST_MS ? Math.max(sinceMs - waitedMs, 0) : this.#blindMs + sinceMs;
    this.#mark(nowMs, idleMs, blindMs);
    return blindMs;
  }

  #mark(ms: number, idleMs: number, blindMs: number): void {
    this.#markMs = ms;
    this.#markIdleMs = idleMs;
    this.#blindMs = blindMs;
  }
}
