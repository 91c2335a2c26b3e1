// What the judge reads and says: the request log's entries, the rules it is told, and its verdict.
import type { ReachableOptions } from './world-truth.ts';

/** One request as the web saw it. Times are of the world, ms with fractions. */
export interface RequestEntry {
  /** Host header without port. */
  readonly host: string;
  /** Path and query as sent. */
  readonly path: string;
  /** The local address that was connected to. */
  readonly address: string;
  /** When the head had been read. */
  readonly startMs: number;
  /** When the kernel began to take the last bytes, or the connection had ended. */
  readonly endMs: number;
  readonly userAgent: string;
  /** 0 when no head was sent. */
  readonly status: number;
  /** Bytes of the body sent. */
  readonly bytes: number;
  /** False when the answer was cut short by either side. */
  readonly complete: boolean;
}

/** What the judge holds a crawl to. */
export interface JudgeOptions {
  /** The crawl's own least gap between requests to a host. */
  readonly minGapMs: number;
  /** The crawl's cap on Crawl-delay. Default none. */
  readonly maxCrawlDelayMs?: number;
  /** Requests in flight to one address. Default 2 (DESIGN.md §4). */
  readonly addressBudget?: number;
  /** Least time between two starts at one address. Default 0: not looked at. */
  readonly addressGapMs?: number;
  /** What clocks, timers and the socket path may take off a gap. Default 1 ms. */
  readonly toleranceMs?: number;
  /** The same after an answer the client cut short, whose end the server learns late. Default 50 ms. */
  readonly abortToleranceMs?: number;
  /** Age at which robots rules must have been asked for again. Default 24 h (RFC 9309 §2.4) and a minute. */
  readonly robotsMaxAgeMs?: number;
  /** Canonical URLs that may be fetched again, for example one commit window after a kill. Default 0. */
  readonly repeatsAllowed?: number;
  /** The crawl revisits pages: repeats are not looked at. Default false. */
  readonly revisits?: boolean;
  /** What should have been reached; left out, coverage is not looked at. */
  readonly coverage?: ReachableOptions;
  /** Pages behind a robots.txt that recovers must have been reached too. Default false. */
  readonly requireLate?: boolean;
  /** Pages outside the reachable set are a violation. Default: true unless `coverage.maxDepth` is given. */
  readonly exactReach?: boolean;
  /** Violations and URLs listed of each kind; all are counted. Default 20. */
  readonly listedMax?: number;
}

/**
 * `overlap`: two in flight to a host. `gap`: started too early after the last end. `retry-after`: earlier than the host had asked.
 * `address-budget`, `address-gap`: too many or too close at one address. `before-robots`: no robots.txt answer yet. `stale-robots`: the
 * answer was too old. `disallowed`: against the rules last fetched. `repeat`: an answered canonical URL again. `unknown-host`: no host
 * of this web. `missing`: required and never fetched. `unexpected`: a page no allowed, followed link leads to.
 */
export type ViolationKind =
  | 'overlap'
  | 'gap'
  | 'retry-after'
  | 'address-budget'
  | 'address-gap'
  | 'before-robots'
  | 'stale-robots'
  | 'disallowed'
  | 'repeat'
  | 'unknown-host'
  | 'missing'
  | 'unexpected';

/** One finding: the offending request and, where there is one, the request it collides with. */
export interface Violation {
  readonly kind: ViolationKind;
  readonly host: string;
  readonly path: string;
  /** One line with the figures. */
  readonly detail: string;
  readonly startMs: number | null;
  readonly previous: RequestEntry | null;
}

/** What was reached. All zero when coverage was not asked for. */
export interface Coverage {
  /** Pages and groups that must be fetched. */
  readonly required: number;
  /** Of them, fetched. */
  readonly fetched: number;
  /** Reachable but optional pages that were not fetched. */
  readonly optionalMissing: number;
  /** Canonical pages fetched whole, without traps. */
  readonly pages: number;
  /** Trap pages fetched. */
  readonly trapPages: number;
}

/** The judgement. */
export interface Verdict {
  /** No violation, but for repeats within their allowance. */
  readonly ok: boolean;
  readonly requests: number;
  readonly hosts: number;
  readonly bytes: number;
  readonly counts: Readonly<Record<ViolationKind, number>>;
  /** At most `listedMax` of each kind. */
  readonly violations: readonly Violation[];
  readonly coverage: Coverage;
  /** The smallest (end → next start) seen minus what it had to be, ms; null when no host was asked twice. */
  readonly tightestGapMs: number | null;
}
