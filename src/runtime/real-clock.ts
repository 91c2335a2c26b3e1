// The machine's clocks and timers, and where a real run's seed comes from: with real-dispatcher.ts the only place in the runtime that
// touches them (STYLE.md 3).
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type MonotonicMs, monotonicMs, type WallMs, wallMs } from '../base/units.ts';
import type { AlarmId, Alarms, Clock } from './clock.ts';

/** Longest wait setTimeout takes (2^31 − 1 ms, about 25 days); longer ones are cut to it. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** One moment by both clocks. Made once in a process and given to its threads, so that all of them tell the same wall-clock time. */
export interface ClockAnchor {
  readonly monotonic: MonotonicMs;
  readonly wall: WallMs;
}

/**
 * The clocks of this machine. Monotonic time counts from the boot of the machine, alike in all threads (`performance.now` alone counts from
 * the start of its own thread). Wall time is the anchor's plus what has passed since: within a process it never jumps, whatever is done
 * to the machine's clock; the next start sees the new time.
 */
export class RealClock implements Clock {
  readonly anchor: ClockAnchor;
  readonly #offsetMs: number;

  /** @param anchor of the process; absent: this moment becomes the anchor */
  constructor(anchor?: ClockAnchor) {
    this.#offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
    this.anchor = anchor ?? { monotonic: this.now(), wall: wallMs(Date.now()) };
  }

  now(): MonotonicMs {
    return monotonicMs(performance.now() + this.#offsetMs);
  }

  wallNow(): WallMs {
    return wallMs(this.anchor.wall + (this.now() - this.anchor.monotonic));
  }
}

/** Alarms by setTimeout. They keep the process alive until they ring or are cancelled. */
export class RealAlarms implements Alarms {
  readonly #timeouts = new Map<AlarmId, NodeJS.Timeout>();
  #nextId = 1;

  after(ms: number, callback: () => void): AlarmId {
    const id = this.#nextId;
    this.#nextId += 1;
    const ring = (): void => {
      this.#timeouts.delete(id);
      callback();
    };
    this.#timeouts.set(id, setTimeout(ring, Math.min(ms, TIMEOUT_MAX_MS)));
    return id;
  }

  cancel(id: AlarmId): void {
    clearTimeout(this.#timeouts.get(id));
    this.#timeouts.delete(id);
  }
}

/** A seed for {@link SeededRandom} that nobody chose: 48 random bits. */
export function randomSeed(): number {
  return randomBytes(6).readUIntBE(0, 6);
}
