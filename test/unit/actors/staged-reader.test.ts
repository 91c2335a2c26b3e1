import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import type { PageReceipt, StateReader } from '../../../src/actors/ports.ts';
import { StagedReader } from '../../../src/actors/staged-reader.ts';
import {
  entryOf,
  HOST,
  KeptBatches,
  PARTITION,
  pageOf,
  rowWithTail,
} from '../../support/actors-fixtures.ts';

const RECEIPT: PageReceipt = { unparsedId: 1, duplicateOf: undefined };

function stageOf() {
  const port = new KeptBatches();
  const told = { opened: 0, full: 0, pages: [] as string[] };
  const stage = new CheckpointStage(port, {
    pageCommitted: (page) => told.pages.push(page.url),
    opened: () => {
      told.opened += 1;
    },
    full: () => {
      told.full += 1;
    },
  });
  return { port, told, stage };
}

const entries = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...entryOf(`e${first + n}`), sequence: first + n }));
const chunkOf = (first: number, count: number) => ({
  ...{ hostKey: HOST, partition: PARTITION, band: 0 as const, entries: entries(first, count) },
});
const removalOf = (firstSequence: number) => ({
  ...{ hostKey: HOST, partition: PARTITION, band: 0 as const, firstSequence },
});
const deniedOf = (name: string) => ({
  ...{ hostKey: HOST, partition: PARTITION, band: 0 as const },
  entry: { ...entryOf(name), sequence: 0 },
});

test('CheckpointStage tells when the first thing is staged in an empty batch, whoever stages it', () => {
  const { stage, told } = stageOf();
  stage.count('a');
  stage.parsed(1);
  strictEqual(told.opened, 1);
  stage.flush();
  stage.afterCommit(() => {});
  strictEqual(told.opened, 2);
});

test('CheckpointStage.flush takes host rows when the batch closes (I8)', () => {
  const { stage, port } = stageOf();
  let tail = 1;
  stage.host(HOST, () => rowWithTail(tail));
  tail = 9;
  stage.page(pageOf('a'));
  stage.flush();
  strictEqual(port.batches[0]?.hosts[0]?.row.queues[0].tail, 9);
  strictEqual(port.batches[0]?.pages.length, 1);
  stage.flush();
  strictEqual(port.batches.length, 1, 'an empty batch is not handed over');
});

test('CheckpointStage.committed tells of pages and waiters only after their own receipt (I7)', () => {
  const { stage, told } = stageOf();
  const done: number[] = [];
  stage.page(pageOf('a'));
  stage.afterCommit(() => done.push(1));
  stage.flush();
  stage.page(pageOf('b'));
  stage.afterCommit(() => done.push(2));
  stage.flush();
  deepStrictEqual(told.pages, []);
  stage.committed(1, [RECEIPT]);
  deepStrictEqual([told.pages, done], [['http://h.test/a'], [1]]);
  throws(() => stage.committed(3, [RECEIPT]), /receipt 3, expected 2/);
});

test('CheckpointStage asks once for a flush when its batch has grown large', () => {
  const { stage, told } = stageOf();
  for (let n = 0; n < 300; n += 1) stage.page(pageOf(`p${n}`));
  strictEqual(told.full, 1);
});

test('CheckpointStage.removeChunk takes a chunk of the open batch back', () => {
  const { stage, port } = stageOf();
  stage.chunk(chunkOf(0, 64));
  stage.chunk(chunkOf(64, 3));
  stage.removeChunk(removalOf(0));
  stage.removeChunk(removalOf(512));
  stage.flush();
  const batch = port.batches[0];
  deepStrictEqual(
    batch?.chunks.map((chunk) => chunk.entries[0]?.sequence),
    [64],
  );
  deepStrictEqual(
    batch?.chunkRemovals.map(({ firstSequence }) => firstSequence),
    [512],
  );
});

test('CheckpointStage.removeDenied outlives a denial of the same batch, and a later denial outlives it', () => {
  const { stage, port } = stageOf();
  const { urlKey } = entryOf('x');
  stage.denied(deniedOf('x'));
  stage.removeDenied(HOST, PARTITION, urlKey);
  stage.flush();
  deepStrictEqual(port.batches[0]?.denied, []);
  strictEqual(port.batches[0]?.deniedRemovals.length, 1);
  stage.removeDenied(HOST, PARTITION, urlKey);
  stage.denied(deniedOf('x'));
  stage.flush();
  strictEqual(port.batches[1]?.denied.length, 1);
});

/** A disk that knows a denied URL and an old row. */
function diskReader(): StateReader {
  return {
    host: () => rowWithTail(1),
    robots: () => [],
    chunk: () => undefined,
    page: () => undefined,
    rendered: () => undefined,
    denied: () => [deniedOf('old')],
    isDenied: (_host, _partition, key) => key === entryOf('old').urlKey,
    hostsWithWork: () => [],
    unparsed: () => [],
    due: () => ({ rows: [], nextAt: Infinity }),
    body: () => undefined,
  };
}

test('StagedReader sees what is staged and not yet handed over', () => {
  const { stage } = stageOf();
  const reader = new StagedReader(stage, diskReader());
  const isDenied = (name: string) => reader.isDenied(HOST, PARTITION, entryOf(name).urlKey);
  strictEqual(reader.host(HOST, PARTITION)?.queues[0].tail, 1);
  stage.host(HOST, () => rowWithTail(5));
  strictEqual(reader.host(HOST, PARTITION)?.queues[0].tail, 5);
  stage.chunk(chunkOf(64, 10));
  strictEqual(reader.chunk(HOST, PARTITION, 0, 70)?.[0]?.sequence, 64);
  strictEqual(reader.chunk(HOST, PARTITION, 0, 74), undefined);
  strictEqual(reader.chunk(HOST, PARTITION, 1, 70), undefined);
  stage.denied(deniedOf('new'));
  ok(isDenied('new') && isDenied('old'));
  stage.removeDenied(HOST, PARTITION, entryOf('old').urlKey);
  ok(!isDenied('old'));
  const listed = [...reader.denied(HOST, PARTITION)].map(({ entry }) => entry.url);
  deepStrictEqual(listed, ['http://h.test/new']);
});
