import { deepStrictEqual, notStrictEqual, ok, strictEqual, throws } from 'node:assert';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { wallMs } from '../../../src/base/units.ts';
import { BodyReader } from '../../../src/storage/body-reader.ts';
import { checkWarc } from '../../../src/storage/warc-check.ts';
import { warcPaths } from '../../../src/storage/warc-names.ts';
import { entryPosition, loadOffsets } from '../../../src/storage/warc-offsets.ts';
import { buildResponseMembers } from '../../../src/storage/warc-record.ts';
import { type WarcEnd, WarcWriter } from '../../../src/storage/warc-writer.ts';
import { answer, FETCHED_AT, newWriter, temporaryDirectory } from '../../support/warc-fixtures.ts';

function append(writer: WarcWriter, text: string): { file: number; record: number } {
  const payload = Buffer.from(text);
  const { response } = buildResponseMembers({
    url: `http://a.test/${text.length}`,
    fetchedAt: FETCHED_AT,
    response: answer({ payload, body: payload }),
    warcinfoId: undefined,
  });
  const { file, record } = writer.append(response);
  return { file, record };
}

function bodyOf(directory: string, pointer: { file: number; record: number }): string | undefined {
  const reader = new BodyReader(directory, { prefix: 'hostler' });
  const stored = reader.read(pointer);
  reader.close();
  return stored === undefined ? undefined : Buffer.from(stored.body).toString();
}

const isDamaged = (error: unknown): boolean =>
  error instanceof CrawlError && error.code === 'data-damaged';

/** An archive with committed records `one`, `two` and two further ones that were synced, not committed. */
function crashed(t: TestContext): { directory: string; ends: readonly WarcEnd[] } {
  const directory = temporaryDirectory(t);
  const writer = newWriter(directory);
  writer.open([]);
  append(writer, 'one');
  append(writer, 'two!');
  writer.sync();
  const ends = writer.ends();
  append(writer, 'three');
  append(writer, 'four');
  writer.sync();
  return { directory, ends };
}

/** A copy of a crashed archive, so that each damage starts from the same state. */
function copyOf(
  t: TestContext,
  directory: string,
): { copy: string; paths: ReturnType<typeof warcPaths> } {
  const copy = join(temporaryDirectory(t), 'warc');
  mkdirSync(copy);
  const paths = warcPaths(copy, 'hostler', 0);
  const from = warcPaths(directory, 'hostler', 0);
  copyFileSync(from.open, paths.open);
  copyFileSync(from.offsets, paths.offsets);
  return { copy, paths };
}

/** Opens, proves that the committed records and only they are there, appends, closes and checks everything. */
function provesRecovery(directory: string, ends: readonly WarcEnd[]): void {
  const writer = newWriter(directory);
  writer.open(ends);
  const paths = warcPaths(directory, 'hostler', 0);
  strictEqual(statSync(paths.open).size, ends[0]!.bytes);
  strictEqual(statSync(paths.offsets).size, entryPosition(ends[0]!.records));
  strictEqual(bodyOf(directory, { file: 0, record: 1 }), 'one');
  strictEqual(bodyOf(directory, { file: 0, record: 2 }), 'two!');
  strictEqual(bodyOf(directory, { file: 0, record: 3 }), undefined);
  deepStrictEqual(append(writer, 'five'), { file: 0, record: 3 });
  writer.sync();
  strictEqual(bodyOf(directory, { file: 0, record: 3 }), 'five');
  writer.close();
  deepStrictEqual(checkWarc(paths.closed).problems, []);
}

test('WarcWriter.open cuts a torn tail at every byte back to the committed end', (t) => {
  const { directory, ends } = crashed(t);
  const { size } = statSync(warcPaths(directory, 'hostler', 0).open);
  const committed = ends[0]!.bytes;
  ok(size > committed + 500);
  for (let length = committed; length <= size; length += length < committed + 24 ? 1 : 151) {
    const { copy, paths } = copyOf(t, directory);
    truncateSync(paths.open, length);
    provesRecovery(copy, ends);
  }
});

test('WarcWriter.open refuses a file cut anywhere before the committed end', (t) => {
  const { directory, ends } = crashed(t);
  for (let length = 0; length < ends[0]!.bytes; length += 53) {
    const { copy, paths } = copyOf(t, directory);
    truncateSync(paths.open, length);
    throws(() => newWriter(copy).open(ends), isDamaged);
  }
  const { copy, paths } = copyOf(t, directory);
  rmSync(paths.open);
  throws(() => newWriter(copy).open(ends), isDamaged);
});

test('WarcWriter.open refuses a committed end that is no record boundary or a damaged last record', (t) => {
  const { directory, ends } = crashed(t);
  const [end] = ends;
  for (const off of [-1, 1]) {
    const { copy } = copyOf(t, directory);
    throws(() => newWriter(copy).open([{ ...end!, bytes: end!.bytes + off }]), isDamaged);
  }
  const { copy, paths } = copyOf(t, directory);
  const bytes = readFileSync(paths.open);
  bytes[end!.bytes - 20]! ^= 1;
  writeFileSync(paths.open, bytes);
  throws(() => newWriter(copy).open(ends), isDamaged);
});

test('WarcWriter.open repairs an offsets index that is missing, cut anywhere, or overwritten', (t) => {
  const { directory, ends } = crashed(t);
  const { size } = statSync(warcPaths(directory, 'hostler', 0).offsets);
  for (let length = 0; length <= size; length += 5) {
    const { copy, paths } = copyOf(t, directory);
    truncateSync(paths.offsets, length);
    provesRecovery(copy, ends);
  }
  const { copy, paths } = copyOf(t, directory);
  writeFileSync(paths.offsets, Buffer.alloc(size, 0xff));
  provesRecovery(copy, ends);
  const missing = copyOf(t, directory);
  rmSync(missing.paths.offsets);
  provesRecovery(missing.copy, ends);
});

test('WarcWriter.open takes back a rename that came before its commit', (t) => {
  const { directory, ends } = crashed(t);
  const { copy, paths } = copyOf(t, directory);
  renameSync(paths.open, paths.closed);
  provesRecovery(copy, ends);
});

test('WarcWriter.open leaves a closed file whose end was committed, and goes on in the next', (t) => {
  const directory = temporaryDirectory(t);
  const first = newWriter(directory);
  first.open([]);
  append(first, 'one');
  first.sync();
  const ends = first.ends();
  first.close();
  deepStrictEqual(first.ends(), [{ file: 1, bytes: 0, records: 0 }]);
  for (const state of [ends, first.ends()]) {
    const writer = newWriter(directory);
    writer.open(state);
    deepStrictEqual(append(writer, 'two!'), { file: 1, record: 1 });
    writer.sync();
    strictEqual(bodyOf(directory, { file: 0, record: 1 }), 'one');
    strictEqual(bodyOf(directory, { file: 1, record: 1 }), 'two!');
  }
});

test('WarcWriter.open removes an open file nobody committed and refuses a closed one', (t) => {
  const directory = temporaryDirectory(t);
  const writer = newWriter(directory);
  writer.open([]);
  append(writer, 'one');
  writer.sync();
  newWriter(directory).open([]);
  const paths = warcPaths(directory, 'hostler', 0);
  strictEqual(existsSync(paths.open), false);
  strictEqual(existsSync(paths.offsets), false);
  writeFileSync(paths.closed, 'somebody else’s');
  throws(() => newWriter(directory).open([]), isDamaged);
  strictEqual(existsSync(paths.closed), true);
});

test('WarcWriter.rollIfNeeded closes a full file and begins the next with its own warcinfo', (t) => {
  const directory = temporaryDirectory(t);
  const writer = newWriter(directory, 3_000);
  writer.open([]);
  const ids = new Set<string>();
  const closed: string[] = [];
  const pointers: { file: number; record: number }[] = [];
  for (let count = 0; count < 12; count += 1) {
    pointers.push(append(writer, 'x'.repeat(400 + count)));
    writer.sync();
    closed.push(...writer.rollIfNeeded());
  }
  closed.push(...writer.close());
  ok(closed.length >= 3, closed.join(' '));
  for (const path of closed) deepStrictEqual(checkWarc(path, ids).problems, []);
  for (const [count, pointer] of pointers.entries()) {
    strictEqual(bodyOf(directory, pointer)?.length, 400 + count);
  }
  notStrictEqual(pointers[0]!.file, pointers[11]!.file);
});

test('WarcWriter.rollIfNeeded closes a file at its age, counted over restarts, and never an empty one', (t) => {
  const directory = temporaryDirectory(t);
  const options = { software: 'x', userAgent: 'x', prefix: 'hostler', rollMs: 1_000 };
  let now = Date.now();
  const open = (state: Parameters<WarcWriter['open']>[0]): WarcWriter => {
    const writer = new WarcWriter(directory, { ...options, now: () => wallMs(now) });
    writer.open(state);
    return writer;
  };
  const writer = open([]);
  now += 5_000;
  deepStrictEqual(writer.rollIfNeeded(), []);
  append(writer, 'one');
  writer.sync();
  now += 999;
  deepStrictEqual(writer.rollIfNeeded(), []);
  const again = open(writer.ends());
  deepStrictEqual(again.rollIfNeeded(), [warcPaths(directory, 'hostler', 0).closed]);
  deepStrictEqual(again.ends(), [{ file: 1, bytes: 0, records: 0 }]);
});

test('WarcWriter writes the offset of every record into the index', (t) => {
  const directory = temporaryDirectory(t);
  const writer = newWriter(directory);
  writer.open([]);
  const offsets = [0];
  const { response } = buildResponseMembers({
    url: 'http://a.test/',
    fetchedAt: FETCHED_AT,
    response: answer({ payload: Buffer.alloc(700_000), body: Buffer.alloc(700_000) }),
    warcinfoId: undefined,
  });
  for (let count = 0; count < 5; count += 1) offsets.push(writer.append(response).offset);
  writer.sync();
  deepStrictEqual(loadOffsets(warcPaths(directory, 'hostler', 0).offsets)?.offsets, offsets);
});
