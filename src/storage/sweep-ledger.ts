// Which frontier log segments nobody needs any more (steps 4 and 7): every shard has done its entries or moved them to chunk rows, and the
// keys of every shard lie in seen runs. A shard that has left keeps its marks, since its entries may still wait in the log.

interface Marks {
  swept: number;
  covered: number;
}

/** Segments lagging this far behind make storage ask for a shard's keys. */
const COVER_LAG_MAX = 2;

/** Marks per shard; a segment may go when all marks have passed it. */
export class SweepLedger {
  readonly #marks = new Map<number, Marks>();

  /** @param current segment to which the shard's first entry can go */
  attach(shard: number, current: number): void {
    if (!this.#marks.has(shard)) {
      this.#marks.set(shard, { swept: current - 1, covered: current - 1 });
    }
  }

  /** The shard's entries up to this segment are done or in chunk rows. */
  swept(shard: number, segment: number): void {
    const marks = this.#marks.get(shard);
    if (marks !== undefined) marks.swept = Math.max(marks.swept, segment);
  }

  /** The shard's keys up to this segment lie in runs. */
  covered(shard: number, segment: number): void {
    const marks = this.#marks.get(shard);
    if (marks !== undefined) marks.covered = Math.max(marks.covered, segment);
  }

  /** The last segment that may be deleted; 0 when none. */
  through(): number {
    let through = Number.POSITIVE_INFINITY;
    for (const { swept, covered } of this.#marks.values()) {
      through = Math.min(through, swept, covered);
    }
    return this.#marks.size === 0 ? 0 : through;
  }

  /** Shards whose keys hold old segments back when segment `current` begins. */
  uncovered(current: number): number[] {
    return [...this.#marks]
      .filter(([, { covered }]) => covered < current - COVER_LAG_MAX)
      .map(([shard]) => shard);
  }
}
