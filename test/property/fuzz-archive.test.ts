// Archives and index lines that somebody damaged: the readers answer with what is whole or with nothing, never with a throw of their own.
import { ok, strictEqual } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import fc from 'fast-check';
import { CrawlError } from '../../src/base/errors.ts';
import { cdxjEntry, decodeLine, indexWarc, lookUpCdxj } from '../../src/storage/cdxj.ts';
import { decodeContent } from '../../src/storage/content-decode.ts';
import { parseHeaderLines } from '../../src/storage/header-lines.ts';
import { surtKey } from '../../src/storage/surt.ts';
import { checkWarc } from '../../src/storage/warc-check.ts';
import { gzipStored } from '../../src/storage/warc-gzip.ts';
import { loadOffsets } from '../../src/storage/warc-offsets.ts';
import { iterateRecords, parseRecord, readRecordAt } from '../../src/storage/warc-reader.ts';
import { buildResponseMembers } from '../../src/storage/warc-record.ts';
import { damaged, fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, shapes } from '../support/fuzz/linear.ts';
import { answer, FETCHED_AT } from '../support/warc-fixtures.ts';

const directory = mkdtempSync(join(tmpdir(), 'hostler-fuzz-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const members = buildResponseMembers({
  url: 'http://site.test/page?a=1',
  response: answer({ body: Buffer.from('<a href=/next>next</a>') }),
  fetchedAt: FETCHED_AT,
  warcinfoId: undefined,
});
const archive = Buffer.concat([members.response, members.request]);
const RECORD = Buffer.from(
  [
    'WARC/1.1',
    'WARC-Type: response',
    'WARC-Target-URI: http://site.test/',
    'WARC-Date: 2024-05-01T00:00:00Z',
    'WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>',
    'Content-Type: application/http;msgtype=response',
    'Content-Length: 64',
    '',
    'HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\nX: y\r\n\r\n0123456789',
    '',
  ].join('\r\n'),
);
const TELLING = '\r\n: ;,/\x1f\x8b\0<>019';

fuzz(
  'iterateRecords, checkWarc and indexWarc read any damaged archive to an end',
  fc.oneof(
    damaged(fc.constant(archive), TELLING),
    damaged(fc.constant(RECORD), TELLING).map((record) => Buffer.from(gzipStored([record]))),
  ),
  (bytes) => {
    const path = join(directory, 'damaged.warc.gz');
    writeFileSync(path, bytes);
    let end = 0;
    for (const record of iterateRecords(path, 10_000)) {
      strictEqual(record.offset, end);
      end = record.offset + record.length;
      ok(end <= bytes.length);
      cdxjEntry(record, 'damaged.warc.gz');
    }
    checkWarc(path);
    readRecordAt(path, bytes.length >> 1, 10_000);
    const index = join(directory, 'damaged.cdxj');
    try {
      indexWarc(path, index);
      lookUpCdxj([index], 'http://site.test/page?a=1');
    } catch (error) {
      ok(error instanceof CrawlError, String(error));
    }
  },
);

fuzz(
  'parseRecord bounds the body of any damaged record',
  damaged(fc.constant(RECORD), TELLING),
  (bytes) => {
    const record = parseRecord(bytes, 1_000);
    if (record === undefined) return;
    ok(record.body.length <= Math.max(1_000, record.payload.length));
    ok(record.httpStatus >= 0 && record.httpStatus <= 999);
  },
);

fuzz(
  'loadOffsets reads any bytes as an index or as none',
  fc.uint8Array({ maxLength: 80 }),
  (rest) => {
    const path = join(directory, 'any.offsets');
    for (const bytes of [rest, Buffer.concat([Buffer.from('HSTWOFF1'), rest])]) {
      writeFileSync(path, bytes);
      const index = loadOffsets(path);
      ok(index === undefined || index.offsets.every((offset) => offset >= 0));
    }
  },
);

const line = 'test,site)/page 20240501000000 {"url":"http://site.test/page","status":"200"}';

fuzz(
  'decodeLine reads any damaged line as an entry or as none',
  damaged(fc.constant(Buffer.from(line)), '"{}[]:,\\ \0'),
  (bytes) => {
    const entry = decodeLine(bytes.toString('latin1'));
    if (entry !== undefined) ok(/^\d{14}$/.test(entry.timestamp));
  },
);

const PIECES = [
  ...[
    '\r\n',
    '\n',
    '\r',
    ':',
    ' ',
    '\t',
    ' folded\r\n',
    'A: b\r\n',
    'A',
    '\0',
    '\xe9',
    'WARC/1.1\r\n',
  ],
  ...[
    'gzip',
    ',',
    'identity',
    'deflate',
    '{',
    '"',
    '\\',
    '[',
    'http://',
    '/',
    '%',
    '.',
    'www.',
    '?',
    '&',
  ],
];

fuzz('parseHeaderLines and parseRecord take linear time', shapes(PIECES), (shape) => {
  checkLinear({ ...shape, end: '\r\n\r\n' }, (text) => {
    const bytes = Buffer.from(text, 'latin1');
    parseHeaderLines(bytes, 0, 'latin1');
    parseRecord(bytes, 1_000);
  });
});

fuzz('decodeLine and surtKey take linear time', shapes(PIECES), (shape) => {
  checkLinear(shape, (text) => {
    decodeLine(text);
    decodeLine(`a 20240501000000 {${text}}`);
    surtKey(`http://a/${text}`);
  });
});

fuzz('decodeContent takes linear time in the codings it is told', shapes(PIECES), (shape) => {
  checkLinear(shape, (text) => decodeContent(Buffer.from('body'), text, 1_000));
});
