// The seeds that the scope of a crawl rests on, kept beside its data: a crawl that is resumed without its seeds still knows its scope.
// Canonical URLs, one a line, in `DIR/seeds`; only seeds that are new are appended, durably, before any of them is crawled.

import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../base/errors.ts';
import type { CrawlConfig } from '../config/options.ts';
import { canonicalize } from '../domain/canonical-url.ts';
import { identityRulesOf } from './shard-plan.ts';

/**
 * Adds seeds to those of earlier runs.
 * @returns all canonical seeds; none for `--scope all`, which needs none
 * @throws CrawlError disk
 */
export function rememberSeeds(config: CrawlConfig, seeds: readonly string[]): readonly string[] {
  if (config.scope === 'all') return [];
  const path = join(config.dataDir, 'seeds');
  const known = new Set(existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []);
  known.delete('');
  const rules = identityRulesOf(config);
  const added: string[] = [];
  for (const seed of seeds) {
    const canonical = canonicalize(seed, rules);
    if (canonical.kind !== 'canonical' || known.has(canonical.canonical)) continue;
    known.add(canonical.canonical);
    added.push(`${canonical.canonical}\n`);
  }
  if (added.length > 0) append(path, added.join(''));
  return [...known];
}

function append(path: string, text: string): void {
  try {
    const file = openSync(path, 'a');
    writeSync(file, text);
    fdatasyncSync(file);
    closeSync(file);
  } catch (cause) {
    throw new CrawlError('disk', `cannot write ${path}: ${String(cause)}`, {
      remedy: 'Make the data directory writable and free space on its disk.',
      cause,
    });
  }
}
