import { ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { HostPace } from '../../../src/actors/host-pace.ts';
import { wallMs } from '../../../src/base/units.ts';
import { at } from '../../support/actors-fixtures.ts';

const POLICY = { minGapMs: 1000, maxCrawlDelayMs: 30_000, latencyFactor: 10 };
const ROW = { smoothedMs: 0, penalty: 1, failuresInRow: 0, pausedUntil: wallMs(0) };
const DAY_MS = 86_400_000;

test('HostPace.tryPermit gives one permit at a time, and the next a gap after the end (I1, I2)', () => {
  const pace = HostPace.fresh(POLICY);
  const permit = pace.tryPermit(at(0));
  ok(permit);
  strictEqual(pace.tryPermit(at(5000)), undefined);
  pace.succeeded(at(5000), 20);
  strictEqual(pace.tryPermit(at(5999)), undefined);
  ok(pace.tryPermit(at(6000)));
});

test('FetchPermit.consume works once', () => {
  const permit = HostPace.fresh(POLICY).tryPermit(at(10));
  throws(() => permit?.consume(at(9)), /permit from the future/);
  permit?.consume(at(10));
  throws(() => permit?.consume(at(11)), /one request only/);
});

test('HostPace waits ten times the response time of a slow host', () => {
  const pace = HostPace.fresh(POLICY);
  pace.tryPermit(at(0));
  pace.succeeded(at(500), 400);
  strictEqual(pace.nextFetchMs(), 4500);
});

test('HostPace.failed obeys Retry-After and never shortens a pause', () => {
  const pace = HostPace.fresh(POLICY);
  pace.tryPermit(at(0));
  pace.failed('status-429', at(100), 60_000);
  strictEqual(pace.nextFetchMs(), 60_100);
  strictEqual(pace.waitReason(), 'backoff');
  pace.pause(at(200), 5);
  strictEqual(pace.nextFetchMs(), 60_100);
  pace.resume();
  ok(pace.nextFetchMs() >= 2100, 'the raised gap still holds');
});

test('HostPace.override never goes below a crawl delay', () => {
  const pace = HostPace.fresh(POLICY);
  pace.setCrawlDelay(3000);
  pace.override(10);
  strictEqual(pace.gapMs(), 3000);
  pace.override(undefined);
  strictEqual(pace.gapMs(), 3000);
});

const restored = (options: { pausedUntil: number; lastEndedAt: number; wallNow: number }) =>
  HostPace.restored({
    policy: POLICY,
    row: { ...ROW, pausedUntil: wallMs(options.pausedUntil) },
    crawlDelayMs: 2000,
    lastEndedMs: at(100),
    lastEndedAt: wallMs(options.lastEndedAt),
    nowMs: at(100),
    wallNow: wallMs(options.wallNow),
  });

test('HostPace.restored waits the full gap from the start of the process', () => {
  const pace = restored({ pausedUntil: 0, lastEndedAt: 1, wallNow: DAY_MS });
  strictEqual(pace.tryPermit(at(2099)), undefined);
  ok(pace.tryPermit(at(2100)));
});

test('HostPace.restored keeps what is left of a pause', () => {
  const pace = restored({ pausedUntil: 60_000, lastEndedAt: 10_000, wallNow: 20_000 });
  strictEqual(pace.nextFetchMs(), 40_100);
});

test('HostPace.restored does not stretch a pause when the clock was put back', () => {
  const ended = 2 * DAY_MS;
  const pace = restored({ pausedUntil: ended + 5_000, lastEndedAt: ended, wallNow: DAY_MS });
  strictEqual(pace.nextFetchMs(), 5_100);
});
