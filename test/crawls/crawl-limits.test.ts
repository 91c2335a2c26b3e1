// What bounds a crawl: scopes, patterns, depth, pages and time, each against the ground truth of the served web.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { after, test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import { bareFlags, type EndedCrawl, runCrawl } from '../support/crawl/run-crawl.ts';
import { links, ScriptedWeb } from '../support/crawl/scripted-web.ts';
import { storedPages } from '../support/crawl/stored-crawl.ts';
import { once } from '../support/once.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';

const HOSTS = 6;
let web: StartedWeb | undefined;
let seed: string;

const served = once(async () => {
  web = await startWeb({ seed: 11, hosts: HOSTS, pagesPerHost: 15, linksPerPage: 8 });
  seed = web.seeds[0] as string;
  return web;
});
after(() => web?.stop());

interface Crawled extends EndedCrawl {
  readonly pages: readonly string[];
}

/** Crawls from the first seed. */
async function crawl(...flags: readonly string[]): Promise<Crawled> {
  await served();
  return crawlFrom([seed], flags);
}

function crawlFrom(seeds: readonly string[], flags: readonly string[]): Promise<Crawled> {
  return inFolder({}, async (folder) => {
    const web = await served();
    const dataDir = `${folder}/data`;
    const ended = await runCrawl([...bareFlags(web.dnsPort, dataDir), ...flags, ...seeds]);
    strictEqual(ended.status, 0, ended.stderr);
    return { ...ended, pages: await storedPages(dataDir) };
  });
}

async function reachable(scope: 'hosts' | 'all', maxDepth?: number): Promise<string[]> {
  const web = await served();
  const walk = { userAgent: 'hostler', fromSeeds: [seed], scope };
  return [
    ...web.world.reachable({ ...walk, ...(maxDepth === undefined ? {} : { maxDepth }) }),
  ].sort();
}

test('--scope host and domain keep to the seed, all goes everywhere', async () => {
  const [host, domain, all] = await Promise.all([
    crawl('--scope', 'host'),
    crawl('--scope', 'domain'),
    crawl('--scope', 'all', '--contact', 'https://example.org/crawler'),
  ]);
  deepStrictEqual(host.pages, await reachable('hosts'));
  deepStrictEqual(domain.pages, await reachable('hosts'));
  deepStrictEqual(all.pages, await reachable('all'));
  ok(all.pages.length > 2 * host.pages.length);
});

test('--scope domain takes the other hosts of a registrable domain and host does not', async () => {
  const scripted = await ScriptedWeb.listen((port) => ({
    'www.example.com': links(`http://blog.example.com:${port}/`, `http://example.org:${port}/`),
    'blog.example.com/': links('/post'),
    'blog.example.com/post': 'text',
    'example.org': 'text',
  }));
  try {
    const hosts = async (scope: string): Promise<string[]> =>
      inFolder({}, async (folder) => {
        const flags = [...bareFlags(scripted.dnsPort, `${folder}/data`), '--scope', scope];
        const { status, stderr } = await runCrawl([...flags, scripted.url('www.example.com')]);
        strictEqual(status, 0, stderr);
        const pages = await storedPages(`${folder}/data`);
        return [...new Set(pages.map((url) => new URL(url).hostname))];
      });
    deepStrictEqual(await hosts('host'), ['www.example.com']);
    deepStrictEqual(await hosts('domain'), ['blog.example.com', 'www.example.com']);
  } finally {
    await scripted.close();
  }
});

test('--scope prefix keeps to the folder of the seed', async () => {
  const folder = (await reachable('hosts')).find(
    (url) => new URL(url).pathname.split('/').length > 2,
  );
  ok(folder);
  const prefix = new URL('.', folder).href;
  const { pages } = await crawlFrom([folder], ['--scope', 'prefix']);
  ok(pages.includes(folder));
  deepStrictEqual(
    pages.filter((url) => !url.startsWith(prefix)),
    [],
  );
});

test('--include and --exclude choose URLs, and a seed is fetched all the same', async () => {
  const docs = /\/(?:docs|news)\//;
  const [excluded, included] = await Promise.all([
    crawl('--exclude', '/(docs|news)/'),
    crawl('--include', '/(docs|news)/'),
  ]);
  ok(excluded.pages.length > 1);
  deepStrictEqual(
    excluded.pages.filter((url) => docs.test(url)),
    [],
  );
  deepStrictEqual(
    included.pages.filter((url) => !docs.test(url) && url !== seed),
    [],
  );
});

test('--max-depth stores exactly the pages within it', async () => {
  const [one, two] = await Promise.all([crawl('--max-depth', '1'), crawl('--max-depth', '2')]);
  deepStrictEqual(one.pages, await reachable('hosts', 1));
  deepStrictEqual(two.pages, await reachable('hosts', 2));
  ok(two.pages.length > one.pages.length);
});

test('--max-pages stores exactly so many pages, with two threads, and the next run goes on', async () => {
  await inFolder({}, async (folder) => {
    const web = await served();
    const flags = [...bareFlags(web.dnsPort, `${folder}/data`), '--threads', '2'];
    const all = [...web.world.seeds()];
    const first = await runCrawl([...flags, '--max-pages', '17', ...all]);
    strictEqual(first.status, 0, first.stderr);
    deepStrictEqual([first.report?.reason, first.report?.pages], ['max-pages', 17]);
    strictEqual((await storedPages(`${folder}/data`)).length, 17);
    const second = await runCrawl([...flags, '--max-pages', '30']);
    strictEqual(second.status, 0, second.stderr);
    deepStrictEqual([second.report?.reason, second.report?.pages], ['max-pages', 30]);
    strictEqual((await storedPages(`${folder}/data`)).length, 30);
  });
});

test('--max-time ends the crawl in order soon after that many seconds', async () => {
  const { report, pages } = await crawl('--max-time', '2', '--min-gap', '500');
  strictEqual(report?.reason, 'max-time');
  ok(report.seconds >= 2 && report.seconds < 8, `${report.seconds} s`);
  strictEqual(report.pages, pages.length);
});
