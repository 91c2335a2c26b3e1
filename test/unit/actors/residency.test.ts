import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { HostRobots } from '../../../src/actors/host-robots.ts';
import { type Residency, ResidencyShare } from '../../../src/actors/residency.ts';
import { wallMs } from '../../../src/base/units.ts';

test('ResidencyShare.hold replaces its own part of the sum and nobody else’s', () => {
  const residency: Residency = { entries: 0, visits: 0, waiting: 0 };
  const first = new ResidencyShare(residency);
  const second = new ResidencyShare(residency);
  first.hold(10);
  second.hold(5);
  first.hold(3);
  equal(residency.entries, 8);
  second.hold(0);
  equal(residency.entries, 3);
});

test('HostRobots counts the rules it holds, and none once the host is asleep', () => {
  const residency: Residency = { entries: 0, visits: 0, waiting: 0 };
  const rules = {
    group: '*',
    patterns: ['/a', '/b', '/c'],
    allows: [false, false, true],
    lines: [2, 3, 4],
    sitemaps: [],
  };
  const row = {
    origin: 'http://a.test',
    rules,
    decision: 'rules' as const,
    fetchedAt: wallMs(1),
    expiresAt: wallMs(9),
    status: 200,
    failures: 0,
    failingSince: wallMs(0),
    processAt: undefined,
  };
  const robots = new HostRobots({ productToken: 'hostler', robotsBytesMax: 512_000 }, [row], {
    residency,
    startedAt: wallMs(1),
  });
  equal(residency.entries, 3);
  robots.released();
  equal(residency.entries, 0);
});
