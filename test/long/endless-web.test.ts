// Endless webs on the shipped fake web: calendars, session ids in queries, ever deeper folders. How much of the real web is stored, how
// much of the requests is waste, and what becomes of the rest: parked, explained, and looked at again by a later run.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { PARKED } from '../../src/actors/rows.ts';
import { inFolder, runCommand } from '../support/command-line.ts';
import { runCrawl, webFlags } from '../support/crawl/run-crawl.ts';
import { readCrawl, storedPages } from '../support/crawl/stored-crawl.ts';
import { startWeb } from '../support/server/start-web.ts';
import { trapEntrance } from '../support/world/world-path.ts';

/** A third of the hosts have a trap, one of each kind and one twice; the pages are as many as small sites have. */
const ENDLESS = {
  ...{ seed: 5, hosts: 12, pagesPerHost: 150, linksPerPage: 20, pageBytes: 1_000 },
  features: { traps: 0.35, duplicates: 0.05, nearDuplicates: 0.05, spellings: 0.2, notFound: 0.02 },
};

test('a crawl of an endless web stores every real page and spends under 2 % of its requests on traps', async (t) => {
  const web = await startWeb(ENDLESS);
  try {
    await inFolder(
      { 'quick.ts': 'export default { latencyFactor: 0, alikePagesMax: 8 };\n' },
      async (folder) => {
        const data = `${folder}/data`;
        const entrances = new Set<string>();
        for (let host = 0; host < ENDLESS.hosts; host += 1) {
          entrances.add(trapEntrance(web.world.options, host) ?? 'none');
        }
        deepStrictEqual([...entrances].sort(), [
          '/calendar/2026/01',
          '/cart?sid=00000001',
          '/deep/a',
          'none',
        ]);
        const crawl = await runCrawl(
          webFlags(web, data, ['--min-gap', '50', '--config', `${folder}/quick.ts`]),
        );
        strictEqual(crawl.status, 0, crawl.stderr);
        strictEqual(crawl.report?.reason, 'done');
        const reach = { userAgent: 'hostler', fromSeeds: [...web.world.seeds()] } as const;
        const verdict = await web.judge({ minGapMs: 50, coverage: reach });
        const { required, fetched, trapPages } = verdict.coverage;
        const waste = trapPages / crawl.report.fetched;
        t.diagnostic(
          `${fetched} of ${required} real pages; ${trapPages} trap pages in ${crawl.report.fetched} ` +
            `requests (${(100 * waste).toFixed(2)} %); ${crawl.report.parked} URLs parked`,
        );
        deepStrictEqual(verdict.violations, []);
        strictEqual(fetched, required);
        ok(trapPages > 0, 'the traps are entered');
        ok(waste < 0.02, `${trapPages} of ${crawl.report.fetched}`);
        ok(crawl.report.parked > 0);
        ok((crawl.report.skipped.budget ?? 0) >= crawl.report.parked);
        const stored = new Set(await storedPages(data));
        for (const url of web.world.reachable(reach)) ok(stored.has(url), url);
        const why = await runCommand(['why', await parkedTrap(data), '--data', data]);
        match(why.stdout, /^Parked, one of \d+ of its host: .*looked at again at 20/);
      },
    );
  } finally {
    await web.stop();
  }
});

/** A URL of a trap that the last commit left parked. */
function parkedTrap(dataDir: string): Promise<string> {
  return readCrawl(dataDir, (store) => {
    const parked = [...store.discovered()].filter(({ band }) => band === PARKED);
    const url = parked.map(({ entry }) => entry.url).findLast((one) => one.includes('sid='));
    ok(url !== undefined);
    return url;
  });
}
