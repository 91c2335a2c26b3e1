// The bounds of a recrawl as tests use them where nothing depends on them: those that the options have by default.
import type { RecrawlPolicy } from '../../src/domain/recrawl.ts';

const DAY_MS = 86_400_000;

export const RECRAWL: RecrawlPolicy = {
  firstMs: DAY_MS,
  leastMs: 3_600_000,
  longestMs: 90 * DAY_MS,
};
