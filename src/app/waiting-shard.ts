// A shard thread before its crawl: it loads its modules, which takes longer than opening the store, and waits for its plan. So both go on
// at once, and the first request of a crawl leaves earlier. While it waits the thread has nothing open, and may be terminated.

import { setFlagsFromString } from 'node:v8';
import { MessageChannel, type MessagePort, type TransferListItem } from 'node:worker_threads';
import { RealAlarms } from '../runtime/real-clock.ts';
import { type ThreadExit, ThreadHost, type ThreadStart } from '../runtime/thread-host.ts';
import type { ShardThreadGift, ShardThreadPlan } from './thread-plan.ts';

/** Longest time until a shard runs, the recovery of the store included, milliseconds. */
const READY_MS_MAX = 15 * 60_000;
/**
 * Bound of a shard's heap: about three times what its bounded parts come to (code 15 MB, queue entries and rules 15 MB, pages being parsed,
 * and some 7 KB for each host awake). It is set because V8 collects the more lazily the more it may use: with its own bound of 4 GB the
 * same crawl took 1.6 GB instead of 0.7 (`npm run bench -- memory`). A heap that outgrows it ends the process with exit status 70.
 */
const HEAP_MIB_BASE = 320;
const HEAP_MIB_PER_HOST = 20 / 1024;
/**
 * Three semi-spaces of 16 MiB, as V8 takes with its own bounds. Derived from the smaller bound it would take 4 MiB, promote what is short-lived,
 * and mark without end: 1.78 ms CPU a page instead of 1.37 (`npm run bench -- load`).
 */
const YOUNG_MIB_MAX = 48;
/**
 * How much a heap may grow over what lives in it before it is collected. V8 takes 40 % under a bound like ours, and then marks most of the
 * time on its helper threads: 0.98 to 1.4 ms CPU a page instead of 0.8 to 0.9, for 50 MB less (`npm run bench -- load`).
 */
const HEAP_GROWTH_PERCENT = 100;

/** A shard with the real network. Benchmarks have another. */
export const SHARD_ENTRY = new URL('./shard-thread.js', import.meta.url);

export class WaitingShard {
  readonly host: ThreadHost;
  readonly #planPort: MessagePort;
  readonly #started: Promise<ThreadStart>;

  /**
   * Starts the thread.
   * @param entry of the thread; see SHARD_ENTRY
   * @param onExit as of ThreadHost
   */
  constructor(
    shard: number,
    hostsActiveMax: number,
    entry: URL,
    onExit: (exit: ThreadExit) => void,
  ) {
    setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
    const heapMiB = Math.ceil(HEAP_MIB_BASE + HEAP_MIB_PER_HOST * hostsActiveMax);
    this.host = new ThreadHost({
      name: `shard-${shard}`,
      entry,
      alarms: new RealAlarms(),
      resourceLimits: {
        maxOldGenerationSizeMb: heapMiB,
        maxYoungGenerationSizeMb: YOUNG_MIB_MAX,
      },
      onExit,
    });
    const { port1, port2 } = new MessageChannel();
    this.#planPort = port1;
    const workerData: ShardThreadGift = { planPort: port2 };
    this.#started = this.host.start({ workerData, transfer: [port2] }, READY_MS_MAX);
  }

  /** Hands the plan over. @returns how the start went, once the shard runs or has ended */
  begin(plan: ShardThreadPlan, transfer: readonly TransferListItem[]): Promise<ThreadStart> {
    this.#planPort.postMessage(plan, [...transfer]);
    return this.#started;
  }

  /** Ends a thread that will get no plan. */
  async abandon(): Promise<void> {
    this.#planPort.close();
    await this.host.terminate();
  }
}
