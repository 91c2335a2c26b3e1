import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { LOOK_MS, ShardWatch, STILL_LOOKS_MAX } from '../../../src/app/shard-watch.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { readSuspects } from '../../../src/storage/suspects.ts';
import { removeFolder, temporaryFolder } from '../../fixtures/store-session.ts';

function watching() {
  const dir = temporaryFolder();
  const clock = new VirtualClock();
  const turns = new SharedArrayBuffer(8);
  const parsing = new SharedArrayBuffer(16);
  const stuck: number[] = [];
  const watch = new ShardWatch({
    ...{ dir, turns, parsing, shards: 2, alarms: clock },
    stuck: (shard) => stuck.push(shard),
  });
  return { dir, clock, watch, stuck, turns: new Int32Array(turns), parsing };
}

test('ShardWatch tells once of a shard that stands still for half a minute, and of no other', () => {
  const { dir, clock, watch, stuck, turns } = watching();
  watch.start();
  for (let look = 1; look <= 2 * STILL_LOOKS_MAX; look += 1) {
    turns[1] = look;
    clock.advanceTo(look * LOOK_MS);
    deepStrictEqual(stuck, look <= STILL_LOOKS_MAX ? [] : [0]);
  }
  watch.stop();
  strictEqual(clock.nextAlarmAt, Infinity);
  removeFolder(dir);
});

test('ShardWatch.accuse records the page that a shard was handling, once', () => {
  const { dir, watch, parsing } = watching();
  try {
    strictEqual(watch.accuse(0, 'exit code 9'), '', 'it handled none');
    new BigUint64Array(parsing)[1] = 255n;
    match(watch.accuse(1, 'exit code 9'), /page 00000000000000ff/);
    strictEqual(watch.accuse(1, 'again'), '');
    deepStrictEqual([...readSuspects(dir)], [[255n, { deaths: 1, reason: 'exit code 9' }]]);
  } finally {
    removeFolder(dir);
  }
});
