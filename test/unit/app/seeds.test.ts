// Seeds as they are typed, and files of them.
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { readSeed, readSeeds, type SeedCounts, streamSeeds } from '../../../src/app/seeds.ts';
import { inFolder } from '../../support/command-line.ts';

const SEEDS: Readonly<Record<string, string>> = {
  'https://example.com': 'https://example.com/',
  'HTTP://Example.COM:80/a/../b#x': 'http://example.com/b',
  'example.com': 'https://example.com/',
  'example.com/a?b=c': 'https://example.com/a?b=c',
  'example.com:8443/a': 'https://example.com:8443/a',
  '//example.com/a': 'https://example.com/a',
  'bücher.example': 'https://xn--bcher-kva.example/',
  'localhost:8080/x': 'http://localhost:8080/x',
  'app.localhost': 'http://app.localhost/',
  '127.0.0.1:80': 'http://127.0.0.1/',
  '[::1]:8080': 'http://[::1]:8080/',
  '  https://example.com/a b  ': 'https://example.com/a%20b',
};

test('readSeed reads what an address bar reads; without a scheme https is meant', () => {
  for (const [text, url] of Object.entries(SEEDS)) deepStrictEqual(readSeed(text), { url }, text);
});

test('readSeed refuses what is no web address', () => {
  const words = ['', 'word', 'http://', 'ftp://a.com/', 'mailto:a@b.c', 'data:,x', './a/b', '/x'];
  for (const text of [
    ...words,
    'http://a b/',
    'javascript:void(0)',
    `https://a.com/${'x'.repeat(9_000)}`,
  ]) {
    ok('problem' in readSeed(text), text);
  }
});

async function read(
  text: string,
): Promise<{ urls: string[]; reports: string[]; counts: SeedCounts }> {
  const reports: string[] = [];
  const urls: string[] = [];
  // Small chunks that cut lines and characters.
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
    bytes.subarray(index * 7, index * 7 + 7),
  );
  const batches = streamSeeds('-', {
    report: (line) => reports.push(line),
    stdin: Readable.from(chunks),
  });
  while (true) {
    const next = await batches.next();
    if (next.done === true) return { urls, reports, counts: next.value };
    urls.push(...next.value);
  }
}

test('streamSeeds drops comments, empty lines, a byte order mark and CRLF', async () => {
  const { urls, reports } = await read(
    '\uFEFF# all of them\r\nhttps://a.com/ü\r\n\r\n  b.com  # the second\nhttps://c.com/#fragment',
  );
  deepStrictEqual(urls, ['https://a.com/%C3%BC', 'https://b.com/', 'https://c.com/']);
  deepStrictEqual(reports, []);
});

test('streamSeeds tells the bad line by its number and uses the rest', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `https://a.com/${index}`);
  lines[499] = 'not a url';
  const { urls, reports, counts } = await read(lines.join('\n'));
  strictEqual(urls.length, 999);
  deepStrictEqual(reports, ['standard input:500: "not a url" is not a URL; skipped']);
  deepStrictEqual(counts, { good: 999, bad: 1 });
});

test('streamSeeds shows ten bad lines and counts them all', async () => {
  const { reports, counts } = await read(`${'bad\n'.repeat(5_000)}a.com\n${'x'.repeat(70_000)}\n`);
  strictEqual(counts.bad, 5_001);
  strictEqual(reports.length, 11);
  match(reports.at(-1) as string, /5001 bad lines in all, the first 10 shown/);
});

test('streamSeeds refuses a file without a good seed, and one that cannot be read', async () => {
  await rejects(read('# nothing\n'), { code: 'seeds', message: 'standard input: no seed' });
  await rejects(read('bad\nworse\n'), { code: 'seeds', message: /no good seed among 2 lines/ });
  await inFolder({}, async (folder) => {
    const missing = streamSeeds(join(folder, 'none.txt'), { report: () => undefined });
    await rejects(missing.next(), { code: 'seeds', message: /there is no such file/ });
    await rejects(streamSeeds(folder, { report: () => undefined }).next(), { code: 'seeds' });
  });
});

test('readSeeds puts the seeds of the file behind those of the command line', async () => {
  await inFolder({ 'seeds.txt': 'b.com\nbad\nc.com\n' }, async (folder) => {
    const reports: string[] = [];
    const report = (line: string): void => void reports.push(line);
    const seeds = await readSeeds(['https://a.com/'], join(folder, 'seeds.txt'), report);
    deepStrictEqual(seeds, ['https://a.com/', 'https://b.com/', 'https://c.com/']);
    match(reports.join(), /seeds\.txt:2: "bad" is not a URL; skipped$/);
  });
  deepStrictEqual(await readSeeds(['https://a.com/'], undefined), ['https://a.com/']);
});
