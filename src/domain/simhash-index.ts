// Finds earlier pages whose fingerprint is at most three bits away (step 10). Two such fingerprints agree in at least one of four blocks
// of 16 bits (four blocks, three differences), so one table for each block leads to all candidates: the block-permuted tables of
// Manku et al. §3, with the blocks looked up in place of being sorted. Bounded: a ring of `capacity` fingerprints, the newest kept; the
// chains need no removal, since they run from new to old and end where the ring has been overwritten.
import { assert } from '../base/assert.ts';
import { hammingDistance, NEAR_DUPLICATE_BITS_MAX, type Simhash } from './simhash.ts';

const BLOCKS = 4;
const BLOCK_VALUES = 65_536;
/** Candidates compared in one table for one look-up: a bound on time when many pages share a block. */
const CANDIDATES_MAX = 4_096;
const NONE = -1;

/** A fingerprint found: the number it was added under and its distance in bits. */
export interface NearMatch {
  readonly id: number;
  readonly distance: number;
}

/** Memory: 32 bytes a fingerprint and 1 MiB of table heads. */
export class SimhashIndex {
  readonly #capacity: number;
  readonly #highs: Uint32Array;
  readonly #lows: Uint32Array;
  readonly #ids: Float64Array;
  /** Ordinal of the newest fingerprint with a block's value; Float64 so that ordinals never wrap. */
  readonly #heads: Float64Array;
  /** For each table and slot, how many ordinals further back the next older one is; 0 ends the chain. */
  readonly #steps: Uint32Array;
  #added = 0;

  /** @param capacity fingerprints kept, 1 … 2²⁶; a power of two is not needed */
  constructor(capacity: number) {
    assert(capacity >= 1, () => `capacity ${capacity} is below 1`);
    assert(capacity <= 2 ** 26, () => `capacity ${capacity} is above 2^26`);
    this.#capacity = capacity;
    this.#highs = new Uint32Array(capacity);
    this.#lows = new Uint32Array(capacity);
    this.#ids = new Float64Array(capacity);
    this.#heads = new Float64Array(BLOCKS * BLOCK_VALUES).fill(NONE);
    this.#steps = new Uint32Array(BLOCKS * capacity);
  }

  /** Fingerprints held. */
  get size(): number {
    return Math.min(this.#added, this.#capacity);
  }

  /**
   * Adds a fingerprint, over the oldest one when full. A page without features is not added: it would match every empty page.
   * @param id any safe integer, given back by a match
   */
  add(simhash: Simhash, id: number): void {
    assert(Number.isSafeInteger(id), () => `id ${id} is no safe integer`);
    if (simhash.features === 0) return;
    const ordinal = this.#added++;
    const slot = ordinal % this.#capacity;
    this.#highs[slot] = simhash.high;
    this.#lows[slot] = simhash.low;
    this.#ids[slot] = id;
    for (let block = 0; block < BLOCKS; block++) {
      const head = block * BLOCK_VALUES + blockOf(simhash, block);
      const older = this.#heads[head]!;
      const step = older === NONE ? 0 : ordinal - older;
      this.#steps[block * this.#capacity + slot] = step < this.#capacity ? step : 0;
      this.#heads[head] = ordinal;
    }
  }

  /**
   * The nearest fingerprint within three bits, the newest of equals; undefined when there is none or the page has no features.
   * Looks at no more than 4 × 4,096 candidates, the newest first.
   */
  findNearest(simhash: Simhash): NearMatch | undefined {
    let nearest: NearMatch | undefined;
    let nearestOrdinal = NONE;
    this.#visit(simhash, (id, distance, ordinal) => {
      const closer = nearest === undefined || distance < nearest.distance;
      const newer = distance === nearest?.distance && ordinal > nearestOrdinal;
      if (!closer && !newer) return;
      nearest = { id, distance };
      nearestOrdinal = ordinal;
    });
    return nearest;
  }

  /** All fingerprints within three bits, the newest first; bounded as findNearest is. */
  findAll(simhash: Simhash): NearMatch[] {
    const found = new Map<number, NearMatch>();
    this.#visit(simhash, (id, distance, ordinal) => {
      found.set(ordinal, { id, distance });
    });
    return [...found].sort((a, b) => b[0] - a[0]).map(([, match]) => match);
  }

  #visit(simhash: Simhash, found: (id: number, distance: number, ordinal: number) => void): void {
    if (simhash.features === 0) return;
    const oldest = this.#added - this.#capacity;
    for (let block = 0; block < BLOCKS; block++) {
      let ordinal = this.#heads[block * BLOCK_VALUES + blockOf(simhash, block)]!;
      for (let seen = 0; ordinal >= 0 && ordinal >= oldest && seen < CANDIDATES_MAX; seen++) {
        const slot = ordinal % this.#capacity;
        const candidate = { high: this.#highs[slot]!, low: this.#lows[slot]! };
        const distance = hammingDistance(simhash, candidate);
        if (distance <= NEAR_DUPLICATE_BITS_MAX) found(this.#ids[slot]!, distance, ordinal);
        const step = this.#steps[block * this.#capacity + slot]!;
        if (step === 0) break;
        ordinal -= step;
      }
    }
  }
}

function blockOf(simhash: Simhash, block: number): number {
  const half = block < 2 ? simhash.low : simhash.high;
  return (half >>> ((block & 1) * 16)) & 0xffff;
}
