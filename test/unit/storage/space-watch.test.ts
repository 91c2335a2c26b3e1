import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { directoryBytes, SpaceWatch } from '../../../src/storage/space-watch.ts';
import { temporaryDirectory } from '../../support/warc-fixtures.ts';

const KIB = 1024;

test('SpaceWatch.look tells the end of a quota early enough for an orderly one', (t) => {
  const dir = temporaryDirectory(t);
  writeFileSync(join(dir, 'a'), Buffer.alloc(100 * KIB, 1));
  const used = directoryBytes(dir);
  ok(used >= 100 * KIB, `${used}`);
  let nowMs = 0;
  const quotaBytes = used + 50 * KIB;
  const watch = new SpaceWatch(dir, { reserveBytes: 0, quotaBytes }, () => nowMs);
  strictEqual(watch.look(0).kind, 'room');
  strictEqual(watch.look(34 * KIB).kind, 'room');
  deepStrictEqual(watch.look(36 * KIB), {
    ...{ kind: 'quota-near', usedBytes: used + 36 * KIB, quotaBytes },
  });
  strictEqual(watch.look(50 * KIB).kind, 'full');
  ok(watch.spareBytes(36 * KIB) < 0);
  // What was received is counted twice by nobody: a later count of the directory takes its place.
  nowMs = 10_000;
  strictEqual(watch.look(50 * KIB).kind, 'room');
  writeFileSync(join(dir, 'b'), Buffer.alloc(60 * KIB, 1));
  strictEqual(watch.look(50 * KIB).kind, 'room');
  nowMs = 20_000;
  strictEqual(watch.look(50 * KIB).kind, 'full');
});

test('SpaceWatch.look keeps the reserve of the disk, with or without a quota', (t) => {
  const dir = temporaryDirectory(t);
  const reserveBytes = Number.MAX_SAFE_INTEGER;
  const watch = new SpaceWatch(dir, { reserveBytes, quotaBytes: undefined }, () => 0);
  const verdict = watch.look(0);
  strictEqual(verdict.kind, 'full');
  ok(verdict.detail.endsWith(`${reserveBytes} are kept in reserve`), verdict.detail);
  const without = new SpaceWatch(dir, { reserveBytes: 0, quotaBytes: undefined }, () => 0);
  deepStrictEqual([without.look(1e12).kind, without.spareBytes(1e12)], ['room', Infinity]);
});
