// What each outcome of fetching /robots.txt means: RFC 9309 §2.3.1 and §2.4, for step 5 of a URL's life.
//
//   2xx                              the rules of the file
//   304 to a conditional request     the copy at hand, fresh again
//   4xx; too many or bad redirects   unavailable: everything is allowed (§2.3.1.2, §2.3.1.3)
//   429, 5xx, no answer              unreachable: the copy at hand, else nothing is allowed; asked again with back-off
// Invariants: a pure function of its arguments, never throws; the body of an error answer is never read; an answer is
// believed for at most 24 hours; URLs wait for a retry, they are never dropped because of it.
// 429 is a 4xx to the letter, hence "allow all"; a host that says it is overloaded must not get more requests for it.
import { unreachable } from '../base/assert.ts';
import { parseRobots } from './robots-parser.ts';
import { ALLOW_ALL, DISALLOW_ALL, type RobotsRules, selectRules } from './robots-rules.ts';

/** Longest time an answer is believed: 24 hours (RFC 9309 §2.4). */
export const ROBOTS_FRESH_MS_MAX = 24 * 3_600_000;
/** Shortest time: `max-age=0` is the default of many a server and would mean a robots fetch for each page. Ten minutes make it at most one request in 600 at the default gap. */
export const ROBOTS_FRESH_MS_MIN = 10 * 60_000;
/** First retry of an unreachable file: within the default `--linger`, so that one hiccup does not end a small crawl. */
export const ROBOTS_RETRY_MS_FIRST = 4_000;
/** Longest wait between retries: each host is asked at least six times a day. */
export const ROBOTS_RETRY_MS_MAX = 4 * 3_600_000;
/** After this time without a copy an unreachable file counts as unavailable: 30 days (RFC 9309 §2.3.1.4). */
export const ROBOTS_UNREACHABLE_MS_MAX = 30 * 24 * 3_600_000;

/** Why no answer came. All are treated alike; kept for the log and the operator. */
export type RobotsUnreachableReason =
  | 'dns'
  | 'connect-timeout'
  | 'read-timeout'
  | 'reset'
  | 'tls'
  | 'protocol'
  | 'decoding'
  | 'address-refused';

/** How a fetch of /robots.txt ended, redirects followed (`followRobotsRedirect`). */
export type RobotsFetchOutcome =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** Decoded body, needed for 2xx; at most a little over `bytesMax` is read. */
      readonly body?: Uint8Array;
      /** True when the fetcher left out the rest of the body. */
      readonly truncated?: boolean;
      /** Cache-Control header. */
      readonly cacheControl?: string;
      /** Age header, in seconds. */
      readonly ageSeconds?: number;
      /** Retry-After as seconds from now. */
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: 'redirect-limit' }
  | { readonly kind: 'redirect-invalid' }
  | { readonly kind: 'unreachable'; readonly reason: RobotsUnreachableReason };

/** What is known before the fetch. */
export interface RobotsPolicyOptions {
  readonly productToken: string;
  /** Bytes of a file to parse, at least 500 KiB. */
  readonly bytesMax: number;
  /** Rules of the last 2xx answer, whatever their age; absent when there was none, or a 4xx came since. */
  readonly previous?: RobotsRules;
  /** Failed fetches in a row before this one, ≥ 0. */
  readonly failures: number;
  /** Time since the first of them, in milliseconds; 0 when there was none. */
  readonly unreachableMs: number;
}

/** What now holds for the origin. */
export interface RobotsDecision {
  /** `rules`: those of a file, fresh or stale; the others are constant. */
  readonly kind: 'rules' | 'allow-all' | 'disallow-all';
  readonly rules: RobotsRules;
  /** Ask again after this time, in milliseconds: 10 minutes to 24 hours, or the wait for a retry. */
  readonly expiresInMs: number;
  /** Set when the file is unreachable: wait before the next try; equals `expiresInMs`. */
  readonly retryInMs?: number;
  /** True when a copy is used because the file is unreachable. */
  readonly stale: boolean;
}

/** Decides what an outcome means. Pure; never throws. */
export function decideRobots(
  outcome: RobotsFetchOutcome,
  options: RobotsPolicyOptions,
): RobotsDecision {
  switch (outcome.kind) {
    case 'response':
      return decideResponse(outcome, options);
    case 'redirect-limit':
    case 'redirect-invalid':
      return unavailable(ROBOTS_FRESH_MS_MAX);
    case 'unreachable':
      return decideUnreachable(options, 0);
    default:
      return unreachable(outcome);
  }
}

/**
 * How long an answer stays fresh, in milliseconds: 24 hours, shortened by max-age (less Age) or no-cache, not under ten minutes.
 * s-maxage is for shared caches, hence ignored.
 */
export function robotsFreshMs(cacheControl: string | undefined, ageSeconds: number): number {
  const directives = (cacheControl ?? '').toLowerCase();
  if (/(?:^|[\s,])no-(?:cache|store)(?:$|[\s,;=])/.test(directives)) return ROBOTS_FRESH_MS_MIN;
  const match = /(?:^|[\s,])max-age\s*=\s*"?(\d+)/.exec(directives);
  if (match === null) return ROBOTS_FRESH_MS_MAX;
  const age = Number.isFinite(ageSeconds) ? Math.max(ageSeconds, 0) : 0;
  return clamp((Number(match[1]) - age) * 1000, ROBOTS_FRESH_MS_MIN, ROBOTS_FRESH_MS_MAX);
}

function decideResponse(
  response: Extract<RobotsFetchOutcome, { kind: 'response' }>,
  options: RobotsPolicyOptions,
): RobotsDecision {
  const { status } = response;
  const freshMs = robotsFreshMs(response.cacheControl, response.ageSeconds ?? 0);
  if (status >= 200 && status < 300) {
    const { bytesMax, productToken } = options;
    const truncated = response.truncated ?? false;
    const file = parseRobots(response.body ?? NO_BYTES, { bytesMax, truncated });
    const rules = selectRules(file, productToken);
    return { kind: 'rules', rules, expiresInMs: freshMs, stale: false };
  }
  if (status === 304 && options.previous !== undefined) {
    return { kind: 'rules', rules: options.previous, expiresInMs: freshMs, stale: false };
  }
  const isAnswer = status >= 300 && status < 500 && status !== 304 && status !== 429;
  if (isAnswer) return unavailable(freshMs);
  return decideUnreachable(options, (response.retryAfterSeconds ?? 0) * 1000);
}

const NO_BYTES = new Uint8Array(0);

function unavailable(expiresInMs: number): RobotsDecision {
  return { kind: 'allow-all', rules: ALLOW_ALL, expiresInMs, stale: false };
}

/**
 * A copy is used as long as there is one: the RFC lets a crawler keep it without end (§2.3.1.4), and it is the best
 * that is known of the owner's wish. Without one nothing is fetched for 30 days. After that the RFC lets a crawler take
 * the file as unavailable, which we do: a site whose robots.txt is broken for a month is open to every other crawler,
 * and a host that is really down gives nothing away. It is asked again at the slowest pace all the same.
 */
function decideUnreachable(options: RobotsPolicyOptions, retryAfterMs: number): RobotsDecision {
  const retryInMs = retryMs(options.failures, retryAfterMs);
  const wait = { expiresInMs: retryInMs, retryInMs };
  if (options.previous !== undefined) {
    return { kind: 'rules', rules: options.previous, ...wait, stale: true };
  }
  if (options.unreachableMs >= ROBOTS_UNREACHABLE_MS_MAX) {
    return { kind: 'allow-all', rules: ALLOW_ALL, ...wait, stale: false };
  }
  return { kind: 'disallow-all', rules: DISALLOW_ALL, ...wait, stale: false };
}

/** Doubles with each failure; Retry-After may lengthen it, up to a day. */
function retryMs(failures: number, retryAfterMs: number): number {
  const doublings = clamp(Math.trunc(failures), 0, 30);
  const backoffMs = Math.min(ROBOTS_RETRY_MS_FIRST * 2 ** doublings, ROBOTS_RETRY_MS_MAX);
  return clamp(retryAfterMs, backoffMs, ROBOTS_FRESH_MS_MAX);
}

/** `value` within bounds; the lower bound for what is no number. */
function clamp(value: number, low: number, high: number): number {
  return value > low ? Math.min(value, high) : low;
}
