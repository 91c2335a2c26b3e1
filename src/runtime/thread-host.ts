// Starts, stops and replaces one worker thread. A start is over when the thread has said it is ready; a stop is asked for by a message,
// so that the thread can checkpoint, and is never turned into a kill here: a thread with LMDB writes queued must not be terminated, every
// writer would hang (DESIGN.md §3). What an unexpected end means (crash-only: the process goes too) is the caller's choice, by `onExit`.
// Errors of the thread arrive as values.
import { type TransferListItem, Worker, type WorkerOptions } from 'node:worker_threads';
import { assert } from '../base/assert.ts';
import type { AlarmId, Alarms } from './clock.ts';
import { errorText, isThreadReport, THREAD_PROTOCOL, type ThreadOrder } from './thread-protocol.ts';

/** How a thread ended. */
export interface ThreadExit {
  /** `stopped`: it was asked to; `failed`: an error ended it; `left`: it ended by itself; `terminated`: by `terminate`. */
  readonly kind: 'stopped' | 'failed' | 'left' | 'terminated';
  readonly code: number;
  /** The error's text; empty when there was none. */
  readonly error: string;
  /** Whether it ran out of its memory limit. */
  readonly isOutOfMemory: boolean;
}

/** How a start went. */
export type ThreadStart =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not-ready-in-time' }
  | { readonly kind: 'exited'; readonly exit: ThreadExit };

/** How a stop went: the thread may still be running when it took too long. */
export type ThreadStop =
  | { readonly kind: 'exited'; readonly exit: ThreadExit }
  | { readonly kind: 'still-running' };

/** Options of {@link ThreadHost}. */
export interface ThreadHostOptions {
  /** Shown in inspection and by debuggers. */
  readonly name: string;
  /** The compiled entry: `new URL('./shard-entry.js', import.meta.url)`. */
  readonly entry: URL;
  readonly alarms: Alarms;
  /** Limits of the thread's own heap, in MiB. */
  readonly resourceLimits?: WorkerOptions['resourceLimits'];
  /** Called once for each start, however the thread ended. */
  readonly onExit?: (exit: ThreadExit) => void;
  /** Called for trouble that the thread reports and survives. */
  readonly onTrouble?: (error: string) => void;
}

/** What a start hands to the thread: plain data and ports. */
export interface ThreadGift {
  readonly workerData: unknown;
  /** Ports and buffers inside `workerData` that move to the thread. */
  readonly transfer?: TransferListItem[];
}

interface Run {
  readonly worker: Worker;
  readonly ended: Promise<ThreadExit>;
  isStopping: boolean;
  isTerminated: boolean;
}

/** One worker thread, or its successors. */
export class ThreadHost {
  readonly name: string;
  readonly #options: ThreadHostOptions;
  #run: Run | undefined;
  #starts = 0;

  constructor(options: ThreadHostOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#run !== undefined;
  }

  /** Starts so far. */
  get starts(): number {
    return this.#starts;
  }

  /** Starts the thread and waits until it says it is ready, at most `readyMsMax`. Must not be running. */
  async start(gift: ThreadGift, readyMsMax = 30_000): Promise<ThreadStart> {
    assert(this.#run === undefined, () => `${this.name} is running`);
    this.#starts += 1;
    const worker = new Worker(this.#options.entry, {
      name: this.name,
      workerData: gift.workerData,
      transferList: gift.transfer ?? [],
      ...(this.#options.resourceLimits === undefined
        ? {}
        : { resourceLimits: this.#options.resourceLimits }),
    });
    const ready = new Promise<ThreadStart>((resolve) => {
      worker.on('message', (report: unknown) => {
        if (!isThreadReport(report)) return;
        if (report.kind === 'ready') resolve({ kind: 'ready' });
        else this.#options.onTrouble?.(report.error);
      });
    });
    const run: Run = { worker, isStopping: false, isTerminated: false, ended: this.#watch(worker) };
    this.#run = run;
    const exited = run.ended.then((exit): ThreadStart => ({ kind: 'exited', exit }));
    return this.#within(readyMsMax, Promise.race([ready, exited]), { kind: 'not-ready-in-time' });
  }

  /** Asks the thread to end and waits for that, at most `stopMsMax`. */
  async stop(stopMsMax = 30_000): Promise<ThreadStop> {
    const run = this.#run;
    const none: ThreadExit = { kind: 'stopped', code: 0, error: '', isOutOfMemory: false };
    if (run === undefined) return { kind: 'exited', exit: none };
    run.isStopping = true;
    const order: ThreadOrder = { protocol: THREAD_PROTOCOL, kind: 'stop' };
    run.worker.postMessage(order);
    const exited = run.ended.then((exit): ThreadStop => ({ kind: 'exited', exit }));
    return this.#within(stopMsMax, exited, { kind: 'still-running' });
  }

  /** Stops the thread and starts it anew. A thread that will not stop is left alone and reported. */
  async replace(gift: ThreadGift, stopMsMax = 30_000): Promise<ThreadStart | ThreadStop> {
    const stop = await this.stop(stopMsMax);
    return stop.kind === 'still-running' ? stop : this.start(gift);
  }

  /** Ends the thread at once. Only for threads that hold no durable state (no LMDB). */
  async terminate(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.isTerminated = true;
    await run.worker.terminate();
    await run.ended;
  }

  #watch(worker: Worker): Promise<ThreadExit> {
    let error = '';
    let isOutOfMemory = false;
    worker.on('error', (thrown: unknown) => {
      error = errorText(thrown);
      isOutOfMemory = isOutOfMemoryError(thrown);
    });
    return new Promise((resolve) => {
      worker.on('exit', (code) => {
        const run = this.#run;
        const kind = run?.isTerminated
          ? 'terminated'
          : error !== ''
            ? 'failed'
            : run?.isStopping
              ? 'stopped'
              : 'left';
        const exit: ThreadExit = { kind, code, error, isOutOfMemory };
        this.#run = undefined;
        this.#options.onExit?.(exit);
        resolve(exit);
      });
    });
  }

  /** The promise's value, or `late` when that comes first. */
  #within<Value>(ms: number, promise: Promise<Value>, late: Value): Promise<Value> {
    const { alarms } = this.#options;
    return new Promise((resolve, reject) => {
      const alarm: AlarmId = alarms.after(ms, () => resolve(late));
      promise.finally(() => alarms.cancel(alarm)).then(resolve, reject);
    });
  }
}

/** Whether a worker's error says that it passed its memory limit. */
export function isOutOfMemoryError(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
