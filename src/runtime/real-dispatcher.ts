// Drives a dispatcher in real time: a pump by setImmediate while there is work, one setTimeout for the earliest timer while there is
// none. A pump runs for at most `sliceMs`, then lets the event loop read its sockets; so fetches and actors share a thread fairly. It
// also measures how late the loop runs, and keeps the watch that tells how long a socket was not looked at (loop-watch.ts). With
// real-clock.ts the only place in the runtime that touches clocks and timers.
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { LoopWatch } from './loop-watch.ts';
import { RealClock } from './real-clock.ts';

/** Messages between two looks at the clock within a slice: a page to parse is one, and takes a tenth of the slice. */
const MESSAGES_PER_LOOK = 8;
/** Weight of a new measurement in the smoothed loop delay. */
const DELAY_WEIGHT = 1 / 16;
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** Options of {@link RealDispatcher}. */
export type RealDispatcherOptions = Omit<DispatcherOptions, 'clock' | 'stopwatch' | 'onWork'> & {
  /** The process's clock. */
  readonly clock?: RealClock;
  /** Longest run before the event loop gets its turn. Default 4 ms. */
  readonly sliceMs?: number;
};

/** How late the event loop runs, in milliseconds. */
export interface LoopDelay {
  /** Exponentially smoothed over about the last sixteen pumps. */
  readonly smoothedMs: number;
  /** The longest since the last call of `takeLoopDelay`. */
  readonly maxMs: number;
}

/** A dispatcher with its real-time driver. */
export class RealDispatcher {
  readonly dispatcher: Dispatcher;
  /** For the callbacks of this thread's sockets. */
  readonly watch = new LoopWatch();
  readonly #clock: RealClock;
  readonly #sliceMs: number;
  #immediate: NodeJS.Immediate | undefined;
  #immediateAt = 0;
  #timeout: NodeJS.Timeout | undefined;
  #timeoutAt = Infinity;
  #isStopped = false;
  #delaySmoothedMs = 0;
  #delayMaxMs = 0;
  #busyMs = 0;

  constructor(options: RealDispatcherOptions) {
    this.#sliceMs = options.sliceMs ?? 4;
    this.#clock = options.clock ?? new RealClock();
    this.dispatcher = new Dispatcher({
      ...options,
      clock: this.#clock,
      stopwatch: () => this.#clock.now(),
      onWork: () => this.#schedulePump(),
    });
  }

  /** Milliseconds spent running actors since the start. */
  get busyMs(): number {
    return this.#busyMs;
  }

  /** Goes on after `stop`; a new dispatcher runs without it. */
  start(): void {
    this.#isStopped = false;
    this.#schedulePump();
  }

  /** Stops the pump; the actors stay as they are, and nothing keeps the process alive. */
  stop(): void {
    this.#isStopped = true;
    if (this.#immediate !== undefined) clearImmediate(this.#immediate);
    this.#immediate = undefined;
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
    this.#timeoutAt = Infinity;
  }

  /** The loop's delay now; the maximum starts anew. */
  takeLoopDelay(): LoopDelay {
    const delay = { smoothedMs: this.#delaySmoothedMs, maxMs: this.#delayMaxMs };
    this.#delayMaxMs = 0;
    return delay;
  }

  /** The smoothed delay alone, as often as wanted, for inspection. */
  get loopDelayMs(): number {
    return this.#delaySmoothedMs;
  }

  #schedulePump(): void {
    if (this.#immediate !== undefined || this.#isStopped) return;
    this.#immediateAt = this.#clock.now();
    this.#immediate = setImmediate(() => {
      this.#noteDelay(this.#clock.now() - this.#immediateAt);
      this.#pump();
    });
  }

  #pump(): void {
    this.#immediate = undefined;
    if (this.#isStopped) return;
    const startedAt = this.#clock.now();
    const until = startedAt + this.#sliceMs;
    this.dispatcher.fireTimers();
    let now: number = startedAt;
    while (!this.dispatcher.isIdle && now < until) {
      this.dispatcher.runUntilIdle(MESSAGES_PER_LOOK);
      now = this.#clock.now();
    }
    this.#busyMs += now - startedAt;
    this.watch.ran(startedAt, now);
    if (this.dispatcher.isIdle) this.#scheduleTimeout(now);
    else this.#schedulePump();
  }

  /** Keeps one timeout for the earliest timer; an earlier one already set will look again. */
  #scheduleTimeout(now: number): void {
    const at = this.dispatcher.nextTimerAt;
    if (this.#timeout !== undefined && this.#timeoutAt <= at) return;
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
    this.#timeoutAt = at;
    if (at === Infinity) return;
    const waitMs = Math.min(TIMEOUT_MAX_MS, Math.max(0, Math.ceil(at - now)));
    this.#timeout = setTimeout(() => {
      this.#timeout = undefined;
      this.#timeoutAt = Infinity;
      this.#noteDelay(Math.max(0, this.#clock.now() - now - waitMs));
      this.#pump();
    }, waitMs);
  }

  #noteDelay(delayMs: number): void {
    this.#delaySmoothedMs += (delayMs - this.#delaySmoothedMs) * DELAY_WEIGHT;
    if (delayMs > this.#delayMaxMs) this.#delayMaxMs = delayMs;
  }
}
