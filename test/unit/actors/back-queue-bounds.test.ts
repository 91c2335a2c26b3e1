import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { BackQueue, CHUNK_ENTRIES, EMPTY_CURSORS } from '../../../src/actors/back-queue.ts';
import type { QueueEntry } from '../../../src/actors/rows.ts';
import { AssertionFailure } from '../../../src/base/assert.ts';
import { entryOf } from '../../fixtures/checkpoint-batches.ts';

/** Chunk rows in a map, as storage keeps them. */
function chunkRows() {
  const rows = new Map<number, readonly QueueEntry[]>();
  const store = {
    read: (sequence: number) => {
      for (const row of rows.values()) {
        const first = row[0]?.sequence ?? Infinity;
        if (first <= sequence && sequence < first + row.length) return row;
      }
      return undefined;
    },
    write: (entries: readonly QueueEntry[]) => void rows.set(entries[0]?.sequence ?? 0, entries),
    remove: (first: number) => void rows.delete(first),
  };
  return { rows, store };
}

test('BackQueue keeps at most three chunks of entries in memory, however many it holds', () => {
  const { store } = chunkRows();
  const queue = new BackQueue(store, EMPTY_CURSORS);
  for (let url = 0; url < 1_000; url += 1) {
    queue.push(entryOf(1, url, 0));
    queue.peek();
    ok(queue.resident <= 3 * CHUNK_ENTRIES, `${queue.resident} entries at ${url}`);
    ok(queue.buffered <= 2 * CHUNK_ENTRIES, `${queue.buffered} buffered at ${url}`);
  }
  for (let url = 0; url < 1_000; url += 1) {
    strictEqual(queue.peek()?.urlKey, BigInt(url));
    queue.advance();
    ok(queue.resident <= 3 * CHUNK_ENTRIES, `${queue.resident} entries after ${url}`);
  }
  strictEqual(queue.length, 0);
});

test('BackQueue removes a chunk row with its last entry, neither before nor after', () => {
  const { rows, store } = chunkRows();
  const queue = new BackQueue(store, EMPTY_CURSORS);
  for (let url = 0; url < CHUNK_ENTRIES + 10; url += 1) queue.push(entryOf(1, url, 0));
  queue.unload();
  deepStrictEqual([...rows.keys()], [0, CHUNK_ENTRIES]);
  for (let url = 0; url < CHUNK_ENTRIES - 1; url += 1) {
    queue.peek();
    queue.advance();
  }
  strictEqual(rows.has(0), true);
  queue.peek();
  queue.advance();
  deepStrictEqual([...rows.keys()], [CHUNK_ENTRIES]);
});

test('BackQueue gives every entry once and in order across unloads at any point', () => {
  const { rows, store } = chunkRows();
  let queue = new BackQueue(store, EMPTY_CURSORS);
  let given = 0;
  for (let url = 0; url < 400; url += 1) {
    queue.push(entryOf(1, url, 0));
    if (url % 3 === 0) {
      strictEqual(queue.peek()?.urlKey, BigInt(given));
      queue.advance();
      given += 1;
    }
    if (url % 7 === 0) {
      queue.unload();
      queue = new BackQueue(store, queue.cursors());
    }
  }
  while (queue.length > 0) {
    strictEqual(queue.peek()?.urlKey, BigInt(given));
    queue.advance();
    given += 1;
  }
  strictEqual(given, 400);
  strictEqual(rows.size, 0);
});

test('BackQueue refuses cursors of entries that neither chunk nor log holds', () => {
  const { store } = chunkRows();
  throws(() => new BackQueue(store, { head: 0, chunkEnd: 3, tail: 5 }), AssertionFailure);
  throws(() => new BackQueue(store, { head: 4, chunkEnd: 3, tail: 3 }), AssertionFailure);
});
