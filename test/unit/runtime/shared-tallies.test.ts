import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { estimateMarked, NO_ROW, SharedTallies } from '../../../src/runtime/shared-tallies.ts';

test('SharedTallies.rowOf gives a key one row, also through another view of the memory', () => {
  const memory = SharedTallies.createMemory(64);
  const one = new SharedTallies(memory);
  const other = new SharedTallies(memory);
  const row = one.rowOf(0x1234_5678_0000_0005n);
  strictEqual(other.rowOf(0x1234_5678_0000_0005n), row);
  ok(other.rowOf(0x9999_5678_0000_0005n) !== row, 'told apart by the upper half');
  one.add(row, 2, 7);
  other.add(row, 2, -3);
  strictEqual(one.get(row, 2), 4);
  other.mark(row, 63);
  one.mark(row, 0);
  deepStrictEqual(other.marks(row), [1, 0x8000_0000]);
  one.join(row, [2, 1]);
  deepStrictEqual(other.marks(row), [3, 0x8000_0001]);
});

test('SharedTallies.rowOf has no row for a key whose places are all taken, and keeps those it gave', () => {
  const tallies = new SharedTallies(SharedTallies.createMemory(16));
  const keys = Array.from({ length: 40 }, (_, at) => (BigInt(at + 1) << 32n) | BigInt(at));
  const rows = keys.map((key) => tallies.rowOf(key));
  strictEqual(rows.filter((row) => row !== NO_ROW).length, 16);
  deepStrictEqual(
    keys.map((key) => tallies.rowOf(key)),
    rows,
  );
  throws(() => SharedTallies.createMemory(17));
});

test('estimateMarked is near the number of things that set marks, as long as some are clear', () => {
  strictEqual(estimateMarked([0, 0]), 0);
  strictEqual(estimateMarked([1, 0]), 1);
  for (const things of [4, 20, 60]) {
    const tallies = new SharedTallies(SharedTallies.createMemory(16));
    const row = tallies.rowOf(1n);
    let state = things;
    for (let at = 0; at < things; at += 1) {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
      tallies.mark(row, state >>> 8);
    }
    const estimate = estimateMarked(tallies.marks(row));
    ok(Math.abs(estimate - things) <= 3 + things * 0.3, `${estimate} for ${things}`);
  }
  strictEqual(estimateMarked([0xffff_ffff, 0xffff_ffff]), 267);
});
