// Tells when a crawl is done (DESIGN.md §9, `--linger`), from what all shards say of themselves. Pure: looks at one round of statuses after
// another. A host that waits for its ordinary gap keeps the crawl going, however long its Crawl-delay; one in trouble does only if its
// retry comes within the linger time. A robots or DNS answer that is awaited is given the linger time to come.

import type { ShardStatus } from '../actors/shard-ports.ts';

/** Rounds in a row that must find nothing to do: a message may be between two shards while each was asked. */
const QUIET_ROUNDS = 2;

export class CrawlMonitor {
  readonly #lingerMs: number;
  #quietRounds = 0;
  #awaitingSinceMs: number | undefined;

  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  /** Takes a round of statuses. @returns true when the crawl is done */
  isDone(statuses: readonly ShardStatus[], nowMs: number): boolean {
    const busy = statuses.some((status) => !status.quiet || status.inFlight > 0);
    const due = statuses.some(
      ({ nextGapInMs, nextInMs, dueInMs }) =>
        nextGapInMs !== Infinity || Math.min(nextInMs, dueInMs) <= this.#lingerMs,
    );
    if (busy || due || statuses.length === 0) {
      this.#quietRounds = 0;
      this.#awaitingSinceMs = undefined;
      return false;
    }
    this.#quietRounds += 1;
    if (statuses.every(({ awaiting }) => awaiting === 0)) return this.#quietRounds >= QUIET_ROUNDS;
    this.#awaitingSinceMs ??= nowMs;
    return nowMs - this.#awaitingSinceMs >= this.#lingerMs;
  }
}

/** Hosts that still have work and wait for something other than their gap. */
export function hostsWaiting(statuses: readonly ShardStatus[]): number {
  return statuses.reduce((sum, { backingOff, awaiting }) => sum + backingOff + awaiting, 0);
}
