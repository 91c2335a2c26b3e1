import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { wallMs } from '../../../src/base/units.ts';
import {
  afterSameText,
  afterVisit,
  GONE_VISITS_MAX,
  type VisitOutcome,
  type VisitState,
  visitOutcome,
} from '../../../src/domain/recrawl.ts';
import { RECRAWL } from '../../support/recrawl-policy.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The state after these visits, each made when it is due. */
function after(outcomes: readonly VisitOutcome[], freshForMs?: number): VisitState {
  let state: VisitState | undefined;
  let at = wallMs(1_700_000_000_000);
  for (const outcome of outcomes) {
    state = afterVisit(RECRAWL, state, { outcome, at, freshForMs, sitemap: false });
    if (state.dueAt !== 0) at = state.dueAt;
  }
  return state as VisitState;
}

const times = (count: number, outcome: VisitOutcome): VisitOutcome[] =>
  new Array<VisitOutcome>(count).fill(outcome);

test('afterVisit halves the interval after three changed visits and doubles it after ten unchanged', () => {
  strictEqual(after(['new']).intervalMs, DAY_MS);
  strictEqual(after(['new', ...times(2, 'changed')]).intervalMs, DAY_MS);
  strictEqual(after(['new', ...times(3, 'changed')]).intervalMs, DAY_MS / 2);
  strictEqual(after(['new', ...times(9, 'unchanged')]).intervalMs, DAY_MS);
  strictEqual(after(['new', ...times(10, 'unchanged')]).intervalMs, 2 * DAY_MS);
  // Counts begin anew with each adjustment.
  strictEqual(after(['new', ...times(5, 'changed')]).intervalMs, DAY_MS / 2);
});

test('afterVisit keeps the interval within its bounds', () => {
  strictEqual(after(['new', ...times(60, 'changed')]).intervalMs, RECRAWL.leastMs);
  strictEqual(after(['new', ...times(200, 'unchanged')]).intervalMs, RECRAWL.longestMs);
});

test('afterVisit makes a page due after its interval, at most a sixteenth later', () => {
  const at = wallMs(1_700_000_000_123);
  const visit = { outcome: 'new', at, freshForMs: undefined, sitemap: false } as const;
  const { dueAt } = afterVisit(RECRAWL, undefined, visit);
  ok(dueAt >= at + DAY_MS, `${dueAt - at}`);
  ok(dueAt <= at + DAY_MS * (1 + 1 / 16), `${dueAt - at}`);
});

test('afterVisit takes what an answer says of its freshness as a hint, up to twice the interval', () => {
  const dueIn = (freshForMs: number): number => {
    const at = wallMs(0);
    const visit = { outcome: 'new', at, freshForMs, sitemap: false } as const;
    return afterVisit(RECRAWL, undefined, visit).dueAt;
  };
  ok(dueIn(0) < 1.1 * DAY_MS);
  ok(dueIn(HOUR_MS) < 1.1 * DAY_MS, 'a short one makes nothing sooner');
  ok(dueIn(1.5 * DAY_MS) >= 1.5 * DAY_MS);
  ok(dueIn(365 * DAY_MS) <= 2.2 * DAY_MS);
});

test('afterVisit asks for a gone page at growing distances, then no more', () => {
  const gone = (count: number) => after(['new', ...times(count, 'gone')]);
  let last = 0;
  for (let count = 1; count < GONE_VISITS_MAX; count += 1) {
    const waited = gone(count + 1).dueAt - gone(count).dueAt;
    if (count + 1 < GONE_VISITS_MAX) ok(waited > last || waited >= RECRAWL.longestMs, `${count}`);
    last = waited;
  }
  strictEqual(gone(GONE_VISITS_MAX).dueAt, 0);
  const back = after(['new', 'gone', 'changed']);
  strictEqual(back.missed, 0);
});

test('afterVisit never gives a page up that only fails', () => {
  ok(after(['new', ...times(100, 'failed')]).dueAt > 0);
});

test('afterSameText takes back what other bytes with the same text did to the interval', () => {
  const changedTwice = after(['new', 'changed', 'changed']);
  const once = afterSameText(changedTwice);
  strictEqual(once.changed, 1);
  strictEqual(once.unchanged, 1);
  strictEqual(once.dueAt, changedTwice.dueAt);
  const halved = after(['new', ...times(3, 'changed')]);
  strictEqual(halved.intervalMs, DAY_MS / 2);
  const whole = afterSameText(halved);
  strictEqual(whole.intervalMs, DAY_MS);
  strictEqual(whole.changed, 2);
});

test('visitOutcome compares an answer with what is stored', () => {
  const facts = { hasFailed: false, redirectTo: undefined };
  const stored = { ...facts, status: 200, contentDigest: 'aa' };
  strictEqual(visitOutcome(undefined, stored), 'new');
  strictEqual(visitOutcome(stored, stored), 'unchanged');
  strictEqual(visitOutcome(stored, { ...stored, contentDigest: 'bb' }), 'changed');
  strictEqual(visitOutcome(stored, { ...stored, status: 304, contentDigest: '' }), 'unchanged');
  strictEqual(visitOutcome(undefined, { ...stored, status: 304 }), 'failed');
  for (const status of [404, 410]) strictEqual(visitOutcome(stored, { ...stored, status }), 'gone');
  strictEqual(visitOutcome(stored, { ...stored, status: 503, hasFailed: true }), 'failed');
  strictEqual(visitOutcome(stored, { ...stored, status: 403 }), 'failed');
  strictEqual(visitOutcome({ ...stored, status: 404 }, stored), 'new');
  const moved = { ...facts, status: 301, contentDigest: '', redirectTo: 'http://b.test/' };
  strictEqual(visitOutcome(stored, moved), 'changed');
  strictEqual(visitOutcome(moved, { ...moved, redirectTo: 'http://c.test/' }), 'changed');
});
