// How soon a URL is worth fetching: step 6 of its life (DESIGN.md §1, §4). A sum of a few terms, each between 0 and its weight, so that every
// score can be explained (`why URL`); three bands, between which the front queue chooses by weight, keep cheap pages from starving.
// Inside a host the score orders, across hosts the crawl stays breadth-first: the links from other domains and depth weigh most (Najork and
// Wiener, WWW 2001: breadth-first finds good pages early; Cho et al., WWW 1998: ordering by in-links). Invariants: pure; 0 ≤ score ≤ 1.

/** Band 0 is served most often. */
export type PriorityBand = 0 | 1 | 2;

/** What is known about a URL when it is queued. Unknown is undefined, and neither helps nor hurts beyond its default. */
export interface PriorityInputs {
  /** Links from a seed, 0 for a seed. */
  readonly depth: number;
  /** Registrable domains, other than its own, that link to the URL's. */
  readonly inLinkDomains: number;
  /** Share of its visits that found it changed, 0 … 1; undefined before the first revisit. */
  readonly changeRate?: number;
  /** `<priority>` of a sitemap, 0 … 1 (sitemaps.org: 0.5 by default). */
  readonly sitemapPriority?: number;
  /** The URL is the host's home page `/`. */
  readonly isHome: boolean;
  /** The operator's wish, −1 (last) … 1 (first). */
  readonly operatorHint?: number;
  /** A trap rule suspects the URL (traps.ts): it goes to the last band whatever its score. */
  readonly isSuspect?: boolean;
}

/** Weights of the terms; they add up to 1 without the operator's hint, which can outweigh all of them. */
export interface PriorityWeights {
  readonly depth: number;
  readonly reputation: number;
  readonly change: number;
  readonly sitemap: number;
  readonly home: number;
  readonly operator: number;
  /** Least score of band 0 and of band 1. */
  readonly bandFloors: readonly [number, number];
}

/**
 * First come first served is nearly breadth-first already and does well; what it cannot see is who links to a host, so reputation weighs most
 * and depth half as much. On a web of known importance (test/unit/domain/crawl-order.test.ts) these weights bring 60 % of it in the first tenth of
 * the requests and 80 % in the first three tenths, first come 55 and 78 %, chance 45 and 70 %; depth 0.4 and reputation 0.25 brought
 * 52 and 77 %. Sitemap hints are the site's own opinion and count little. With these floors a home
 * page at depth 0 or 1 is in band 0 on any host, a page at depth 3 of an unknown host in band 1, one at depth 8 in band 2.
 */
export const PRIORITY_WEIGHTS: PriorityWeights = {
  depth: 0.25,
  reputation: 0.45,
  change: 0.1,
  sitemap: 0.1,
  home: 0.1,
  operator: 1,
  bandFloors: [0.35, 0.15],
};

/** Linking domains at which reputation is full: 2^8, up to where they can be counted (actors/domain-accounts.ts). */
const REPUTATION_FULL_LOG2 = 8;
/** Assumed of pages not yet revisited: the middle of what is measured on the web (Fetterly et al., WWW 2003: two thirds never change). */
const CHANGE_RATE_DEFAULT = 0.3;
const SITEMAP_PRIORITY_DEFAULT = 0.5;

function clamp(value: number, low: number, high: number): number {
  // A sitemap may say anything, and NaN would make every comparison false.
  return Number.isNaN(value) ? low : Math.min(Math.max(value, low), high);
}

/**
 * @returns 0 (last) … 1 (first)
 */
export function priorityScore(
  inputs: PriorityInputs,
  weights: PriorityWeights = PRIORITY_WEIGHTS,
): number {
  // Halves with every two links away from a seed: smooth, never 0, so that deep pages still differ.
  const nearness = 2 ** (-clamp(inputs.depth, 0, 64) / 2);
  const reputation = Math.log2(1 + clamp(inputs.inLinkDomains, 0, 2 ** 32)) / REPUTATION_FULL_LOG2;
  const score =
    weights.depth * nearness +
    weights.reputation * clamp(reputation, 0, 1) +
    weights.change * clamp(inputs.changeRate ?? CHANGE_RATE_DEFAULT, 0, 1) +
    weights.sitemap * clamp(inputs.sitemapPriority ?? SITEMAP_PRIORITY_DEFAULT, 0, 1) +
    (inputs.isHome ? weights.home : 0) +
    weights.operator * clamp(inputs.operatorHint ?? 0, -1, 1);
  return clamp(score, 0, 1);
}

/**
 * The band of the front queue.
 *
 * @returns 0, 1 or 2; always 2 for a suspect
 */
export function priorityBand(
  inputs: PriorityInputs,
  weights: PriorityWeights = PRIORITY_WEIGHTS,
): PriorityBand {
  if (inputs.isSuspect === true) return 2;
  const score = priorityScore(inputs, weights);
  if (score >= weights.bandFloors[0]) return 0;
  return score >= weights.bandFloors[1] ? 1 : 2;
}
