// What cluster.config.ts imports, as `hostler/config`. It has no code to load but this function, so that reading the file stays quick.

import type { CrawlConfigInput } from './options.ts';

/**
 * Gives an editor the types of the options; returns its argument.
 * @example export default defineConfig({ minGapMs: 2_000, contact: 'https://example.com/bot' });
 */
export function defineConfig(config: CrawlConfigInput): CrawlConfigInput {
  return config;
}
