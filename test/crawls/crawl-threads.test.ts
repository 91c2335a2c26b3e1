// The whole crawl over sockets, stores and threads, judged by the web it crawled: each promise of a polite crawl, every page once, and the
// same pages whatever the number of threads. The web has every oddity whose ground truth does not depend on the order of a crawl.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import { type EndedCrawl, runCrawl, webFlags } from '../support/crawl/run-crawl.ts';
import { archiveFaults, storedPages } from '../support/crawl/stored-crawl.ts';
import { SMALL_VARIED_WORLD } from '../support/crawl/worlds.ts';
import { once } from '../support/once.ts';
import { startWeb } from '../support/server/start-web.ts';
import type { Verdict } from '../support/world/judge-types.ts';

const THREADS = [1, 2, 4];

interface Judged {
  readonly ended: EndedCrawl;
  readonly verdict: Verdict;
  readonly pages: readonly string[];
  readonly archiveFaults: readonly string[];
}

// All at once: a polite crawl mostly waits.
const crawls = once(() => Promise.all(THREADS.map(crawl)));

async function crawl(threads: number): Promise<Judged> {
  const web = await startWeb(SMALL_VARIED_WORLD);
  try {
    return await inFolder({}, async (folder) => {
      const dataDir = `${folder}/data`;
      const ended = await runCrawl(webFlags(web, dataDir, ['--threads', String(threads)]));
      const userAgent = (await web.log())[0]?.userAgent ?? '';
      const coverage = { userAgent, fromSeeds: web.world.seeds(), scope: 'hosts' } as const;
      const verdict = await web.judge({ minGapMs: 30, coverage, requireLate: true });
      const pages = await storedPages(dataDir);
      return { ended, verdict, pages, archiveFaults: await archiveFaults(dataDir) };
    });
  } finally {
    await web.stop();
  }
}

for (const [index, threads] of THREADS.entries()) {
  test(`a crawl with ${threads} threads keeps every promise and stores each page once`, async () => {
    const { ended, verdict, pages, archiveFaults } = (await crawls())[index] as Judged;
    strictEqual(ended.status, 0, ended.stderr);
    strictEqual(ended.report?.reason, 'done');
    deepStrictEqual(verdict.violations, []);
    ok(verdict.ok);
    strictEqual(new Set(pages).size, pages.length, 'each page once');
    strictEqual(ended.report?.pages, pages.length);
    deepStrictEqual(archiveFaults, []);
  });
}

test('crawls with 1, 2 and 4 threads store the same canonical pages', async () => {
  const [one, two, four] = (await crawls()).map(({ pages }) => withoutPort(pages));
  ok(one !== undefined && one.length > 100, `${one?.length} pages`);
  deepStrictEqual(two, one);
  deepStrictEqual(four, one);
});

/** Each web has its own port. */
function withoutPort(urls: readonly string[]): string[] {
  return urls.map((url) => url.replace(/:\d+\//, '/'));
}
