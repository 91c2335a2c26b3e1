// Step 8 between machines: the right of this node to fetch hosts of a partition, for as long as its lease holds (CLUSTER.md, rule 1; I4). As a
// permit is the host's consent to one request, a tenure is the cluster's: `FetchGate.start` takes both, and only a `TenureBook` makes a
// tenure, so that no request can be written down without asking. The book reads memory that the lease's keeper writes, synchronously: an
// answer is true at the moment it is given, also in a process that was stopped and goes on.

import { assert } from '../base/assert.ts';
import type { MonotonicMs, PartitionIndex } from '../base/units.ts';

/** What the book reads; `runtime/shared-tenure.ts` between machines. */
export interface TenureSource {
  /** From when a partition may be fetched; Infinity while it is not this node's. */
  opensMs(partition: number): number;
  /** True while the partition may be fetched: it is open and the lease holds. */
  holds(partition: number, nowMs: number): boolean;
}

/** The right to start a request in one partition, now. Only `TenureBook.tryTenure` makes one. */
export class FetchTenure {
  readonly #source: TenureSource;
  readonly partition: PartitionIndex;

  /** For `TenureBook` alone; a test in test/unit/layers.test.ts keeps others from calling it. */
  constructor(source: TenureSource, partition: PartitionIndex) {
    this.#source = source;
    this.partition = partition;
  }

  /** @throws AssertionFailure when the lease has run out since */
  check(nowMs: MonotonicMs): void {
    assert(
      this.#source.holds(this.partition, nowMs),
      () => `partition ${this.partition} is not ours to fetch`,
    );
  }
}

export class TenureBook {
  readonly #source: TenureSource;

  constructor(source: TenureSource) {
    this.#source = source;
  }

  /** From when hosts of the partition may be fetched; Infinity while it is another node's. */
  opensMs(partition: PartitionIndex): number {
    return this.#source.opensMs(partition);
  }

  /** The right to one request now; undefined while there is none. */
  tryTenure(partition: PartitionIndex, nowMs: MonotonicMs): FetchTenure | undefined {
    if (!this.#source.holds(partition, nowMs)) return undefined;
    return new FetchTenure(this.#source, partition);
  }
}

/** On one machine every partition is ours for as long as the process has its directory's lock. */
export const ALWAYS_OURS: TenureSource = { opensMs: () => 0, holds: () => true };
