// A crawl of the shipped web by three nodes on loopback over a real nats-server, one of which meets its fate; the web judges. For the tests of
// the cluster: those that every run can afford (crawls/cluster.test.ts) and those that take longer (long/cluster-fates.test.ts).
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { inFolder } from '../command-line.ts';
import { type StartedWeb, startWeb } from '../server/start-web.ts';
import type { Verdict } from '../world/judge-types.ts';
import { freePorts } from './free-ports.ts';
import { type EndedCrawl, type RunningCrawl, startCrawl, until, webFlags } from './run-crawl.ts';
import { SMALL_VARIED_WORLD } from './worlds.ts';

const hasServer = spawnSync('nats-server', ['--version']).error === undefined;
/** Why the tests that need a server are skipped; false where there is one. */
export const withoutServer = hasServer ? false : 'no nats-server here (Debian package nats-server)';

const MIN_GAP_MS = 150;
const MAX_DELAY_MS = 2_000;
export const LEASE_MS = 10_000;
/** Requests after which a node meets its fate: some time before half of them. */
const REQUESTS_BEFORE = 60;

/** How a crawl ended, and what the web says of it. */
export interface Judged {
  readonly ended: EndedCrawl;
  readonly verdict: Verdict;
}

/** What is done to the second node, by its process id. */
export type Fate = (pid: number) => unknown;

/** What cannot be held against the crawl. */
export type Excuse = (violation: Verdict['violations'][number]) => boolean;

/** A stopped process cannot cut its own connection: a request that was in flight stays so for the web until it goes on. */
export const heldByStopped: Excuse = ({ kind, previous }) =>
  (kind === 'overlap' || kind === 'gap') && previous?.complete === false;

/** Crawls to the end. @param repeatsAllowed pages that may be fetched again */
export async function crawlOnThree(
  fate: Fate | undefined,
  repeatsAllowed: number,
): Promise<Judged> {
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
export function check({ ended, verdict }: Judged, isExcused: Excuse = () => false): void {
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
