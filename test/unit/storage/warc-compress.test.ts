import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type TestContext, test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { BodyReader } from '../../../src/storage/body-reader.ts';
import { checkWarc } from '../../../src/storage/warc-check.ts';
import { compressWarc } from '../../../src/storage/warc-compress.ts';
import { type WarcPaths, warcPaths } from '../../../src/storage/warc-names.ts';
import { buildResponseMembers } from '../../../src/storage/warc-record.ts';
import { completeCompression } from '../../../src/storage/warc-repair.ts';
import { answer, FETCHED_AT, newWriter, temporaryDirectory } from '../../support/warc-fixtures.ts';

const PAGES = 8;
const bodyText = (page: number): string => `page ${page} `.repeat(500 * page + 1);

function archive(t: TestContext): { directory: string; paths: WarcPaths } {
  const directory = temporaryDirectory(t);
  const writer = newWriter(directory);
  writer.open([]);
  for (let page = 0; page < PAGES; page += 1) {
    const members = buildResponseMembers({
      url: `http://a.test/${page}`,
      fetchedAt: FETCHED_AT,
      response: answer({ payload: Buffer.from(bodyText(page)) }),
      warcinfoId: undefined,
    });
    writer.append(members.response);
    writer.append(members.request);
  }
  writer.sync();
  writer.close();
  return { directory, paths: warcPaths(directory, 'hostler', 0) };
}

function readsAll(reader: BodyReader): void {
  for (let page = 0; page < PAGES; page += 1) {
    const stored = reader.read({ file: 0, record: 1 + page * 2 });
    strictEqual(stored?.status, 200);
    strictEqual(Buffer.from(stored.body).toString(), bodyText(page));
  }
  strictEqual(reader.read({ file: 0, record: 2 }), undefined);
  strictEqual(reader.read({ file: 0, record: 1 + PAGES * 2 }), undefined);
  strictEqual(reader.read({ file: 1, record: 0 }), undefined);
}

test('BodyReader.read follows a pointer across compression, with old descriptors and with new ones', (t) => {
  const { directory, paths } = archive(t);
  const early = new BodyReader(directory, { prefix: 'hostler' });
  readsAll(early);
  const before = statSync(paths.closed).size;
  const result = compressWarc(paths);
  deepStrictEqual(result.bytesBefore, before);
  strictEqual(result.bytesAfter, statSync(paths.closed).size);
  strictEqual(result.records, 1 + PAGES * 2);
  ok(result.bytesAfter < before / 4);
  deepStrictEqual(checkWarc(paths.closed).problems, []);
  readsAll(early);
  early.forget(0);
  readsAll(early);
  readsAll(new BodyReader(directory, { prefix: 'hostler' }));
  strictEqual(existsSync(paths.nextOffsets), false);
});

test('compressWarc is whole after a crash between any two of its steps', (t) => {
  const { directory, paths } = archive(t);
  const oldWarc = readFileSync(paths.closed);
  const oldOffsets = readFileSync(paths.offsets);
  compressWarc(paths);
  const newWarc = readFileSync(paths.closed);
  const newOffsets = readFileSync(paths.offsets);
  const states = [
    { warc: oldWarc, offsets: oldOffsets, temporary: newWarc.subarray(0, 100), next: undefined },
    { warc: oldWarc, offsets: oldOffsets, temporary: newWarc, next: newOffsets.subarray(0, 9) },
    { warc: oldWarc, offsets: oldOffsets, temporary: newWarc, next: newOffsets },
    { warc: newWarc, offsets: oldOffsets, temporary: undefined, next: newOffsets },
    { warc: newWarc, offsets: newOffsets, temporary: undefined, next: undefined },
  ];
  for (const state of states) {
    writeFileSync(paths.closed, state.warc);
    writeFileSync(paths.offsets, state.offsets);
    if (state.temporary !== undefined) writeFileSync(`${paths.closed}.tmp`, state.temporary);
    if (state.next !== undefined) writeFileSync(paths.nextOffsets, state.next);
    readsAll(new BodyReader(directory, { prefix: 'hostler' }));
    completeCompression(paths);
    strictEqual(existsSync(`${paths.closed}.tmp`), false);
    strictEqual(existsSync(paths.nextOffsets), false);
    readsAll(new BodyReader(directory, { prefix: 'hostler' }));
  }
});

test('compressWarc refuses a damaged file and leaves it as it is', (t) => {
  const { paths } = archive(t);
  truncateSync(paths.closed, statSync(paths.closed).size - 1);
  const before = readFileSync(paths.closed);
  throws(
    () => compressWarc(paths),
    (error) => error instanceof CrawlError && error.code === 'data-damaged',
  );
  ok(readFileSync(paths.closed).equals(before));
});

test('BodyReader keeps no more files open than it may', (t) => {
  const { directory, paths } = archive(t);
  for (let file = 1; file < 5; file += 1) {
    const copy = warcPaths(directory, 'hostler', file);
    copyFileSync(paths.closed, copy.closed);
    copyFileSync(paths.offsets, copy.offsets);
  }
  const reader = new BodyReader(directory, { prefix: 'hostler', openMax: 2 });
  const descriptors = (): number => {
    return readdirSync('/proc/self/fd').filter((fd) => linksInto(fd, directory)).length;
  };
  for (let round = 0; round < 10; round += 1) {
    strictEqual(reader.read({ file: round % 5, record: 1 })?.status, 200);
    ok(descriptors() <= 2 * 2);
  }
  reader.close();
  strictEqual(descriptors(), 0);
});

function linksInto(fd: string, directory: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory);
  } catch {
    return false;
  }
}
