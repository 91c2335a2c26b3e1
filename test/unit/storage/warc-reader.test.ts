import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { decodeContent } from '../../../src/storage/content-decode.ts';
import { fieldValue, parseHeaderLines } from '../../../src/storage/header-lines.ts';
import { base32 } from '../../../src/storage/warc-digest.ts';
import { gzipStored, readMember, storedMemberBytes } from '../../../src/storage/warc-gzip.ts';
import { iterateRecords, readRecordAt } from '../../../src/storage/warc-reader.ts';
import { rawRecord, temporaryDirectory } from '../../support/warc-fixtures.ts';

const text = Buffer.from('some text '.repeat(20_000));

test('readMember answers short, never damaged, for every cut of a stored or compressed member', () => {
  for (const member of [Buffer.from(gzipStored([text.subarray(0, 70_000)])), gzipSync(text)]) {
    for (let length = 0; length < member.length; length += length < 60 ? 1 : 41) {
      strictEqual(readMember(member.subarray(0, length), 0, 1e6).kind, 'short', `${length}`);
    }
    strictEqual(readMember(member, 0, 1e6).kind, 'member');
  }
});

test('readMember notices a flipped bit anywhere but in the advisory header bytes', () => {
  for (const member of [gzipStored([text.subarray(0, 200)]), gzipSync(text.subarray(0, 200))]) {
    for (let at = 0; at < member.length; at += 1) {
      if (at >= 3 && at < 10) continue;
      const damaged = Buffer.from(member);
      damaged[at]! ^= 0x10;
      const result = readMember(damaged, 0, 1e6);
      // Padding bits of a stored block's first byte carry nothing (RFC 1951 §3.2.4).
      if (at === 10 && result.kind === 'member') continue;
      ok(result.kind !== 'member', `byte ${at}`);
    }
  }
});

test('readMember stops at its bound and at the end of its own member', () => {
  for (const member of [gzipStored([text]), gzipSync(text)]) {
    strictEqual(readMember(Buffer.from(member), 0, text.length - 1).kind, 'too-large');
    const two = Buffer.concat([member, member]);
    const first = readMember(two, 0, text.length);
    strictEqual(first.kind === 'member' && first.end, member.length);
    const second = readMember(two, member.length, text.length);
    ok(second.kind === 'member' && second.record.equals(text) && second.end === two.length);
  }
});

/** A view that zlib sees as a null pointer. */
const NO_MEMORY = new Uint8Array(new Uint32Array(0).buffer);

test('gzipStored of any parts has the announced size, own memory, and survives empty parts', () => {
  for (const size of [0, 1, 65_534, 65_535, 65_536, 131_070, 131_071]) {
    const data = Buffer.alloc(size, 'ab');
    const member = gzipStored([data.subarray(0, 1), NO_MEMORY, data.subarray(1), NO_MEMORY]);
    strictEqual(member.byteLength, storedMemberBytes(size));
    strictEqual(member.buffer.byteLength, member.byteLength);
    const read = readMember(Buffer.from(member), 0, size);
    ok(read.kind === 'member' && read.record.equals(data), `${size}`);
  }
});

test('decodeContent removes each coding and several, in the order they were applied', () => {
  const cases: [string, Uint8Array][] = [
    ['', text],
    ['identity', text],
    ['gzip', gzipSync(text)],
    [' X-GZIP ', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
  ];
  for (const [coding, payload] of cases) {
    ok(text.equals(decodeContent(payload, coding, 1e6)), coding);
    ok(text.subarray(0, 777).equals(decodeContent(payload, coding, 777)), `${coding} cut`);
  }
});

test('decodeContent leaves what is unknown, empty or not what it claims as it is', () => {
  const raw = Buffer.from('plain');
  for (const coding of ['zstd', 'compress', 'gzip', 'br, br, br, br, br']) {
    strictEqual(decodeContent(raw, coding, 100), raw, coding);
  }
  const empty = Buffer.alloc(0);
  strictEqual(decodeContent(empty, 'gzip', 100), empty);
});

test('decodeContent yields what came before a cut or a fault, within its bound', () => {
  const varied = Buffer.from(Array.from({ length: 40_000 }, (_, n) => `${n * n}`).join(' '));
  for (const pack of [gzipSync, deflateSync]) {
    const coding = pack === gzipSync ? 'gzip' : 'deflate';
    const whole = pack(varied);
    const cut = decodeContent(whole.subarray(0, whole.length >> 1), coding, 1e6);
    ok(cut.byteLength > varied.length / 4 && varied.subarray(0, cut.byteLength).equals(cut));
    // Flushed to a byte boundary, then a block of the type that does not exist (RFC 1951 §3.2.3).
    const unfinished = pack(varied, { finishFlush: constants.Z_SYNC_FLUSH });
    const damaged = Buffer.concat([unfinished, Buffer.alloc(9_000, 7)]);
    ok(varied.equals(decodeContent(damaged, coding, 1e6)), `${coding} damaged`);
    const trailing = Buffer.concat([whole, Buffer.from('trailing bytes')]);
    ok(varied.equals(decodeContent(trailing, coding, 1e6)), coding);
  }
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  strictEqual(decodeContent(bomb, 'gzip', 100_000).byteLength, 100_000);
});

test('parseHeaderLines keeps bytes, repeats and order, and unfolds continued lines', () => {
  const bytes = Buffer.from(
    'HTTP/1.1 200 OK\r\nA: \xe9\r\nb:1\r\n  2\r\nnone\r\nA: x : y\t\r\n\r\nrest',
    'latin1',
  );
  const head = parseHeaderLines(bytes, 0, 'latin1');
  deepStrictEqual(head?.fields, ['A', '\xe9', 'b', '1 2', 'A', 'x : y']);
  strictEqual(bytes.toString('latin1', head.end), 'rest');
  strictEqual(fieldValue(head.fields, 'a'), '\xe9');
  strictEqual(parseHeaderLines(bytes.subarray(0, 40), 0, 'latin1'), undefined);
});

test('readRecordAt answers undefined for a wrong offset, a missing file and an oversized record', (t) => {
  const path = join(temporaryDirectory(t), 'a.warc.gz');
  const block = `HTTP/1.1 404 Not Found\r\nX: 1\r\n\r\n${'b'.repeat(2_000_000)}`;
  const fields = [
    ['WARC-Type', 'Response'],
    ['Content-Type', 'application/http;msgtype=response'],
    ['Content-Length', String(block.length)],
  ] as const;
  writeFileSync(path, gzipSync(rawRecord(fields, block)));
  const stored = readRecordAt(path, 0);
  strictEqual(stored?.type, 'response');
  strictEqual(stored.httpStatus, 404);
  strictEqual(stored.payload.length, 2_000_000);
  strictEqual(readRecordAt(path, 1), undefined);
  strictEqual(readRecordAt(path, 1e9), undefined);
  strictEqual(readRecordAt(path, 0, 1_000), undefined);
  strictEqual(readRecordAt(`${path}x`, 0), undefined);
  strictEqual([...iterateRecords(path)].length, 1);
});

test('base32 gives the vectors of RFC 4648 §10 without padding', () => {
  const vectors = ['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI'];
  deepStrictEqual(
    vectors.map((_, length) => base32(Buffer.from('foobar'.slice(0, length)))),
    vectors,
  );
});
