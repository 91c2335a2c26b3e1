// Seeded randomness: the only source of chance in the crawl. The simulator hands every actor a stream drawn from one seed, so a run
// replays bit for bit (invariant I11); in production the seed comes from the machine, once, in the real driver. sfc32 (PractRand's
// small fast chaotic generator: 128 bits of state, passes BigCrush, a few additions and shifts a draw) is seeded through splitmix32
// and warmed up twelve rounds, as its author advises. It is not for secrets.

/** A stream of pseudo-random draws. */
export interface Random {
  /** A whole number, 0 … 2^32 − 1. */
  uint32(): number;
  /** A number in [0, 1) with 53 random bits. */
  float(): number;
  /** A whole number, 0 … `bound` − 1; `bound` is 1 … 2^53. The bias is below bound / 2^53. */
  below(bound: number): number;
  /** True with this probability; 0 never, 1 always. */
  chance(probability: number): boolean;
  /** Shuffles in place (Fisher–Yates) and returns the same array. */
  shuffle<Item>(items: Item[]): Item[];
}

/** splitmix32: turns one 32-bit state into well-mixed words for seeding. */
function splitmix32(state: { value: number }): number {
  state.value = (state.value + 0x9e3779b9) | 0;
  let word = state.value;
  word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
  word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
  return word ^ (word >>> 15);
}

/** sfc32 behind the {@link Random} interface. Equal seeds give equal streams on every machine. */
export class SeededRandom implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed any finite number: its low 53 bits matter, a fraction is dropped */
  constructor(seed: number) {
    const whole = Math.trunc(Math.abs(seed));
    const state = { value: whole | 0 };
    this.#a = splitmix32(state);
    state.value ^= Math.floor(whole / 2 ** 32) | 0;
    this.#b = splitmix32(state);
    this.#c = splitmix32(state);
    for (let round = 0; round < 12; round++) this.uint32();
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  float(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 0x4000000 + low) / 2 ** 53;
  }

  below(bound: number): number {
    return Math.floor(this.float() * bound);
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  shuffle<Item>(items: Item[]): Item[] {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const held = items[last] as Item;
      items[last] = items[other] as Item;
      items[other] = held;
    }
    return items;
  }

  /** A new stream, independent of this one and fixed by its state: one for each actor or shard. */
  fork(): SeededRandom {
    return new SeededRandom(this.uint32() * 2 ** 21 + (this.uint32() >>> 11));
  }
}
