// Model tests of the base structures: each is driven with random operations beside a plain JavaScript model that is obviously right.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { Fifo } from '../../src/base/fifo.ts';
import { HashSet64, HashTable64 } from '../../src/base/hash-table64.ts';
import { IndexedHeap } from '../../src/base/heap.ts';
import { keyHi, keyLo, keyOf } from '../../src/base/key64.ts';
import { Lru } from '../../src/base/lru.ts';

/** Few distinct keys, so that operations meet; the edges 0 and 2^64 − 1 and keys that share halves are among them. */
const key = fc.oneof(
  fc.bigInt({ min: 0n, max: 40n }),
  fc.bigInt({ min: 0n, max: 40n }).map((value) => value << 32n),
  fc.constantFrom(2n ** 64n - 1n, 2n ** 63n, 2n ** 32n - 1n),
);
const priority = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.double({ noNaN: true }));

const heapOperation = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, priority }),
  fc.record({ kind: fc.constant('update' as const), key, priority }),
  fc.record({ kind: fc.constant('remove' as const), key }),
  fc.record({ kind: fc.constant('pop' as const) }),
);

function smallest(model: Map<bigint, number>): bigint | undefined {
  const sorted = [...model].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
  return sorted[0]?.[0];
}

test('IndexedHeap behaves as a sorted array of (priority, key) under any operations', () => {
  fc.assert(
    fc.property(fc.array(heapOperation, { maxLength: 200 }), (operations) => {
      const heap = new IndexedHeap({ countMax: 30 });
      const model = new Map<bigint, number>();
      for (const operation of operations) {
        if (operation.kind === 'set') {
          const fits = model.has(operation.key) || model.size < 30;
          strictEqual(heap.set(operation.key, operation.priority), fits);
          // −0 and 0 are one priority; the model keeps what the heap compares.
          if (fits) model.set(operation.key, operation.priority);
        } else if (operation.kind === 'update') {
          strictEqual(heap.update(operation.key, operation.priority), model.has(operation.key));
          if (model.has(operation.key)) model.set(operation.key, operation.priority);
        } else if (operation.kind === 'remove') {
          strictEqual(heap.remove(operation.key), model.delete(operation.key));
        } else {
          const expected = smallest(model);
          const lowest = expected === undefined ? Infinity : (model.get(expected) as number);
          strictEqual(heap.peekPriority() === lowest, true);
          strictEqual(heap.pop(), expected);
          if (expected !== undefined) model.delete(expected);
        }
        strictEqual(heap.size, model.size);
        strictEqual(heap.peekKey(), smallest(model));
      }
      for (const [each, value] of model) strictEqual(heap.priorityOf(each) === value, true);
    }),
    { numRuns: 300 },
  );
});

test('IndexedHeap with number keys gives the numbers back in order', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.maxSafeNat(), { maxLength: 100 }), (keys) => {
      const heap = new IndexedHeap<number>({ keys: 'number' });
      for (const each of keys) heap.push(each, each % 7);
      const out: number[] = [];
      for (let next = heap.pop(); next !== undefined; next = heap.pop()) out.push(next);
      const expected = [...keys].sort((a, b) => (a % 7) - (b % 7) || a - b);
      deepStrictEqual(out, expected);
    }),
  );
});

const tableOperation = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, value: fc.integer() }),
  fc.record({ kind: fc.constant('delete' as const), key }),
);

test('HashTable64 behaves as a Map of bigints with a bound under any operations', () => {
  fc.assert(
    fc.property(fc.array(tableOperation, { maxLength: 300 }), (operations) => {
      const table = new HashTable64({ countMax: 50 });
      const model = new Map<bigint, number>();
      for (const operation of operations) {
        if (operation.kind === 'set') {
          const fits = model.has(operation.key) || model.size < 50;
          strictEqual(table.setKey(operation.key, operation.value), fits);
          if (fits) model.set(operation.key, operation.value);
        } else {
          strictEqual(table.deleteKey(operation.key), model.delete(operation.key));
        }
        strictEqual(table.size, model.size);
      }
      deepStrictEqual(new Map(table.entries()), model);
      for (const [each, value] of model) strictEqual(table.getKey(each), value);
    }),
    { numRuns: 300 },
  );
});

test('HashSet64 holds exactly the keys added and not deleted', () => {
  fc.assert(
    fc.property(fc.array(key), fc.array(key), (added, deleted) => {
      const set = new HashSet64({ countMax: 1000 });
      const model = new Set<bigint>();
      for (const each of added) {
        set.addKey(each);
        model.add(each);
      }
      for (const each of deleted) strictEqual(set.deleteKey(each), model.delete(each));
      deepStrictEqual(new Set(set.keys()), model);
      for (const each of added) strictEqual(set.has(keyHi(each), keyLo(each)), model.has(each));
    }),
  );
});

test('keyOf puts the halves of a key together again', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (each) => {
      strictEqual(keyOf(keyHi(each), keyLo(each)), each);
      strictEqual(BigInt(keyHi(each)) * 2n ** 32n + BigInt(keyLo(each)), each);
    }),
  );
});

test('Fifo behaves as a bounded array', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.option(fc.nat()), { maxLength: 400 }),
      (countMax, operations) => {
        const queue = new Fifo<number>(countMax);
        const model: number[] = [];
        for (const operation of operations) {
          if (operation === null) strictEqual(queue.shift(), model.shift());
          else {
            strictEqual(queue.push(operation), model.length < countMax);
            if (model.length < countMax) model.push(operation);
          }
          strictEqual(queue.size, model.length);
          strictEqual(queue.peek(), model[0]);
        }
        deepStrictEqual([...queue], model);
      },
    ),
  );
});

test('Lru keeps the entries used last and evicts the others once each', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 15 })), { maxLength: 100 }),
      (countMax, operations) => {
        const evicted: number[] = [];
        const lru = new Lru<number, number>(countMax, (each) => evicted.push(each));
        let order: number[] = [];
        const expected: number[] = [];
        for (const [isSet, each] of operations) {
          const known = order.includes(each);
          if (isSet || known) order = [...order.filter((other) => other !== each), each];
          if (isSet) lru.set(each, each);
          else strictEqual(lru.get(each), known ? each : undefined);
          if (order.length > countMax) expected.push(order.shift() as number);
        }
        deepStrictEqual(
          [...lru.entries()].map(([each]) => each),
          order,
        );
        deepStrictEqual(evicted, expected);
      },
    ),
  );
});
