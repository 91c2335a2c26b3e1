// The webs that whole crawls are tested on: small and quick, but with every oddity.
import { type PartialWorldOptions, VARIED_FEATURES } from '../world/world-options.ts';

/**
 * Every oddity whose ground truth does not depend on the order of a crawl, with waits so short that a crawl takes seconds. Permanent
 * errors are few, since each raises its host's gap.
 */
export const SMALL_VARIED_WORLD: PartialWorldOptions = {
  seed: 5,
  hosts: 24,
  pagesPerHost: 12,
  linksPerPage: 10,
  pageBytes: 2_000,
  crawlDelaySeconds: [0.1, 0.3],
  slowMs: [10, 40],
  robotsLateMs: 1_000,
  features: { ...VARIED_FEATURES, notFound: 0.02, traps: 0 },
};
