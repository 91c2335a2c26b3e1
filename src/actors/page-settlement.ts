// Between steps 9 and 10: what becomes of one URL after its request. Either it is tried again (a new entry at the tail of the queue), or it
// is settled: a page checkpoint is staged, and its done mark with it. A redirect that only respells the URL is followed here, since the
// seen set would take its target for the page itself.

import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import { wallMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import { isParsed, isRetried, type PageVerdict, redirectTarget } from './page-outcome.ts';
import type { FetchOutcome, PageCheckpoint } from './ports.ts';
import type { QueueEntry } from './rows.ts';
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
  readonly policy: Pick<HostServices['policy'], 'redirectsMax'>;
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
): Settlement {
  const { stage } = services;
  stage.count('fetched');
  if (outcome.kind === 'response') {
    stage.count(`status.${outcome.status}`);
    stage.count('bytes', outcome.payload.byteLength);
  }
  if (verdict.failure !== undefined && isRetried(verdict.failure, entry)) {
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
  const stored = outcome.kind === 'response' && outcome.status === 200;
  if (stored) stage.count(entry.purpose === 'sitemap' ? 'sitemaps' : 'pages');
  return {
    page: pageOf(services, id, entry, outcome, { failure, target }),
    again: undefined,
    stored: stored && entry.purpose === 'page',
    failed: failure !== undefined,
  };
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
  result: { readonly failure: FailureKind | undefined; readonly target: string | undefined },
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
  };
}
