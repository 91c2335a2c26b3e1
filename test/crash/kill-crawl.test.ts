// kill -9 at random moments of a whole crawl, again and again, then to the end: judged by the log of the served web, which survives, and by
// what lies on the disk. Some hosts ask for a gap longer than a restart takes, so a crawl that forgot its gaps would be caught.
// KILLS (default 10) and SEED choose a longer or another run: a failure prints both.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { SeededRandom } from '../../src/base/random.ts';
import { inFolder } from '../support/command-line.ts';
import { type RunningCrawl, startCrawl, until, webFlags } from '../support/crawl/run-crawl.ts';
import { archiveFaults, readCrawl, storedPages } from '../support/crawl/stored-crawl.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';
import type { RequestEntry } from '../support/world/judge-types.ts';
import { hostProfile } from '../support/world/world-host.ts';
import { canonicalPath } from '../support/world/world-path.ts';
import { crawlDelayMs, robotsDecision } from '../support/world/world-truth.ts';

const KILLS = Number(process.env.KILLS ?? 10);
const SEED = Number(process.env.SEED ?? 1);
const HOSTS = 10;
const MIN_GAP_MS = 200;
/** Longer than a restart on a machine with fifteen other things to do (there, over eight), shorter than the longest that we obey. */
const LONG_GAP_SECONDS = 25;
/** One commit window (DESIGN.md §5) and the time a commit may take on a busy machine. */
const WINDOW_MS = 250 + 1_000;
const RUN_MS_MAX = 110_000;

/** A run that was killed, by the web's clock. */
interface Kill {
  /** The last thing the web saw of it. */
  readonly lastMs: number;
  readonly firstMs: number;
}

test(`a crawl killed ${KILLS} times loses nothing, breaks no gap and refetches one window`, async () => {
  const web = await startWeb({
    seed: 31,
    hosts: HOSTS,
    // Enough that some are left in the last run: it would else wait for a long gap before its first request.
    pagesPerHost: Math.max(30, 4 * KILLS),
    linksPerPage: 8,
    crossHostLinks: 0,
    crawlDelaySeconds: [LONG_GAP_SECONDS, LONG_GAP_SECONDS],
    features: { robots: 1, crawlDelays: 0.3, compressed: 0.3, closing: 0.1, redirects: 0.05 },
  });
  try {
    await inFolder({}, async (folder) => {
      const dataDir = `${folder}/data`;
      const kills = await killLoop(web, dataDir);
      await finish(web, dataDir);
      await judgeAll(web, dataDir, kills);
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`KILLS=${KILLS} SEED=${SEED}: ${message}`, { cause: error });
  } finally {
    await web.stop();
  }
});

function start(web: StartedWeb, dataDir: string): RunningCrawl {
  return startCrawl(webFlags(web, dataDir, ['--min-gap', String(MIN_GAP_MS), '--threads', '2']));
}

/** Kills at random moments after the first request of each run, and compares what is on disk with what was there before. */
async function killLoop(web: StartedWeb, dataDir: string): Promise<Kill[]> {
  const random = new SeededRandom(SEED);
  const kills: Kill[] = [];
  let before = new Map<string, string>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const seen = (await web.log()).length;
    const crawl = start(web, dataDir);
    const isAtWork = await until(crawl, async () => (await web.log()).length > seen);
    ok(isAtWork, `run ${kill} ended before its first request: ${crawl.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, random.below(1_500)));
    const { signal, stderr } = await crawl.kill();
    strictEqual(signal, 'SIGKILL', stderr);
    kills.push(killOf((await web.log()).slice(seen)));
    const rows = await rowsOf(dataDir);
    for (const [url, pointer] of before) strictEqual(rows.get(url), pointer, `lost ${url}`);
    before = rows;
  }
  return kills;
}

function killOf(entries: readonly RequestEntry[]): Kill {
  const starts = entries.map(({ startMs }) => startMs);
  return { firstMs: Math.min(...starts), lastMs: Math.max(...starts) };
}

/** Page rows with their pointers; each pointer names a whole record, although nothing was repaired yet. */
function rowsOf(dataDir: string): Promise<Map<string, string>> {
  return readCrawl(dataDir, async (store) => {
    const rows = new Map<string, string>();
    for (const { row } of store.pages()) {
      if (row.pointer === undefined) continue;
      if (row.duplicateOf === undefined)
        ok(await store.body(row.pointer), `half a record: ${row.url}`);
      rows.set(row.url, `${row.status} ${row.pointer.file}:${row.pointer.record}`);
    }
    return rows;
  });
}

/** Runs on until the quick hosts are done: the slow ones would take minutes. */
async function finish(web: StartedWeb, dataDir: string): Promise<void> {
  const wanted = new Set(quickPages(web));
  const crawl = start(web, dataDir);
  const endAt = performance.now() + RUN_MS_MAX;
  await until(crawl, async () => {
    for (const { host, path, status } of await web.log()) {
      if (status === 200) wanted.delete(`http://${host}:${web.port}${canonicalPath(path)}`);
    }
    return wanted.size === 0 || performance.now() > endAt;
  });
  crawl.signal('SIGTERM');
  const { status, stderr, report } = await crawl.ended;
  strictEqual(status, 0, stderr);
  strictEqual(report?.reason, 'stopped');
  deepStrictEqual([...wanted], []);
}

/** Pages of hosts without a Crawl-delay. */
function quickPages(web: StartedWeb): string[] {
  const { options } = web.world;
  const fromSeeds = [...web.world.seeds()].filter((_, host) => {
    const rules = robotsDecision(options, hostProfile(options, host), 0);
    return crawlDelayMs(rules, 'hostler') === 0;
  });
  ok(fromSeeds.length > 2 && fromSeeds.length < HOSTS, `${fromSeeds.length} quick hosts`);
  return [...web.world.reachable({ userAgent: 'hostler', fromSeeds, scope: 'hosts' })];
}

async function judgeAll(web: StartedWeb, dataDir: string, kills: readonly Kill[]): Promise<void> {
  const repeatsAllowed = Number.POSITIVE_INFINITY;
  const verdict = await web.judge({ minGapMs: MIN_GAP_MS, repeatsAllowed, listedMax: 1_000 });
  const broken = verdict.violations.filter(({ kind }) => kind !== 'repeat');
  deepStrictEqual(broken, []);
  const repeats = verdict.violations.filter(({ kind }) => kind === 'repeat');
  for (const { previous, path, host, startMs } of repeats) {
    ok(previous && startMs !== null);
    const kill = kills.find(({ lastMs }) => lastMs >= previous.startMs && lastMs < startMs);
    ok(kill, `${host}${path} again without a kill`);
    const ageMs = kill.lastMs - previous.endMs;
    ok(ageMs <= WINDOW_MS, `${host}${path} again, fetched ${ageMs} ms before the kill`);
  }
  const pages = await storedPages(dataDir);
  const stored = new Set(pages);
  strictEqual(stored.size, pages.length, 'each page once');
  deepStrictEqual(
    quickPages(web).filter((url) => !stored.has(url)),
    [],
  );
  deepStrictEqual(await archiveFaults(dataDir), []);
  const restarts = kills.slice(1).map(({ firstMs }, at) => firstMs - (kills[at]?.lastMs ?? 0));
  ok(
    Math.min(...restarts) < LONG_GAP_SECONDS * 1_000,
    `no restart was quicker than the long gap: ${restarts.map(Math.round)} ms`,
  );
  process.stdout.write(
    `# kills ${kills.length}, requests ${verdict.requests}, pages ${pages.length}, refetched ` +
      `${repeats.length}, quickest restart ${Math.round(Math.min(...restarts))} ms, tightest gap ` +
      `${verdict.tightestGapMs?.toFixed(1)} ms over its due\n`,
  );
}
