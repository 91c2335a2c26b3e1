import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getSurt } from 'warcio/utils';
import { wallMs } from '../../../src/base/units.ts';
import { decodeLine, indexWarc, lookUpCdxj, mergeCdxj } from '../../../src/storage/cdxj.ts';
import { LineFile } from '../../../src/storage/line-file.ts';
import { surtKey } from '../../../src/storage/surt.ts';
import { compressWarc } from '../../../src/storage/warc-compress.ts';
import { warcPaths } from '../../../src/storage/warc-names.ts';
import { readRecordAt } from '../../../src/storage/warc-reader.ts';
import { buildResponseMembers, buildRevisitMember } from '../../../src/storage/warc-record.ts';
import { answer, FETCHED_AT, newWriter, temporaryDirectory } from '../../support/warc-fixtures.ts';

test('surtKey agrees with warcio on what a crawl meets', () => {
  for (const url of [
    'http://a.test/',
    'https://www.a.test:8443/Path/%C3%A9?b=2&A=1&a',
    'http://www12.example.co.uk/?',
    'http://192.0.2.1/x',
    'http://[2001:db8::1]:8080/',
    'https://xn--bcher-kva.test/a;b?q=%20+x#',
    'ftp://a.test/',
  ]) {
    strictEqual(surtKey(url), getSurt(url), url);
  }
  strictEqual(surtKey('http://%'), 'http://%');
  ok(!/\s/.test(surtKey('urn:a b')));
});

/** Two closed files with captures of three URLs, the second file compressed. */
function archives(t: TestContext): string[] {
  const directory = temporaryDirectory(t);
  const writer = newWriter(directory, 1);
  writer.open([]);
  for (let hour = 0; hour < 2; hour += 1) {
    for (const path of ['b', 'a', '~z']) {
      const origin = {
        url: `http://www.a.test/${path}`,
        fetchedAt: wallMs(FETCHED_AT + hour * 3_600_000),
        warcinfoId: undefined,
      };
      const response = answer({ headers: ['content-type', 'Text/HTML; charset=x'] });
      const {
        response: member,
        request,
        payloadDigest,
      } = buildResponseMembers({ ...origin, response });
      const refersTo = { url: origin.url, date: FETCHED_AT };
      const profile = 'identical-payload-digest' as const;
      const revisit = { ...origin, response, refersTo, payloadDigest, profile };
      writer.append(hour === 0 ? member : buildRevisitMember(revisit));
      writer.append(request);
    }
    writer.sync();
    writer.rollIfNeeded();
  }
  compressWarc(warcPaths(directory, 'hostler', 1));
  return [0, 1].map((file) => {
    const paths = warcPaths(directory, 'hostler', file);
    strictEqual(indexWarc(paths.closed, paths.cdxj), 3);
    return paths.cdxj;
  });
}

test('lookUpCdxj finds every capture of a URL over several files, the oldest first', (t) => {
  const indexes = archives(t);
  const found = lookUpCdxj(indexes.toReversed(), 'https://a.test/a');
  deepStrictEqual(
    found.map(({ timestamp, mime, status }) => [timestamp, mime, status]),
    [
      ['20260102030405', 'text/html', 200],
      ['20260102040405', 'warc/revisit', 200],
    ],
  );
  for (const [file, entry] of found.entries()) {
    const path = indexes[file]!.replace('.cdxj', '.warc.gz');
    ok(path.endsWith(entry.filename));
    const record = readRecordAt(path, entry.offset);
    ok(record?.warcHeaders.includes('http://www.a.test/a') === true);
    ok(record.warcHeaders.includes(entry.digest));
  }
  deepStrictEqual(lookUpCdxj(indexes, 'http://a.test/'), []);
});

test('mergeCdxj gives all lines of all files in byte order', (t) => {
  const indexes = archives(t);
  const lines = [...mergeCdxj(indexes)];
  const all = indexes.flatMap((path) => readFileSync(path, 'latin1').trimEnd().split('\n'));
  deepStrictEqual(lines, all.sort());
  ok(lines.every((line) => decodeLine(line) !== undefined));
  strictEqual(decodeLine('a 20260102030405 {broken}'), undefined);
});

test('LineFile.linesFrom begins at the first line that is not less, for lines of any length', (t) => {
  const path = join(temporaryDirectory(t), 'lines');
  const keys = Array.from({ length: 3_000 }, (_, n) => String(n * 2).padStart(6, '0'));
  const lines = keys.map((key, n) => `${key} ${'x'.repeat(n % 500 === 7 ? 60_000 : n % 90)}`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  for (let sought = 0; sought <= 6_001; sought += 97) {
    const key = String(sought).padStart(6, '0');
    const [line] = LineFile.linesFrom(path, key);
    strictEqual(
      line?.slice(0, 6),
      keys.find((candidate) => candidate >= key),
      key,
    );
  }
  deepStrictEqual([...LineFile.linesFrom(path, '')], lines);
});
