// What the awake hosts of a shard hold in memory, counted (step 7, I10). Beside queue entries that is the rules of robots.txt files, which a
// host with a file of half a megabyte has by the ten thousand. The shard puts hosts to sleep when the sum passes its bound; a host asleep
// holds nothing.

/** The sum over all awake hosts of one shard: queue entries and robots rules, at some 200 bytes each. */
export interface Residency {
  entries: number;
  /** Entries of pages due for another visit that hosts were given and have not done, since the start. */
  visits: number;
  /** URLs that wait in the bands of all hosts of the shard, asleep or awake, in memory or on disk. */
  waiting: number;
}

/** One holder's part of the sum. */
export class ResidencyShare {
  readonly #residency: Residency;
  #held = 0;

  constructor(residency: Residency) {
    this.#residency = residency;
  }

  /** The holder has `entries` now, whatever it had before; 0 when it lets go. */
  hold(entries: number): void {
    this.#residency.entries += entries - this.#held;
    this.#held = entries;
  }
}
