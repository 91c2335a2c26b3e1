// A pool of guarded threads for work that may be slow or dangerous (step 11: suspects, very large pages, rich parsers, plug-ins): each run
// has a time limit and each thread a memory limit, and whatever a run does comes back as a value. A run that loops or exhausts memory
// costs its thread, which is replaced; nothing else notices. These threads hold no LMDB, so they may be terminated (DESIGN.md §3). The
// queue in front is ours and bounded (invariant I10), so the time limit counts from when a run really starts. Threads by piscina.
import { Piscina } from 'piscina';
import { assert } from '../base/assert.ts';
import { Fifo } from '../base/fifo.ts';
import type { Alarms } from './clock.ts';
import { isOutOfMemoryError } from './thread-host.ts';
import { errorText } from './thread-protocol.ts';

/** What came of a run. */
export type RunOutcome<Value> =
  | { readonly kind: 'ok'; readonly value: Value }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'out-of-memory' }
  | { readonly kind: 'failed'; readonly error: string };

/** Options of {@link WorkerPool}. */
export interface WorkerPoolOptions {
  /** Compiled module that exports the work as `run`: `(input) => output`, or a promise of it. */
  readonly entry: URL;
  readonly alarms: Alarms;
  /** Threads at most, at least 1; started when needed. */
  readonly threadsMax: number;
  /** Runs waiting for a thread, at most. */
  readonly queueMax: number;
  /** Default time limit of a run, its start on a new thread included. */
  readonly runMsMax: number;
  /** Memory of a thread's old generation in MiB; over it the run is `out-of-memory`. */
  readonly heapMiBMax: number;
  /** An idle thread ends after this. Default 30 s. */
  readonly idleMs?: number;
}

/** Counters of a pool, for inspection. */
export interface WorkerPoolCounters {
  readonly running: number;
  readonly waiting: number;
  readonly ok: number;
  readonly timeout: number;
  readonly outOfMemory: number;
  readonly failed: number;
}

interface Waiting<Input, Output> {
  readonly input: Input;
  readonly runMsMax: number;
  readonly transfer: readonly ArrayBuffer[];
  readonly resolve: (outcome: RunOutcome<Output>) => void;
}

/** Guarded threads that run one function. */
export class WorkerPool<Input, Output> {
  readonly #options: WorkerPoolOptions;
  readonly #piscina: Piscina<Input, Output>;
  readonly #waiting: Fifo<Waiting<Input, Output>>;
  #running = 0;
  #isClosed = false;
  readonly #tally = { ok: 0, timeout: 0, outOfMemory: 0, failed: 0 };

  constructor(options: WorkerPoolOptions) {
    assert(options.threadsMax >= 1, () => 'a pool needs a thread');
    this.#options = options;
    this.#waiting = new Fifo(options.queueMax);
    this.#piscina = new Piscina<Input, Output>({
      filename: options.entry.href,
      name: 'run',
      minThreads: 0,
      maxThreads: options.threadsMax,
      idleTimeout: options.idleMs ?? 30_000,
      concurrentTasksPerWorker: 1,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMiBMax },
    });
    // A thread that dies between runs is replaced at the next; piscina repeats its error here.
    this.#piscina.on('error', () => undefined);
  }

  get counters(): WorkerPoolCounters {
    return { running: this.#running, waiting: this.#waiting.size, ...this.#tally };
  }

  /** Whether `run` would have to wait behind a full queue and so refuse. */
  get isFull(): boolean {
    return this.#isClosed || this.#waiting.isFull;
  }

  /**
   * Runs the work on a thread. The promise always resolves.
   * @param run.transfer buffers inside `input` that move to the thread and are gone here
   * @returns undefined at once when the queue is full or the pool is closed: the caller keeps the input
   */
  run(
    input: Input,
    run: { readonly runMsMax?: number; readonly transfer?: readonly ArrayBuffer[] } = {},
  ): Promise<RunOutcome<Output>> | undefined {
    if (this.isFull) return undefined;
    const { runMsMax = this.#options.runMsMax, transfer = [] } = run;
    return new Promise((resolve) => {
      this.#waiting.push({ input, runMsMax, transfer, resolve });
      this.#startRuns();
    });
  }

  /** Ends every thread now; runs under way come back as failed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      next.resolve({ kind: 'failed', error: 'the pool is closed' });
    }
    await this.#piscina.destroy();
  }

  #startRuns(): void {
    while (this.#running < this.#options.threadsMax) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#running += 1;
      void this.#runGuarded(next).then((outcome) => {
        this.#running -= 1;
        this.#count(outcome);
        next.resolve(outcome);
        this.#startRuns();
      });
    }
  }

  /** Never rejects. */
  async #runGuarded(next: Waiting<Input, Output>): Promise<RunOutcome<Output>> {
    const abort = new AbortController();
    let isTimeout = false;
    const alarm = this.#options.alarms.after(next.runMsMax, () => {
      isTimeout = true;
      abort.abort();
    });
    try {
      const transferList = [...next.transfer];
      const value = await this.#piscina.run(next.input, { signal: abort.signal, transferList });
      return { kind: 'ok', value };
    } catch (thrown) {
      if (isTimeout) return { kind: 'timeout' };
      if (isOutOfMemoryError(thrown)) return { kind: 'out-of-memory' };
      return { kind: 'failed', error: errorText(thrown) };
    } finally {
      this.#options.alarms.cancel(alarm);
    }
  }

  #count(outcome: RunOutcome<Output>): void {
    if (outcome.kind === 'out-of-memory') this.#tally.outOfMemory += 1;
    else this.#tally[outcome.kind] += 1;
  }
}
