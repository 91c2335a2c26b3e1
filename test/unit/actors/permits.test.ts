import { notStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { type FetchPermit, HostPace } from '../../../src/actors/host-pace.ts';
import { AssertionFailure } from '../../../src/base/assert.ts';
import { monotonicMs, wallMs } from '../../../src/base/units.ts';

const POLICY = { minGapMs: 1_000, maxCrawlDelayMs: 30_000, latencyFactor: 0 };
const at = monotonicMs;

/** A pace whose last request ended at 1,000 ms. */
function askedOnce(): HostPace {
  const pace = HostPace.fresh(POLICY);
  notStrictEqual(pace.tryPermit(at(0)), undefined);
  pace.succeeded(at(1_000), 10);
  return pace;
}

test('FetchPermit.consume starts one request and no second', () => {
  const permit = HostPace.fresh(POLICY).tryPermit(at(5)) as FetchPermit;
  permit.consume(at(5));
  throws(() => permit.consume(at(5)), AssertionFailure);
});

test('FetchPermit.consume refuses a time before the permit was given', () => {
  const permit = HostPace.fresh(POLICY).tryPermit(at(5)) as FetchPermit;
  throws(() => permit.consume(at(4)), AssertionFailure);
});

test('HostPace.tryPermit gives one permit while a request is in flight', () => {
  const pace = HostPace.fresh(POLICY);
  notStrictEqual(pace.tryPermit(at(0)), undefined);
  strictEqual(pace.inFlight, true);
  strictEqual(pace.tryPermit(at(100_000)), undefined);
  pace.succeeded(at(100_000), 10);
  strictEqual(pace.tryPermit(at(100_999)), undefined);
  strictEqual(pace.tryPermit(at(101_000))?.gapMs, 1_000);
});

test('HostPace.pause never shortens a pause that is longer', () => {
  const pace = askedOnce();
  pace.pause(at(1_000), 60_000);
  pace.pause(at(2_000), 5_000);
  strictEqual(pace.nextFetchMs(), 61_000);
  strictEqual(pace.waitReason(), 'backoff');
  pace.resume();
  strictEqual(pace.nextFetchMs(), 2_000);
});

test('HostPace.failed waits for the longer of its own pause and Retry-After, and slows the host', () => {
  const pace = HostPace.fresh(POLICY);
  pace.tryPermit(at(0));
  pace.failed('status-429', at(1_000), 120_000);
  strictEqual(pace.nextFetchMs(), 121_000);
  strictEqual(pace.gapMs(), 2_000);
});

test('HostPace.restored keeps the pause, the penalty and the full gap of the stored row', () => {
  const before = HostPace.fresh(POLICY);
  before.tryPermit(at(0));
  before.failed('status-5xx', at(1_000), 90_000);
  const wallNow = wallMs(1_700_000_000_000);
  const row = before.row(at(1_000), wallNow);
  const options = {
    ...{ policy: POLICY, row, crawlDelayMs: 3_000, lastEndedMs: at(0), nowMs: at(0) },
    lastEndedAt: wallNow,
  };
  const after = HostPace.restored({ ...options, wallNow: wallMs(wallNow + 30_000) });
  strictEqual(after.nextFetchMs(), 60_000);
  strictEqual(after.gapMs(), 4_500);
  const later = HostPace.restored({ ...options, wallNow: wallMs(wallNow + 100_000) });
  strictEqual(later.nextFetchMs(), 4_500);
});

test('HostPace.gapMs is never under a Crawl-delay or the least gap to the address, whatever the operator sets', () => {
  const pace = askedOnce();
  pace.setCrawlDelay(8_000);
  pace.override(10);
  strictEqual(pace.gapMs(), 8_000);
  pace.setCrawlDelay(0);
  pace.setLeast(250);
  strictEqual(pace.gapMs(), 250);
  pace.override(undefined);
  strictEqual(pace.gapMs(), 1_000);
});

test('HostPace.block keeps a host waiting until it is resumed, and is not stored', () => {
  const pace = HostPace.fresh(POLICY);
  pace.block(at(90_000));
  strictEqual(pace.tryPermit(at(1_000)), undefined);
  strictEqual(pace.waitReason(), 'backoff');
  strictEqual(pace.row(at(1_000), wallMs(1_700_000_000_000)).pausedUntil, 0);
  pace.resume();
  strictEqual(pace.nextFetchMs(), 0);
});
