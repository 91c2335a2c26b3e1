// What the end of a request means (between steps 9 and 10): is it a failure of the host or the URL, is it tried again, what is stored,
// are its links followed. Pure functions over a fetch outcome; the host actor acts on them.

import type { MonotonicMs, WallMs } from '../base/units.ts';
import { FAILURE_TABLE, type FailureKind, failureOfStatus } from '../domain/failure.ts';
import { headerValue } from '../domain/header-list.ts';
import { isRedirectStatus, redirectTarget as targetOf } from '../domain/location.ts';
import { RETRY_AFTER_MAX_MS } from '../domain/politeness.ts';
import { parseRetryAfter } from '../domain/retry-after.ts';
import type { RobotsUnreachableReason } from '../domain/robots-policy.ts';
import type { RobotsAnswer } from './messages.ts';
import type { AuditEntry, FetchOutcome, FetchPurpose } from './ports.ts';
import type { QueueEntry } from './rows.ts';

/** How a request ended, as far as the host's pace and retries are concerned. */
export interface PageVerdict {
  /** The failure it counts as; undefined for an answer that is a result. */
  readonly failure: FailureKind | undefined;
  /** The server's Retry-After, 0 when it sent none. */
  readonly retryAfterMs: number;
}

/** Judges the end of any request. */
export function verdictOf(outcome: FetchOutcome, wallNow: WallMs): PageVerdict {
  if (outcome.kind === 'failed') return { failure: outcome.failure, retryAfterMs: 0 };
  const failure = failureOfStatus(outcome.status);
  const asked = headerValue(outcome.headers, 'retry-after');
  const honoured = failure !== undefined || outcome.status === 403;
  const retryAfterMs =
    asked === undefined || !honoured
      ? 0
      : (parseRetryAfter(asked, wallNow, RETRY_AFTER_MAX_MS) ?? 0);
  return { failure, retryAfterMs };
}

/** True for an answer that says there is no such page for us: a URL that was not worth its request. */
export function isRefusal(outcome: FetchOutcome): boolean {
  if (outcome.kind !== 'response') return false;
  const { status } = outcome;
  return status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
}

/** True when a failed entry is to be tried again. */
export function isRetried(failure: FailureKind, entry: QueueEntry): boolean {
  return entry.attempts < FAILURE_TABLE[failure].retriesMax;
}

/** The target of a redirect answer, absolute; undefined for other answers or a target that is no http(s) URL. */
export function redirectTarget(outcome: FetchOutcome, url: string): string | undefined {
  if (outcome.kind !== 'response') return undefined;
  const target = targetOf(outcome.status, outcome.headers, url);
  return target.kind === 'target' ? target.url : undefined;
}

/** Content types whose links are looked for inline or by a parser plug-in; a missing type counts as HTML, as browsers sniff it. */
const PARSED_TYPES =
  /^(text\/html|application\/xhtml\+xml|text\/xml|application\/xml|image\/svg\+xml|application\/(rss|atom|rdf|feed)\+xml|application\/(x-)?pdf|$)/i;

/** Whether the links of an answer are to be followed: a whole or truncated 200 of a type that has links, or a redirect. */
export function isParsed(outcome: FetchOutcome, purpose: FetchPurpose): boolean {
  if (outcome.kind !== 'response') return false;
  if (isRedirectStatus(outcome.status)) return true;
  if (outcome.status !== 200) return false;
  return (
    purpose === 'sitemap' || PARSED_TYPES.test(headerValue(outcome.headers, 'content-type') ?? '')
  );
}

/** The answer to a robots.txt request in the form that travels; the body is cut at `bytesMax`. */
export function robotsAnswerOf(
  outcome: FetchOutcome,
  verdict: PageVerdict,
  bytesMax: number,
): RobotsAnswer {
  if (outcome.kind === 'failed') {
    return { kind: 'unreachable', reason: UNREACHABLE[outcome.failure] ?? 'protocol' };
  }
  // Half a file may lack the very line that closes the host. Only what we cut ourselves, at our own bound, is read as far as it goes.
  const isCut = outcome.truncated !== undefined && outcome.truncated !== 'length';
  if (isCut && outcome.status >= 200 && outcome.status < 300) {
    return { kind: 'unreachable', reason: outcome.truncated === 'time' ? 'read-timeout' : 'reset' };
  }
  const age = Number(headerValue(outcome.headers, 'age') ?? 0);
  return {
    kind: 'response',
    status: outcome.status,
    cacheControl: headerValue(outcome.headers, 'cache-control'),
    ageSeconds: Number.isFinite(age) ? age : 0,
    retryAfterSeconds: verdict.retryAfterMs / 1_000,
    location: headerValue(outcome.headers, 'location'),
    body: outcome.body.subarray(0, bytesMax),
    truncated: outcome.truncated !== undefined || outcome.body.byteLength > bytesMax,
  };
}

const UNREACHABLE: Partial<Record<FailureKind, RobotsUnreachableReason>> = {
  'dns-no-such-host': 'dns',
  'dns-failed': 'dns',
  'address-forbidden': 'address-refused',
  'connect-refused': 'reset',
  'connect-failed': 'reset',
  'connect-timeout': 'connect-timeout',
  reset: 'reset',
  'tls-failed': 'tls',
  timeout: 'read-timeout',
};

/** One line of the audit log. `toWall` turns this process's monotonic times into wall-clock times. */
export function auditEntry(options: {
  readonly host: string;
  readonly url: string;
  readonly purpose: FetchPurpose;
  readonly gapMs: number;
  readonly robotsAt: WallMs;
  readonly outcome: FetchOutcome;
  readonly verdict: PageVerdict;
  readonly runStartedAt: WallMs;
  readonly toWall: (ms: MonotonicMs) => WallMs;
}): AuditEntry {
  const { outcome, verdict } = options;
  return {
    host: options.host,
    address: outcome.address ?? '',
    url: options.url,
    purpose: options.purpose,
    startedAt: options.toWall(outcome.startedMs),
    endedAt: options.toWall(outcome.endedMs),
    gapMs: options.gapMs,
    robotsAt: options.robotsAt,
    status: outcome.kind === 'response' ? outcome.status : 0,
    failure: outcome.kind === 'failed' ? outcome.failure : undefined,
    retryAfterMs: verdict.retryAfterMs,
    runStartedAt: options.runStartedAt,
  };
}
