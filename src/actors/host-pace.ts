// Step 8: the pace of one host, and the only place where a permit to make a request comes from. A request cannot be started without a
// permit (`FetchGate.start` takes one), a permit is given only when the gap after the last request has passed and none is in flight, and
// each permit starts one request: politeness is the shape of the code, not a check (I1, I2).

import { assert } from '../base/assert.ts';
import type { MonotonicMs, WallMs } from '../base/units.ts';
import { monotonicMs, wallMs } from '../base/units.ts';
import { FAILURE_TABLE, type FailureKind, pauseAfter } from '../domain/failure.ts';
import {
  afterFailure,
  afterSuccess,
  type GapPolicy,
  type GapState,
  gapMsOf,
  RETRY_AFTER_MAX_MS,
} from '../domain/politeness.ts';
import type { GapRow } from './rows.ts';

/** The right to make one request to one host, now. Only `HostPace.tryPermit` makes one. */
export class FetchPermit {
  readonly #issuedMs: MonotonicMs;
  /** The gap in force when the permit was given, for the audit; milliseconds. */
  readonly gapMs: number;
  #used = false;

  /** For `HostPace` alone; a test in test/unit/layers.test.ts keeps others from calling it. */
  constructor(issuedMs: MonotonicMs, gapMs: number) {
    this.#issuedMs = issuedMs;
    this.gapMs = gapMs;
  }

  /** Uses the permit up. @throws AssertionFailure when it was used before: two requests on one permit would break the gap. */
  consume(nowMs: MonotonicMs): void {
    assert(!this.#used, () => 'a fetch permit starts one request only');
    assert(nowMs >= this.#issuedMs, () => `permit from the future: ${this.#issuedMs} > ${nowMs}`);
    this.#used = true;
  }
}

/** Why a host has to wait: its ordinary gap, trouble (Retry-After, failures, an operator's pause), or for its parked URLs to be reviewed. */
export type WaitReason = 'gap' | 'backoff' | 'review';

/** Pace of one host. All times by the monotonic clock of this process. */
export class HostPace {
  #policy: GapPolicy;
  #state: GapState;
  #lastEndedMs: MonotonicMs;
  #everAsked: boolean;
  #pausedUntilMs: MonotonicMs;
  /** An operator's word; not stored: the next run begins without it. */
  #blockedUntilMs: MonotonicMs = monotonicMs(0);
  /** A short wait that is nobody's fault: the address or the page allowance is used up. */
  #heldUntilMs: MonotonicMs = monotonicMs(0);
  /** When the partition of the host is open to this node: the longest gap after another had it (CLUSTER.md, rule 5). */
  #opensMs = 0;
  #inFlight = false;
  /** Least gap to the host's address, whatever was configured. */
  #leastMs = 0;
  /** By what the state of the host's network multiplies the gap; 1 or more. */
  #networkFactor = 1;
  /** An operator's own gap, replacing the computed one; never below a Crawl-delay. */
  #overrideMs: number | undefined;

  private constructor(
    policy: GapPolicy,
    state: GapState,
    lastEndedMs: MonotonicMs,
    asked: boolean,
  ) {
    this.#policy = policy;
    this.#state = state;
    this.#lastEndedMs = lastEndedMs;
    this.#everAsked = asked;
    this.#pausedUntilMs = monotonicMs(0);
  }

  /** The pace of a host never asked before: it may be asked at once. */
  static fresh(policy: GapPolicy): HostPace {
    return new HostPace(
      policy,
      { smoothedMs: 0, penalty: 1, failuresInRow: 0, crawlDelayMs: 0 },
      monotonicMs(0),
      false,
    );
  }

  /**
   * The pace of a host known from disk. It waits a full gap from `notBeforeMs`: the moment this process started, or the end of the last
   * request if that was in this process (`sinceEndedMs` ≥ 0 tells how long ago by the wall clock; a clock that jumped back is not believed).
   */
  static restored(options: {
    policy: GapPolicy;
    row: GapRow;
    crawlDelayMs: number;
    lastEndedMs: MonotonicMs;
    lastEndedAt: WallMs;
    nowMs: MonotonicMs;
    wallNow: WallMs;
  }): HostPace {
    const { row } = options;
    const state: GapState = {
      smoothedMs: row.smoothedMs,
      penalty: row.penalty,
      failuresInRow: row.failuresInRow,
      crawlDelayMs: options.crawlDelayMs,
    };
    const pace = new HostPace(options.policy, state, options.lastEndedMs, true);
    // A clock that was put back would stretch a pause; none began before the last request ended.
    const sinceMs = Math.max(options.wallNow, options.lastEndedAt);
    const pauseMs = Math.min(Math.max(row.pausedUntil - sinceMs, 0), RETRY_AFTER_MAX_MS);
    if (pauseMs > 0) pace.#pausedUntilMs = monotonicMs(options.nowMs + pauseMs);
    return pace;
  }

  get inFlight(): boolean {
    return this.#inFlight;
  }

  /** True once a request was made to the host, in this process or, by its stored row, before. */
  get everAsked(): boolean {
    return this.#everAsked;
  }

  get lastEndedMs(): MonotonicMs {
    return this.#lastEndedMs;
  }

  get failuresInRow(): number {
    return this.#state.failuresInRow;
  }

  get crawlDelayMs(): number {
    return this.#state.crawlDelayMs;
  }

  /** The gap in force, milliseconds. */
  gapMs(): number {
    const chosenMs = this.#overrideMs ?? gapMsOf(this.#state, this.#policy, this.#networkFactor);
    return Math.max(chosenMs, this.#state.crawlDelayMs, this.#leastMs);
  }

  /** The earliest time of the next request. */
  nextFetchMs(): MonotonicMs {
    const afterGap = this.#everAsked ? this.#lastEndedMs + this.gapMs() : 0;
    const troubledMs = this.#troubledUntilMs();
    return monotonicMs(Math.max(afterGap, troubledMs, this.#heldUntilMs, this.#opensMs));
  }

  /** What the next request waits for at the time of `nextFetchMs`. */
  waitReason(): WaitReason {
    const afterGap = this.#everAsked ? this.#lastEndedMs + this.gapMs() : 0;
    return this.#troubledUntilMs() > afterGap ? 'backoff' : 'gap';
  }

  /** True while trouble keeps the host waiting, now. */
  backsOff(nowMs: MonotonicMs): boolean {
    return nowMs < this.#troubledUntilMs();
  }

  /** A permit for one request now, or undefined while the host has to wait. */
  tryPermit(nowMs: MonotonicMs): FetchPermit | undefined {
    if (this.#inFlight || nowMs < this.nextFetchMs()) return undefined;
    this.#inFlight = true;
    return new FetchPermit(nowMs, this.#everAsked ? this.gapMs() : 0);
  }

  /** The request ended with an answer that is no sign of overload; `responseMs` is the time to its first byte. */
  succeeded(endedMs: MonotonicMs, responseMs: number): void {
    this.#ended(endedMs);
    this.#state = afterSuccess(this.#state, responseMs);
  }

  /** The request ended in a failure, or with a 429 or 5xx answer; `retryAfterMs` is the server's wish, 0 when it had none. */
  failed(kind: FailureKind, endedMs: MonotonicMs, retryAfterMs: number): void {
    this.#ended(endedMs);
    const policy = FAILURE_TABLE[kind];
    if (policy.scope === 'host') {
      this.#state = afterFailure(this.#state, policy.gapFactor);
      this.pause(endedMs, Math.max(pauseAfter(kind, this.#state.failuresInRow), retryAfterMs));
    } else if (retryAfterMs > 0) {
      this.pause(endedMs, retryAfterMs);
    }
  }

  /** A failure before any request was made (name resolution): the host pauses, its gap stays. Returns the pause in milliseconds. */
  unresolved(kind: FailureKind, nowMs: MonotonicMs): number {
    this.#state = { ...this.#state, failuresInRow: this.#state.failuresInRow + 1 };
    const pauseMs = pauseAfter(kind, this.#state.failuresInRow);
    this.pause(nowMs, pauseMs);
    return pauseMs;
  }

  /** Nothing is asked of the host for `pauseMs` (bounded by a day) from `fromMs`. A shorter pause never replaces a longer one. */
  pause(fromMs: MonotonicMs, pauseMs: number): void {
    const until = fromMs + Math.min(pauseMs, RETRY_AFTER_MAX_MS);
    if (until > this.#pausedUntilMs) this.#pausedUntilMs = monotonicMs(until);
  }

  /** Nothing is asked of the host before `untilMs`, as part of its ordinary pace. */
  holdUntil(untilMs: MonotonicMs): void {
    this.#heldUntilMs = untilMs;
  }

  /** Nothing is asked of the host before its partition is open to this node; Infinity while it is another's. */
  holdUntilOpen(opensMs: number): void {
    this.#opensMs = opensMs;
  }

  /** An operator wants nothing asked of the host before `untilMs`. A later word replaces an earlier one. */
  block(untilMs: MonotonicMs): void {
    this.#blockedUntilMs = untilMs;
  }

  /** An operator ends a pause. The gap still holds. */
  resume(): void {
    this.#blockedUntilMs = monotonicMs(0);
    this.#pausedUntilMs = monotonicMs(0);
  }

  /** The host's address is known: no gap is shorter than this from now on. */
  setLeast(leastMs: number): void {
    this.#leastMs = leastMs;
  }

  /** How much the trouble of its network slows the host; 1 for none. */
  setNetworkFactor(factor: number): void {
    assert(factor >= 1, () => `network factor ${factor}`);
    this.#networkFactor = factor;
  }

  /** An operator sets the gap, or gives it back to the rule with undefined. */
  override(gapMs: number | undefined): void {
    this.#overrideMs = gapMs;
  }

  /** The operator's configuration was read anew. What is already waited for is not made shorter by it. */
  follow(policy: GapPolicy): void {
    this.#policy = policy;
  }

  /** Takes the crawl delay of newly read robots rules over, already capped. */
  setCrawlDelay(delayMs: number): void {
    this.#state = { ...this.#state, crawlDelayMs: delayMs };
  }

  /** The durable part. */
  row(nowMs: MonotonicMs, wallNow: WallMs): GapRow {
    const pauseLeftMs = this.#pausedUntilMs - nowMs;
    return {
      smoothedMs: this.#state.smoothedMs,
      penalty: this.#state.penalty,
      failuresInRow: this.#state.failuresInRow,
      pausedUntil: wallMs(pauseLeftMs > 0 ? wallNow + pauseLeftMs : 0),
    };
  }

  #troubledUntilMs(): number {
    return Math.max(this.#pausedUntilMs, this.#blockedUntilMs);
  }

  #ended(endedMs: MonotonicMs): void {
    assert(this.#inFlight, () => 'a request ended that was not in flight');
    assert(endedMs >= this.#lastEndedMs, () => 'a request ended before the one before it');
    this.#inFlight = false;
    this.#everAsked = true;
    this.#lastEndedMs = endedMs;
  }
}
