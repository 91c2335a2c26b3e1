import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { SeededRandom } from '../../../src/base/random.ts';
import { BloomFilter } from '../../../src/runtime/bloom.ts';
import { BloomGenerations } from '../../../src/runtime/bloom-generations.ts';
import { blockedFalsePositiveRate, sizeBloom } from '../../../src/runtime/bloom-sizing.ts';
import { RecentKeys } from '../../../src/runtime/recent-keys.ts';

/** Calls back with keys of a stream; two streams of different seeds share no key in practice. */
function eachKey(seed: number, count: number, visit: (hi: number, lo: number) => void): void {
  const random = new SeededRandom(seed);
  for (let index = 0; index < count; index++) visit(random.uint32(), random.uint32());
}

function measuredRate(has: (hi: number, lo: number) => boolean, looks: number): number {
  let hits = 0;
  eachKey(999, looks, (hi, lo) => {
    if (has(hi, lo)) hits += 1;
  });
  return hits / looks;
}

for (const [rate, looks] of [
  [0.1, 50_000],
  [0.01, 200_000],
  [0.001, 600_000],
] as const) {
  test(`BloomFilter errs at most 1.15 times as often as asked, full, at a rate of ${rate}`, () => {
    const filter = BloomFilter.create({ expectedKeys: 40_000, falsePositiveRate: rate });
    eachKey(1, 40_000, (hi, lo) => filter.add(hi, lo));
    const measured = measuredRate((hi, lo) => filter.mayHave(hi, lo), looks);
    ok(measured <= rate * 1.15, `measured ${measured}`);
    ok(measured >= rate * 0.75, `measured ${measured}: larger than need be`);
  });
}

test('BloomFilter.mayHave never denies a key that was added, and add tells new from known', () => {
  const filter = BloomFilter.create({ expectedKeys: 20_000, falsePositiveRate: 0.01 });
  let news = 0;
  eachKey(2, 20_000, (hi, lo) => {
    if (filter.add(hi, lo)) news += 1;
    strictEqual(filter.add(hi, lo), false);
  });
  eachKey(2, 20_000, (hi, lo) => strictEqual(filter.mayHave(hi, lo), true));
  ok(news > 19_900, `${news} of 20000 were new`);
  strictEqual(filter.keys, news);
});

test('BloomFilter takes keys whose halves are sequential or equal without erring more', () => {
  const filter = BloomFilter.create({ expectedKeys: 50_000, falsePositiveRate: 0.01 });
  // The line comes from the upper half, so it must be spread; the lower half may be anything.
  const random = new SeededRandom(3);
  for (let lo = 0; lo < 50_000; lo++) filter.add(random.uint32(), lo);
  let hits = 0;
  for (let lo = 0; lo < 200_000; lo++) if (filter.mayHave(random.uint32(), lo)) hits += 1;
  ok(hits / 200_000 <= 0.0115, `${hits / 200_000}`);
});

test('BloomFilter.fillRatio estimates the bits set', () => {
  const filter = BloomFilter.create({ expectedKeys: 40_000, falsePositiveRate: 0.01 });
  strictEqual(filter.fillRatio(), 0);
  eachKey(4, 40_000, (hi, lo) => filter.add(hi, lo));
  const expected = 1 - Math.exp((-filter.bitsPerKey * 40_000) / (filter.blocks * 512));
  ok(Math.abs(filter.fillRatio() - expected) < 0.03, `${filter.fillRatio()} not ${expected}`);
});

test('sizeBloom gives the smallest size: one per cent fewer blocks would miss the rate', () => {
  for (const rate of [0.2, 0.01, 0.0001]) {
    const { blocks, bitsPerKey } = sizeBloom(1e8, rate);
    ok(blockedFalsePositiveRate(1e8 / blocks, bitsPerKey) <= rate * 1.0001);
    for (let other = 1; other <= 16; other++) {
      ok(blockedFalsePositiveRate(1e8 / (blocks * 0.99), other) > rate, `${other} bits do better`);
    }
  }
  const { blocks } = sizeBloom(1e8, 0.01);
  ok((blocks * 512) / 1e8 < 11, `${(blocks * 512) / 1e8} bits a key at one per cent`);
});

test('BloomGenerations grows fourfold and its whole rate stays within the target', () => {
  const seen = BloomGenerations.create({ expectedKeys: 8000, falsePositiveRate: 0.01 });
  const other = BloomGenerations.attach(seen.handle);
  eachKey(5, 32_000, (hi, lo) => {
    seen.add(hi, lo);
    if (seen.needsGrowth) other.adopt(seen.grow());
  });
  strictEqual(seen.filters.length, 3);
  strictEqual(other.filters.length, 3);
  eachKey(5, 32_000, (hi, lo) => strictEqual(other.mayHave(hi, lo), true));
  const measured = measuredRate((hi, lo) => other.mayHave(hi, lo), 100_000);
  ok(measured <= 0.0115, `measured ${measured}`);
  strictEqual(seen.keys, other.keys);
});

test('BloomGenerations.adopt ignores a generation it knows', () => {
  const seen = BloomGenerations.create({ expectedKeys: 100, falsePositiveRate: 0.01 });
  const buffer = seen.grow();
  seen.adopt(buffer);
  strictEqual(seen.filters.length, 2);
});

test('RecentKeys.has finds what was added last and never what was not', () => {
  const keys = RecentKeys.create(1024);
  strictEqual(keys.keysMax, 1024);
  eachKey(8, 400, (hi, lo) => {
    keys.add(hi, lo);
    strictEqual(keys.has(hi, lo), true);
    strictEqual(keys.has(lo, hi), false);
  });
  let kept = 0;
  eachKey(8, 400, (hi, lo) => {
    if (keys.has(hi, lo)) kept += 1;
  });
  ok(kept > 380, `${kept} of 400 kept at 40 % load`);
  eachKey(9, 10_000, (hi, lo) => strictEqual(keys.has(hi, lo), false));
});

test('RecentKeys replaces within its bound and keeps most places in use', () => {
  const keys = RecentKeys.create(512);
  const bytes = keys.buffer.byteLength;
  strictEqual(bytes, 512 * 8);
  eachKey(10, 20_000, (hi, lo) => keys.add(hi, lo));
  let kept = 0;
  eachKey(10, 20_000, (hi, lo) => {
    if (keys.has(hi, lo)) kept += 1;
  });
  strictEqual(kept, 512);
});

test('RecentKeys treats the key 0 as absent and clear forgets all', () => {
  const keys = RecentKeys.create(64);
  keys.add(0, 0);
  strictEqual(keys.has(0, 0), false);
  keys.add(0, 5);
  keys.add(5, 0);
  deepStrictEqual([keys.has(0, 5), keys.has(5, 0)], [true, true]);
  keys.clear();
  deepStrictEqual([keys.has(0, 5), keys.has(5, 0)], [false, false]);
});
