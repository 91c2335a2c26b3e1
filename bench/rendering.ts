// `npm run bench -- rendering [--rounds 3] [--rate 300,4000] [--seconds 20] [--pages 30]` (0 rounds, or 0 pages, leave a part out): what rendering brings, costs, and takes from others.
// First the sites of test/support/render, built with real frameworks, crawled without and with a browser: pages and texts found, and
// what a rendered page costs in CPU, that of the browser's processes included. Then a web of plain pages, alone and beside a site whose
// pages do harm to a browser, interleaved: pages a second and CPU per page of the crawl's own process, and the ratio of each pair.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RunningCrawl } from '../test/support/crawl/run-crawl.ts';
import { readCrawl } from '../test/support/crawl/stored-crawl.ts';
import {
  type FrameworkSite,
  type FrameworkSites,
  startFrameworkSites,
} from '../test/support/render/framework-sites.ts';
import { startHostileSite } from '../test/support/render/hostile-site.ts';
import { runLoad, steadyOf } from './load-run.ts';
import { sampleProcess } from './process-sample.ts';

/** How often the processes of a crawl are looked at; what a process uses after its last look is lost. */
const LOOK_MS = 100;
/** Pages of each hostile kind: enough for a browser to be busy with from beginning to end. */
const HOSTILE_COPIES = 8;
const HOSTS = 300;
/** Share of a run that counts as its start: threads, robots.txt of every host, and that of the browser. */
const START_SHARE = 0.4;

/** Runs the command. @returns the exit status */
export async function renderingCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { rounds: text, rate: text, seconds: text, pages: text },
  });
  const pages = Number(values.pages ?? 30);
  if (pages > 0) await frameworks(pages);
  const rounds = Number(values.rounds ?? 3);
  for (const rate of rounds > 0 ? (values.rate ?? '300,4000').split(',') : []) {
    await besideHostile(Number(rate), Number(values.seconds ?? 20), rounds);
  }
  return 0;
}

// ------------------------------------------------------------------------------------------------------- frameworks: recall, cost

async function frameworks(pages: number): Promise<void> {
  print('site', 'pages', 'without: pages, texts', 'with: pages, texts');
  const sites = await startFrameworkSites(pages);
  const folder = mkdtempSync(join(tmpdir(), 'rendering-'));
  try {
    const off = await crawled(sites, join(folder, 'off'), 'off');
    const auto = await crawled(sites, join(folder, 'auto'), 'auto');
    for (const site of sites.sites) {
      const before = await recallOf(join(folder, 'off'), site);
      const after = await recallOf(join(folder, 'auto'), site);
      print(site.name, String(pages), before, after);
    }
    const count = (name: string): number => auto.render[name] ?? 0;
    const per = (sum: number): string => (sum / count('pages')).toFixed(1);
    print(
      'rendered',
      'crawl ms CPU',
      'browser ms CPU',
      'ms in the browser',
      'requests',
      'of a page',
    );
    print(
      String(count('pages')),
      per(auto.ownMs - off.ownMs),
      per(auto.belowMs),
      per(count('ms')),
      per(count('requests')),
    );
  } finally {
    await sites.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface CrawlCost {
  /** CPU of the crawl's process and of those below it. */
  readonly ownMs: number;
  readonly belowMs: number;
  readonly render: Readonly<Record<string, number>>;
}

async function crawled(sites: FrameworkSites, dataDir: string, render: string): Promise<CrawlCost> {
  const crawl = new RunningCrawl(
    [
      ...sites.sites.map(({ seed }) => seed),
      ...['--allow-net', '127.0.0.0/8', '--min-gap', '20', '--ip-gap', '5', '--scope', 'host'],
      ...['--data', dataDir, '--linger', '1', '--progress', 'none', '--json', '--render', render],
    ],
    { timeoutMs: 600_000 },
  );
  const used = new Map<number, number>();
  const look = (): void => {
    for (const pid of family(crawl.pid)) {
      const sample = sampleProcess(pid);
      if (sample !== undefined) used.set(pid, sample.cpuMs);
    }
  };
  const looks = setInterval(look, LOOK_MS);
  const { status, stderr, report } = await crawl.ended;
  clearInterval(looks);
  if (status !== 0 || report === undefined)
    throw new Error(`the crawl ended with ${status}:\n${stderr}`);
  const ownMs = used.get(crawl.pid) ?? 0;
  const allMs = [...used.values()].reduce((sum, ms) => sum + ms, 0);
  return { ownMs, belowMs: allMs - ownMs, render: report.render };
}

/** A process and all below it, by their parents: its threads start some of them. */
function family(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const found = [root];
  for (let at = 0; at < found.length; at += 1) {
    for (const [pid, parent] of parents) if (parent === found[at]) found.push(pid);
  }
  return found;
}

/** Field 4 of proc(5) stat; 0 when the process has ended. */
function parentOf(pid: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

/** `pages, texts`: pages of a site that are stored, and those whose own word is in what is stored of them. */
async function recallOf(dataDir: string, { truth }: FrameworkSite): Promise<string> {
  return readCrawl(dataDir, async (store) => {
    let pages = 0;
    let texts = 0;
    for (const { row, hostKey, partition, urlKey } of store.pages()) {
      const word = truth.get(row.url);
      if (word === undefined || row.status !== 200) continue;
      pages += 1;
      const pointer = store.rows.rendered(hostKey, partition, urlKey)?.pointer ?? row.pointer;
      const stored = pointer === undefined ? undefined : await store.body(pointer);
      if (Buffer.from(stored?.body ?? []).includes(word)) texts += 1;
    }
    return `${pages}, ${texts}`;
  });
}

// ------------------------------------------------------------------------------------------------- plain pages beside hostile ones

interface PlainRun {
  readonly pagesPerSecond: number;
  readonly cpuMsPerPage: number;
  readonly render: Readonly<Record<string, number>>;
}

async function besideHostile(rate: number, seconds: number, rounds: number): Promise<void> {
  print(
    'offered/s',
    'alone: pages/s',
    'ms/page',
    'beside: pages/s',
    'ms/page',
    'rendered, cut, failed',
  );
  const ratios: { pages: number; cpu: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const alone = await plainRun(rate, seconds, undefined);
    const site = await startHostileSite('127.8.8.8', HOSTILE_COPIES);
    const beside = await plainRun(rate, seconds, site.seed).finally(site.stop);
    const figures = ({ pagesPerSecond, cpuMsPerPage }: PlainRun) =>
      [pagesPerSecond.toFixed(1), cpuMsPerPage.toFixed(3)] as const;
    print(String(rate), ...figures(alone), ...figures(beside), outcomesOf(beside.render));
    ratios.push({
      pages: beside.pagesPerSecond / alone.pagesPerSecond,
      cpu: beside.cpuMsPerPage / alone.cpuMsPerPage,
    });
  }
  const range = (name: 'pages' | 'cpu'): string => {
    const sorted = ratios.map((ratio) => ratio[name]).sort((a, b) => a - b);
    const middle = sorted[sorted.length >> 1] ?? 0;
    return `${middle.toFixed(3)} (${sorted[0]?.toFixed(3)} – ${sorted.at(-1)?.toFixed(3)})`;
  };
  print('ratio beside : alone', `pages/s ${range('pages')}`, `ms/page ${range('cpu')}`);
}

async function plainRun(
  rate: number,
  seconds: number,
  hostile: string | undefined,
): Promise<PlainRun> {
  const pagesPerHost = Math.max(50, Math.ceil((1.5 * rate * seconds) / HOSTS));
  const { report, samples } = await runLoad({
    world: { hosts: HOSTS, pagesPerHost, pageBytes: 10_000, linksPerPage: 50 },
    gapMs: Math.max(1, Math.round((1_000 * HOSTS) / rate)),
    ...{ seconds, threads: 2, judged: false },
    seeds: hostile === undefined ? [] : [hostile],
    options: hostile === undefined ? {} : { render: ['auto'], renderTimeMs: ['5000'] },
  });
  return {
    ...steadyOf(samples, START_SHARE * seconds),
    render: report.render,
  };
}

function outcomesOf(render: Readonly<Record<string, number>>): string {
  const sum = (start: string): number =>
    Object.entries(render).reduce(
      (total, [name, n]) => total + (name.startsWith(start) ? n : 0),
      0,
    );
  return `${render.pages ?? 0}, ${sum('cut.')}, ${sum('failed.')}`;
}

function print(...columns: readonly string[]): void {
  process.stdout.write(`${columns.join('  ·  ')}\n`);
}
