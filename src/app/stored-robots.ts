// The robots rules that a crawl has stored (step 5), asked about many URLs by commands: audit holds each page against them, replay and why
// ask what they say today. Rows are kept for the hosts asked about last.

import type { RobotsRow } from '../actors/rows.ts';
import { Lru } from '../base/lru.ts';
import { parseBase } from '../domain/base-url.ts';
import { matchRobots, type RobotsVerdict } from '../domain/robots-matcher.ts';
import type { RobotsRules } from '../domain/robots-rules.ts';
import { type CrawlReading, placeOfHost } from './read-crawl.ts';

/** Rows of so many hosts are kept: some 20 MB of ordinary rules. */
const HOSTS_KEPT = 8_192;

export class StoredRobots {
  readonly #reading: CrawlReading;
  readonly #rows = new Lru<string, readonly RobotsRow[]>(HOSTS_KEPT);

  constructor(reading: CrawlReading) {
    this.#reading = reading;
  }

  /** The row of a URL's origin; undefined when its robots.txt was never read. */
  rowFor(url: string): RobotsRow | undefined {
    const base = parseBase(url);
    if (base === undefined) return undefined;
    return this.rowsOf(base.host).find(({ origin }) => origin === base.authority);
  }

  /** The rows of a host's origins. */
  rowsOf(host: string): readonly RobotsRow[] {
    const known = this.#rows.get(host);
    if (known !== undefined) return known;
    const { hostKey, partition } = placeOfHost(this.#reading, host);
    const rows = this.#reading.store.rows.robots(hostKey, partition);
    this.#rows.set(host, rows);
    return rows;
  }

  /** What the rules say of a URL; undefined when they are unknown or the file is unreachable. */
  verdict(url: string): RobotsVerdict | undefined {
    const row = this.rowFor(url);
    if (row === undefined || row.decision === 'disallow-all') return undefined;
    return matchRobots(row.rules as RobotsRules, url);
  }

  /** What the rules read at a time said of a URL; `unknown` when others have taken their place. */
  verdictAt(url: string, fetchedAt: number): 'allowed' | 'denied' | 'unknown' {
    const row = this.rowFor(url);
    // A file that became unreachable keeps the time of its last copy, but not the copy.
    if (row === undefined || row.fetchedAt !== fetchedAt || row.decision === 'disallow-all') {
      return 'unknown';
    }
    return matchRobots(row.rules as RobotsRules, url).allowed ? 'allowed' : 'denied';
  }
}
