// The whole contact of the crawl with the outside world, as interfaces (DESIGN.md §2). The real ones live in net and storage; the
// simulator has its own. Actors are synchronous: a slow port is started by a call and answers later through the callback it was given,
// which posts a message; only reads of an actor's own stored state are synchronous (an LMDB get).
// Nothing here throws for anything the web or the disk does: outcomes are values.

import type { HostKey, MonotonicMs, PartitionIndex, UrlKey, WallMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import type { Outlinks } from './page-outlinks.ts';
import type { PageToParse } from './parse-stage.ts';
import type {
  Band,
  BodyPointer,
  HostRow,
  Lane,
  PageRow,
  QueueEntry,
  RenderFacts,
  RobotsRow,
} from './rows.ts';

// ---------------------------------------------------------------------------------------------------------------- step 9: fetch

/** Why a request is made; decides body bounds and what becomes of the answer. */
export type FetchPurpose = 'page' | 'robots' | 'sitemap' | 'resource';

/** One request. The address was resolved and is checked once more by the guard when connecting (I13). */
export interface FetchRequest {
  /** Unique per shard and run. */
  readonly fetchId: number;
  readonly purpose: FetchPurpose;
  /** Absolute http(s) URL as it is sent, without fragment. */
  readonly url: string;
  /** Asked for by a page of another host, which must not read what a login gets: only the ordinary request is made. */
  readonly isForeign?: boolean;
  /** IP addresses (textual, v4 or v6) to try in this order; at least one. */
  readonly addresses: readonly string[];
  /** Validators of the stored copy for a conditional request (RFC 9110 §13), if any. */
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** A usable answer: status line and headers arrived. */
export interface FetchResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly reason: string;
  /** Flat list name, value, name, value …; Latin-1 strings as received, names in the case received. */
  readonly headers: readonly string[];
  /** The message body without transfer coding, content coding still applied. */
  readonly payload: Uint8Array;
  /** The payload with content codings removed; the very same object when there was none or it is unknown. */
  readonly body: Uint8Array;
  /** Why the payload or body is not whole (WARC-Truncated vocabulary), if it is not. */
  readonly truncated: 'length' | 'time' | 'disconnect' | 'unspecified' | undefined;
  /** The request line and headers as sent, ending in an empty line. */
  readonly requestHead: string;
  /** The IP address that answered. */
  readonly address: string;
  readonly startedMs: MonotonicMs;
  /**
   * From the request on its way to the first byte of the answer, without the time in which our own loop was busy elsewhere (PERFORMANCE.md 8);
   * ≥ 0. Setting up a connection is not in it.
   */
  readonly responseMs: number;
  /** Last byte or abort: the gap counts from here. */
  readonly endedMs: MonotonicMs;
}

/** No usable answer. */
export interface FetchFailure {
  readonly kind: 'failed';
  readonly failure: FailureKind;
  /** For people: at most 200 characters. */
  readonly detail: string;
  readonly address: string | undefined;
  readonly startedMs: MonotonicMs;
  readonly endedMs: MonotonicMs;
}

export type FetchOutcome = FetchResponse | FetchFailure;

/** Step 9. Only `fetch-gate.ts` holds it: no worker can bypass the frontier. */
export interface FetchPort {
  /** Starts a request; `ended` is called exactly once, never synchronously. */
  start(request: FetchRequest, ended: (outcome: FetchOutcome) => void): void;
  /** Ends a request early; its `ended` is still called (kind failed, failure aborted). Unknown ids are ignored. */
  abort(fetchId: number): void;
  /** Closes idle connections to a host that will not be asked again soon. */
  release(origin: string): void;
}

// ------------------------------------------------------------------------------------------------------------------- DNS

export type ResolveOutcome =
  /** `addresses` in order of preference, forbidden ones removed; `ttlMs` of the shortest record. */
  | { readonly kind: 'resolved'; readonly addresses: readonly string[]; readonly ttlMs: number }
  /** Every address is one that may not be contacted (address guard). */
  | { readonly kind: 'forbidden'; readonly addresses: readonly string[]; readonly ttlMs: number }
  | { readonly kind: 'no-such-host'; readonly ttlMs: number }
  | { readonly kind: 'failed'; readonly detail: string };

export interface ResolvePort {
  /** Looks a host name (or textual IP address) up; `answered` is called exactly once, never synchronously. */
  resolve(host: string, answered: (outcome: ResolveOutcome) => void): void;
}

// -------------------------------------------------------------------------------------------------- frontier entries and rows

/** What was fetched, or `rendered`: the document that the browser made of it. */
export type PagePurpose = FetchPurpose | 'rendered';

/** A fetched URL on its way to the disk. Exactly one of `response` and `failure` is set. */
export interface PageCheckpoint {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly urlKey: UrlKey;
  readonly url: string;
  readonly depth: number;
  /** Redirect hops that led here; the targets of a redirect answer have one more. */
  readonly hops: number;
  readonly fetchedAt: WallMs;
  readonly response: FetchResponse | undefined;
  readonly failure: FailureKind | undefined;
  readonly redirectTo: string | undefined;
  /** True for answers whose links are to be followed: the page enters the unparsed log in the same commit. */
  readonly parse: boolean;
  /** Robots answers and resources are archived, but make no page row; duplicates are looked for among pages only. */
  readonly purpose: PagePurpose;
  /** The page's row as it was when the request started, on another visit than the first. */
  readonly prior: PageRow | undefined;
  /** Enters the unparsed log even as an exact duplicate on its origin. */
  readonly parseCopy?: boolean;
  /** Of a `rendered` document only: it makes a row of table `renders`, and its body a conversion record. */
  readonly render?: RenderFacts | undefined;
}

/** A page and when it is due for another visit: enters the schedule on disk, table `due`. */
export interface DueCheckpoint extends UrlPlace {
  readonly dueAt: WallMs;
}

/** Names a row of the schedule: pages of one partition that are due at one time. */
export interface DueRowPlace {
  readonly partition: PartitionIndex;
  readonly dueAt: WallMs;
  /** Rows of one time are numbered, since each holds a bounded number of pages. */
  readonly number: number;
}

/** A row of the schedule, oldest entry first. */
export interface DueRow extends DueRowPlace {
  readonly pages: readonly { readonly hostKey: HostKey; readonly urlKey: UrlKey }[];
}

/** The first so many pages of a row have entered their hosts' queues. */
export interface DueRowTaken extends DueRowPlace {
  readonly count: number;
}

/** What is due now, and when more will be. */
export interface DueLook {
  /** Earliest first. */
  readonly rows: readonly DueRow[];
  /** Time of the earliest row that was not due; Infinity when there is none. */
  readonly nextAt: number;
}

/** A newly accepted URL, for the frontier log. */
export interface DiscoveredCheckpoint {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly band: Lane;
  readonly entry: QueueEntry;
}

/** Entries of one band moved from the log's care to a chunk row, oldest first, sequences without holes. */
export interface ChunkCheckpoint {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly band: Lane;
  readonly entries: readonly QueueEntry[];
}

/** A chunk row whose entries are all done. */
export interface ChunkRemoval {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly band: Lane;
  readonly firstSequence: number;
}

/** A URL that robots.txt did not admit when it was scheduled: table `denied`; looked at again when the rules change. */
export interface DeniedCheckpoint {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly band: Band;
  readonly entry: QueueEntry;
}

/** One request as the audit keeps it (wall clock, for proof across restarts). */
export interface AuditEntry {
  readonly host: string;
  readonly address: string;
  readonly url: string;
  readonly purpose: FetchPurpose;
  readonly startedAt: WallMs;
  readonly endedAt: WallMs;
  /** The gap that was in force when the request started, milliseconds. */
  readonly gapMs: number;
  /** Wall-clock fetch time of the robots.txt the decision rests on; 0 for a robots fetch itself. */
  readonly robotsAt: WallMs;
  /** HTTP status, or 0 with `failure` set. */
  readonly status: number;
  readonly failure: FailureKind | undefined;
  /** Retry-After received, in milliseconds, 0 when none. */
  readonly retryAfterMs: number;
  /**
   * When the process that made the request started. A crash can lose the last lines before it, so a host known from disk waits its full
   * gap from here too, which the audit can only hold the log against if it is written down.
   */
  readonly runStartedAt: WallMs;
}

/** A row of table outbox: a batch on its way to another machine, or, without bytes, one that its receiver has committed. */
export interface OutboxCheckpoint {
  readonly partition: PartitionIndex;
  /** Unique in the partition. */
  readonly id: number;
  readonly bytes: Uint8Array | undefined;
}

/** Where the rows of one URL are kept. */
export interface UrlPlace {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly urlKey: UrlKey;
}

/** Everything one shard wants durable, as one commit (I8). Lists may be empty. */
export interface CheckpointBatch {
  /** 1, 2, 3 … per shard and run; receipts name it. */
  readonly sequence: number;
  readonly pages: readonly PageCheckpoint[];
  readonly hosts: readonly { readonly hostKey: HostKey; readonly row: HostRow }[];
  readonly robots: readonly (Omit<UrlPlace, 'urlKey'> & { readonly row: RobotsRow })[];
  readonly discovered: readonly DiscoveredCheckpoint[];
  readonly chunks: readonly ChunkCheckpoint[];
  readonly chunkRemovals: readonly ChunkRemoval[];
  readonly denied: readonly DeniedCheckpoint[];
  readonly deniedRemovals: readonly UrlPlace[];
  /** Ids from page receipts whose outlinks are durable at their owners: they leave the unparsed log. */
  readonly parsedIds: readonly number[];
  /** Rows of committed pages to replace: what was found out about a page after its commit. */
  readonly pageRows: readonly (UrlPlace & { readonly row: PageRow })[];
  /** Visits put off without a request; those that follow from `pages` are not among them. */
  readonly due: readonly DueCheckpoint[];
  readonly dueTaken: readonly DueRowTaken[];
  readonly outbox: readonly OutboxCheckpoint[];
  readonly audit: readonly AuditEntry[];
  /** Increments of the crawl's durable counters, by stable name, for example `skipped.robots`. */
  readonly counters: Readonly<Record<string, number>>;
  /** Set once every entry of log segments up to this number that this shard owns is done or in a chunk row. */
  readonly sweptThroughSegment: number | undefined;
}

/** What became of one page of a batch, in the order of `pages`. */
export interface PageReceipt {
  /** Its id in the unparsed log; 0 when it was not entered there (parse false, or an exact duplicate on the same origin). */
  readonly unparsedId: number;
  /** URL of the first stored page with the same decoded body, when there is one: of the same origin, its links are not followed again. */
  readonly duplicateOf: string | undefined;
}

/** What storage tells a shard, always asynchronously. */
export type StorageEvent =
  | {
      readonly kind: 'checkpoint-committed';
      readonly sequence: number;
      readonly receipts: readonly PageReceipt[];
    }
  /** The frontier log began a new segment: entries of earlier ones should be swept into chunk rows soon. */
  | { readonly kind: 'log-rolled'; readonly segment: number }
  /** Storage cannot go on (full disk, damage): nothing after the last receipt is durable; the crawl must stop in order. */
  | {
      readonly kind: 'storage-failed';
      readonly code: 'disk-full' | 'disk' | 'data-damaged';
      readonly detail: string;
    };

/** Step 10 as a shard sees it. */
export interface CheckpointPort {
  /** Hands a batch over. Batches of a shard commit in order. Never blocks; see `pendingBytes`. */
  submit(batch: CheckpointBatch): void;
  /** Bytes handed over and not yet committed; the shard stops fetching above its high-water mark. */
  pendingBytes(): number;
}

/** What a stored body is parsed as; `rendered` is a document that the browser made. */
export type ParsePurpose = 'page' | 'sitemap' | 'rendered';

/** A page that was committed but whose outlinks may not be: parsed again after a crash, never fetched again (I9). */
export interface UnparsedPage {
  readonly unparsedId: number;
  readonly hostKey: HostKey;
  readonly urlKey: UrlKey;
  readonly url: string;
  readonly depth: number;
  readonly hops: number;
  readonly purpose: ParsePurpose;
  readonly pointer: BodyPointer;
}

/** A stored answer read back from its WARC record. */
export interface StoredBody {
  readonly status: number;
  readonly headers: readonly string[];
  /** Decoded body. */
  readonly body: Uint8Array;
}

/** Synchronous reads of own state; sees this shard's own uncommitted writes. */
export interface StateReader {
  host(hostKey: HostKey, partition: PartitionIndex): HostRow | undefined;
  robots(hostKey: HostKey, partition: PartitionIndex): readonly RobotsRow[];
  /** The chunk that contains the entry `sequence` (its key is the greatest first sequence not above it). */
  chunk(
    hostKey: HostKey,
    partition: PartitionIndex,
    band: Lane,
    sequence: number,
  ): readonly QueueEntry[] | undefined;
  page(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined;
  /** What the browser made of a page, as of the last commit: its row of table `renders`. */
  rendered(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined;
  denied(hostKey: HostKey, partition: PartitionIndex): Iterable<DeniedCheckpoint>;
  /** True when this URL is recorded as denied by robots.txt. */
  isDenied(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): boolean;
  /** Hosts of these partitions with queued or parked entries, for the schedule after a start. */
  hostsWithWork(owns: (partition: PartitionIndex) => boolean): Iterable<{
    readonly hostKey: HostKey;
    readonly partition: PartitionIndex;
    readonly row: HostRow;
  }>;
  unparsed(owns: (partition: PartitionIndex) => boolean): Iterable<UnparsedPage>;
  /** Rows of the schedule that are due at `now`, of committed state only, `rowsMax` at most; those that `isTaken` are passed over. */
  due(
    owns: (partition: PartitionIndex) => boolean,
    look: {
      readonly now: WallMs;
      readonly rowsMax: number;
      readonly isTaken: (row: DueRowPlace) => boolean;
    },
  ): DueLook;
  body(pointer: BodyPointer): StoredBody | undefined;
}

/** Synchronous reads of what is on its way to other machines, as of the last commit. */
export interface OutboxReader {
  /** Batches that their receivers have not committed. */
  outbox(): Iterable<{
    readonly partition: PartitionIndex;
    readonly id: number;
    readonly size: number;
  }>;
  outboxBytes(partition: PartitionIndex, id: number): Uint8Array | undefined;
  /** Keys of all fetched URLs of a partition, as of the last commit. */
  settledKeys(partition: PartitionIndex): Iterable<UrlKey>;
}

// ------------------------------------------------------------------------------------------------- step 11: guarded parse

/** Why a guarded parse gave nothing; `detail` is for people, at most 200 characters. */
export type GuardedParseFailure =
  | { readonly kind: 'timeout' | 'out-of-memory' }
  | { readonly kind: 'failed'; readonly detail: string };
export type GuardedParseOutcome =
  | { readonly kind: 'parsed'; readonly outlinks: Outlinks }
  | GuardedParseFailure;

/** Parses where time and memory are limited. `answered` is called once, at any time, also at once; never after the shard's end. */
export interface GuardedParsePort {
  parse(page: PageToParse, answered: (outcome: GuardedParseOutcome) => void): void;
}

/** Step 4, the exact answer behind the Bloom filter. Keys as two unsigned 32-bit halves. */
export interface ExactSeen {
  has(high: number, low: number): boolean;
  /** Records a key; durable with the log entry of the same URL. */
  add(high: number, low: number): void;
}
