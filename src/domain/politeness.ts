// The pace of one host: how long to wait between the end of one request and the start of the next (steps 7 and 8 of a URL's life;
// DESIGN.md §4). Pure functions over plain numbers, so that the simulator, the audit and the crawl share one rule.
//
//   gap = max(minGapMs, crawl delay (capped), latencyFactor × smoothed response time (capped)) × penalty × factor of the network
//
// What looks like overload multiplies the penalty; each success lowers it a little, so a host that complained is trusted again slowly. The
// factor is that of the host's autonomous system (asn-backoff.ts).

import type { PermittedHours } from './permitted-hours.ts';

/** The operator's limits. All in milliseconds unless named otherwise. */
export interface GapPolicy {
  /** Least gap of any host; 0 … 3,600,000. */
  readonly minGapMs: number;
  /** Cap on a robots.txt Crawl-delay; a larger one is reported and cut to this. */
  readonly maxCrawlDelayMs: number;
  /** Multiple of the smoothed response time that is waited; 0 turns adaptation off. */
  readonly latencyFactor: number;
  /** When the host may be asked at all; undefined: always. */
  readonly hours?: PermittedHours | undefined;
}

/** What is known of a host's pace. */
export interface GapState {
  /** Smoothed response time; 0 before the first answer. */
  readonly smoothedMs: number;
  /** 1 … PENALTY_MAX. */
  readonly penalty: number;
  /** Failures since the last success. */
  readonly failuresInRow: number;
  /** Crawl delay in force, already capped; 0 when none. */
  readonly crawlDelayMs: number;
}

/** Weight of the newest response time: that of TCP's smoothed round trip (RFC 6298 §2, alpha = 1/8). */
const SMOOTHING = 1 / 8;
/** Cap on the adaptive part of a gap: DESIGN.md §4. */
export const LATENCY_GAP_MAX_MS = 60_000;
/** Cap on the penalty: a host with a 1 s gap is then asked about once a minute. */
export const PENALTY_MAX = 64;
/** How much of the penalty above 1 a success leaves: about 14 good answers halve a penalty. */
const PENALTY_DECAY = 0.95;
/** Cap on a Retry-After we honour in full: one day. A longer one is asked again after this. */
export const RETRY_AFTER_MAX_MS = 86_400_000;

export const FRESH_GAP: GapState = { smoothedMs: 0, penalty: 1, failuresInRow: 0, crawlDelayMs: 0 };

/**
 * The gap in force, in milliseconds.
 * @param networkFactor of the host's network, 1 or more; penalty and factor together are capped as the penalty is
 */
export function gapMsOf(state: GapState, policy: GapPolicy, networkFactor = 1): number {
  const adaptive = Math.min(policy.latencyFactor * state.smoothedMs, LATENCY_GAP_MAX_MS);
  const base = Math.max(policy.minGapMs, state.crawlDelayMs, adaptive);
  return base * Math.min(state.penalty * networkFactor, PENALTY_MAX);
}

/** The crawl delay to keep for a robots.txt value in seconds; 0 when it has none. */
export function cappedCrawlDelayMs(seconds: number | undefined, policy: GapPolicy): number {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return 0;
  return Math.min(seconds * 1_000, policy.maxCrawlDelayMs);
}

/** The state after a good answer that took `responseMs` (our own delay already subtracted; ≥ 0). */
export function afterSuccess(state: GapState, responseMs: number): GapState {
  const sample = Math.max(responseMs, 0);
  const smoothedMs =
    state.smoothedMs === 0 ? sample : state.smoothedMs + (sample - state.smoothedMs) * SMOOTHING;
  const penalty = 1 + (state.penalty - 1) * PENALTY_DECAY;
  return {
    smoothedMs,
    penalty: penalty < 1.01 ? 1 : penalty,
    failuresInRow: 0,
    crawlDelayMs: state.crawlDelayMs,
  };
}

/** The state after a failure that multiplies the gap by `gapFactor` (domain/failure.ts). */
export function afterFailure(state: GapState, gapFactor: number): GapState {
  return {
    ...state,
    penalty: Math.min(state.penalty * gapFactor, PENALTY_MAX),
    failuresInRow: state.failuresInRow + 1,
  };
}
