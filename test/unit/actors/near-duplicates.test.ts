// What a visit's text says of a page (NearDuplicates.note): a fingerprint in its row, and that nearly the same text is no change.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { NearDuplicates } from '../../../src/actors/near-duplicates.ts';
import type { PageToParse } from '../../../src/actors/parse-stage.ts';
import type { PageRow } from '../../../src/actors/rows.ts';
import { wallMs } from '../../../src/base/units.ts';
import { SimhashIndex } from '../../../src/domain/simhash-index.ts';
import { PARTITION, pageOf } from '../../support/actors-fixtures.ts';

const VISIT = {
  ...{ dueAt: wallMs(99), intervalMs: 1_000, changed: 2, unchanged: 4, missed: 0 },
  ...{ changedAt: wallMs(5), sitemap: false },
};
const TEXT = { high: 0x0f0f_0f0f, low: 0x1234_5678, features: 100 };

/** The rows that are staged when a page with this row has the text above. */
function noted(row: Partial<PageRow>, previousAt: number | undefined): readonly PageRow[] {
  const stage = new CheckpointStage(
    { submit: (batch) => batches.push(batch), pendingBytes: () => 0 },
    { pageCommitted: () => {}, opened: () => {}, full: () => {} },
  );
  const batches: Parameters<ConstructorParameters<typeof CheckpointStage>[0]['submit']>[0][] = [];
  const stored = { url: 'http://h.test/', pointer: { file: 0, record: 1 }, visit: VISIT, ...row };
  const near = new NearDuplicates({
    index: new SimhashIndex(SimhashIndex.createMemory(100)),
    stage,
    reader: { page: () => stored as PageRow },
    partitionOf: () => PARTITION,
  });
  const { hostKey, urlKey, url } = pageOf('a');
  const at = previousAt === undefined ? undefined : wallMs(previousAt);
  near.note({ hostKey, urlKey, url, previousAt: at } as PageToParse, TEXT);
  stage.flush();
  return batches.flatMap(({ pageRows }) => pageRows.map((one) => one.row));
}

test('NearDuplicates.note takes nearly the same text for no change', () => {
  const [row] = noted({ simhash: '0f0f0f0f12345679' }, 3);
  strictEqual(row?.simhash, '0f0f0f0f12345678');
  deepStrictEqual(row.visit, { ...VISIT, changed: 1, unchanged: 5 });
});

test('NearDuplicates.note leaves a change a change when the text is another', () => {
  const [row] = noted({ simhash: 'f0f0f0f012345678' }, 3);
  deepStrictEqual(row?.visit, VISIT);
});

test('NearDuplicates.note says nothing of changes on a first visit', () => {
  const [row] = noted({ simhash: '0f0f0f0f12345679' }, undefined);
  deepStrictEqual(row?.visit, VISIT);
});

test('NearDuplicates.note does not write a row whose body has no place yet', () => {
  deepStrictEqual(noted({ pointer: undefined }, 3), []);
});
