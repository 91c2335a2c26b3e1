// The archive against the rules of ISO 28500:2017 as the case file lists them: what we write breaks none, and the checker that says so
// notices each of them broken. Contested: `date` – we write milliseconds (1.1 allows them; several fetches of a URL may fall into one
// second). `revisit-profile` – we write the 1.1 URIs, since the records say WARC/1.1.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { wallMs } from '../../src/base/units.ts';
import { fieldValue } from '../../src/storage/header-lines.ts';
import { checkWarc } from '../../src/storage/warc-check.ts';
import { compressWarc } from '../../src/storage/warc-compress.ts';
import { labelledDigest, sha1 } from '../../src/storage/warc-digest.ts';
import { gzipStored } from '../../src/storage/warc-gzip.ts';
import { warcPaths } from '../../src/storage/warc-names.ts';
import { iterateRecords } from '../../src/storage/warc-reader.ts';
import {
  buildMetadataMember,
  buildResponseMembers,
  buildRevisitMember,
  newRecordId,
  requestRecord,
} from '../../src/storage/warc-record.ts';
import { CASES_DIRECTORY, loadCases } from '../support/cases.ts';
import {
  answer,
  FETCHED_AT,
  newWriter,
  rawRecord,
  temporaryDirectory,
} from '../support/warc-fixtures.ts';

const cases = loadCases('warc.json');
const page = Buffer.from(`<title>é</title>${'text '.repeat(30_000)}`);

/** Answers of every kind that breaks archives: codings, ranges, no content, odd headers, cut bodies. */
const ANSWERS = {
  chunked: answer({
    headers: ['Content-Type', 'text/html', 'Transfer-Encoding', 'chunked'],
    payload: page,
  }),
  gzip: answer({
    headers: ['Content-Encoding', 'gzip', 'content-length', '7', 'Content-Length', '8'],
    payload: gzipSync(page),
    body: page,
  }),
  brotli: answer({
    headers: ['Content-Encoding', 'br'],
    payload: brotliCompressSync(page),
    body: page,
  }),
  partial: answer({
    status: 206,
    reason: 'Partial Content',
    headers: ['Content-Range', 'bytes 0-11/100', 'Content-Length', '12'],
  }),
  noContent: answer({ status: 204, reason: 'No Content', headers: [], payload: Buffer.alloc(0) }),
  notModified: answer({
    status: 304,
    reason: '',
    headers: ['ETag', '"x"', 'Content-Length', '4711'],
    payload: Buffer.alloc(0),
  }),
  redirect: answer({
    status: 301,
    headers: ['Location', '/caf\u00c3\u00a9'],
    payload: Buffer.alloc(0),
    address: '2001:db8::1',
  }),
  oddHeaders: answer({
    headers: [
      'X-Žluť',
      'kůň\u010a',
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'X-Break',
      'a\r\nB: c',
    ],
  }),
  cut: answer({ payload: page.subarray(0, 70_000), truncated: 'length' }),
  binary: answer({ payload: Uint8Array.from({ length: 65_535 * 2 }, (_, index) => index * 7) }),
} as const;

/** Writes one of everything; returns the closed file. */
function writeArchive(t: TestContext): ReturnType<typeof warcPaths> {
  const directory = temporaryDirectory(t);
  const writer = newWriter(directory);
  writer.open([]);
  for (const [name, response] of Object.entries(ANSWERS)) {
    const url = `http://www.a.test/${name}?q=ž&space= `;
    const members = buildResponseMembers({
      url,
      fetchedAt: FETCHED_AT,
      response,
      warcinfoId: undefined,
    });
    writer.append(members.response);
    writer.append(members.request);
  }
  const origin = { url: 'http://a.test/again', fetchedAt: FETCHED_AT, warcinfoId: undefined };
  for (const profile of ['identical-payload-digest', 'server-not-modified'] as const) {
    const recordId = newRecordId();
    writer.append(
      buildRevisitMember({
        ...origin,
        response: profile === 'server-not-modified' ? ANSWERS.notModified : ANSWERS.chunked,
        refersTo: { url: 'http://a.test/first', date: wallMs(FETCHED_AT - 1) },
        payloadDigest: labelledDigest(sha1(page)),
        profile,
        recordId,
      }),
    );
    writer.append(
      gzipStored(
        requestRecord({
          ...origin,
          requestHead: 'POST /?a=%ac HTTP/1.1\r\nX: \u0141\r\n\r\na=b&c=%ac',
          address: '192.0.2.1',
          concurrentTo: recordId,
        }),
      ),
    );
    const fields = [['via', 'http://a.test/']] as const;
    writer.append(buildMetadataMember({ ...origin, concurrentTo: recordId, fields }));
  }
  writer.sync();
  writer.close();
  return warcPaths(directory, 'hostler', 0);
}

test('checkWarc finds no fault in what the writer wrote, before and after compression', (t) => {
  const paths = writeArchive(t);
  deepStrictEqual(checkWarc(paths.closed), { records: 27, problems: [] });
  execFileSync('gzip', ['-t', paths.closed]);
  const result = compressWarc(paths);
  ok(result.bytesAfter < result.bytesBefore / 2, `${result.bytesAfter} of ${result.bytesBefore}`);
  deepStrictEqual(checkWarc(paths.closed), { records: 27, problems: [] });
  execFileSync('gzip', ['-t', paths.closed]);
});

test('buildResponseMembers archives the head as received but for transfer coding and length', (t) => {
  const paths = writeArchive(t);
  const heads = new Map<string, readonly string[]>();
  for (const record of iterateRecords(paths.closed)) {
    if (record.type !== 'response') continue;
    const url = fieldValue(record.warcHeaders, 'warc-target-uri')!;
    heads.set(/test\/(\w+)/.exec(url)![1]!, record.httpHeaders);
    ok(/^[\x21-\x7e]+$/.test(url), url);
  }
  const length = String(page.length);
  deepStrictEqual(heads.get('chunked'), ['Content-Type', 'text/html', 'Content-Length', length]);
  const packed = String(ANSWERS.gzip.payload.byteLength);
  deepStrictEqual(heads.get('gzip'), ['Content-Encoding', 'gzip', 'content-length', packed]);
  const range = ['Content-Range', 'bytes 0-11/100', 'Content-Length', '12'];
  deepStrictEqual(heads.get('partial'), range);
  deepStrictEqual(heads.get('noContent'), []);
  deepStrictEqual(heads.get('notModified'), ['ETag', '"x"', 'Content-Length', '0']);
  deepStrictEqual(heads.get('redirect'), ['Location', '/caf\u00c3\u00a9', 'Content-Length', '0']);
  const utf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  const odd = [utf8('X-Žluť'), utf8('kůň\u010a'), 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'];
  deepStrictEqual(heads.get('oddHeaders'), [...odd, 'X-Break', 'a B: c', 'Content-Length', '12']);
});

test('revisit records hold the head, no payload, and the digest of the stored copy', (t) => {
  const revisits = [...iterateRecords(writeArchive(t).closed)].filter((r) => r.type === 'revisit');
  strictEqual(revisits.length, 2);
  for (const { warcHeaders, httpHeaders, payload } of revisits) {
    strictEqual(payload.length, 0);
    strictEqual(fieldValue(httpHeaders, 'transfer-encoding'), undefined);
    strictEqual(fieldValue(warcHeaders, 'warc-payload-digest'), labelledDigest(sha1(page)));
    strictEqual(fieldValue(warcHeaders, 'warc-refers-to-target-uri'), 'http://a.test/first');
    strictEqual(fieldValue(warcHeaders, 'warc-refers-to-date'), '2026-01-02T03:04:05.677Z');
  }
  deepStrictEqual(
    revisits.map((record) => fieldValue(record.warcHeaders, 'warc-truncated')),
    ['length', undefined],
  );
});

// ------------------------------------------------------------------------------------------ each rule, broken on purpose

const ID = '<urn:uuid:00000000-0000-4000-8000-000000000001>';
const INFO_ID = '<urn:uuid:00000000-0000-4000-8000-000000000000>';
const HTTP = 'HTTP/1.1 200 OK\r\n\r\nbody';

type Fields = Record<string, string | undefined>;

function record(fields: Fields, block = HTTP, wrong: Parameters<typeof rawRecord>[2] = {}): Buffer {
  const all: Fields = {
    'WARC-Type': 'response',
    'WARC-Record-ID': ID,
    'WARC-Date': '2026-01-02T03:04:05Z',
    'WARC-Target-URI': 'http://a.test/',
    'Content-Type': 'application/http; msgtype=response',
    'Content-Length': String(block.length),
    ...fields,
  };
  const present = Object.entries(all).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  return rawRecord(present, block, wrong);
}

function info(fields: Fields = {}): Buffer {
  return record(
    {
      'WARC-Type': 'warcinfo',
      'WARC-Record-ID': INFO_ID,
      'WARC-Target-URI': undefined,
      'Content-Type': 'application/warc-fields',
      ...fields,
    },
    'software: x\r\nformat: WARC File Format 1.1\r\n',
  );
}

const each = (...records: Buffer[]): Buffer => Buffer.concat(records.map((one) => gzipSync(one)));
const afterInfo = (
  fields: Fields,
  block?: string,
  wrong?: Parameters<typeof rawRecord>[2],
): Buffer => each(info(), record(fields, block, wrong));

/** Files that break one rule each. */
const BROKEN: Readonly<Record<string, readonly Buffer[]>> = {
  'version-line': [
    afterInfo({}, HTTP, { version: 'WARC/0.9' }),
    each(info(), Buffer.from('GARBAGE')),
  ],
  'header-crlf': [afterInfo({}, HTTP, { lineEnd: '\n' })],
  'record-end': [
    afterInfo({}, HTTP, { recordEnd: '\r\n' }),
    afterInfo({}, HTTP, { recordEnd: '\r\n\r\n\r\n' }),
  ],
  'record-id': [
    afterInfo({ 'WARC-Record-ID': undefined }),
    afterInfo({ 'WARC-Record-ID': 'urn:uuid:1' }),
    afterInfo({ 'WARC-Record-ID': '<urn:uuid:1 2>' }),
    afterInfo({ 'WARC-Record-ID': INFO_ID }),
  ],
  'content-length': [
    afterInfo({ 'Content-Length': undefined }),
    afterInfo({ 'Content-Length': String(HTTP.length - 2) }),
    afterInfo({ 'Content-Length': String(HTTP.length + 9) }),
  ],
  date: [
    afterInfo({ 'WARC-Date': undefined }),
    afterInfo({ 'WARC-Date': '2026-01-02 03:04:05' }),
    afterInfo({ 'WARC-Date': '2026-02-30T03:04:05Z' }),
    afterInfo({ 'WARC-Date': '2026-01-02T03:04:05.1Z' }, HTTP, { version: 'WARC/1.0' }),
  ],
  type: [afterInfo({ 'WARC-Type': undefined })],
  'target-uri-required': [
    afterInfo({ 'WARC-Target-URI': undefined }),
    each(info({ 'WARC-Target-URI': 'http://a.test/' })),
  ],
  'concurrent-to': [
    afterInfo({ 'WARC-Concurrent-To': '<urn:uuid:00000000-0000-4000-8000-00000000dead>' }),
    afterInfo({ 'WARC-Concurrent-To': ID.slice(1, -1) }),
    each(info({ 'WARC-Concurrent-To': INFO_ID })),
  ],
  'block-digest': [afterInfo({ 'WARC-Block-Digest': labelledDigest(sha1(Buffer.from('body'))) })],
  'payload-digest': [
    afterInfo({ 'WARC-Payload-Digest': labelledDigest(sha1(Buffer.from(HTTP))) }),
    each(info({ 'WARC-Payload-Digest': labelledDigest(sha1(Buffer.from(''))) })),
    afterInfo(
      { 'WARC-Payload-Digest': labelledDigest(sha1(Buffer.from('4\r\nbody\r\n0\r\n\r\n'))) },
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
    ),
  ],
  'http-content-type': [afterInfo({ 'Content-Type': 'text/html' })],
  'warcinfo-first': [each(record({}))],
  'revisit-profile': [afterInfo({ 'WARC-Type': 'revisit' })],
  'gzip-per-record': [gzipSync(Buffer.concat([info(), record({})]))],
  'gzip-no-slack': [
    afterInfo({}).subarray(0, -30),
    Buffer.concat([afterInfo({}), Buffer.from('x')]),
  ],
};

for (const [rule, files] of Object.entries(BROKEN)) {
  test(`checkWarc reports ${rule} when it is broken`, (t) => {
    for (const [index, bytes] of files.entries()) {
      const path = join(temporaryDirectory(t), 'x.warc.gz');
      writeFileSync(path, bytes);
      const rules = checkWarc(path).problems.map((problem) => problem.rule);
      ok(rules.includes(rule), `file ${index}: ${rules.join(' ')}`);
    }
  });
}

test('checkWarc accepts a sound file, compressed or not, and wants the suffix', (t) => {
  const directory = temporaryDirectory(t);
  const write = (name: string, bytes: Buffer): string => {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    return path;
  };
  const sound = { records: 2, problems: [] };
  deepStrictEqual(checkWarc(write('a.warc.gz', afterInfo({}))), sound);
  deepStrictEqual(checkWarc(write('a.warc', Buffer.concat([info(), record({})]))), sound);
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n';
  const digest = labelledDigest(sha1(Buffer.from('body')));
  const dechunked = afterInfo({ 'WARC-Payload-Digest': digest }, chunked);
  deepStrictEqual(checkWarc(write('b.warc.gz', dechunked)), sound);
  const misnamed = checkWarc(write('a.gz', afterInfo({}))).problems;
  deepStrictEqual(
    misnamed.map((problem) => problem.rule),
    ['gzip-suffix'],
  );
});

test('every rule of the case file is one that checkWarc was seen to report', (t) => {
  if (cases === undefined) {
    t.skip('the case folder is absent');
    return;
  }
  const proven = new Set([...Object.keys(BROKEN), 'gzip-suffix']);
  const missing = cases.rules.map((rule: { id: string }) => rule.id);
  deepStrictEqual(
    missing.filter((id: string) => !proven.has(id)),
    [],
  );
});

for (const sample of cases?.samples ?? []) {
  test(`checkWarc judges ${sample.id} as the case file does`, (t) => {
    const path = resolve(CASES_DIRECTORY, sample.file);
    if (!existsSync(path)) {
      t.skip('the sample files are absent');
      return;
    }
    const { problems } = checkWarc(path);
    strictEqual(problems.length > 0, sample.invalid, JSON.stringify(problems));
    if (sample.rule === null) return;
    ok(
      problems.some((problem) => problem.rule === sample.rule),
      JSON.stringify(problems),
    );
  });
}
