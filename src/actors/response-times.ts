// Response times of one shard's requests (step 9) as counts by length, for the metrics and the live view. Counts add up over shards and
// over time, which quantiles do not.

/** Upper bounds in milliseconds: finer where answers of the web lie, up to the longest deadline there is. */
export const RESPONSE_BOUNDS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 350, 500, 750, 1_000],
  ...[1_500, 2_000, 3_500, 5_000, 7_500, 10_000, 20_000, 30_000, 60_000],
];

/** Counts since the start; `counts` has one more than there are bounds. */
export interface ResponseCounts {
  readonly counts: readonly number[];
  readonly sumMs: number;
}

export class ResponseTimes {
  readonly #counts = new Array<number>(RESPONSE_BOUNDS_MS.length + 1).fill(0);
  #sumMs = 0;

  /** @param responseMs to the first byte, our own delay taken off; one below 0 counts as 0 */
  add(responseMs: number): void {
    const ms = Math.max(responseMs, 0);
    let bucket = 0;
    while (bucket < RESPONSE_BOUNDS_MS.length && ms > (RESPONSE_BOUNDS_MS[bucket] as number)) {
      bucket += 1;
    }
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sumMs += ms;
  }

  counts(): ResponseCounts {
    return { counts: [...this.#counts], sumMs: this.#sumMs };
  }
}
