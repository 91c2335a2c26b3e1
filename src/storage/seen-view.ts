// The seen set as a reader outside the storage thread finds it (DESIGN.md §6, for why and replay): the published runs, and the keys that only
// the frontier log holds so far, which are read when a key is in no run. Exact as of a commit not older than the opening. Keys leave the
// log only when a run has them, so the log is read before the runs; files that the crawl merges away in between make us look again.

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
  readonly #dir: string;
  readonly #tables: Tables;
  #runs: readonly SeenRun[];
  #logged: HashTable64 | undefined;

  /** @throws CrawlError data-damaged when a run that is committed stays unreadable */
  constructor(dir: string, tables: Tables) {
    this.#dir = dir;
    this.#tables = tables;
    this.#runs = lookAgain(tables, () => openRuns(dir, tables));
  }

  /** @throws CrawlError data-damaged when a run or segment that is committed stays unreadable */
  has(key: UrlKey): boolean {
    if (this.#isInRuns(key)) return true;
    if (this.#logged === undefined) {
      const { logged, runs } = lookAgain(this.#tables, () => ({
        logged: loggedKeys(this.#dir, this.#tables),
        runs: openRuns(this.#dir, this.#tables),
      }));
      this.close();
      this.#runs = runs;
      this.#logged = logged;
      if (this.#isInRuns(key)) return true;
    }
    return this.#logged.hasKey(key);
  }

  close(): void {
    for (const run of this.#runs) run.close();
    this.#runs = [];
  }

  #isInRuns(key: UrlKey): boolean {
    const high = Number(key >> HALF_BITS);
    const low = Number(BigInt.asUintN(32, key));
    return this.#runs.some((run) => run.has(high, low));
  }
}

/** Repeats a look at files that vanish while the newest commit does not name them any more. */
function lookAgain<Result>(tables: Tables, look: () => Result): Result {
  for (let looks = 1; ; looks += 1) {
    tables.root.resetReadTxn();
    try {
      return look();
    } catch (error) {
      if (looks >= LOOKS_MAX) throw error;
    }
  }
}

function openRuns(dir: string, tables: Tables): SeenRun[] {
  tables.root.resetReadTxn();
  const runs: SeenRun[] = [];
  for (const entry of readManifest(tables).runs) {
    const path = join(folderOf(dir, 'frontier'), runName(entry.file));
    const opened = SeenRun.open(path, { verifyKeys: false, filter: true });
    if (opened.kind === 'damaged') {
      for (const run of runs) run.close();
      throw damaged(opened.reason);
    }
    runs.push(opened.run);
  }
  return runs;
}

function loggedKeys(dir: string, tables: Tables): HashTable64 {
  const keys = new HashTable64({ countMax: LOG_KEYS_MAX, values: 'none' });
  for (const segment of readCommitted(tables).frontier) {
    for (const { entry } of readFrontierSegment(dir, segment)) keys.setKey(entry.urlKey, 0);
  }
  return keys;
}
