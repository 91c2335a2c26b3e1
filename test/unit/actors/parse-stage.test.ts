import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { ParseStage } from '../../../src/actors/parse-stage.ts';
import { entryOf, HOST, KeptBatches, pageOf } from '../../support/actors-fixtures.ts';

function parseOf() {
  const port = new KeptBatches();
  const nothing = () => {};
  const stage = new CheckpointStage(port, {
    ...{ pageCommitted: nothing, opened: nothing, full: nothing },
  });
  const marks = [0, 0];
  return { port, stage, marks, parse: new ParseStage(stage, () => marks) };
}

function bodyOf(unparsedId: number, bytes: number) {
  const { url, urlKey, depth, hops } = entryOf(`p${unparsedId}`);
  return {
    ...{ unparsedId, hostKey: HOST, urlKey, url, depth, hops, purpose: 'page' as const },
    ...{ status: 200, headers: [], body: new Uint8Array(bytes) },
  };
}

test('ParseStage.take gives pages in the order of their commits and counts their bytes (I10)', () => {
  const { parse } = parseOf();
  for (let id = 1; id <= 3_000; id += 1) parse.add(bodyOf(id, 10));
  strictEqual(parse.backlogBytes, 30_000);
  for (let id = 1; id <= 3_000; id += 1) strictEqual(parse.take()?.unparsedId, id);
  deepStrictEqual([parse.take(), parse.backlog, parse.backlogBytes], [undefined, 0, 0]);
});

test('ParseStage.settle keeps a page until its own links and those for other shards are durable (I7)', () => {
  const { parse, stage, port, marks } = parseOf();
  const staged = parse.departed(5, [0, 2]);
  parse.settle();
  strictEqual(parse.departing, 1);
  stage.page(pageOf('a'));
  staged();
  parse.settle();
  stage.flush();
  stage.committed(1, [{ unparsedId: 0, duplicateOf: undefined }]);
  parse.settle();
  strictEqual(parse.departing, 1, 'the other shard has not committed');
  marks[1] = 2;
  parse.settle();
  deepStrictEqual([parse.departing, parse.isIdle], [0, true]);
  stage.flush();
  deepStrictEqual(port.batches[1]?.parsedIds, [5]);
  throws(staged, /staged twice/);
});

test('ParseStage.nextUnparsed reads the pages of an earlier run one by one, and then is idle', () => {
  const { parse } = parseOf();
  const pages = [1, 2].map((id) => ({ ...bodyOf(id, 0), pointer: { file: 0, record: id } }));
  parse.recover(pages);
  strictEqual(parse.isIdle, false);
  deepStrictEqual(
    [1, 2, undefined].map(() => parse.nextUnparsed()?.unparsedId),
    [1, 2, undefined],
  );
  deepStrictEqual([parse.isRecovering, parse.isIdle], [false, true]);
});
