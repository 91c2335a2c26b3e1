import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { AssertionFailure } from '../../../src/base/assert.ts';
import { hostKey } from '../../../src/base/units.ts';
import {
  answer,
  entryOf,
  fetched,
  hostRowOf,
  partitionOf,
} from '../../fixtures/checkpoint-batches.ts';
import { RecordingCheckpoint } from '../../support/actors/recording-ports.ts';

function staged() {
  const port = new RecordingCheckpoint();
  const told: string[] = [];
  const stage = new CheckpointStage(port, {
    pageCommitted: (page, receipt) => told.push(`${page.url} ${receipt.unparsedId}`),
    opened: () => told.push('opened'),
    full: () => told.push('full'),
  });
  return { port, told, stage };
}

test('CheckpointStage.flush takes host rows as they are when the batch closes', () => {
  const { port, stage } = staged();
  let head = 1;
  const row = () => hostRowOf(1, { head, chunkEnd: 4, tail: 4 });
  stage.host(hostKey(1n), row);
  head = 2;
  stage.page(fetched(1, 7, answer('page')));
  stage.host(hostKey(1n), row);
  head = 3;
  stage.flush();
  const [batch] = port.batches;
  strictEqual(batch?.hosts[0]?.row.queues[0].head, 3);
  strictEqual(batch?.pages.length, 1);
});

test('CheckpointStage.flush hands over page, host row and audit in one batch, and nothing twice', () => {
  const { port, stage } = staged();
  for (let url = 0; url < 3; url += 1) stage.page(fetched(1, url, answer(`page ${url}`)));
  stage.host(hostKey(1n), () => hostRowOf(1, { head: 3, chunkEnd: 4, tail: 4 }));
  stage.flush();
  stage.flush();
  deepStrictEqual(
    port.batches.map(({ sequence, pages, hosts }) => [sequence, pages.length, hosts.length]),
    [[1, 3, 1]],
  );
});

test('CheckpointStage tells of a full batch once, at 128 pages or 2 MiB of bodies', () => {
  const { told, stage } = staged();
  for (let url = 0; url < 127; url += 1) stage.page(fetched(1, url, answer('x')));
  deepStrictEqual(told, ['opened']);
  for (let url = 127; url < 140; url += 1) stage.page(fetched(1, url, answer('x')));
  deepStrictEqual(told, ['opened', 'full']);
  stage.flush();
  stage.page(fetched(1, 200, answer(Buffer.alloc(2 * 1024 * 1024))));
  deepStrictEqual(told, ['opened', 'full', 'opened', 'full']);
});

test('CheckpointStage.afterCommit waits for the batch that was open, and pages are told with their receipts', () => {
  const { told, stage } = staged();
  stage.page(fetched(1, 7, answer('page')));
  stage.afterCommit(() => told.push('committed'));
  stage.flush();
  strictEqual(told.includes('committed'), false);
  throws(() => stage.committed(2, []), AssertionFailure);
});

test('CheckpointStage.committed refuses receipts that are not those of the oldest batch', () => {
  const { told, stage } = staged();
  stage.page(fetched(1, 7, answer('page')));
  stage.afterCommit(() => told.push('committed'));
  stage.flush();
  stage.committed(1, [{ unparsedId: 9, duplicateOf: undefined }]);
  deepStrictEqual(told, ['opened', 'http://host-1.test/7 9', 'committed']);
  strictEqual(stage.idle, true);
});

test('CheckpointStage.removeChunk takes a chunk of the open batch back, so that it never reaches the disk', () => {
  const { port, stage } = staged();
  const at = { hostKey: hostKey(1n), partition: partitionOf(1), band: 0 as const };
  stage.chunk({ ...at, entries: [entryOf(1, 3, 3), entryOf(1, 4, 4)] });
  stage.removeChunk({ ...at, firstSequence: 3 });
  stage.removeChunk({ ...at, firstSequence: 0 });
  stage.flush();
  deepStrictEqual(port.batches[0]?.chunks, []);
  deepStrictEqual(port.batches[0]?.chunkRemovals, [{ ...at, firstSequence: 0 }]);
});
