import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { ParseStage } from '../../../src/actors/parse-stage.ts';
import { RecordingCheckpoint } from '../../support/actors/recording-ports.ts';

test('ParseStage.settle keeps a page until the hosts of its own shard have staged its links (I7)', () => {
  const port = new RecordingCheckpoint();
  const told = { pageCommitted: () => {}, opened: () => {}, full: () => {} };
  const stage = new CheckpointStage(port, told);
  const parse = new ParseStage(stage, () => [0, 0]);
  const staged = parse.departed(5, [0, 0]);
  parse.settle();
  strictEqual(parse.departing, 1);
  stage.count('links');
  staged();
  stage.flush();
  parse.settle();
  strictEqual(parse.departing, 1);
  stage.committed(1, []);
  parse.settle();
  strictEqual(parse.departing, 0);
  stage.flush();
  deepStrictEqual(port.batches[1]?.parsedIds, [5]);
});
