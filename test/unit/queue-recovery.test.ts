import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import {
  newHostRow,
  RECOVERED_CHUNK_ENTRIES_MAX,
  recoverQueues,
} from '../../src/actors/queue-recovery.ts';
import { AssertionFailure } from '../../src/base/assert.ts';
import { hostKey } from '../../src/base/units.ts';
import { discoveredAt, hostRowOf, partitionOf } from '../fixtures/checkpoint-batches.ts';

const identity = { host: 'host-1.test', hostKey: hostKey(1n), partition: partitionOf(1) };
const entries = (from: number, to: number, band: 0 | 1 | 2 = 0) =>
  Array.from({ length: to - from }, (_, index) =>
    discoveredAt(1, from + index, { sequence: from + index, band }),
  );
const sequencesOf = (result: ReturnType<typeof recoverQueues>) =>
  result.chunks.map((chunk) => chunk.entries.map((entry) => entry.sequence));

test('recoverQueues puts everything into chunks for a host without a row', () => {
  const result = recoverQueues({ ...identity, row: undefined, entries: entries(0, 3) });
  deepStrictEqual(sequencesOf(result), [[0, 1, 2]]);
  deepStrictEqual(result.row?.queues[0], { head: 0, chunkEnd: 3, tail: 3 });
  strictEqual(result.row?.host, 'host-1.test');
  strictEqual(result.row?.counts.discovered, 3);
});

test('recoverQueues leaves out what is done or in chunk rows', () => {
  const inChunks = hostRowOf(1, { head: 1, chunkEnd: 3, tail: 4 });
  const result = recoverQueues({ ...identity, row: inChunks, entries: entries(0, 6) });
  deepStrictEqual(sequencesOf(result), [[3, 4, 5]]);
  deepStrictEqual(result.row?.queues[0], { head: 1, chunkEnd: 6, tail: 6 });
  const ahead = hostRowOf(1, { head: 5, chunkEnd: 2, tail: 6 });
  const beyond = recoverQueues({ ...identity, row: ahead, entries: entries(0, 6) });
  deepStrictEqual(sequencesOf(beyond), [[5]]);
});

test('recoverQueues changes nothing when it is run again', () => {
  const first = recoverQueues({ ...identity, row: undefined, entries: entries(0, 5) });
  const second = recoverQueues({ ...identity, row: first.row, entries: entries(0, 5) });
  deepStrictEqual(second, { row: undefined, chunks: [] });
});

test('recoverQueues cuts long runs into chunks and keeps bands apart', () => {
  const both = [...entries(0, RECOVERED_CHUNK_ENTRIES_MAX + 1), ...entries(0, 2, 2)];
  const result = recoverQueues({ ...identity, row: undefined, entries: both });
  deepStrictEqual(
    result.chunks.map((chunk) => [chunk.band, chunk.entries.length]),
    [
      [0, RECOVERED_CHUNK_ENTRIES_MAX],
      [0, 1],
      [2, 2],
    ],
  );
  deepStrictEqual(result.row?.queues[1], { head: 0, chunkEnd: 0, tail: 0 });
});

test('recoverQueues refuses a log with a hole', () => {
  const holed = [...entries(0, 2), ...entries(3, 4)];
  throws(() => recoverQueues({ ...identity, row: undefined, entries: holed }), AssertionFailure);
  const row = newHostRow('host-1.test', partitionOf(1));
  throws(() => recoverQueues({ ...identity, row, entries: entries(1, 2) }), AssertionFailure);
});
