// How large a blocked Bloom filter must be. In a blocked filter each key sets its bits inside one 512-bit block (one cache line), and
// blocks fill unevenly: their loads are Poisson, the full ones err more, so the textbook size misses its target (Putze, Sanders, Singler:
// Cache-, Hash- and Space-Efficient Bloom Filters, 2007, equation 3). This computes the true rate as the sum over loads and searches for
// the smallest size that meets the target, with the best number of bits a key.
import { assert } from '../base/assert.ts';

/** Bits of a block: one cache line. */
export const BLOCK_BITS = 512;
const BITS_PER_KEY_MAX = 16;

/** A size for a filter. */
export interface BloomSize {
  readonly blocks: number;
  /** Bits set for each key, 1 … 16. */
  readonly bitsPerKey: number;
}

/**
 * The expected rate of false positives of a blocked filter.
 * @param keysPerBlock mean keys of a block
 */
export function blockedFalsePositiveRate(keysPerBlock: number, bitsPerKey: number): number {
  const spread = 12 * Math.sqrt(keysPerBlock) + 12;
  const first = Math.max(0, Math.floor(keysPerBlock - spread));
  const last = Math.ceil(keysPerBlock + spread);
  let rate = 0;
  let logFactorial = 0;
  for (let load = 1; load <= last; load++) {
    logFactorial += Math.log(load);
    if (load < first) continue;
    const probability = Math.exp(load * Math.log(keysPerBlock) - keysPerBlock - logFactorial);
    rate += probability * meanHitRate(load * bitsPerKey, bitsPerKey);
  }
  return rate;
}

/**
 * The smallest filter that meets the rate when it holds the expected keys.
 * @param expectedKeys 1 … 2^32 − 1
 * @param falsePositiveRate 1e-6 … 0.5
 */
export function sizeBloom(expectedKeys: number, falsePositiveRate: number): BloomSize {
  assert(expectedKeys >= 1, () => `a filter for ${expectedKeys} keys`);
  assert(falsePositiveRate >= 1e-6, () => `false positive rate ${falsePositiveRate} is too small`);
  assert(falsePositiveRate <= 0.5, () => `false positive rate ${falsePositiveRate} is too large`);
  let best: { keysPerBlock: number; bitsPerKey: number } = { keysPerBlock: 0, bitsPerKey: 1 };
  for (let bitsPerKey = 1; bitsPerKey <= BITS_PER_KEY_MAX; bitsPerKey++) {
    const keysPerBlock = fullestBlock(bitsPerKey, falsePositiveRate);
    if (keysPerBlock > best.keysPerBlock) best = { keysPerBlock, bitsPerKey };
  }
  assert(best.keysPerBlock > 0, () => `no filter meets ${falsePositiveRate}`);
  const blocks = Math.ceil(expectedKeys / best.keysPerBlock);
  return { blocks, bitsPerKey: best.bitsPerKey };
}

/** The most keys a block may hold on average at this rate, by bisection. */
function fullestBlock(bitsPerKey: number, falsePositiveRate: number): number {
  let low = 0;
  let high = BLOCK_BITS;
  for (let step = 0; step < 24; step++) {
    const middle = (low + high) / 2;
    if (blockedFalsePositiveRate(middle, bitsPerKey) <= falsePositiveRate) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The mean of (fraction of bits set)^k after `throws` bits were set at random in a block: the mean alone is too small, so the spread of
 * the fraction enters by its second moment.
 */
function meanHitRate(throws: number, bitsPerKey: number): number {
  const unset = (1 - 1 / BLOCK_BITS) ** throws;
  const bothUnset = (1 - 2 / BLOCK_BITS) ** throws;
  const set = 1 - unset;
  const variance = unset / BLOCK_BITS + (1 - 1 / BLOCK_BITS) * bothUnset - unset * unset;
  const curvature = (bitsPerKey * (bitsPerKey - 1)) / 2;
  if (set <= 0) return 0;
  return set ** bitsPerKey * (1 + (curvature * Math.max(0, variance)) / (set * set));
}
