import { deepStrictEqual, strictEqual } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DueCheckpoint } from '../../../src/actors/ports.ts';
import { hostKey, partitionIndex, urlKey, wallMs } from '../../../src/base/units.ts';
import { DueWriter, readDue } from '../../../src/storage/due-table.ts';
import { openTables, type Table } from '../../../src/storage/tables.ts';

const PARTITIONS = [3, 7].map(partitionIndex);

async function withTable(use: (table: Table, write: (work: () => void) => void) => void) {
  const dir = mkdtempSync(join(tmpdir(), 'hostler-due-'));
  const tables = openTables(dir, { readOnly: false });
  try {
    use(tables.due, (work) => tables.root.transactionSync(work));
  } finally {
    await tables.root.close();
    rmSync(dir, { recursive: true });
  }
}

const due = (partition: number, dueAt: number, url: number): DueCheckpoint => ({
  partition: partitionIndex(partition),
  dueAt: wallMs(dueAt),
  hostKey: hostKey(1n),
  urlKey: urlKey(BigInt(url)),
});

const look = (table: Table, now: number, rowsMax = 100) =>
  readDue(table, PARTITIONS, { now: wallMs(now), rowsMax, isTaken: () => false });

test('readDue gives what is due, earliest first, and the time of what is not', () =>
  withTable((table, write) => {
    const writer = new DueWriter(table);
    write(() => writer.add([due(3, 50, 1), due(7, 20, 2), due(7, 90, 3), due(3, 70, 4)]));
    const { rows, nextAt } = look(table, 60);
    deepStrictEqual(
      rows.map(({ dueAt }) => dueAt),
      [20, 50],
    );
    strictEqual(nextAt, 70);
    deepStrictEqual(look(table, 60, 1).rows.length, 1);
    strictEqual(look(table, 60, 1).nextAt, 50);
  }));

test('readDue passes over rows on their way', () =>
  withTable((table, write) => {
    write(() => new DueWriter(table).add([due(3, 50, 1), due(3, 51, 2)]));
    const question = { now: wallMs(60), rowsMax: 9 };
    const { rows } = readDue(table, PARTITIONS, {
      ...question,
      isTaken: (row) => row.dueAt === 50,
    });
    deepStrictEqual(
      rows.map(({ dueAt }) => dueAt),
      [51],
    );
  }));

test('DueWriter packs pages of one time into rows, also after it was opened anew', () =>
  withTable((table, write) => {
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => due(3, 10, from + at));
    write(() => new DueWriter(table).add(many(0, 100)));
    write(() => new DueWriter(table).add(many(100, 100)));
    const { rows } = look(table, 10);
    deepStrictEqual(
      rows.map(({ pages }) => pages.length),
      [64, 64, 64, 8],
    );
    const keys = rows.flatMap(({ pages }) => pages.map((page) => Number(page.urlKey)));
    deepStrictEqual(
      keys,
      Array.from({ length: 200 }, (_, at) => at),
    );
  }));

test('DueWriter.taken leaves what was added to a row after it was dealt out', () =>
  withTable((table, write) => {
    const writer = new DueWriter(table);
    write(() => writer.add([due(3, 10, 1), due(3, 10, 2)]));
    const [row] = look(table, 10).rows;
    write(() => writer.add([due(3, 10, 3)]));
    write(() => writer.taken([{ ...due(3, 10, 0), number: row?.number ?? -1, count: 2 }]));
    const [left] = look(table, 10).rows;
    deepStrictEqual(
      left?.pages.map((page) => page.urlKey),
      [3n],
    );
    write(() => writer.taken([{ ...due(3, 10, 0), number: 0, count: 1 }]));
    deepStrictEqual(look(table, 10), { rows: [], nextAt: Infinity });
  }));
