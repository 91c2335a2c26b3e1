// Between steps 9 and 10: what becomes of one URL after its request. Either it is tried again (a new entry at the tail of the queue), or it
// is settled: a page checkpoint is staged, and its done mark with it. A redirect that only respells the URL is followed here, since the
// seen set would take its target for the page itself.

import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import { wallMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import { isParsed, isRetried, type PageVerdict, redirectTarget } from './page-outcome.ts';
import type { FetchOutcome, PageCheckpoint } from './ports.ts';
import type { PageRow, QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';

export interface Settlement {
  /** What to archive, if anything. */
  readonly page: PageCheckpoint | undefined;
  /** The entry to append for another try. */
  readonly again: Omit<QueueEntry, 'sequence'> | undefined;
  /** True for a 200 that counts as a stored page. */
  readonly stored: boolean;
  readonly failed: boolean;
}

interface SettlementServices {
  readonly stage: CheckpointStage;
  readonly policy: Pick<HostServices['policy'], 'redirectsMax' | 'renders'>;
  readonly startedMs: HostServices['startedMs'];
  readonly startedAt: HostServices['startedAt'];
  keyOf(url: string): UrlKey;
}

/** Decides about one ended page request and counts it. */
export function settlePage(
  services: SettlementServices,
  id: { readonly hostKey: HostKey; readonly partition: PartitionIndex },
  entry: QueueEntry,
  outcome: FetchOutcome,
  verdict: PageVerdict,
  prior: PageRow | undefined,
): Settlement {
  const { stage } = services;
  stage.count('fetched');
  if (outcome.kind === 'response') {
    stage.count(`status.${outcome.status}`);
    stage.count('bytes', outcome.payload.byteLength);
  }
  // A page that failed last time is asked once: its next visits come at growing distances, and each failure slows its whole host.
  const hasMissed = (prior?.visit?.missed ?? 0) > 0;
  if (verdict.failure !== undefined && !hasMissed && isRetried(verdict.failure, entry)) {
    stage.count(`retries.${verdict.failure}`);
    return retried({ ...entry, attempts: entry.attempts + 1 });
  }
  const target = redirectTarget(outcome, entry.url);
  const respelled = target !== undefined && services.keyOf(target) === entry.urlKey;
  const hopsLeft = entry.hops < services.policy.redirectsMax;
  if (respelled && hopsLeft && target !== entry.url) {
    stage.count('redirects.respelled');
    return retried({ ...entry, url: target, hops: entry.hops + 1, attempts: 0 });
  }
  const tooMany = target !== undefined && (!hopsLeft || target === entry.url);
  const failure = tooMany ? 'too-many-redirects' : verdict.failure;
  if (failure !== undefined) stage.count(`failures.${failure}`);
  const stored = countStored(services, entry, outcome, { failure, prior });
  return {
    page: pageOf(services, id, entry, outcome, { failure, target, prior }),
    again: undefined,
    stored,
    failed: failure !== undefined,
  };
}

/**
 * Keeps the number of stored pages what it says: rows with status 200. Another visit adds none, unless the page was not there before, and
 * takes one away when the page has become something else; a visit that failed leaves the stored copy.
 * @returns true for a page that is stored for the first time
 */
function countStored(
  { stage }: SettlementServices,
  entry: QueueEntry,
  outcome: FetchOutcome,
  known: { readonly failure: FailureKind | undefined; readonly prior: PageRow | undefined },
): boolean {
  const status = outcome.kind === 'response' ? outcome.status : 0;
  const wasStored = known.prior?.status === 200;
  const name = entry.purpose === 'sitemap' ? 'sitemaps' : 'pages';
  if (status === 200) {
    if (!wasStored) stage.count(name);
    return !wasStored && entry.purpose === 'page';
  }
  if (wasStored && replacesCopy(status, known.failure)) stage.count(name, -1);
  return false;
}

/** True when the answer to another visit takes the place of the stored copy: the page is gone, or leads elsewhere. */
export function replacesCopy(status: number, failure: FailureKind | undefined): boolean {
  if (failure !== undefined && failure !== 'too-many-redirects') return false;
  return status === 404 || status === 410 || (status >= 200 && status < 400 && status !== 304);
}

function retried(entry: QueueEntry): Settlement {
  const { sequence: _sequence, ...again } = entry;
  return { page: undefined, again, stored: false, failed: false };
}

function pageOf(
  services: SettlementServices,
  id: { readonly hostKey: HostKey; readonly partition: PartitionIndex },
  entry: QueueEntry,
  outcome: FetchOutcome,
  result: {
    readonly failure: FailureKind | undefined;
    readonly target: string | undefined;
    readonly prior: PageRow | undefined;
  },
): PageCheckpoint {
  return {
    hostKey: id.hostKey,
    partition: id.partition,
    urlKey: entry.urlKey,
    url: entry.url,
    depth: entry.depth,
    hops: entry.hops,
    fetchedAt: wallMs(services.startedAt + (outcome.endedMs - services.startedMs)),
    response: outcome.kind === 'response' ? outcome : undefined,
    failure: result.failure,
    redirectTo: result.target,
    parse: result.failure === undefined && isParsed(outcome, entry.purpose),
    purpose: entry.purpose,
    prior: result.prior,
    parseCopy: services.policy.renders && result.prior === undefined,
    render: undefined,
  };
}
