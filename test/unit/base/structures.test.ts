import { deepStrictEqual, notDeepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { AssertionFailure } from '../../../src/base/assert.ts';
import { Fifo } from '../../../src/base/fifo.ts';
import { HashTable64 } from '../../../src/base/hash-table64.ts';
import { IndexedHeap } from '../../../src/base/heap.ts';
import { SeededRandom } from '../../../src/base/random.ts';

const draws = (random: SeededRandom, count: number): number[] =>
  Array.from({ length: count }, () => random.uint32());

test('SeededRandom gives one stream for one seed and another for another', () => {
  deepStrictEqual(draws(new SeededRandom(7), 20), draws(new SeededRandom(7), 20));
  notDeepStrictEqual(draws(new SeededRandom(7), 20), draws(new SeededRandom(8), 20));
  notDeepStrictEqual(draws(new SeededRandom(1), 20), draws(new SeededRandom(1 + 2 ** 32), 20));
});

test('SeededRandom.uint32 sets every bit about half the time', () => {
  const random = new SeededRandom(1);
  const ones = new Array<number>(32).fill(0);
  for (let draw = 0; draw < 20_000; draw++) {
    const word = random.uint32();
    for (let bit = 0; bit < 32; bit++) ones[bit] = (ones[bit] ?? 0) + ((word >>> bit) & 1);
  }
  for (const count of ones) ok(Math.abs(count - 10_000) < 500, `a bit was set ${count} times`);
});

test('SeededRandom.below reaches every value below its bound and none other', () => {
  const random = new SeededRandom(3);
  const seen = new Set<number>();
  for (let draw = 0; draw < 1000; draw++) seen.add(random.below(10));
  deepStrictEqual(
    [...seen].sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
});

test('SeededRandom.chance is certain at 0 and 1 and near its probability between', () => {
  const random = new SeededRandom(4);
  let hits = 0;
  for (let draw = 0; draw < 10_000; draw++) {
    strictEqual(random.chance(0), false);
    strictEqual(random.chance(1), true);
    if (random.chance(0.3)) hits += 1;
  }
  ok(Math.abs(hits - 3000) < 200, `${hits} of 10000 at 0.3`);
});

test('SeededRandom.shuffle keeps every item and changes the order', () => {
  const items = Array.from({ length: 50 }, (_, index) => index);
  const shuffled = new SeededRandom(5).shuffle([...items]);
  notDeepStrictEqual(shuffled, items);
  deepStrictEqual(
    [...shuffled].sort((a, b) => a - b),
    items,
  );
});

test('SeededRandom.fork gives streams that differ from their parent and each other', () => {
  const parent = new SeededRandom(6);
  const first = draws(parent.fork(), 10);
  const second = draws(parent.fork(), 10);
  notDeepStrictEqual(first, second);
  notDeepStrictEqual(first, draws(parent, 10));
});

test('Fifo.push refuses at its bound and works again after a shift', () => {
  const queue = new Fifo<string>(2);
  strictEqual(queue.push('a'), true);
  strictEqual(queue.push('b'), true);
  strictEqual(queue.push('c'), false);
  strictEqual(queue.isFull, true);
  strictEqual(queue.shift(), 'a');
  strictEqual(queue.push('c'), true);
  deepStrictEqual([...queue], ['b', 'c']);
});

test('HashTable64.set refuses a new key at its bound but still replaces values', () => {
  const table = new HashTable64({ countMax: 2, values: 'uint32' });
  strictEqual(table.set(0, 0, 1), true);
  strictEqual(table.set(0, 1, 2), true);
  strictEqual(table.set(1, 0, 3), false);
  strictEqual(table.set(0, 1, 9), true);
  strictEqual(table.get(0, 1), 9);
  strictEqual(table.get(0, 0), 1);
});

test('IndexedHeap.push refuses at its bound and throws for a key it holds', () => {
  const heap = new IndexedHeap({ countMax: 1 });
  strictEqual(heap.push(5n, 1), true);
  strictEqual(heap.push(6n, 1), false);
  const roomy = new IndexedHeap();
  roomy.push(5n, 1);
  throws(() => roomy.push(5n, 2), AssertionFailure);
  throws(() => roomy.update(5n, Number.NaN), AssertionFailure);
});

test('IndexedHeap stays within 41 bytes an entry at 50,000 entries', () => {
  const heap = new IndexedHeap();
  const random = new SeededRandom(9);
  for (let index = 0; index < 50_000; index++) {
    heap.set(BigInt(random.uint32()) * 2n ** 32n + BigInt(random.uint32()), random.float());
  }
  ok(heap.bytes / heap.size <= 41, `${heap.bytes / heap.size} bytes an entry`);
});

test('IndexedHeap.smallest gives the first entries in the order they would leave, and leaves them', () => {
  const heap = new IndexedHeap();
  for (let at = 0; at < 500; at += 1) heap.push(BigInt(at), (at * 7_919) % 501);
  const first = heap.smallest(30);
  strictEqual(heap.size, 500);
  strictEqual(heap.smallest(1_000).length, 500);
  for (const [key] of first) strictEqual(heap.pop(), key);
  strictEqual(new IndexedHeap().smallest(5).length, 0);
});
