import { strictEqual } from 'node:assert';
import { test } from 'node:test';
import { RecentKeys } from '../../../src/runtime/recent-keys.ts';

test('RecentKeys.has tells keys apart that share a half or swap their halves (a false "present" loses a URL)', () => {
  // One line, so that every key stands in it.
  const recent = RecentKeys.create(8);
  recent.add(7, 9);
  strictEqual(recent.has(7, 9), true);
  for (const [high, low] of [
    [8, 9],
    [7, 10],
    [9, 7],
    [0, 9],
    [7, 0],
    [7, 9 + 2 ** 31],
  ] as const) {
    strictEqual(recent.has(high, low), false, `${high} ${low}`);
  }
});

test('RecentKeys.has knows keys whose halves have their top bit set, signed or not', () => {
  const recent = RecentKeys.create(8);
  recent.add(0xffff_fffe, 0x8000_0001);
  strictEqual(recent.has(0xffff_fffe, 0x8000_0001), true);
  strictEqual(recent.has(-2, 0x8000_0001 | 0), true);
  strictEqual(recent.has(0x7fff_fffe, 0x8000_0001), false);
});
