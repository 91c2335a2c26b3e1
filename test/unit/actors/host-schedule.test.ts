import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { HostSchedule } from '../../../src/actors/host-schedule.ts';
import { type Band, FRESHNESS } from '../../../src/actors/rows.ts';
import { hostKey } from '../../../src/base/units.ts';
import { at } from '../../support/actors-fixtures.ts';

const key = (n: number) => hostKey(BigInt(n));

test('HostSchedule.take never yields a host before its next fetch time', () => {
  const schedule = new HostSchedule([6, 3, 1], 20);
  schedule.put(key(1), at(100), 0, 'gap');
  schedule.put(key(2), at(50), 1, 'backoff');
  strictEqual(schedule.take(at(49)), undefined);
  strictEqual(schedule.take(at(50)), key(2));
  strictEqual(schedule.take(at(99.9)), undefined);
  strictEqual(schedule.take(at(100)), key(1));
  strictEqual(schedule.size, 0);
});

test('HostSchedule.take gives due bands slots by their weights', () => {
  const schedule = new HostSchedule([6, 3, 1], 20);
  for (let n = 0; n < 300; n += 1) schedule.put(key(n), at(0), (n % 3) as Band, 'gap');
  const taken = [0, 0, 0];
  for (let n = 0; n < 100; n += 1) {
    const host = schedule.take(at(1));
    const band = Number(host ?? 0n) % 3;
    taken[band] = (taken[band] ?? 0) + 1;
  }
  deepStrictEqual(taken, [60, 30, 10]);
});

test('HostSchedule.take does not let an empty or waiting band hold the others up', () => {
  const schedule = new HostSchedule([6, 3, 1], 20);
  schedule.put(key(1), at(1000), 0, 'gap');
  for (let n = 2; n < 22; n += 1) schedule.put(key(n), at(0), 2, 'gap');
  for (let n = 0; n < 20; n += 1) strictEqual(typeof schedule.take(at(1)), 'bigint');
});

test('HostSchedule.put moves a host: it stands in one place only', () => {
  const schedule = new HostSchedule([6, 3, 1], 20);
  schedule.put(key(1), at(10), 0, 'gap');
  schedule.put(key(1), at(20), 2, 'backoff');
  schedule.put(key(1), at(30), 1, 'gap');
  const byBand = [0, 1, 0, 0];
  deepStrictEqual(schedule.counts(), { byBand, backingOff: 0, reviewing: 0 });
  strictEqual(schedule.nextMs(), 30);
  strictEqual(schedule.take(at(29)), undefined);
  strictEqual(schedule.take(at(30)), key(1));
});

test('HostSchedule.nextGapMs leaves out hosts in trouble', () => {
  const schedule = new HostSchedule([1, 1, 1], 20);
  schedule.put(key(1), at(5), 0, 'backoff');
  strictEqual(schedule.nextGapMs(), Infinity);
  strictEqual(schedule.nextMs(), 5);
  schedule.put(key(2), at(9), 1, 'gap');
  strictEqual(schedule.nextGapMs(), 9);
  schedule.remove(key(2));
  strictEqual(schedule.size, 1);
  throws(() => new HostSchedule([0, 1, 1], 20), /band weight 0/);
});

test('HostSchedule.take keeps the split between discovery and pages due again, both ways', () => {
  const schedule = new HostSchedule([6, 3, 1], 20);
  for (let n = 0; n < 1_000; n += 1) schedule.put(key(n), at(0), n < 500 ? 0 : FRESHNESS, 'gap');
  const taken = Array.from({ length: 500 }, () => Number(schedule.take(at(1))) >= 500);
  const visits = taken.filter((isVisit) => isVisit).length;
  strictEqual(visits, 100);
});
