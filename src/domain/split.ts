// The split between discovery and freshness (DESIGN.md §4, default 80:20): who is served next while both wait. A guarantee both ways: over any
// stretch of requests during which both wait, each gets its share to within one request. Used at step 6 within a host and at step 8
// between hosts. Pure but for its two counts.

import { assert } from '../base/assert.ts';

export class FreshnessSplit {
  readonly #share: number;
  /** Requests so far while both waited. */
  #discovery = 0;
  #freshness = 0;

  /** @param share percent for pages due for another visit, 1 … 99 */
  constructor(share: number) {
    assert(share >= 1, () => `freshness share ${share}`);
    assert(share <= 99, () => `freshness share ${share}`);
    this.#share = share;
  }

  /** True when it is freshness's turn, both kinds waiting. */
  get isFreshnessNext(): boolean {
    return this.#freshness * (100 - this.#share) < this.#discovery * this.#share;
  }

  /** One was served while both waited. */
  served(kind: 'discovery' | 'freshness'): void {
    if (kind === 'freshness') this.#freshness += 1;
    else this.#discovery += 1;
  }
}
