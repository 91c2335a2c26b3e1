// `export --parquet` over a whole crawl: what a reader of Parquet finds is what the JSON lines say, and a file appears whole or not at all.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { LinkRecord, PageRecord } from '../../src/app/export-records.ts';
import { inFolder, runCommand } from '../support/command-line.ts';
import { bareFlags, runCrawl } from '../support/crawl/run-crawl.ts';
import { ScriptedWeb } from '../support/crawl/scripted-web.ts';

const PAGE =
  '<meta charset=utf-8><a href="/two" rel="author">Zwei – 二</a><a href="/gone" rel="nofollow">gone</a>';

test('export --parquet writes pages and links with the values of the lines, typed', async () => {
  const web = await ScriptedWeb.listen(() => ({
    'one.test/': PAGE,
    'one.test/two': 'The second page',
  }));
  try {
    await inFolder({}, async (folder) => {
      const data = ['--data', join(folder, 'data')];
      const crawl = await runCrawl([
        ...bareFlags(web.dnsPort, join(folder, 'data')),
        ...['--linger', '1', web.url('one.test')],
      ]);
      strictEqual(crawl.status, 0, crawl.stderr);
      const linesOf = async <Row>(what: string): Promise<Row[]> => {
        const { stdout } = await runCommand(['export', what, ...data]);
        return stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Row);
      };
      const rowsOf = async (what: string): Promise<Record<string, unknown>[]> => {
        const file = join(folder, `${what}.parquet`);
        writeFileSync(file, 'what was there before');
        const { status, stdout, stderr } = await runCommand([
          ...['export', what, '--parquet', file],
          ...data,
        ]);
        deepStrictEqual([status, stdout], [0, ''], stderr);
        return parquetReadObjects({ file: await asyncBufferFromFile(file) });
      };
      const pages = await linesOf<PageRecord>('pages');
      ok(pages.length >= 2);
      deepStrictEqual(
        (await rowsOf('pages')).map((row) => [
          ...[row.url, row.status, (row.fetchedAt as Date).toISOString(), Number(row.bodyBytes)],
          ...[row.contentHash, row.parsed, row.warc_file ?? null, Number(row.warc_offset ?? -1)],
        ]),
        pages.map(({ url, status, fetchedAt, bodyBytes, contentHash, parsed, warc }) => [
          ...[url, status, fetchedAt, bodyBytes, contentHash, parsed],
          ...[warc?.file ?? null, warc?.offset ?? -1],
        ]),
      );
      const links = await linesOf<LinkRecord>('links');
      ok(links.some(({ text }) => text === 'Zwei – 二'));
      deepStrictEqual(
        (await rowsOf('links')).map(({ from, to, text, nofollow }) => [from, to, text, nofollow]),
        links.map(({ from, to, text, nofollow }) => [from, to, text ?? null, nofollow]),
      );
      const wrong = await runCommand(['export', 'cdxj', '--parquet', 'x', ...data]);
      strictEqual(wrong.status, 2);
      match(wrong.stderr, /--parquet goes with pages or links/);
      const nowhere = join(folder, 'none', 'x.parquet');
      const failed = await runCommand(['export', 'pages', '--parquet', nowhere, ...data]);
      strictEqual(failed.status, 3, failed.stderr);
      match(failed.stderr, /cannot be written/);
      deepStrictEqual(
        readdirSync(folder).filter((name) => name.endsWith('.part')),
        [],
      );
    });
  } finally {
    await web.close();
  }
});
