// Whole crawls of sites that exist in the browser only, built with React, Vue and Preact: what a crawl finds of them with and without rendering, that
// it stays polite in the browser too, and that afterwards no browser is needed to read them.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder, runCommand } from '../support/command-line.ts';
import type { EndedCrawl } from '../support/crawl/run-crawl.ts';
import { runCrawl } from '../support/crawl/run-crawl.ts';
import { archiveFaults, readCrawl } from '../support/crawl/stored-crawl.ts';
import {
  type FrameworkSite,
  type FrameworkSites,
  startFrameworkSites,
} from '../support/render/framework-sites.ts';
import { HOSTILE_KINDS, startHostileSite } from '../support/render/hostile-site.ts';
import { SKIPPED } from '../support/render/with-pool.ts';

const PAGES = 10;
const options = { skip: SKIPPED, timeout: 240_000 };

async function withSites(
  body: (sites: FrameworkSites, dataDir: string) => Promise<void>,
): Promise<void> {
  const sites = await startFrameworkSites(PAGES);
  try {
    await inFolder({}, (folder) => body(sites, `${folder}/data`));
  } finally {
    await sites.stop();
  }
}

function crawl(
  { sites }: FrameworkSites,
  dataDir: string,
  flags: readonly string[],
): Promise<EndedCrawl> {
  return runCrawl([
    ...sites.map(({ seed }) => seed),
    ...['--allow-net', '127.0.0.0/8', '--min-gap', '20', '--ip-gap', '5', '--scope', 'host'],
    ...['--data', dataDir, '--linger', '1', '--progress', 'none', '--json', ...flags],
  ]);
}

/** Pages of a site that are stored, and those of them whose own word is in what is stored of them. */
async function recallOf(dataDir: string, { truth }: FrameworkSite) {
  return readCrawl(dataDir, async (store) => {
    const found = { pages: 0, texts: 0 };
    for (const { row, hostKey, partition, urlKey } of store.pages()) {
      const word = truth.get(row.url);
      if (word === undefined || row.status !== 200) continue;
      found.pages += 1;
      const rendered = store.rows.rendered(hostKey, partition, urlKey);
      const pointer = rendered?.pointer ?? row.pointer;
      const stored = pointer === undefined ? undefined : await store.body(pointer);
      if (Buffer.from(stored?.body ?? []).includes(word)) found.texts += 1;
    }
    return found;
  });
}

test(
  'with --render auto a crawl finds every page and text of React, Vue and Preact sites, and without it the homes alone',
  options,
  () =>
    withSites(async (sites, dataDir) => {
      const without = await crawl(sites, `${dataDir}-off`, []);
      strictEqual(without.status, 0, without.stderr);
      const rendered = await crawl(sites, dataDir, ['--render', 'auto']);
      strictEqual(rendered.status, 0, rendered.stderr);
      for (const site of sites.sites) {
        const isPlain = site.name === 'plain';
        const before = await recallOf(`${dataDir}-off`, site);
        const after = await recallOf(dataDir, site);
        deepStrictEqual(after, { pages: PAGES, texts: PAGES }, site.name);
        deepStrictEqual(before, isPlain ? after : { pages: 1, texts: 0 }, site.name);
      }
      const report = rendered.report?.render ?? {};
      strictEqual(report.pages, 3 * PAGES, 'plain pages are not rendered');
      strictEqual(report['wanted.empty-root'], 3 * PAGES);
    }),
);

test(
  'a rendered crawl is polite, its archive is sound, and reading it needs no browser',
  options,
  () =>
    withSites(async (sites, dataDir) => {
      const rendered = await crawl(sites, dataDir, ['--render', 'auto']);
      strictEqual(rendered.status, 0, rendered.stderr);
      const audit = await runCommand(['audit', '--data', dataDir]);
      strictEqual(audit.status, 0, audit.stdout + audit.stderr);
      match(audit.stdout, /for rendered pages/);
      deepStrictEqual(await archiveFaults(dataDir), []);
      for (const { requests, name } of sites.sites) {
        const bundles = requests.filter((path) => path === '/bundle.js').length;
        ok(name === 'plain' ? bundles === 0 : bundles === 1, `${name}: ${bundles} bundles`);
        ok(!requests.some((path) => path.endsWith('.css')), 'style sheets are not fetched');
      }
      const before = sites.sites.reduce((sum, { requests }) => sum + requests.length, 0);
      const replayed = await runCommand(['export', 'links', '--data', dataDir]);
      strictEqual(replayed.status, 0, replayed.stderr);
      const links = new Set(
        replayed.stdout
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { to: string }).to),
      );
      const all = sites.sites.flatMap(({ truth, seed }) =>
        [...truth.keys()].filter((url) => url !== seed),
      );
      deepStrictEqual([...links].sort(), all.sort());
      const vue = sites.sites.find(({ name }) => name === 'vue') as FrameworkSite;
      const why = await runCommand(['why', vue.seed, '--data', dataDir]);
      match(why.stdout, /browser +seems to need one: empty-root/);
      match(why.stdout, /rendered .*because of empty-root: whole; 3 new of 3 links/);
      strictEqual(
        sites.sites.reduce((sum, { requests }) => sum + requests.length, 0),
        before,
      );
    }),
);

test(
  'a rendered crawl that was stopped in the middle goes on there, and renders what was not',
  options,
  () =>
    withSites(async (sites, dataDir) => {
      const flags = ['--render', 'auto', '--max-time', '3'];
      const first = await crawl(sites, dataDir, flags);
      strictEqual(first.status, 0, first.stderr);
      const second = await crawl(sites, dataDir, ['--render', 'auto']);
      strictEqual(second.status, 0, second.stderr);
      for (const site of sites.sites) {
        deepStrictEqual(await recallOf(dataDir, site), { pages: PAGES, texts: PAGES }, site.name);
      }
    }),
);

test('without a browser a crawl says so once, and goes on', options, () =>
  withSites(async (sites, dataDir) => {
    await inFolder(
      { 'cluster.config.ts': "export default { browserPath: '/nowhere/chromium' };\n" },
      async (folder) => {
        const config = ['--config', `${folder}/cluster.config.ts`];
        const ended = await crawl(sites, dataDir, ['--render', 'auto', ...config]);
        strictEqual(ended.status, 0, ended.stderr);
        strictEqual(ended.stderr.match(/no page is rendered in this run/g)?.length, 1);
        strictEqual(ended.report?.pages, PAGES + 3);
      },
    );
  }),
);

test(
  'pages that do harm to a browser are bounded, and plain sites beside them are crawled whole',
  options,
  () =>
    withSites(async (sites, dataDir) => {
      const hostile = await startHostileSite('127.0.0.9', 1);
      const file = { 'cluster.config.ts': 'export default { renderTimeMs: 4_000 };\n' };
      await inFolder(file, async (folder) => {
        const config = ['--config', `${folder}/cluster.config.ts`, '--render', 'auto'];
        const plain = sites.sites.filter(({ name }) => name === 'plain');
        const ended = await crawl({ ...sites, sites: plain }, dataDir, [hostile.seed, ...config]);
        strictEqual(ended.status, 0, ended.stderr);
        strictEqual(ended.report?.pages, PAGES + 1 + HOSTILE_KINDS.length);
        strictEqual(ended.report.render['wanted.script-only'], HOSTILE_KINDS.length);
        strictEqual(ended.report.render['refused.address'], 1);
        const audit = await runCommand(['audit', '--data', dataDir]);
        strictEqual(audit.status, 0, audit.stdout + audit.stderr);
        const [stolen] = hostile.pagesOf('metadata');
        const why = await runCommand(['why', stolen ?? '', '--data', dataDir]);
        match(why.stdout, /rendered .*because of script-only/);
        match(why.stdout, / 1 requests/);
        const popups = hostile.requests.filter((path) => path.startsWith('/popup'));
        ok(popups.length <= 1, 'where the first would go is a link, and no popup is asked for');
      }).finally(hostile.stop);
    }),
);
