// The whole crawl over sockets, stores and threads, judged by the web it crawled: each promise of a polite crawl, every page once, and the
// same pages whatever the number of threads. The web has every oddity whose ground truth does not depend on the order of a crawl.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { after, before, test } from 'node:test';
import { runCrawl, webFlags } from '../support/crawl/run-crawl.ts';
import { archiveFaults, storedPages } from '../support/crawl/stored-crawl.ts';
import { inFolder } from '../support/command-line.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';
import { judge } from '../support/world/judge.ts';
import { SMALL_VARIED_WORLD } from '../support/crawl/worlds.ts';

const THREADS = [1, 2, 4];
const webs: StartedWeb[] = [];
const pagesOf = new Map<number, readonly string[]>();

before(async () => {
  for (const _ of THREADS) webs.push(await startWeb(SMALL_VARIED_WORLD));
});
after(() => Promise.all(webs.map((web) => web.stop())));

for (const [index, threads] of THREADS.entries()) {
  test(`a crawl with ${threads} threads keeps every promise and stores each page once`, async () => {
    const web = webs[index] as StartedWeb;
    await inFolder({}, async (folder) => {
      const dataDir = `${folder}/data`;
      const flags = webFlags(web, dataDir, ['--threads', String(threads)]);
      const { status, stderr, report } = await runCrawl(flags);
      strictEqual(status, 0, stderr);
      strictEqual(report?.reason, 'done');
      const entries = await web.log();
      const userAgent = entries[0]?.userAgent ?? '';
      const coverage = { userAgent, fromSeeds: web.world.seeds(), scope: 'hosts' } as const;
      const verdict = judge(web.world, entries, { minGapMs: 30, coverage, requireLate: true });
      deepStrictEqual(verdict.violations, []);
      ok(verdict.ok);
      const pages = await storedPages(dataDir);
      strictEqual(new Set(pages).size, pages.length, 'each page once');
      strictEqual(report?.pages, pages.length);
      deepStrictEqual(await archiveFaults(dataDir), []);
      pagesOf.set(threads, withoutPort(pages));
    });
  });
}

test('crawls with 1, 2 and 4 threads store the same canonical pages', () => {
  const [one, two, four] = THREADS.map((threads) => pagesOf.get(threads));
  ok(one !== undefined && one.length > 100, `${one?.length} pages`);
  deepStrictEqual(two, one);
  deepStrictEqual(four, one);
});

/** Each web has its own port. */
function withoutPort(urls: readonly string[]): string[] {
  return urls.map((url) => url.replace(/:\d+\//, '/'));
}
