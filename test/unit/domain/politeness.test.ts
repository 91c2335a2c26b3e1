import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { FAILURE_TABLE, type FailureKind, pauseAfter } from '../../../src/domain/failure.ts';
import {
  afterFailure,
  afterSuccess,
  cappedCrawlDelayMs,
  FRESH_GAP,
  gapMsOf,
  LATENCY_GAP_MAX_MS,
  PENALTY_MAX,
} from '../../../src/domain/politeness.ts';

const POLICY = { minGapMs: 1_000, maxCrawlDelayMs: 30_000, latencyFactor: 10 };

test('gapMsOf is the longest of least gap, Crawl-delay and ten response times, times the penalty', () => {
  strictEqual(gapMsOf(FRESH_GAP, POLICY), 1_000);
  strictEqual(gapMsOf({ ...FRESH_GAP, crawlDelayMs: 5_000 }, POLICY), 5_000);
  strictEqual(gapMsOf({ ...FRESH_GAP, smoothedMs: 700 }, POLICY), 7_000);
  strictEqual(gapMsOf({ ...FRESH_GAP, smoothedMs: 100_000 }, POLICY), LATENCY_GAP_MAX_MS);
  strictEqual(gapMsOf({ ...FRESH_GAP, penalty: 3 }, POLICY), 3_000);
  strictEqual(gapMsOf({ ...FRESH_GAP, penalty: 3 }, POLICY, 2), 6_000);
  strictEqual(gapMsOf({ ...FRESH_GAP, penalty: 40 }, POLICY, 40), 1_000 * PENALTY_MAX);
});

test('cappedCrawlDelayMs reads seconds, cuts at the cap and takes nonsense for none', () => {
  strictEqual(cappedCrawlDelayMs(2.5, POLICY), 2_500);
  strictEqual(cappedCrawlDelayMs(86_400, POLICY), 30_000);
  for (const value of [undefined, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    strictEqual(cappedCrawlDelayMs(value, POLICY), 0);
  }
});

test('afterFailure multiplies the penalty up to its bound and counts failures in a row', () => {
  let state = FRESH_GAP;
  for (let failures = 1; failures <= 10; failures += 1) {
    state = afterFailure(state, 2);
    strictEqual(state.penalty, Math.min(2 ** failures, PENALTY_MAX));
    strictEqual(state.failuresInRow, failures);
  }
});

test('afterSuccess lowers a penalty slowly, never below 1, and ends the row of failures', () => {
  let state = afterFailure(afterFailure(FRESH_GAP, 4), 4);
  state = afterSuccess(state, 10);
  ok(state.penalty > 14 && state.penalty < 16, `${state.penalty}`);
  strictEqual(state.failuresInRow, 0);
  for (let answers = 0; answers < 300; answers += 1) {
    const next = afterSuccess(state, 10);
    ok(next.penalty <= state.penalty);
    state = next;
  }
  strictEqual(state.penalty, 1);
});

test('afterSuccess smooths response times by an eighth', () => {
  const first = afterSuccess(FRESH_GAP, 800);
  strictEqual(first.smoothedMs, 800);
  strictEqual(afterSuccess(first, 0).smoothedMs, 700);
  strictEqual(afterSuccess(FRESH_GAP, -5).smoothedMs, 0);
});

test('FAILURE_TABLE slows the host for 429, any 5xx, timeouts and resets (DESIGN.md §4)', () => {
  const overloads: FailureKind[] = [
    'status-429',
    'status-5xx',
    'timeout',
    'reset',
    'connect-timeout',
  ];
  for (const kind of overloads) {
    const { scope, gapFactor, pauseMs } = FAILURE_TABLE[kind];
    strictEqual(scope, 'host', kind);
    ok(gapFactor > 1, kind);
    ok(pauseMs > 0, kind);
    strictEqual(pauseAfter(kind, 2), 2 * pauseAfter(kind, 1), kind);
  }
});
