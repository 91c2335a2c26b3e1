// The machine's clocks and timers, and where a real run's seed comes from: with real-dispatcher.ts the only place in the runtime that
// touches them (STYLE.md 3).
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type MonotonicMs, monotonicMs, type WallMs, wallMs } from '../base/units.ts';
import type { AlarmId, Alarms, Clock } from './clock.ts';

/** Longest wait setTimeout takes (2^31 − 1 ms, about 25 days); longer ones are cut to it. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** The clocks of this machine. */
export class RealClock implements Clock {
  now(): MonotonicMs {
    return monotonicMs(performance.now());
  }

  wallNow(): WallMs {
    return wallMs(Date.now());
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
