// The seen set as a reader outside the crawl finds it (DESIGN.md §6, for why and replay): the published runs, and the keys that only the
// frontier log holds so far. Exact as of one commit. While the crawl runs, the storage thread may merge runs and drop segments between our
// look at the manifest and our opening of the files; then everything is read again.

import { join } from 'node:path';
import { HashTable64 } from '../base/hash-table64.ts';
import type { UrlKey } from '../base/units.ts';
import { readCommitted } from './committed-state.ts';
import { folderOf } from './directory.ts';
import { damaged } from './disk-error.ts';
import { readFrontierSegment } from './frontier-log.ts';
import { runName } from './seen-format.ts';
import { readManifest } from './seen-publisher.ts';
import { SeenRun } from './seen-run.ts';
import type { Tables } from './tables.ts';

/** Looks at a set that changes meanwhile, before it is called damaged. */
const LOOKS_MAX = 5;
/** Keys that the log may hold beside the runs: what shards have not handed over yet, far below this. */
const LOG_KEYS_MAX = 2 ** 28;
const HALF_BITS = 32n;

/** Answers whether a URL was ever accepted. */
export class SeenView {
  readonly #runs: readonly SeenRun[];
  readonly #logged: HashTable64;

  private constructor(runs: readonly SeenRun[], logged: HashTable64) {
    this.#runs = runs;
    this.#logged = logged;
  }

  /** @throws CrawlError data-damaged when a run or segment that is committed stays unreadable */
  static open(dir: string, tables: Tables): SeenView {
    for (let look = 1; ; look += 1) {
      tables.root.resetReadTxn();
      const runs: SeenRun[] = [];
      try {
        const logged = loggedKeys(dir, tables);
        for (const entry of readManifest(tables).runs) {
          const path = join(folderOf(dir, 'frontier'), runName(entry.file));
          const opened = SeenRun.open(path, { verifyKeys: false, filter: true });
          if (opened.kind === 'damaged') throw damaged(opened.reason);
          runs.push(opened.run);
        }
        return new SeenView(runs, logged);
      } catch (error) {
        for (const run of runs) run.close();
        if (look >= LOOKS_MAX) throw error;
      }
    }
  }

  has(key: UrlKey): boolean {
    if (this.#logged.hasKey(key)) return true;
    const high = Number(key >> HALF_BITS);
    const low = Number(BigInt.asUintN(32, key));
    return this.#runs.some((run) => run.has(high, low));
  }

  close(): void {
    for (const run of this.#runs) run.close();
  }
}

function loggedKeys(dir: string, tables: Tables): HashTable64 {
  const keys = new HashTable64({ countMax: LOG_KEYS_MAX, values: 'none' });
  for (const segment of readCommitted(tables).frontier) {
    for (const { entry } of readFrontierSegment(dir, segment)) keys.setKey(entry.urlKey, 0);
  }
  return keys;
}
