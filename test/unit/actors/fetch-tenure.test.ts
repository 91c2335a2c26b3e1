// The right to fetch a partition: given only while the lease holds and the partition is open, asked at the moment of use (I4).
import { strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { ALWAYS_OURS, TenureBook } from '../../../src/actors/fetch-tenure.ts';
import { monotonicMs, partitionIndex } from '../../../src/base/units.ts';
import { createTenureMemory, SharedTenure } from '../../../src/runtime/shared-tenure.ts';

const P = partitionIndex(3);

test('TenureBook.tryTenure gives nothing before the partition is open, after it is shut, or past the deadline (I4)', () => {
  const memory = createTenureMemory(16);
  const writer = new SharedTenure(memory);
  const book = new TenureBook(new SharedTenure(memory));
  const hasTenure = (ms: number): boolean => book.tryTenure(P, monotonicMs(ms)) !== undefined;
  strictEqual(book.opensMs(P), Number.POSITIVE_INFINITY);
  writer.setDeadline(1_000);
  strictEqual(hasTenure(10), false);
  writer.open(P, 500);
  strictEqual(hasTenure(499), false);
  strictEqual(hasTenure(500), true);
  strictEqual(hasTenure(1_000), false);
  writer.setDeadline(2_000);
  strictEqual(hasTenure(1_999), true);
  writer.shut(P);
  strictEqual(hasTenure(1_500), false);
});

test('FetchTenure.check fails when the lease ran out between the asking and the use (I4)', () => {
  const memory = createTenureMemory(16);
  const writer = new SharedTenure(memory);
  writer.open(P, 0);
  writer.setDeadline(1_000);
  const tenure = new TenureBook(new SharedTenure(memory)).tryTenure(P, monotonicMs(999));
  tenure?.check(monotonicMs(999));
  throws(() => tenure?.check(monotonicMs(1_000)), /partition 3 is not ours/);
});

test('TenureBook on one machine gives every partition at any time', () => {
  const book = new TenureBook(ALWAYS_OURS);
  book.tryTenure(P, monotonicMs(0))?.check(monotonicMs(1e12));
  strictEqual(book.opensMs(P), 0);
});
