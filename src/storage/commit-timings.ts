// Counts and times of group commits for metrics (step 10): how many batches and bytes, how long the disk took. Percentiles are over the last
// few hundred commits, so that a slow disk shows at once.

const RECENT_MAX = 512;

/** What the storage thread reports of itself; times in milliseconds over the last 512 commits. */
export interface StorageMetrics {
  readonly batches: number;
  readonly groups: number;
  readonly pages: number;
  /** Packed batch bytes received. */
  readonly bytes: number;
  readonly seenKeys: number;
  readonly queuedBytes: number;
  readonly syncP50Ms: number;
  readonly syncMaxMs: number;
  readonly commitP50Ms: number;
  readonly commitMaxMs: number;
  readonly frontierSegments: number;
}

/** A bounded window of durations. */
export class RecentDurations {
  readonly #recent: number[] = [];
  #next = 0;

  add(milliseconds: number): void {
    this.#recent[this.#next] = milliseconds;
    this.#next = (this.#next + 1) % RECENT_MAX;
  }

  /** @returns the value below which half of the window lies, and the greatest; 0 when empty */
  summary(): { readonly p50: number; readonly max: number } {
    const sorted = [...this.#recent].sort((one, other) => one - other);
    return { p50: sorted[sorted.length >> 1] ?? 0, max: sorted.at(-1) ?? 0 };
  }
}
