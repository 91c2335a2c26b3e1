// Step 4: was this URL discovered before? Three layers, cheapest first: a shared exact table of recent keys, the shared Bloom filter, the
// exact store (DESIGN.md §6). Any thread may look; only a URL's owner adds (I5). With `--seen bloom` the filter's word is final.

import { keyHi, keyLo } from '../base/key64.ts';
import type { ExactSeen } from './ports.ts';
import type { SeenSet } from './services.ts';

/** The part of runtime/bloom-generations.ts that is used here. */
export interface SharedFilter {
  mayHave(high: number, low: number): boolean;
  add(high: number, low: number): boolean;
}

/** The part of runtime/recent-keys.ts that is used here. */
export interface SharedRecent {
  has(high: number, low: number): boolean;
  add(high: number, low: number): void;
}

export interface SeenCounts {
  readonly added: number;
  /** Keys the filter said it might have and the exact store did not know: its false positives. */
  readonly falsePositives: number;
  /** Look-ups that reached the exact store. */
  readonly confirmed: number;
}

export class SeenCheck implements SeenSet {
  readonly #filter: SharedFilter;
  readonly #recent: SharedRecent;
  /** Undefined: the filter alone decides. */
  readonly #exact: ExactSeen | undefined;
  #added = 0;
  #falsePositives = 0;
  #confirmed = 0;

  constructor(filter: SharedFilter, recent: SharedRecent, exact: ExactSeen | undefined) {
    this.#filter = filter;
    this.#recent = recent;
    this.#exact = exact;
  }

  counts(): SeenCounts {
    return {
      added: this.#added,
      falsePositives: this.#falsePositives,
      confirmed: this.#confirmed,
    };
  }

  /** True when a link with this key can die where it was found: it is certainly known, or the filter's word is final. */
  isCertainlyKnown(high: number, low: number): boolean {
    if (this.#recent.has(high, low)) return true;
    return this.#exact === undefined && this.#filter.mayHave(high, low);
  }

  /** Remembers a key as certainly known, for the parsing threads. */
  remember(high: number, low: number): void {
    this.#recent.add(high, low);
  }

  has(urlKey: bigint): boolean {
    const high = keyHi(urlKey);
    const low = keyLo(urlKey);
    // What another shard has added since its last run was written is among the recent keys.
    if (this.#recent.has(high, low)) return true;
    return this.#filter.mayHave(high, low) && (this.#exact?.has(high, low) ?? true);
  }

  addIfNew(urlKey: bigint): boolean {
    const high = keyHi(urlKey);
    const low = keyLo(urlKey);
    if (this.#filter.mayHave(high, low)) {
      if (this.#exact === undefined) return false;
      this.#confirmed += 1;
      if (this.#exact.has(high, low)) {
        this.#recent.add(high, low);
        return false;
      }
      this.#falsePositives += 1;
    }
    this.#filter.add(high, low);
    this.#exact?.add(high, low);
    this.#recent.add(high, low);
    this.#added += 1;
    return true;
  }
}
