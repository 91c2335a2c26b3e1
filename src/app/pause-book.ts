// What an operator has paused and not resumed (DESIGN.md §10). A crawl does not end by itself meanwhile: whoever pauses a host or an address
// means to go on with it, and `resume` needs a crawl that is there. A limit, a signal or a stop end it as ever; what was paused is then kept
// for the next run. `block` is no pause: its hosts are left for the next run at once.

import { RETRY_AFTER_MAX_MS } from '../domain/politeness.ts';

/** Pauses that are remembered; far more than anybody types. */
const PAUSES_MAX = 100_000;

/** See the head of this file. */
export class PauseBook {
  /** Until when each holds, by the clock of `performance.now`. */
  readonly #pauses = new Map<string, number>();
  #isAllPaused = false;

  /** True while nothing at all is asked. */
  get isAllPaused(): boolean {
    return this.#isAllPaused;
  }

  /** Everything is paused, or goes on; single pauses stay as they are. */
  setAll(isPaused: boolean): void {
    this.#isAllPaused = isPaused;
  }

  /** @param subject a host or an address; a pause of a host ends by itself after a day, as in its actor */
  pause(subject: string, nowMs: number, forMs = RETRY_AFTER_MAX_MS): void {
    if (this.#pauses.size < PAUSES_MAX) this.#pauses.set(subject, nowMs + forMs);
  }

  resume(subject: string): void {
    this.#pauses.delete(subject);
  }

  /** True while something is paused. */
  holds(nowMs: number): boolean {
    if (this.#isAllPaused) return true;
    for (const [subject, untilMs] of this.#pauses) {
      if (untilMs > nowMs) return true;
      this.#pauses.delete(subject);
    }
    return false;
  }
}
