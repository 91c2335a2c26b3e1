import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { SeenCheck } from '../../../src/actors/seen-check.ts';
import { keyHi, keyLo, keyOf } from '../../../src/base/key64.ts';
import { BloomGenerations } from '../../../src/runtime/bloom-generations.ts';
import { RecentKeys } from '../../../src/runtime/recent-keys.ts';

function checkOf(exact: boolean) {
  const filter = BloomGenerations.create({ expectedKeys: 8, falsePositiveRate: 0.2 });
  const known = new Set<bigint>();
  const store = {
    has: (high: number, low: number) => known.has(keyOf(high, low)),
    add: (high: number, low: number) => void known.add(keyOf(high, low)),
  };
  return new SeenCheck(filter, RecentKeys.create(8), exact ? store : undefined);
}

/** Keys as xxhash gives them: all bits used. */
const keyAt = (n: number) => BigInt.asUintN(64, BigInt(n) * 0x9e3779b97f4a7c15n);

test('SeenCheck.addIfNew is exact behind a filter that errs all the time (I5, I6)', () => {
  const check = checkOf(true);
  for (let n = 1; n <= 2_000; n += 1) strictEqual(check.addIfNew(keyAt(n)), true, `key ${n}`);
  for (let n = 1; n <= 2_000; n += 1) strictEqual(check.addIfNew(keyAt(n)), false, `key ${n}`);
  const { added, falsePositives } = check.counts();
  strictEqual(added, 2_000);
  strictEqual(falsePositives > 100, true, 'the filter is too good for this test');
});

test('SeenCheck.isCertainlyKnown never says so of a key that was not added', () => {
  const check = checkOf(true);
  for (let n = 1; n <= 500; n += 1) check.addIfNew(keyAt(n));
  let known = 0;
  for (let n = 1; n <= 500; n += 1) {
    if (check.isCertainlyKnown(keyHi(keyAt(n)), keyLo(keyAt(n)))) known += 1;
  }
  strictEqual(known > 0 && known <= 8, true, `${known} of 500 in a table of 8`);
  for (let n = 501; n <= 5_000; n += 1) {
    strictEqual(check.isCertainlyKnown(keyHi(keyAt(n)), keyLo(keyAt(n))), false);
  }
});

test('SeenCheck takes the word of the filter when there is no exact store', () => {
  const check = checkOf(false);
  strictEqual(check.addIfNew(keyAt(1)), true);
  strictEqual(check.addIfNew(keyAt(1)), false);
  strictEqual(check.isCertainlyKnown(keyHi(keyAt(1)), keyLo(keyAt(1))), true);
  deepStrictEqual(check.counts(), { added: 1, falsePositives: 0, confirmed: 0 });
});
