// The stored state of the frontier and of pages, as the actors see it: queue entries, host, robots and page rows, pointers to bodies.
// Steps 5 to 10 of a URL's life read and write these; storage keeps them (storage/schema docs there), the ports carry them.
// Plain encodable data: fields are only added, and a reader of an older row meets `undefined` there.

import type { PartitionIndex, UrlKey, WallMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import type { VisitState } from '../domain/recrawl.ts';
import type { RenderMemory } from '../domain/render-memory.ts';
import type { RenderReason } from '../domain/render-need.ts';
import type { TwinRow } from '../domain/twin-origins.ts';
import type { HostTally } from '../domain/url-budget.ts';

/** Bands of the front queue: 0 is Q1, the most urgent, 2 is Q3; the last holds pages that are due for another visit. */
export type Band = 0 | 1 | 2 | 4;
/** The band of pages that are due for another visit. Its entries are hints: the page's own row says whether it is due still. */
export const FRESHNESS = 4;
export const BANDS: readonly Band[] = [0, 1, 2, FRESHNESS];

/** A queue of a host: one for each band, and one for URLs over their budget, which no slot is given to. */
export type Lane = Band | 3;
export const PARKED = 3;
export const LANES: readonly Lane[] = [0, 1, 2, PARKED, FRESHNESS];

/** One URL waiting in a host's back queue. */
export interface QueueEntry {
  /** Position in its band's queue of its host, counted from 0 without holes; assigned by the host's owner. */
  readonly sequence: number;
  /** The URL to send: the page's own spelling, absolute, no fragment. Its canonical form is the identity. */
  readonly url: string;
  readonly urlKey: UrlKey;
  /** Links from a seed; 0 for a seed. */
  readonly depth: number;
  /** Failed attempts so far. */
  readonly attempts: number;
  /** Redirect hops that led here; 0 for a discovered link. */
  readonly hops: number;
  readonly purpose: 'page' | 'sitemap';
}

/** Cursors of one queue: entries below `head` are done, below `chunkEnd` they lie in chunk rows, below `tail` in the log. */
export interface QueueCursors {
  readonly head: number;
  readonly chunkEnd: number;
  readonly tail: number;
}

/** What is known of a host's pace; see domain/politeness.ts for the meaning of each number. Plain data. */
export interface GapRow {
  readonly smoothedMs: number;
  readonly penalty: number;
  readonly failuresInRow: number;
  /** Wall-clock time before which the host must not be asked (Retry-After, pauses); 0 when none. */
  readonly pausedUntil: WallMs;
}

/** A host's durable state: LMDB table `hosts`, key partition + host key. */
export interface HostRow {
  readonly host: string;
  readonly partition: PartitionIndex;
  readonly queues: readonly [QueueCursors, QueueCursors, QueueCursors];
  /** Wall-clock end of the last request; a restart waits the full gap after it, or after the restart if that is later. */
  readonly lastEndedAt: WallMs;
  readonly gap: GapRow;
  /** Crawl-delay in force in milliseconds (already capped), 0 when none. */
  readonly crawlDelayMs: number;
  readonly counts: HostCounts;
  /** Cursors of the queue of parked URLs; undefined while none was ever parked. */
  readonly parked: QueueCursors | undefined;
  /** Cursors of the queue of pages due for another visit; undefined while none ever was. */
  readonly due: QueueCursors | undefined;
  /** What the host's URLs have been worth; undefined in rows of older versions. */
  readonly worth: HostWorthRow | undefined;
  /** What rendering its pages has been worth; undefined while none was rendered. */
  readonly renders?: RenderMemory | undefined;
}

const NO_CURSORS: QueueCursors = { head: 0, chunkEnd: 0, tail: 0 };

/** The cursors of any of a host's queues; those of an empty queue when the row, or the lane in it, is missing. */
export function cursorsOf(row: HostRow | undefined, lane: Lane): QueueCursors {
  if (lane === PARKED) return row?.parked ?? NO_CURSORS;
  if (lane === FRESHNESS) return row?.due ?? NO_CURSORS;
  return row?.queues[lane] ?? NO_CURSORS;
}

/** True when URLs of the host wait for their turn or are parked. */
export function hasWork(row: HostRow): boolean {
  return LANES.some((lane) => cursorsOf(row, lane).head < cursorsOf(row, lane).tail);
}

/** What a host's URLs have been worth, and when its parked ones are looked at next. Plain data. */
export interface HostWorthRow {
  readonly tally: HostTally;
  /** The registrable domains seen to link to the host's domain, as 64 bits (domain-accounts.ts). */
  readonly votes: readonly [low: number, high: number];
  /** Start of the process that last entered this host in the accounts of its domain, which a process keeps in memory. */
  readonly enteredAt: WallMs;
  /** Reviews of parked URLs so far; the wait for the next doubles with each. */
  readonly reviews: number;
  /** When the next is due; 0 while nothing is parked. */
  readonly reviewAt: WallMs;
  /** What it shows that is known already; undefined while it has repeated nothing, and in rows of older versions. */
  readonly repeats: HostRepeatsRow | undefined;
}

/** Pages and origins that a host repeats (host-known.ts). Plain data. */
export interface HostRepeatsRow {
  /** Rows of domain/soft-404.ts, end on end. */
  readonly soft404: readonly number[];
  readonly twins: readonly TwinRow[];
}

/** Running totals of one host; they drive budgets, traps and reports. */
export interface HostCounts {
  readonly discovered: number;
  readonly fetched: number;
  readonly stored: number;
  readonly duplicates: number;
  readonly failed: number;
  readonly robotsDenied: number;
  readonly trapped: number;
  readonly inLinks: number;
}

/** robots.txt of one origin: table `robots`, key partition + host key + origin. */
export interface RobotsRow {
  readonly origin: string;
  /** Encoded RobotsRules (domain/robots-parser.ts), plain data. */
  readonly rules: unknown;
  readonly decision: 'rules' | 'allow-all' | 'disallow-all';
  readonly fetchedAt: WallMs;
  readonly expiresAt: WallMs;
  readonly status: number;
  /** Failed fetches in a row, the last one included; 0 when the file is reachable. */
  readonly failures: number;
  /** When the first of them was; 0 when the file is reachable. */
  readonly failingSince: WallMs;
  /** Start of the process that wrote the row, which tells one process from another; undefined in rows from before it was noted. */
  readonly processAt: WallMs | undefined;
}

/** Where a stored body is: a WARC file by number and the record's index in it. Stays valid when the file is compressed or moved. */
export interface BodyPointer {
  readonly file: number;
  readonly record: number;
}

/** One fetched (or finally failed) URL: table `pages`, key partition + host key + URL key. */
export interface PageRow {
  readonly url: string;
  readonly fetchedAt: WallMs;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly failure: FailureKind | undefined;
  readonly depth: number;
  /** Hex SHA-1 of the decoded body; empty when there is none. */
  readonly contentDigest: string;
  readonly contentType: string;
  readonly bodyBytes: number;
  readonly pointer: BodyPointer | undefined;
  /** URL of the page first stored with the same digest, when this one is an exact duplicate. */
  readonly duplicateOf: string | undefined;
  readonly truncated: string | undefined;
  readonly redirectTo: string | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** When it is visited again; undefined in rows from before there was a recrawl. */
  readonly visit: VisitState | undefined;
  /** Fingerprint of the visible text, sixteen hexadecimal digits (domain/simhash.ts); undefined before the parse and for other content. */
  readonly simhash: string | undefined;
  /** URL of an earlier page with nearly the same text. */
  readonly nearDuplicateOf: string | undefined;
  /** Set in rows of table `renders` only: the row then tells of the document that the browser made of the page. */
  readonly render?: RenderFacts | undefined;
}

/** How a rendering went. */
export interface RenderFacts {
  /** Why the page was rendered. */
  readonly reason: RenderReason;
  /** `whole`, `cut-` and the bound that ended it, or the failure (render-port.ts). */
  readonly outcome: string;
  /** Words of visible text and different references, before and after. */
  readonly plainWords: number;
  readonly words: number;
  readonly links: number;
  /** References that the plain page did not have. */
  readonly newLinks: number;
  readonly requests: number;
  readonly elapsedMs: number;
}
