// Step 11 again, from stored bytes and without a request (DESIGN.md §9, `replay` and `export links`): reads bodies back from the archive and
// parses them in parallel in the guarded pool. A page that loops, throws or exhausts memory costs its thread and fails alone, with its
// reason. Results come in the order of the pages. In memory are as many pages as the pool can hold, no more.

import type { StoredBody } from '../actors/ports.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import { headerValue } from '../domain/header-list.ts';
import type { PageInput } from '../domain/page-links.ts';
import type { GuardedPage } from '../parsers/guarded-entry.ts';
import { type RunOutcome, WorkerPool } from '../runtime/pool.ts';
import { RealAlarms } from '../runtime/real-clock.ts';
import type { PageAt } from '../storage/read-store.ts';
import type { CrawlReading } from './read-crawl.ts';

/** Limits of one page. A body of 50 MiB takes about a second. */
const RUN_MS_MAX = 20_000;
const HEAP_MIB_MAX = 512;
/** Pages read ahead for each thread. */
const AHEAD = 4;
/** Page rows taken at a time. */
const PORTION_ROWS = 256;

/** What came of one stored page; `no-body` when its record is not here. */
export type StoredPageOutcome<Parsed extends GuardedPage = GuardedPage> =
  | RunOutcome<Parsed>
  | { readonly kind: 'no-body' };

export interface StoredPageResult<Parsed extends GuardedPage = GuardedPage> {
  readonly page: PageAt;
  readonly outcome: StoredPageOutcome<Parsed>;
}

/** Which pages. */
export interface PageSelection {
  /** As canonical URLs have it. */
  readonly host?: string | undefined;
  readonly urlPrefix?: string | undefined;
  /** Matches somewhere in the URL. */
  readonly pattern?: RegExp | undefined;
  readonly limit?: number | undefined;
  /** Also pages whose body is another page's; the crawl does not parse those. */
  readonly duplicates: boolean;
}

export interface ParseStoredOptions {
  readonly threads: number;
  /** The work of the pool; guarded-entry.ts unless a test has its own. */
  readonly entry?: URL;
  readonly runMsMax?: number;
  readonly heapMiBMax?: number;
}

/**
 * Parses the stored pages of a selection: those with a body and status 200.
 * @param selected their rows, from `selectPages`
 */
export async function* parseStored<Parsed extends GuardedPage = GuardedPage>(
  reading: CrawlReading,
  selected: Iterable<PageAt>,
  options: ParseStoredOptions,
): AsyncGenerator<StoredPageResult<Parsed>> {
  const pool = new WorkerPool<PageInput, Parsed>({
    entry: options.entry ?? new URL('../parsers/guarded-entry.js', import.meta.url),
    alarms: new RealAlarms(),
    threadsMax: options.threads,
    queueMax: options.threads * AHEAD,
    runMsMax: options.runMsMax ?? RUN_MS_MAX,
    heapMiBMax: options.heapMiBMax ?? HEAP_MIB_MAX,
  });
  const underway: Promise<StoredPageResult<Parsed>>[] = [];
  try {
    for (const page of selected) {
      underway.push(parseOne(reading, pool, page));
      if (underway.length < options.threads * AHEAD) continue;
      yield (await underway.shift()) as StoredPageResult<Parsed>;
    }
    for (const last of underway) yield await last;
  } finally {
    await pool.close();
  }
}

/**
 * Pages of a selection that have links to find: stored bodies of status 200, whole or cut; after a page that was rendered comes the document
 * that the browser made of it, under the same keys.
 */
export function* selectPages(
  { store, hasher }: CrawlReading,
  selection: PageSelection,
): Generator<PageAt> {
  const { host, urlPrefix, pattern, duplicates, limit = Number.POSITIVE_INFINITY } = selection;
  const hostKey = host === undefined ? undefined : hasher.hostKey(host);
  let count = 0;
  for (const portion of store.pagePortions(PORTION_ROWS)) {
    for (const page of portion) {
      if (count >= limit) return;
      if (page.row.status !== 200 || page.row.pointer === undefined) continue;
      if (hostKey !== undefined && page.hostKey !== hostKey) continue;
      if (urlPrefix !== undefined && !page.row.url.startsWith(urlPrefix)) continue;
      if (pattern !== undefined && !pattern.test(page.row.url)) continue;
      if (duplicates || page.row.duplicateOf === undefined) {
        count += 1;
        yield page;
      }
      const rendered = store.rows.rendered(page.hostKey, page.partition, page.urlKey);
      if (rendered?.pointer !== undefined) yield { ...page, row: rendered };
    }
  }
}

async function parseOne<Parsed extends GuardedPage>(
  { store }: CrawlReading,
  pool: WorkerPool<PageInput, Parsed>,
  page: PageAt,
): Promise<StoredPageResult<Parsed>> {
  const { pointer } = page.row;
  const stored = pointer === undefined ? undefined : await store.body(pointer);
  if (stored === undefined) return { page, outcome: { kind: 'no-body' } };
  // As many runs are asked for as the pool can hold, so it takes each.
  const outcome = await pool.run(inputOf(page, stored));
  return { page, outcome: outcome ?? { kind: 'failed', error: 'the pool is closed' } };
}

function inputOf({ row }: PageAt, stored: StoredBody): PageInput {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < stored.headers.length; at += 2) {
    headers.push([stored.headers[at] as string, stored.headers[at + 1] as string]);
  }
  return {
    url: row.url,
    contentType: headerValue(stored.headers, 'content-type'),
    headers,
    body: stored.body,
    userAgent: PRODUCT_TOKEN,
  };
}
