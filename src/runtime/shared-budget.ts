// One table of budgets for the whole process, in shared memory: how many uses of a key are open, and when the next may start. Threads take
// places by compare-and-set; a key is hashed to a row, and a collision makes two keys share one budget, which errs on the careful side.
// Users that must wait get a ticket: the spacing of those that wait is arranged once, when the tickets are given, so ten thousand waiting
// users cost nothing until their time comes.

import { assert } from '../base/assert.ts';
import type { MonotonicMs } from '../base/units.ts';

export interface BudgetOptions {
  /** Rows; a power of two. 2^16 rows are 1 MiB plus 256 KiB for each thread. */
  readonly rows: number;
  /** Threads that take places. */
  readonly threads: number;
}

/** The memory of a table; passes between threads as it is. */
export interface BudgetMemory {
  readonly options: BudgetOptions;
  readonly nextStartMicros: SharedArrayBuffer;
  readonly lastStartMicros: SharedArrayBuffer;
  readonly open: SharedArrayBuffer;
}

export function createBudgetMemory(options: BudgetOptions): BudgetMemory {
  const { rows, threads } = options;
  assert(rows >= 1 && (rows & (rows - 1)) === 0, () => `rows ${rows} is no power of two`);
  return {
    options,
    nextStartMicros: new SharedArrayBuffer(rows * 8),
    lastStartMicros: new SharedArrayBuffer(rows * 8),
    open: new SharedArrayBuffer(rows * threads * 4),
  };
}

/** What a request for a place gave. */
export type Place =
  | { readonly kind: 'taken' }
  /** Come again at `ticketMs` with this ticket. */
  | { readonly kind: 'wait'; readonly ticketMs: MonotonicMs };

const TAKEN: Place = { kind: 'taken' };

/** One thread's view of the table. */
export class SharedBudget {
  readonly #memory: BudgetMemory;
  readonly #nextStart: BigInt64Array;
  readonly #lastStart: BigInt64Array;
  readonly #open: Int32Array;
  readonly #thread: number;
  readonly #gapMs: number;
  readonly #openMax: number;

  /**
   * @param options.gapMs least time between the starts of two uses of one key
   * @param options.openMax open uses of one key, at most
   */
  constructor(
    memory: BudgetMemory,
    options: { readonly thread: number; readonly gapMs: number; readonly openMax: number },
  ) {
    assert(options.thread < memory.options.threads, () => `thread ${options.thread}`);
    assert(options.openMax >= 1, () => `openMax ${options.openMax}`);
    this.#memory = memory;
    this.#nextStart = new BigInt64Array(memory.nextStartMicros);
    this.#lastStart = new BigInt64Array(memory.lastStartMicros);
    this.#open = new Int32Array(memory.open);
    this.#thread = options.thread;
    this.#gapMs = options.gapMs;
    this.#openMax = options.openMax;
  }

  /**
   * Takes a place for a use of `key` now, or gives a ticket.
   * @param ticketMs a ticket got before whose time has come; undefined at the first try
   */
  tryTake(key: string, nowMs: MonotonicMs, ticketMs: MonotonicMs | undefined): Place {
    const row = this.#rowOf(key);
    if (!this.#tryOpen(row)) return { kind: 'wait', ticketMs: this.#later(nowMs) };
    if (this.#gapMs === 0) return TAKEN;
    const readyMs = this.#start(row, nowMs);
    if (readyMs <= nowMs) return TAKEN;
    this.#close(row);
    const hasTicket = ticketMs !== undefined && nowMs >= ticketMs;
    return {
      kind: 'wait',
      ticketMs: (hasTicket ? readyMs : this.#arrange(row, readyMs)) as MonotonicMs,
    };
  }

  /** A use ended. */
  release(key: string): void {
    this.#close(this.#rowOf(key));
  }

  /** Forgets the open uses of a thread that ended without releasing them. */
  clearThread(thread: number): void {
    const { rows } = this.#memory.options;
    for (let row = 0; row < rows; row += 1) Atomics.store(this.#open, thread * rows + row, 0);
  }

  /**
   * Starts a use unless the last one started less than a gap ago. Tickets are plans that spread those who wait, no claims: who comes late
   * must not come too close to the next, and a place whose ticket was given up (its user fell asleep) must not stay empty. @returns `nowMs`, or when to try again
   */
  #start(row: number, nowMs: number): number {
    const nowMicros = BigInt(Math.round(nowMs * 1_000));
    const gapMicros = BigInt(Math.round(this.#gapMs * 1_000));
    for (;;) {
      const last = Atomics.load(this.#lastStart, row);
      // 0 stands for never; a clock that begins at 0 is no reason to wait.
      if (last !== 0n && nowMicros - last < gapMicros) return Number(last + gapMicros) / 1_000;
      const seen = Atomics.compareExchange(this.#lastStart, row, last, nowMicros);
      if (seen === last) return nowMs;
    }
  }

  /** Claims the next start after all those arranged before. @returns its time, not before `nowMs` */
  #arrange(row: number, nowMs: number): number {
    const nowMicros = BigInt(Math.round(nowMs * 1_000));
    const gapMicros = BigInt(Math.round(this.#gapMs * 1_000));
    for (;;) {
      const next = Atomics.load(this.#nextStart, row);
      const start = next > nowMicros ? next : nowMicros;
      const seen = Atomics.compareExchange(this.#nextStart, row, next, start + gapMicros);
      if (seen === next) return start === nowMicros ? nowMs : Number(start) / 1_000;
    }
  }

  /** All places are taken by uses whose end nobody knows: look again soon. The ticket stands. */
  #later(nowMs: number): MonotonicMs {
    return (nowMs + Math.max(this.#gapMs, RETRY_MS_MIN)) as MonotonicMs;
  }

  #tryOpen(row: number): boolean {
    const { rows, threads } = this.#memory.options;
    const own = this.#thread * rows + row;
    Atomics.add(this.#open, own, 1);
    let total = 0;
    for (let thread = 0; thread < threads; thread += 1) {
      total += Atomics.load(this.#open, thread * rows + row);
    }
    if (total <= this.#openMax) return true;
    Atomics.sub(this.#open, own, 1);
    return false;
  }

  #close(row: number): void {
    const before = Atomics.sub(this.#open, this.#thread * this.#memory.options.rows + row, 1);
    assert(before > 0, () => 'a budget place was released twice');
  }

  /** FNV-1a: keys are short addresses, and a row is all that is asked for. */
  #rowOf(key: string): number {
    let hash = 0x811c9dc5;
    for (let at = 0; at < key.length; at += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    }
    return (hash ^ (hash >>> 15)) & (this.#memory.options.rows - 1);
  }
}

/** Least time before a full row is looked at again, milliseconds. */
const RETRY_MS_MIN = 25;
