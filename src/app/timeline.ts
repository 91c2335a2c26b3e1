// Counts of events by time in a bounded number of bins, for events in any order over a time of unknown length: when they outgrow the bins,
// pairs of bins are joined. For the report's chart of pages over time.

/** Bins at most: as many columns as a chart can show. */
const BINS_MAX = 120;
const BIN_MS_FIRST = 1_000;

export class Timeline {
  readonly #startedAt: number;
  #binMs = BIN_MS_FIRST;
  #counts: number[] = [];

  /** @param startedAt events before it count as at it; milliseconds */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Counts an event at a time in milliseconds. */
  add(at: number): void {
    const sinceMs = Math.max(at - this.#startedAt, 0);
    while (sinceMs >= this.#binMs * BINS_MAX) this.#join();
    const bin = Math.floor(sinceMs / this.#binMs);
    while (this.#counts.length <= bin) this.#counts.push(0);
    this.#counts[bin] = (this.#counts[bin] as number) + 1;
  }

  /** `counts[i]` events from `startedAt + i × binMs` on. */
  bins(): {
    readonly startedAt: number;
    readonly binMs: number;
    readonly counts: readonly number[];
  } {
    return { startedAt: this.#startedAt, binMs: this.#binMs, counts: [...this.#counts] };
  }

  #join(): void {
    const joined: number[] = [];
    for (let bin = 0; bin < this.#counts.length; bin += 2) {
      joined.push((this.#counts[bin] as number) + (this.#counts[bin + 1] ?? 0));
    }
    this.#counts = joined;
    this.#binMs *= 2;
  }
}
