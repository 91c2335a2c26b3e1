// What a visit did to a page, decided where its row is packed, on the shard thread (step 10): the answer is compared with the row as it was, and
// the row gets the time of its next visit. A visit that failed leaves the stored copy what it was: only the failure and the time are new.

import type { ChangeKind } from '../actors/change-event.ts';
import type { DueCheckpoint, FetchResponse, PageCheckpoint } from '../actors/ports.ts';
import type { PageRow } from '../actors/rows.ts';
import { freshnessLifetimeMs } from '../domain/cache-control.ts';
import {
  afterVisit,
  type RecrawlPolicy,
  type VisitFacts,
  type VisitOutcome,
  visitOutcome,
} from '../domain/recrawl.ts';

/** A page's row after its visit. */
export interface PackedVisit {
  readonly row: PageRow;
  readonly outcome: VisitOutcome;
  /** True when the row goes on pointing at the copy that it had. */
  readonly keepsCopy: boolean;
}

/**
 * @param prior the row as it was; undefined on a first visit
 * @param row what the answer alone would make of it
 */
export function packVisit(
  policy: RecrawlPolicy,
  page: PageCheckpoint,
  prior: PageRow | undefined,
  row: PageRow,
): PackedVisit {
  const before = prior === undefined ? undefined : factsOf(prior, false);
  const outcome = visitOutcome(before, factsOf(row, row.failure !== undefined));
  const visit = afterVisit(policy, prior?.visit, {
    outcome,
    at: page.fetchedAt,
    freshForMs: freshForMs(page),
    sitemap: page.purpose === 'sitemap',
  });
  const isCopy = prior?.pointer !== undefined && prior.status < 400;
  if (prior === undefined || outcome !== 'failed' || !isCopy) {
    const { simhash, nearDuplicateOf } = fingerprintOf(prior, outcome);
    return { row: { ...row, simhash, nearDuplicateOf, visit }, outcome, keepsCopy: false };
  }
  const { failure } = row;
  return { row: { ...prior, failure, visit }, outcome, keepsCopy: true };
}

/** What was found out about the text that the row had: it holds for the same text, and is compared with that of a changed page. */
function fingerprintOf(
  prior: PageRow | undefined,
  outcome: VisitOutcome,
): Pick<PageRow, 'simhash' | 'nearDuplicateOf'> {
  if (prior?.simhash === undefined) return NO_FINGERPRINT;
  const { simhash, nearDuplicateOf } = prior;
  if (outcome === 'unchanged') return { simhash, nearDuplicateOf };
  return outcome === 'changed' ? { simhash, nearDuplicateOf: undefined } : NO_FINGERPRINT;
}

const NO_FINGERPRINT = { simhash: undefined, nearDuplicateOf: undefined };

/** Field by field: a spread of a whole row, for each page, costs several times as much. */
function factsOf({ status, contentDigest, redirectTo }: PageRow, hasFailed: boolean): VisitFacts {
  return { status, hasFailed, contentDigest, redirectTo };
}

/** The row after a 304: the copy is current, and what the answer says of itself replaces what was known (RFC 9111 §4.3.4). */
export function packNotModified(
  policy: RecrawlPolicy,
  page: PageCheckpoint,
  prior: PageRow,
  validators: Pick<PageRow, 'etag' | 'lastModified'>,
): PackedVisit {
  const outcome = 'unchanged';
  const visit = afterVisit(policy, prior.visit, {
    outcome,
    at: page.fetchedAt,
    freshForMs: freshForMs(page),
    sitemap: page.purpose === 'sitemap',
  });
  const row = {
    ...prior,
    fetchedAt: page.fetchedAt,
    failure: undefined,
    etag: validators.etag ?? prior.etag,
    lastModified: validators.lastModified ?? prior.lastModified,
    visit,
  };
  return { row, outcome, keepsCopy: true };
}

/** What the change feed tells of a visit: pages with status 200 come and go; what never was one is not spoken of. */
export function changeOf(page: PageCheckpoint, visited: PackedVisit): ChangeKind | undefined {
  if (page.purpose !== 'page' || visited.outcome === 'failed') return undefined;
  const wasPage = page.prior?.status === 200;
  if (visited.row.status !== 200) return wasPage ? 'gone' : undefined;
  if (!wasPage) return 'new';
  return visited.outcome === 'unchanged' ? 'unchanged' : 'changed';
}

/** The entry of the schedule that a page's row asks for. */
export function dueOf(page: PageCheckpoint, row: PageRow): DueCheckpoint | undefined {
  const { hostKey, partition, urlKey } = page;
  if (row.visit === undefined || row.visit.dueAt === 0) return undefined;
  return { hostKey, partition, urlKey, dueAt: row.visit.dueAt };
}

/** Most answers say nothing of caching, and then no header is taken apart. */
function freshForMs({ response, fetchedAt }: PageCheckpoint): number | undefined {
  if (response === undefined || !saysOfCaching(response)) return undefined;
  return freshnessLifetimeMs(response.headers, fetchedAt);
}

function saysOfCaching({ headers }: FetchResponse): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    const { length } = headers[index] as string;
    // `Cache-Control` and `Expires`, told by their lengths first.
    if (length !== 13 && length !== 7) continue;
    const name = (headers[index] as string).toLowerCase();
    if (name === 'cache-control' || name === 'expires') return true;
  }
  return false;
}
