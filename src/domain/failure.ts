// The one table of failures (STYLE.md, errors of the first kind): what went wrong with a request, whose fault it is taken to be, how long
// to wait and how often to try again. Steps 8 and 9 of a URL's life consult it; nobody else decides about retries.
// An HTTP answer is not a failure here: a 404 is a result. 429 and 5xx answers are judged by `failureOfStatus`.

/** What can go wrong with one request. `detail` texts beside a kind are for people; only the kind is acted upon. */
export type FailureKind =
  | 'dns-no-such-host'
  | 'dns-failed'
  | 'address-forbidden'
  | 'connect-refused'
  | 'connect-timeout'
  | 'connect-failed'
  | 'reset'
  | 'tls-failed'
  | 'timeout'
  | 'protocol-error'
  | 'headers-too-large'
  | 'too-many-redirects'
  | 'status-429'
  | 'status-5xx'
  | 'parse-crashed'
  | 'aborted';

/** Whom a failure is held against: the URL alone, or its whole host (which then slows down). */
export type FailureScope = 'url' | 'host';

/** What follows a failure. */
export interface FailurePolicy {
  readonly scope: FailureScope;
  /** How many times the URL is tried again after its first attempt; 0 … 10. */
  readonly retriesMax: number;
  /** Factor by which the host's gap grows; 1 leaves it. */
  readonly gapFactor: number;
  /** Least pause of the whole host before its next request, doubled with each failure in a row up to one hour; milliseconds. */
  readonly pauseMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/**
 * The policy for each kind. Values follow common practice of polite crawlers: what looks like overload (429, 5xx, timeouts, resets)
 * slows the host multiplicatively (DESIGN.md §4); what looks like a permanent fault of the URL is not repeated.
 */
export const FAILURE_TABLE: Readonly<Record<FailureKind, FailurePolicy>> = {
  'dns-no-such-host': { scope: 'host', retriesMax: 2, gapFactor: 1, pauseMs: 10 * MINUTE },
  'dns-failed': { scope: 'host', retriesMax: 5, gapFactor: 1, pauseMs: 30 * SECOND },
  'address-forbidden': { scope: 'url', retriesMax: 0, gapFactor: 1, pauseMs: 0 },
  'connect-refused': { scope: 'host', retriesMax: 3, gapFactor: 1.5, pauseMs: 20 * SECOND },
  'connect-timeout': { scope: 'host', retriesMax: 3, gapFactor: 2, pauseMs: 30 * SECOND },
  'connect-failed': { scope: 'host', retriesMax: 3, gapFactor: 1.5, pauseMs: 20 * SECOND },
  reset: { scope: 'host', retriesMax: 3, gapFactor: 2, pauseMs: 5 * SECOND },
  'tls-failed': { scope: 'url', retriesMax: 1, gapFactor: 1, pauseMs: 0 },
  timeout: { scope: 'host', retriesMax: 2, gapFactor: 2, pauseMs: 10 * SECOND },
  'protocol-error': { scope: 'url', retriesMax: 1, gapFactor: 1, pauseMs: 0 },
  'headers-too-large': { scope: 'url', retriesMax: 0, gapFactor: 1, pauseMs: 0 },
  'too-many-redirects': { scope: 'url', retriesMax: 0, gapFactor: 1, pauseMs: 0 },
  'status-429': { scope: 'host', retriesMax: 5, gapFactor: 2, pauseMs: 10 * SECOND },
  'status-5xx': { scope: 'host', retriesMax: 3, gapFactor: 1.5, pauseMs: 2 * SECOND },
  'parse-crashed': { scope: 'url', retriesMax: 0, gapFactor: 1, pauseMs: 0 },
  aborted: { scope: 'url', retriesMax: 10, gapFactor: 1, pauseMs: 0 },
};

/** Longest pause of a host after failures in a row, in milliseconds (one hour). */
export const HOST_PAUSE_MAX_MS = 60 * MINUTE;

/**
 * The failure an HTTP status stands for, or undefined when the status is a result.
 * @param status three-digit HTTP status; 429 per RFC 6585 §4, 5xx per RFC 9110 §15.6
 */
export function failureOfStatus(status: number): FailureKind | undefined {
  if (status === 429) return 'status-429';
  if (status >= 500 && status <= 599) return 'status-5xx';
  return undefined;
}

/**
 * How long a host pauses after its `failuresInRow`-th failure of a kind: doubled each time, bounded.
 * @param failuresInRow 1 for the first failure
 * @returns milliseconds, 0 … HOST_PAUSE_MAX_MS
 */
export function pauseAfter(kind: FailureKind, failuresInRow: number): number {
  const doublings = Math.min(Math.max(failuresInRow - 1, 0), 16);
  return Math.min(FAILURE_TABLE[kind].pauseMs * 2 ** doublings, HOST_PAUSE_MAX_MS);
}
