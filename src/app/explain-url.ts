// Everything a stored crawl knows about one URL, and the one sentence that follows (DESIGN.md §9, `why URL`): each decision of steps 1 to 12
// in the order of a URL's life. Reads committed state only, so it answers for a running crawl as of its last commit, and for a stopped one
// in full. What lives only in memory (in flight, addresses, open batches) the debug socket adds.

import type { AuditEntry } from '../actors/ports.ts';
import {
  type BodyPointer,
  type HostRow,
  PARKED,
  type PageRow,
  type RobotsRow,
} from '../actors/rows.ts';
import { type PartitionIndex, type UrlKey, wallMs } from '../base/units.ts';
import { gapMsOf } from '../domain/politeness.ts';
import { Ring } from '../domain/ring.ts';
import type { RobotsVerdict } from '../domain/robots-matcher.ts';
import type { ScopeRefusal } from '../domain/scope.ts';
import type { Trap } from '../domain/traps.ts';
import { optOutOf, type WhyOptOut } from './explain-opt-out.ts';
import { parkingOf, type WhyParking } from './explain-parking.ts';
import { renderingOf, type WhyRendering } from './explain-rendering.ts';
import { repeatsOf, type WhyRepeats } from './explain-repeats.ts';
import { findEntry, type QueuePlace } from './find-entry.ts';
import { HostSettings } from './host-settings.ts';
import { LinkJudge } from './link-judgement.ts';
import { type CrawlReading, placeOfHost } from './read-crawl.ts';
import { StoredRobots } from './stored-robots.ts';
import { sentenceOf } from './why-sentence.ts';

/** Files of the audit log that are searched for requests of the URL: about four million requests, half a second. */
const AUDIT_SEGMENTS_MAX = 8;
/** Requests of the URL that are told. */
const ATTEMPTS_MAX = 50;

/** The answer. Times are wall clock, milliseconds; keys sixteen hexadecimal digits. */
export interface WhyAnswer {
  readonly url: string;
  /** What it comes to, in one sentence. */
  readonly answer: string;
  /** Undefined when the text is no URL of a crawl; `answer` says why. */
  readonly trace: WhyTrace | undefined;
}

export interface WhyTrace {
  readonly canonical: string;
  /** Its own spelling, as it would be sent. */
  readonly request: string;
  /** Rules of step 1 that changed the spelling. */
  readonly steps: readonly string[];
  readonly urlKey: string;
  readonly host: string;
  readonly hostKey: string;
  readonly partition: number;
  /** The crawl thread that owns it, with today's number of threads. */
  readonly thread: number;
  /** Whether it was ever accepted; exact. */
  readonly seen: boolean;
  readonly scope: {
    readonly mode: string;
    readonly seeds: number;
    readonly outside: ScopeRefusal | undefined;
  };
  /** Set when the host's owner asked to be left alone: nothing more is fetched from it. */
  readonly optOut: WhyOptOut | undefined;
  readonly trap: Trap | undefined;
  /** The robots.txt of its origin as stored; undefined when it was never read. */
  readonly robots: WhyRobots | undefined;
  /** Set while it lies aside because robots.txt did not admit it. */
  readonly isDenied: boolean;
  readonly queue: QueuePlace | undefined;
  /** Set while it waits in the lane of parked URLs. */
  readonly parking: WhyParking | undefined;
  readonly page: WhyPage | undefined;
  /** What its host repeats; undefined while nothing of the host is stored. */
  readonly repeats: WhyRepeats | undefined;
  /** Undefined while no page of the host was rendered. */
  readonly rendering: WhyRendering | undefined;
  /** Its requests in the searched part of the audit log, oldest first, the last fifty. */
  readonly attempts: readonly AuditEntry[];
  readonly hostState: WhyHost | undefined;
}

export interface WhyRobots extends Omit<RobotsRow, 'rules'> {
  /** Undefined while nothing may be fetched because the file is unreachable. */
  readonly verdict: RobotsVerdict | undefined;
}

export interface WhyPage extends PageRow {
  /** True when its links are not all at their owners yet. */
  readonly awaitsParsing: boolean;
  /** File name and byte offset of its record. */
  readonly record: { readonly name: string; readonly offset: number } | undefined;
  /** The first page with the same body, when that is another one. */
  readonly sameBodyAs: string | undefined;
}

export interface WhyHost {
  /** URLs waiting by band. */
  readonly queued: readonly number[];
  readonly gapMs: number;
  /** What the gap is the greatest of, and what multiplies it. */
  readonly gapParts: {
    readonly minGapMs: number;
    readonly crawlDelayMs: number;
    readonly responseMs: number;
    readonly latencyFactor: number;
    readonly penalty: number;
  };
  readonly lastEndedAt: number;
  /** 0 when it does not back off. */
  readonly pausedUntil: number;
  /** As far as the host itself is concerned; its address may have to wait longer. */
  readonly nextAllowedAt: number;
  readonly failuresInRow: number;
  readonly counts: HostRow['counts'];
}

/**
 * Explains one URL.
 * @param url as typed: any spelling, absolute
 * @param nowMs the wall clock
 * @throws CrawlError data-damaged, disk
 */
export function explainUrl(reading: CrawlReading, url: string, nowMs: number): WhyAnswer {
  const { config, store, hasher } = reading;
  const year = new Date(nowMs).getUTCFullYear();
  const judge = new LinkJudge(reading, year);
  const judged = judge.judge(url);
  if (judged.kind === 'rejected') {
    return { url, answer: `It is no URL of a crawl: ${judged.reason}.`, trace: undefined };
  }
  const { canonical, host, request, steps } = judged;
  const urlKey = hasher.urlKey(canonical);
  const place = placeOfHost(reading, host);
  const keys = { ...place, urlKey };
  store.rows.refresh();
  const row = store.rows.host(place.hostKey, place.partition);
  const queue = row === undefined ? undefined : findEntry(store, row, keys);
  const page = pageOf(reading, keys);
  const isParked = row !== undefined && queue?.band === PARKED;
  const trace: WhyTrace = {
    canonical,
    request,
    steps,
    urlKey: hex(urlKey),
    host,
    hostKey: hex(place.hostKey),
    partition: place.partition,
    thread: threadOf(reading, place.partition),
    seen: isSeen(reading, urlKey),
    scope: { mode: config.scope, seeds: judge.seeds.length, outside: judged.outside },
    optOut: optOutOf(config, host),
    trap: judged.trap,
    robots: robotsOf(reading, request),
    isDenied: store.rows.isDenied(place.hostKey, place.partition, urlKey),
    queue,
    parking: isParked ? parkingOf(config, row, request, year) : undefined,
    page,
    repeats: row === undefined ? undefined : repeatsOf(row, request, page),
    rendering: renderingOf(store, keys),
    attempts: attemptsOf(reading, judge, { canonical, host }),
    hostState: row === undefined ? undefined : hostStateOf(reading, row),
  };
  return { url, answer: sentenceOf(trace, { nowMs, maxDepth: config.maxDepth }), trace };
}

function isSeen({ store }: CrawlReading, urlKey: UrlKey): boolean {
  const seen = store.seen();
  try {
    return seen.has(urlKey);
  } finally {
    seen.close();
  }
}

/** As shard-plan.ts places partitions. */
function threadOf({ config, store, hasher }: CrawlReading, partition: PartitionIndex): number {
  const members = Array.from({ length: config.threads }, (_, thread) => ({
    name: `thread-${thread}`,
    weight: 1,
  }));
  const ring = new Ring(members, store.identity.partitions, (text) => hasher.hostKey(text));
  return ring.ownerOf(partition);
}

function robotsOf(reading: CrawlReading, request: string): WhyRobots | undefined {
  const robots = new StoredRobots(reading);
  const row = robots.rowFor(request);
  if (row === undefined) return undefined;
  const { rules: _rules, ...known } = row;
  return { ...known, verdict: robots.verdict(request) };
}

function pageOf(
  { store }: CrawlReading,
  keys: { readonly urlKey: UrlKey } & ReturnType<typeof placeOfHost>,
): WhyPage | undefined {
  const row = store.rows.page(keys.hostKey, keys.partition, keys.urlKey);
  if (row === undefined) return undefined;
  const first = store.rows.firstCopy(row.contentDigest);
  const record = row.pointer === undefined ? undefined : store.place(row.pointer);
  return {
    ...row,
    awaitsParsing: store.unparsedKeys().has(keys.urlKey),
    record,
    sameBodyAs:
      first === undefined || samePlace(first.pointer, row.pointer) ? undefined : first.url,
  };
}

function samePlace(a: BodyPointer, b: BodyPointer | undefined): boolean {
  return b !== undefined && a.file === b.file && a.record === b.record;
}

function attemptsOf(
  { store }: CrawlReading,
  judge: LinkJudge,
  of: { readonly canonical: string; readonly host: string },
): AuditEntry[] {
  const attempts: AuditEntry[] = [];
  for (const entry of store.auditOf(of.host, AUDIT_SEGMENTS_MAX)) {
    if (judge.canonicalOf(entry.url) !== of.canonical) continue;
    attempts.push(entry);
    if (attempts.length > ATTEMPTS_MAX) attempts.shift();
  }
  return attempts;
}

function hostStateOf({ config }: CrawlReading, row: HostRow): WhyHost {
  const { smoothedMs, penalty, failuresInRow, pausedUntil } = row.gap;
  const policy = new HostSettings(config).gapPolicyOf(row.host);
  const { minGapMs, latencyFactor } = policy;
  const { crawlDelayMs, lastEndedAt } = row;
  const gapMs = gapMsOf({ smoothedMs, penalty, failuresInRow, crawlDelayMs }, policy);
  const afterGap = lastEndedAt === 0 ? 0 : lastEndedAt + gapMs;
  return {
    queued: row.queues.map(({ head, tail }) => tail - head),
    gapMs,
    gapParts: { minGapMs, crawlDelayMs, responseMs: smoothedMs, latencyFactor, penalty },
    lastEndedAt,
    pausedUntil,
    nextAllowedAt: wallMs(Math.max(afterGap, pausedUntil)),
    failuresInRow,
    counts: row.counts,
  };
}

/** Sixteen hexadecimal digits. */
function hex(key: bigint): string {
  return key.toString(16).padStart(16, '0');
}
