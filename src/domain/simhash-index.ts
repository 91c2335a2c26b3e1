// Finds earlier pages whose fingerprint is at most three bits away (step 11). Two such fingerprints agree in at least one of four blocks
// of 16 bits (four blocks, three differences), so one table for each block leads to all candidates: the block-permuted tables of
// Manku et al. §3, with the blocks looked up in place of being sorted. Bounded: a ring of `capacity` fingerprints, the newest kept; the
// chains need no removal, since they run from new to old and end where the ring has been overwritten. One index serves all threads of the
// process through shared memory, without a lock: a reader that meets a slot while it is written may see a wrong page, never a wrong number of
// steps, so who needs certainty compares the page it is given.
import { assert } from '../base/assert.ts';
import { hammingDistance, NEAR_DUPLICATE_BITS_MAX, type Simhash } from './simhash.ts';

const BLOCKS = 4;
const BLOCK_VALUES = 65_536;
/** Candidates compared in one table for one look-up: a bound on time when many pages share a block. */
const CANDIDATES_MAX = 4_096;
const HEADER_BYTES = 16;
/** Bytes of one fingerprint: two keys, two halves, four steps. */
const FINGERPRINT_BYTES = 8 + 8 + 4 + 4 + BLOCKS * 4;
/** Words of the header. */
const ADDED = 0;
const CAPACITY = 1;

/** The page a fingerprint was added for. */
export interface FingerprintedPage {
  readonly hostKey: bigint;
  readonly urlKey: bigint;
}

/** A fingerprint found: its page and the distance in bits. */
export interface NearMatch extends FingerprintedPage {
  readonly distance: number;
}

/** Memory: 40 bytes a fingerprint and 1 MiB of table heads, provided by the system as it is used. */
export class SimhashIndex {
  readonly #capacity: number;
  readonly #header: Int32Array;
  readonly #hostKeys: BigUint64Array;
  readonly #urlKeys: BigUint64Array;
  readonly #highs: Uint32Array;
  readonly #lows: Uint32Array;
  /** For each table and slot, how many ordinals further back the next older one is; 0 ends the chain. */
  readonly #steps: Uint32Array;
  /** One more than the ordinal of the newest fingerprint with a block's value; 0 for none. */
  readonly #heads: Int32Array;

  /** @param capacity fingerprints kept, 1 … 2²⁶; a power of two is not needed */
  static createMemory(capacity: number): SharedArrayBuffer {
    assert(capacity >= 1, () => `capacity ${capacity} is below 1`);
    assert(capacity <= 2 ** 26, () => `capacity ${capacity} is above 2^26`);
    const bytes = HEADER_BYTES + capacity * FINGERPRINT_BYTES + BLOCKS * BLOCK_VALUES * 4;
    const memory = new SharedArrayBuffer(bytes);
    new Int32Array(memory, 0, 4)[CAPACITY] = capacity;
    return memory;
  }

  /** @param memory of `createMemory` */
  constructor(memory: SharedArrayBuffer) {
    this.#header = new Int32Array(memory, 0, HEADER_BYTES / 4);
    const capacity = this.#header[CAPACITY] as number;
    this.#capacity = capacity;
    let at = HEADER_BYTES;
    const take = (bytes: number): number => {
      at += bytes;
      return at - bytes;
    };
    this.#hostKeys = new BigUint64Array(memory, take(capacity * 8), capacity);
    this.#urlKeys = new BigUint64Array(memory, take(capacity * 8), capacity);
    this.#highs = new Uint32Array(memory, take(capacity * 4), capacity);
    this.#lows = new Uint32Array(memory, take(capacity * 4), capacity);
    this.#steps = new Uint32Array(memory, take(capacity * BLOCKS * 4), capacity * BLOCKS);
    this.#heads = new Int32Array(memory, take(BLOCKS * BLOCK_VALUES * 4), BLOCKS * BLOCK_VALUES);
  }

  /** Fingerprints held. */
  get size(): number {
    return Math.min(Atomics.load(this.#header, ADDED), this.#capacity);
  }

  /** Adds a fingerprint, over the oldest one when full. A page without features is not added: it would match every empty page. */
  add(simhash: Simhash, page: FingerprintedPage): void {
    if (simhash.features === 0) return;
    const ordinal = Atomics.add(this.#header, ADDED, 1);
    assert(ordinal >= 0, () => 'more fingerprints than an index can number');
    const slot = ordinal % this.#capacity;
    this.#highs[slot] = simhash.high;
    this.#lows[slot] = simhash.low;
    this.#hostKeys[slot] = page.hostKey;
    this.#urlKeys[slot] = page.urlKey;
    for (let block = 0; block < BLOCKS; block++) {
      const head = block * BLOCK_VALUES + blockOf(simhash, block);
      const older = Atomics.exchange(this.#heads, head, ordinal + 1) - 1;
      const step = older < 0 ? 0 : ordinal - older;
      this.#steps[block * this.#capacity + slot] = step > 0 && step < this.#capacity ? step : 0;
    }
  }

  /**
   * The nearest fingerprint within three bits, the newest of equals; undefined when there is none or the page has no features.
   * Looks at no more than 4 × 4,096 candidates, the newest first.
   */
  findNearest(simhash: Simhash): NearMatch | undefined {
    let nearest: NearMatch | undefined;
    let nearestOrdinal = -1;
    this.#visit(simhash, (slot, distance, ordinal) => {
      const closer = nearest === undefined || distance < nearest.distance;
      const newer = distance === nearest?.distance && ordinal > nearestOrdinal;
      if (!closer && !newer) return;
      nearest = this.#matchAt(slot, distance);
      nearestOrdinal = ordinal;
    });
    return nearest;
  }

  /** All fingerprints within three bits, the newest first; bounded as findNearest is. */
  findAll(simhash: Simhash): NearMatch[] {
    const found = new Map<number, NearMatch>();
    this.#visit(simhash, (slot, distance, ordinal) => {
      found.set(ordinal, this.#matchAt(slot, distance));
    });
    return [...found].sort((a, b) => b[0] - a[0]).map(([, match]) => match);
  }

  #matchAt(slot: number, distance: number): NearMatch {
    return { hostKey: this.#hostKeys[slot]!, urlKey: this.#urlKeys[slot]!, distance };
  }

  #visit(simhash: Simhash, found: (slot: number, distance: number, ordinal: number) => void): void {
    if (simhash.features === 0) return;
    const oldest = Atomics.load(this.#header, ADDED) - this.#capacity;
    for (let block = 0; block < BLOCKS; block++) {
      const head = block * BLOCK_VALUES + blockOf(simhash, block);
      let ordinal = Atomics.load(this.#heads, head) - 1;
      for (let seen = 0; ordinal >= 0 && ordinal >= oldest && seen < CANDIDATES_MAX; seen++) {
        const slot = ordinal % this.#capacity;
        const candidate = { high: this.#highs[slot]!, low: this.#lows[slot]! };
        const distance = hammingDistance(simhash, candidate);
        if (distance <= NEAR_DUPLICATE_BITS_MAX) found(slot, distance, ordinal);
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
