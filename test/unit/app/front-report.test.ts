import { match, strictEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { limitOf } from '../../../src/app/front-report.ts';
import { frontReach, ratesBetween } from '../../../src/ops/overview-rates.ts';
import { sampleOverview } from '../../support/ops/sample-overview.ts';

const calm = {
  ...sampleOverview(100),
  ...{ state: 'running' as const, inFlight: 2, slots: 100, minGapMs: 1_000 },
  hosts: { known: 50, active: 30, ready: 0, waiting: 28, backingOff: 3 },
};
const limit = (change: Partial<typeof calm>): string => {
  const overview = { ...calm, ...change };
  return limitOf(overview, frontReach(overview, ratesBetween(undefined, overview)));
};

test('limitOf says that the front is too small, with hosts, gap and the rate they allow', () => {
  match(limit({}), /front is too small: 28 hosts wait for their gap of at least 1000 ms, 2 are/);
  match(limit({}), /requests\/s at most, and \d+ hosts would keep all 100 slots busy$/);
});

test('limitOf names slots, a pause, trouble or an empty frontier where it is that', () => {
  match(limit({ inFlight: 100 }), /all 100 fetch slots are in use/);
  strictEqual(limit({ state: 'paused' as 'running' }), 'the crawl is paused');
  const hosts = { known: 50, active: 3, ready: 0, waiting: 0, backingOff: 3 };
  match(limit({ inFlight: 0, hosts }), /all 3 hosts with work wait after trouble/);
  match(limit({ inFlight: 0, hosts: { ...hosts, backingOff: 0 } }), /no host has a URL/);
  match(limit({ hosts: { ...calm.hosts, ready: 4 } }), /commits, parsing or address budgets/);
});
