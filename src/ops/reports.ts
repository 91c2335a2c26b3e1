// The longer answers about a running crawl (DESIGN.md §10): what `host`, `why`, `front` and their
// like say. Shapes only. Texts from the web in them (URLs, robots lines, header values) are as
// received; whoever prints them escapes them (text-form.ts). Times at which something happened are
// milliseconds since the epoch, spans end in `Ms`.

/** One request that was made. */
export interface FetchLine {
  readonly at: number;
  readonly url: string;
  readonly status: number;
  /** Failure kind; undefined when an answer came. */
  readonly failure: string | undefined;
  /** From the start of the request to its last byte. */
  readonly tookMs: number;
}

/** By what hosts are listed, the greatest first. */
export type HostOrder = 'fetched' | 'queued' | 'failed' | 'gap';

/** All host orders. */
export const HOST_ORDERS: readonly HostOrder[] = ['fetched', 'queued', 'failed', 'gap'];

/** One host in a list. */
export interface HostLine {
  readonly host: string;
  readonly shard: number;
  readonly fetched: number;
  readonly stored: number;
  readonly failed: number;
  readonly queued: number;
  readonly gapMs: number;
  /** Time until it may be asked; 0 when now. */
  readonly nextInMs: number;
  /** `in flight`, `ready`, `gap`, `backoff`, `paused`, `robots`, `dns`, `idle`. */
  readonly state: string;
}

/** Everything about one host. */
export interface HostReport {
  readonly host: string;
  readonly hostKey: string;
  readonly partition: number;
  readonly shard: number;
  readonly node: string;
  /** `active`, `asleep` (known from its row alone). */
  readonly state: string;
  /** One sentence for each thing it waits for; empty when it is ready or in flight. */
  readonly whyNotReady: readonly string[];
  readonly nextInMs: number;
  readonly queuedByBand: readonly number[];
  /** URL in flight. */
  readonly inFlight: string | undefined;
  /** The parts of the gap; it is their maximum, raised by the penalty. */
  readonly gap: Readonly<Record<string, number>>;
  readonly addresses: readonly string[];
  readonly robots: readonly RobotsReport[];
  readonly counts: Readonly<Record<string, number>>;
  /** Its last requests, newest first, from the newest file of the audit log. */
  readonly recent: readonly FetchLine[];
}

/** One decision about a URL, in the order of the twelve steps of DESIGN.md §1. */
export interface Decision {
  /** 1 … 12. */
  readonly step: number;
  readonly what: string;
  readonly result: string;
  /** The rule, line or figure that decided; empty when there is nothing to add. */
  readonly because: string;
}

/** Everything about one URL. */
export interface UrlReport {
  readonly input: string;
  /** Undefined when the URL is not one the crawl can have. */
  readonly canonical: string | undefined;
  /** One sentence: why it was, will be, or will not be crawled. */
  readonly verdict: string;
  readonly decisions: readonly Decision[];
  readonly fetches: readonly FetchLine[];
}

/** The front of the frontier. */
export interface FrontReport {
  readonly bands: readonly {
    readonly band: number;
    readonly weight: number;
    readonly urls: number;
  }[];
  readonly hostsReady: number;
  readonly hostsWaiting: number;
  readonly hostsBackingOff: number;
  /** See overview-rates.ts, `frontReach`. */
  readonly hostsAtHand: number;
  readonly requestsPerSecondMax: number;
  /** Hosts that would keep every slot busy (overview-rates.ts, `frontReach`). */
  readonly hostsNeeded: number;
  /** One sentence: what limits the rate now. */
  readonly limitedBy: string;
  /** Hosts next in turn. */
  readonly next: readonly {
    readonly host: string;
    readonly shard: number;
    /** 1 … 3; 0 for one that waits after trouble. */
    readonly band: number;
    readonly inMs: number;
    readonly reason: string;
  }[];
}

/** A turn of an actor that took long. */
export interface SlowTurn {
  readonly at: number;
  readonly shard: number;
  readonly actor: string;
  /** Kind of the last message of the turn, and how many it handled. */
  readonly kind: string;
  readonly messages: number;
  readonly turnMs: number;
}

/** Memory of one thread, bytes. */
export interface HeapReport {
  readonly thread: string;
  readonly heapUsedBytes: number;
  readonly heapTotalBytes: number;
  readonly heapLimitBytes: number;
  readonly externalBytes: number;
  readonly arrayBuffersBytes: number;
}

/** A sampled profile, summed up; `selfPercent` of all samples. */
export interface CpuReport {
  readonly seconds: number;
  readonly hottest: readonly {
    readonly thread: string;
    readonly function: string;
    readonly at: string;
    readonly selfPercent: number;
  }[];
}

/** robots.txt of one origin as the crawl holds it. */
export interface RobotsReport {
  readonly origin: string;
  /** `rules`, `allow-all`, `disallow-all`, `not fetched`. */
  readonly decision: string;
  /** Status or failure that led to it. */
  readonly because: string;
  readonly fetchedAt: number;
  readonly expiresAt: number;
  readonly crawlDelayMs: number;
}

/** Whether robots.txt lets a URL be fetched, by which line. */
export interface RobotsVerdict {
  readonly url: string;
  readonly allowed: boolean;
  /** The group and the line that decided; empty when no line did. */
  readonly line: string;
  readonly because: string;
}

/** What is known of a host's addresses. */
export interface DnsReport {
  readonly host: string;
  readonly addresses: readonly string[];
  readonly expiresInMs: number;
  /** Failure of the last resolution; undefined when it worked. */
  readonly failure: string | undefined;
}

/** One budget: `used` of `limit`; a limit of 0 is none. */
export interface BudgetReport {
  readonly of: string;
  readonly used: number;
  readonly limit: number;
}

/** One partition's lease. */
export interface LeaseLine {
  readonly partition: number;
  readonly node: string;
  /** Crawl thread of that node; undefined where only the node is known. */
  readonly thread?: number;
  readonly epoch: number;
  readonly expiresInMs: number;
}
