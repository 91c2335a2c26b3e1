// The snapshot of a running crawl that dashboard, metrics and the live view are drawn from (all
// steps; DESIGN.md §10). Totals since the crawl began and levels now, never rates: whoever watches
// computes rates from two snapshots (overview-rates.ts), so that two watchers with different
// intervals do not disturb each other. Plain data, bounded: the only lists are shards and nodes.

/** A cumulative histogram of durations; mergeable by adding counts. */
export interface DurationHistogram {
  /** Upper bounds in milliseconds, ascending; at most 32. */
  readonly boundsMs: readonly number[];
  /** Observations at most each bound and above the one before, then those above the last: one more than bounds. */
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** One number for each priority band Q1, Q2, Q3. */
export type PerBand = readonly [number, number, number];

/** What the crawl as a whole is doing. */
export type CrawlState = 'starting' | 'running' | 'paused' | 'draining' | 'stopping';

/** One crawl thread. */
export interface ShardOverview {
  readonly shard: number;
  readonly inFlight: number;
  /** Hosts that could be asked now. */
  readonly hostsReady: number;
  /** Hosts waiting for their gap. */
  readonly hostsWaiting: number;
  readonly hostsBackingOff: number;
  /** Host actors awake. */
  readonly hostsActive: number;
  readonly parseBacklog: number;
  /** Bytes fetched and not yet committed. */
  readonly pendingBytes: number;
  /** Links on their way to another shard. */
  readonly linksWaiting: number;
  /** Milliseconds spent running actors, since the start. */
  readonly busyMs: number;
  /** Lateness of the event loop, smoothed and at its worst since the last snapshot; milliseconds. */
  readonly loopDelayMs: number;
  readonly loopDelayMaxMs: number;
  readonly connections: number;
  readonly deadLetters: number;
}

/** One machine of the crawl; a crawl without `--nodes` has one. */
export interface NodeOverview {
  readonly name: string;
  readonly state: 'up' | 'draining' | 'suspect' | 'down';
  readonly partitions: number;
}

/** The storage thread; times over the last few hundred commits. */
export interface StorageOverview {
  readonly batches: number;
  readonly groups: number;
  /** Bytes of packed batches received. */
  readonly bytes: number;
  readonly queuedBytes: number;
  readonly syncP50Ms: number;
  readonly syncMaxMs: number;
  readonly commitP50Ms: number;
  readonly commitMaxMs: number;
  readonly frontierSegments: number;
  /** Free bytes of the file system under the data directory. */
  readonly diskFreeBytes: number;
}

/** See the head of this file. Counters cover all runs of the crawl unless they say otherwise; times are milliseconds since the epoch. */
export interface CrawlOverview {
  readonly at: number;
  /** When this process began; times by the wall clock. */
  readonly startedAt: number;
  readonly version: string;
  readonly state: CrawlState;
  /** 200 pages stored. */
  readonly pages: number;
  /** Requests ended with an answer, robots.txt included. */
  readonly fetched: number;
  /** Body bytes received. */
  readonly bytes: number;
  /** New URLs that entered a queue. */
  readonly discovered: number;
  /** Links read from pages, known ones included. */
  readonly links: number;
  readonly duplicates: { readonly exact: number; readonly near: number };
  /** Pages that their host shows under unrelated paths; exact and near ones are among them. */
  readonly soft404: number;
  /** Answers by status code (`"200"`). */
  readonly statuses: Readonly<Record<string, number>>;
  /** URLs given up, by failure kind (src/domain/failure.ts). */
  readonly failures: Readonly<Record<string, number>>;
  /** Requests to be repeated, by failure kind. */
  readonly retries: Readonly<Record<string, number>>;
  /** URLs not taken up, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Pages in the browser, by what became of them (docs/RENDERING.md). */
  readonly render: Readonly<Record<string, number>>;
  /** Pages that wait for the browser or are with it. */
  readonly rendering: number;
  /** Time to the first byte of this process's requests; undefined when it is not measured. */
  readonly responseMs: DurationHistogram | undefined;
  /** URLs waiting in back queues. */
  readonly queuedByBand: PerBand;
  /** URLs set aside as of low value. */
  readonly parked: number;
  readonly hosts: {
    /** Hosts with a row: ever queued. */
    readonly known: number;
    readonly active: number;
    readonly ready: number;
    readonly waiting: number;
    readonly backingOff: number;
  };
  readonly inFlight: number;
  /** Most requests that may be in flight. */
  readonly slots: number;
  /** The least gap between two requests to a host, as configured. */
  readonly minGapMs: number;
  readonly seenSet: {
    readonly keys: number;
    /** Keys the filter holds at its configured false-positive rate. */
    readonly capacity: number;
    readonly generations: number;
    /** Look-ups that the filter alone could not answer. */
    readonly confirmed: number;
    readonly falsePositives: number;
  };
  readonly storage: StorageOverview;
  readonly shards: readonly ShardOverview[];
  readonly nodes: readonly NodeOverview[];
  readonly partitions: number;
  /** RssAnon and RssShmem of /proc/self/status (PERFORMANCE.md 8); 0 where there is no /proc. */
  readonly memory: { readonly anonBytes: number; readonly sharedBytes: number };
  /** User and system time of this process. */
  readonly cpuSeconds: number;
}
