// Whole crawls over pages that are not parsed the usual way (step 11): very large, packed, suspect; and a shard thread that dies of a page.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { ReadStore } from '../../src/storage/read-store.ts';
import { readSuspects, suspectsPath } from '../../src/storage/suspects.ts';
import { WARC_PREFIX } from '../../src/storage/warc-names.ts';
import { smallPdf } from '../fixtures/small-pdf.ts';
import { type CommandResult, inFolder, runCommand } from '../support/command-line.ts';
import { linksTo, type SitePage, SmallSite } from '../support/small-site.ts';

interface Report {
  readonly pages: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly hostsWaiting: number;
}

const leaf = (text: string): SitePage => ({ type: 'text/html', body: () => `<p>${text}` });
const leaves = (...paths: readonly string[]) =>
  Object.fromEntries(paths.map((path) => [path, leaf(path)]));
const sitemapOf =
  (...paths: readonly string[]) =>
  (origin: string) =>
    `<urlset>${paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join('')}</urlset>`;

const FILLER = `<p>${'many words '.repeat(100)}</p>\n`;
const BIG = `<a href=/big-first></a>${FILLER.repeat((6 * 1024 * 1024) / FILLER.length)}<a href=/big-last></a>`;

const PECULIAR: Readonly<Record<string, SitePage>> = {
  '/robots.txt': {
    type: 'text/plain',
    body: (origin) => `User-agent: *\nAllow: /\nSitemap: ${origin}/maps/index\n`,
  },
  '/': linksTo('/big', '/news', '/paper.pdf', '/sitemap-not-linked.html'),
  '/sitemap.xml': { type: 'application/xml', body: sitemapOf('/well-known-only') },
  '/big': { type: 'text/html; charset=utf-8', body: () => BIG },
  '/news': {
    type: 'application/rss+xml',
    body: (origin) =>
      `<rss><channel><item><link>${origin}/item-1</link></item>` +
      `<item><link>${origin}/item-2</link></item></channel></rss>`,
  },
  '/paper.pdf': { type: 'application/pdf', body: () => smallPdf(['/cited']) },
  // Packed, and not named so: only the bytes tell.
  '/maps/index': {
    type: 'application/octet-stream',
    body: (origin) =>
      gzipSync(
        `<sitemapindex><sitemap><loc>${origin}/maps/1.xml.gz</loc></sitemap></sitemapindex>`,
      ),
  },
  '/maps/1.xml.gz': {
    type: 'application/x-gzip',
    body: (origin) => gzipSync(sitemapOf('/listed-1', '/listed-2')(origin)),
  },
  ...leaves('/big-first', '/big-last', '/item-1', '/item-2', '/listed-1', '/listed-2'),
  ...leaves('/cited', '/well-known-only', '/sitemap-not-linked.html'),
};

/** Crawls the peculiar site with more on the command line. @returns paths that were not asked for exactly once, and the report */
async function crawlPeculiar(
  files: Readonly<Record<string, string>>,
): Promise<{ missed: readonly string[]; report: Report }> {
  const site = await SmallSite.listen(PECULIAR);
  try {
    return await inFolder(files, async (folder) => {
      const line = site.crawlArguments(join(folder, 'data'));
      const { status, stdout, stderr } = await runCommand(line, { cwd: folder, timeoutMs: 60_000 });
      strictEqual(status, 0, stderr);
      const missed = Object.keys(PECULIAR).filter((path) => site.requests.get(path) !== 1);
      return { missed, report: JSON.parse(stdout) as Report };
    });
  } finally {
    await site.close();
  }
}

test('a crawl finds the links of a 6 MiB page, a feed, a PDF and packed sitemaps, and asks for no well-known one', async () => {
  const { missed, report } = await crawlPeculiar({});
  deepStrictEqual(missed, ['/sitemap.xml', '/well-known-only']);
  deepStrictEqual(report.failures, {});
});

test('a crawl asks for /sitemap.xml when wellKnownSitemaps is set', async () => {
  const config = `import { defineConfig } from 'hostler/config';
export default defineConfig({ wellKnownSitemaps: true });`;
  const { missed } = await crawlPeculiar({ 'cluster.config.ts': config });
  deepStrictEqual(missed, []);
});

const TRAP: Readonly<Record<string, SitePage>> = {
  '/': linksTo('/poison', '/a'),
  '/poison': { type: 'text/html', body: () => '<p>poison</p><a href=/behind></a>' },
  '/a': linksTo('/b'),
  ...leaves('/b', '/behind'),
};

/**
 * Loaded into every thread of the command: the crawl thread dies when it notes a page for the third time, which is when it begins to parse
 * the second page (each page is noted for its parse and for its links).
 */
const POISON = `
import { isMainThread, workerData } from 'node:worker_threads';
if (!isMainThread && workerData?.planPort !== undefined) {
  const store = Atomics.store;
  let noted = 0;
  Atomics.store = (array, at, value) => {
    const stored = store(array, at, value);
    if (array instanceof BigUint64Array && value !== 0n) noted += 1;
    if (noted === 3) process.exit(9);
    return stored;
  };
}
`;

/** Crawls the trap until its thread dies, and gives the directory to a body. */
async function afterDeath(
  body: (crawl: {
    site: SmallSite;
    dataDir: string;
    again: () => Promise<CommandResult>;
  }) => Promise<void>,
): Promise<void> {
  const site = await SmallSite.listen(TRAP);
  try {
    await inFolder({ 'poison.mjs': POISON }, async (folder) => {
      const dataDir = join(folder, 'data');
      const line = site.crawlArguments(dataDir);
      const limits = { cwd: folder, timeoutMs: 60_000 };
      const env = { NODE_OPTIONS: `--import=${pathToFileURL(join(folder, 'poison.mjs'))}` };
      const dead = await runCommand(line, { ...limits, env });
      strictEqual(dead.status, 70, dead.stderr);
      match(dead.stderr, /while it handled page [0-9a-f]{16}/);
      match(readFileSync(suspectsPath(dataDir), 'utf8'), /^[0-9a-f]{16} 1 exit code 9\n$/);
      await body({ site, dataDir, again: () => runCommand(line, limits) });
    });
  } finally {
    await site.close();
  }
}

/** Reads a crawl that has ended. */
async function reading<Result>(
  dataDir: string,
  read: (store: ReadStore) => Result,
): Promise<Result> {
  const store = new ReadStore(dataDir, WARC_PREFIX);
  try {
    return read(store);
  } finally {
    await store.close();
  }
}

test('a page that ended its crawl thread is a suspect: the next run parses it behind guards', () =>
  afterDeath(async ({ site, dataDir, again }) => {
    const { status, stderr, stdout } = await again();
    strictEqual(status, 0, stderr);
    const report = JSON.parse(stdout) as Report;
    deepStrictEqual([report.pages, report.failures], [Object.keys(TRAP).length, {}]);
    const counters = await reading(dataDir, (store) => store.counters());
    strictEqual(counters.get('parse.guarded.suspect'), 1);
    // What was committed is never fetched again; what was fetched within the commit window of the death may be, once (DESIGN.md §5).
    for (const path of ['/', '/poison']) strictEqual(site.requests.get(path), 1, path);
    for (const path of Object.keys(TRAP)) ok((site.requests.get(path) ?? 0) <= 2, path);
  }));

test('a page that ended three crawl threads fails alone, with its reason in its row', () =>
  afterDeath(async ({ site, dataDir, again }) => {
    const [key] = [...readSuspects(dataDir).keys()];
    writeFileSync(suspectsPath(dataDir), `${key?.toString(16).padStart(16, '0')} 3 by hand\n`);
    const { status, stderr, stdout } = await again();
    strictEqual(status, 0, stderr);
    const report = JSON.parse(stdout) as Report;
    deepStrictEqual(report.failures, { 'parse-crashed': 1 });
    strictEqual(site.requests.get('/behind'), undefined, 'nobody read the link');
    strictEqual(site.requests.get('/b'), 1, 'the others went on');
    const failed = await reading(dataDir, (store) =>
      [...store.pages()].map(({ row }) => row).filter(({ failure }) => failure !== undefined),
    );
    deepStrictEqual(
      failed.map(({ url, failure, status }) => [url, failure, status]),
      [[`${site.origin}/poison`, 'parse-crashed', 200]],
    );
  }));
