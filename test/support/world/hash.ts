// Chance without state: every property of the shipped web is a hash of (world seed, what it belongs to, which property). Nothing is
// drawn in an order, so nothing has to be remembered, and any page of a million hosts can be made alone, twice, in two processes, alike.
// The mixing is MurmurHash3's 32-bit body and finaliser (public domain, A. Appleby): a few nanoseconds, good avalanche.

/** One number for each property, so that two properties of one thing are independent draws. */
export const SALT = {
  pages: 1,
  health: 2,
  mirror: 3,
  robots: 4,
  robotsForm: 5,
  crawlDelay: 6,
  pathShape: 7,
  duplicate: 8,
  linkKind: 9,
  linkTarget: 10,
  spelling: 11,
  redirect: 12,
  text: 13,
  errorWindow: 14,
  flaky: 15,
  change: 16,
  latency: 17,
  trap: 18,
  meta: 19,
  compress: 20,
  filler: 21,
  robotsVersion: 22,
  endless: 23,
  closing: 24,
} as const;

/**
 * An unsigned 32-bit hash of up to four integers.
 * @param seed any integer; with the salt it names the property
 */
export function mix(seed: number, salt: number, a: number, b = 0): number {
  let h = Math.imul(seed | 0, 0x9e3779b1) ^ salt;
  h = round(h, a);
  h = round(h, b);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function round(hash: number, value: number): number {
  let k = Math.imul(value | 0, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const h = hash ^ Math.imul(k, 0x1b873593);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

/** A hash as a fraction, 0 ≤ x < 1. */
export function fraction(hash: number): number {
  return hash / 4294967296;
}

/**
 * Picks by weights that add up to at most 1.
 * @param x 0 ≤ x < 1
 * @param otherwise what remains
 */
export function choose<T>(x: number, weighted: readonly (readonly [number, T])[], otherwise: T): T {
  let rest = x;
  for (const [weight, value] of weighted) {
    rest -= weight;
    if (rest < 0) return value;
  }
  return otherwise;
}
