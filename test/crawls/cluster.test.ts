// Three nodes on loopback over a real nats-server crawl the shipped web, and the web judges: nothing missing, no gap broken, nothing fetched twice;
// the same while a node is killed, stopped for longer than its lease, or told to leave. Skipped, and said so, where there is no nats-server.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import { freePorts } from '../support/crawl/free-ports.ts';
import {
  type EndedCrawl,
  type RunningCrawl,
  runCrawl,
  startCrawl,
  until,
  webFlags,
} from '../support/crawl/run-crawl.ts';
import { SMALL_VARIED_WORLD } from '../support/crawl/worlds.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';
import type { Verdict } from '../support/world/judge-types.ts';

const hasServer = spawnSync('nats-server', ['--version']).error === undefined;
const skip = hasServer ? false : 'no nats-server here (Debian package nats-server)';

const MIN_GAP_MS = 150;
const MAX_DELAY_MS = 2_000;
const LEASE_MS = 10_000;
/** Requests after which a node meets its fate: some time before half of them. */
const REQUESTS_BEFORE = 60;

interface Judged {
  readonly ended: EndedCrawl;
  readonly verdict: Verdict;
}

/** What is done to the second node, by its process id. */
type Fate = (pid: number) => unknown;

/** What cannot be held against the crawl. */
type Excuse = (violation: Verdict['violations'][number]) => boolean;

/** A stopped process cannot cut its own connection: a request that was in flight stays so for the web until it goes on. */
const heldByStopped: Excuse = ({ kind, previous }) =>
  (kind === 'overlap' || kind === 'gap') && previous?.complete === false;

async function crawl(fate: Fate | undefined, repeatsAllowed: number): Promise<Judged> {
  const web = await startWeb({ ...SMALL_VARIED_WORLD, hosts: 12 });
  try {
    return await inFolder({}, async (folder) => {
      const first = await freePorts(12);
      const lines = ['a', 'b', 'c'].map((name, at) => `${name} 127.0.0.1:${first + 4 * at}`);
      writeFileSync(`${folder}/hosts.txt`, `${lines.join('\n')}\n`);
      const options = { leaseMs: LEASE_MS, maxCrawlDelayMs: MAX_DELAY_MS };
      writeFileSync(`${folder}/config.mjs`, `export default ${JSON.stringify(options)};\n`);
      const dataDir = `${folder}/d`;
      const more = ['--nodes', `${folder}/hosts.txt`, '--config', `${folder}/config.mjs`];
      const pace = ['--min-gap', String(MIN_GAP_MS), '--threads', '1'];
      const running = startCrawl(webFlags(web, dataDir, [...more, ...pace]));
      if (fate !== undefined) await meet(fate, running, web, `${dataDir}/b`);
      const ended = await running.ended;
      return { ended, verdict: await verdictOf(web, repeatsAllowed) };
    });
  } finally {
    await web.stop();
  }
}

async function meet(fate: Fate, running: RunningCrawl, web: StartedWeb, dir: string) {
  const isUnderWay = await until(running, async () => (await web.log()).length >= REQUESTS_BEFORE);
  ok(isUnderWay, running.stderr);
  const { pid } = JSON.parse(readFileSync(`${dir}/lock`, 'utf8')) as { pid: number };
  await fate(pid);
}

async function verdictOf(web: StartedWeb, repeatsAllowed: number): Promise<Verdict> {
  const userAgent = (await web.log())[0]?.userAgent ?? '';
  const coverage = { userAgent, fromSeeds: web.world.seeds(), scope: 'hosts' } as const;
  const pace = { minGapMs: MIN_GAP_MS, maxCrawlDelayMs: MAX_DELAY_MS };
  return web.judge({ ...pace, coverage, requireLate: true, repeatsAllowed });
}

/** Complete and polite; repetitions are for the caller. */
function check({ ended, verdict }: Judged, isExcused: Excuse = () => false): void {
  strictEqual(ended.status, 0, ended.stderr);
  strictEqual(ended.report?.reason === 'done' || ended.report?.reason === 'stopped', true);
  deepStrictEqual(
    verdict.violations.filter((violation) => violation.kind !== 'repeat' && !isExcused(violation)),
    [],
    ended.stderr,
  );
  const excused = verdict.violations.some(isExcused);
  ok(verdict.ok || excused, ended.stderr);
}

test('three nodes store every page, none twice, and break no gap', { skip }, async () => {
  const judged = await crawl(undefined, 0);
  check(judged);
  deepStrictEqual(judged.verdict.violations, []);
  strictEqual(judged.ended.report?.reason, 'done');
});

test('a node that is killed loses no page for the crawl, and no gap is broken', {
  skip,
}, async () => {
  check(await crawl((pid) => process.kill(pid, 'SIGKILL'), 100));
});

test('a node stopped for longer than its lease asks nobody when it goes on', { skip }, async () => {
  const fate = async (pid: number): Promise<void> => {
    process.kill(pid, 'SIGSTOP');
    // No sleep for a condition to come true: the length of the stop is what is tested.
    await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
    process.kill(pid, 'SIGCONT');
  };
  check(await crawl(fate, 100), heldByStopped);
});

test('a node told to leave hands everything over', { skip }, async () => {
  const { ended, verdict } = await crawl((pid) => process.kill(pid, 'SIGTERM'), 2);
  check({ ended, verdict });
  ok(ended.stderr.includes('every partition is handed over'), ended.stderr);
});

test('a nodes file that cannot be used ends the command with status 2 and the way out', async () => {
  await inFolder({ 'hosts.txt': 'a 10.1.2.3\n' }, async (folder) => {
    const flags = ['--nodes', `${folder}/hosts.txt`, '--data', `${folder}/d`];
    const ended = await runCrawl([...flags, 'http://example.test/']);
    strictEqual(ended.status, 2, ended.stderr);
    ok(ended.stderr.includes('no secret'), ended.stderr);
  });
});

test('a bus that cannot be reached ends the command with status 5', async () => {
  const port = await freePorts(1);
  const hosts = `a 127.0.0.1\nbus=nats://127.0.0.1:${port}\n`;
  const files = { 'hosts.txt': hosts, 'config.mjs': 'export default { busPatienceMs: 1_000 };\n' };
  await inFolder(files, async (folder) => {
    const place = ['--nodes', `${folder}/hosts.txt`, '--me', 'a', '--data', `${folder}/d`];
    const flags = [...place, '--config', `${folder}/config.mjs`];
    const ended = await runCrawl([...flags, 'http://example.test/']);
    strictEqual(ended.status, 5, ended.stderr);
    ok(ended.stderr.includes(`127.0.0.1:${port}`), ended.stderr);
  });
});
