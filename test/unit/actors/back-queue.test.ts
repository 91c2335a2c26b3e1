import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { BackQueue, CHUNK_ENTRIES, EMPTY_CURSORS } from '../../../src/actors/back-queue.ts';
import { entryOf, MapChunks } from '../../support/actors-fixtures.ts';

function filled(count: number): { queue: BackQueue; chunks: MapChunks } {
  const chunks = new MapChunks();
  const queue = new BackQueue(chunks, EMPTY_CURSORS);
  for (let n = 0; n < count; n += 1) queue.push(entryOf(`p${n}`));
  return { queue, chunks };
}

test('BackQueue.peek gives entries in the order of push, each until advance', () => {
  const { queue } = filled(3);
  strictEqual(queue.peek()?.url, 'http://h.test/p0');
  strictEqual(queue.peek()?.url, 'http://h.test/p0');
  queue.advance();
  strictEqual(queue.peek()?.url, 'http://h.test/p1');
  queue.advance();
  queue.advance();
  strictEqual(queue.peek(), undefined);
  throws(() => queue.advance(), /advanced an empty queue/);
});

test('BackQueue.push keeps at most two chunks in memory however many entries come', () => {
  const { queue, chunks } = filled(10 * CHUNK_ENTRIES);
  ok(queue.resident <= 3 * CHUNK_ENTRIES, `${queue.resident} entries in memory`);
  ok(chunks.rows.size >= 7);
  strictEqual(queue.length, 10 * CHUNK_ENTRIES);
});

test('BackQueue.advance removes a chunk row when its last entry is done', () => {
  const { queue, chunks } = filled(2 * CHUNK_ENTRIES);
  strictEqual(chunks.rows.size, 2);
  for (let n = 0; n < CHUNK_ENTRIES; n += 1) {
    queue.peek();
    queue.advance();
  }
  deepStrictEqual([...chunks.rows.keys()], [CHUNK_ENTRIES]);
});

test('BackQueue.unload leaves everything on disk and nothing in memory', () => {
  const { queue, chunks } = filled(70);
  queue.peek();
  queue.advance();
  queue.unload();
  strictEqual(queue.resident, 0);
  deepStrictEqual(queue.cursors(), { head: 1, chunkEnd: 70, tail: 70 });
  const again = new BackQueue(chunks, queue.cursors());
  strictEqual(again.peek()?.sequence, 1);
});

test('BackQueue.peek finds its head in the middle of a chunk row after a restart', () => {
  const { queue, chunks } = filled(2 * CHUNK_ENTRIES);
  queue.unload();
  const again = new BackQueue(chunks, { ...queue.cursors(), head: CHUNK_ENTRIES + 5 });
  strictEqual(again.peek()?.sequence, CHUNK_ENTRIES + 5);
});

test('BackQueue refuses cursors that leave entries without a copy', () => {
  const open = (head: number, chunkEnd: number, tail: number) => () =>
    new BackQueue(new MapChunks(), { head, chunkEnd, tail });
  throws(open(0, 1, 2), /entries without chunk or log/);
  throws(open(2, 1, 1), /head beyond chunks/);
  throws(
    () => new BackQueue(new MapChunks(), { head: 0, chunkEnd: 1, tail: 1 }).peek(),
    /no chunk/,
  );
});
