// Holds a stored crawl against the rules of politeness (DESIGN.md §9, `audit`): the audit log through domain/audit-proof.ts, each page's URL
// against the stored robots rules. A second pass over the log, only when there are offences, fetches the lines that prove them, so that
// the first needs no memory for lines.

import type { AuditEntry } from '../actors/ports.ts';
import {
  AuditProof,
  type AuditRule,
  type AuditVerdict,
  type Offence,
} from '../domain/audit-proof.ts';
import type { CrawlReading } from './read-crawl.ts';
import { StoredRobots } from './stored-robots.ts';

/** Longest time from the end of a request to its line: commits are some 100 ms apart, and a full disk queue seconds. */
const COMMIT_LAG_MS = 60_000;

/** The rules in words. */
export const AUDIT_RULE_TEXTS: Readonly<Record<AuditRule, string>> = {
  'one-in-flight': 'one request in flight per host',
  gap: 'the gap in force between two requests to a host',
  'min-gap': 'the gap asked for with --min-gap',
  'restart-gap': 'a full gap after each start of the crawler',
  'retry-after': 'Retry-After',
  'robots-unknown': 'robots.txt read before each page',
  'robots-stale': 'robots.txt not older than a day',
  'robots-denied': 'nothing fetched that robots.txt disallows',
  'address-in-flight': 'requests in flight per address',
};

/** An offence with the lines that prove it. */
export interface ProvenOffence extends Offence {
  readonly request: AuditEntry;
  readonly other: AuditEntry | undefined;
}

export interface PolitenessProof extends Omit<AuditVerdict, 'offences'> {
  readonly offences: readonly ProvenOffence[];
}

/**
 * Replays the whole log; memory is bounded by the hosts of the crawl, some 100 bytes each.
 * @param options.minGapMs a stricter gap to hold every pair of requests against
 * @param options.offencesMax offences that come with their lines; all are counted
 * @throws CrawlError data-damaged, disk
 */
export function provePoliteness(
  reading: CrawlReading,
  options: { readonly minGapMs?: number | undefined; readonly offencesMax: number },
): PolitenessProof {
  const { config, store, hasher } = reading;
  const robots = new StoredRobots(reading);
  const proof = new AuditProof({
    keyOf: (text) => hasher.hostKey(text),
    addressOpenMax: config.addressInFlightMax,
    horizonMs: config.requestDeadlineMs + COMMIT_LAG_MS,
    minGapMs: options.minGapMs,
    verdictOf: ({ url, robotsAt }) => robots.verdictAt(url, robotsAt),
    keptMax: options.offencesMax,
  });
  for (const entry of store.audit()) proof.add(entry);
  const { offences, ...verdict } = proof.finish();
  return { ...verdict, offences: withLines(reading, offences) };
}

function withLines(reading: CrawlReading, offences: readonly Offence[]): ProvenOffence[] {
  const wanted = new Map<number, AuditEntry | undefined>();
  for (const { ordinal, otherOrdinal } of offences) {
    wanted.set(ordinal, undefined);
    if (otherOrdinal !== undefined) wanted.set(otherOrdinal, undefined);
  }
  let missing = wanted.size;
  let ordinal = 0;
  for (const entry of missing === 0 ? [] : reading.store.audit()) {
    if (wanted.has(ordinal)) {
      wanted.set(ordinal, entry);
      missing -= 1;
      if (missing === 0) break;
    }
    ordinal += 1;
  }
  return offences.flatMap((offence) => {
    const request = wanted.get(offence.ordinal);
    if (request === undefined) return [];
    const { otherOrdinal } = offence;
    const other = otherOrdinal === undefined ? undefined : wanted.get(otherOrdinal);
    return [{ ...offence, request, other }];
  });
}
