// The 64-bit keys of URLs and hosts: xxhash64, seeded once per crawl so that nobody can prepare URLs that collide. Used at steps 1, 2 and 4
// (DESIGN.md §1, §6: 3e-4 expected collisions at 1e8 URLs). xxhash-wasm initialises asynchronously, so it is passed in ready made.
// The same key comes in two forms: a BigInt, which the stores and the ring take, and two 32-bit halves in a Uint32Array, which the
// Bloom filter and the tables in shared memory take (bench/canonical-url.bench.ts measures both). Invariant: both forms are one number.

import { assert } from '../base/assert.ts';
import { type HostKey, hostKey, type UrlKey, urlKey } from '../base/units.ts';

/** The part of the xxhash-wasm API that is used. */
export interface XxHash64 {
  /** xxhash64 of the UTF-8 bytes of `input`, unsigned. */
  h64(input: string, seed?: bigint): bigint;
}

/** Computes keys. Holds no state that outlives a call; one per thread. */
export interface UrlHasher {
  /** @param canonical a canonical URL */
  urlKey(canonical: string): UrlKey;
  /** @param host a lower-case host name without port */
  hostKey(host: string): HostKey;
  /**
   * The URL key as two unsigned 32-bit halves, without a BigInt kept alive.
   * @param target receives the low half at `at` and the high half at `at + 1`
   */
  urlKeyInto(canonical: string, target: Uint32Array, at: number): void;
}

/**
 * @param xxhash an initialised xxhash-wasm API
 * @param seed the crawl's seed, unsigned 64 bits; all threads and machines of a crawl have the same
 * @throws AssertionFailure when the seed has more than 64 bits
 */
export function createHasher(xxhash: XxHash64, seed: bigint): UrlHasher {
  assert(BigInt.asUintN(64, seed) === seed, () => `seed ${seed} is no unsigned 64-bit number`);
  const whole = new BigUint64Array(1);
  const halves = new Uint32Array(whole.buffer);
  // Which half comes first in memory is the machine's business; the order in `target` is ours, since keys are stored and sent.
  whole[0] = 1n;
  const low = halves[0] === 1 ? 0 : 1;
  return {
    urlKey: (canonical) => urlKey(xxhash.h64(canonical, seed)),
    hostKey: (host) => hostKey(xxhash.h64(host, seed)),
    urlKeyInto(canonical, target, at) {
      whole[0] = xxhash.h64(canonical, seed);
      target[at] = halves[low] as number;
      target[at + 1] = halves[1 - low] as number;
    },
  };
}
