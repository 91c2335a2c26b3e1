// One load run: the shipped web in one process, the whole crawl in another, both on this machine's cores; samples the crawler once a second
// and has the web's own log judged at the end. Open loop: hosts × (1 / gap) is the rate that is offered, whatever the crawler makes of it.
// "Steady" figures leave out the start (threads, JIT, robots.txt and DNS of every host) and the orderly end; "whole" ones leave out nothing.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type StartedWeb, startWeb } from '../test/support/server/start-web.ts';
import { judge } from '../test/support/world/judge.ts';
import type { RequestEntry, Verdict } from '../test/support/world/judge-types.ts';
import { createWorld, type World } from '../test/support/world/world.ts';
import type { PartialWorldOptions } from '../test/support/world/world-options.ts';
import { type ProcessSample, sampleProcess } from './process-sample.ts';
import { type SimulatedWebCost, WORLD_VARIABLE } from './simulated-network.ts';

/** What to run. */
export interface LoadPlan {
  readonly world: PartialWorldOptions & { readonly hosts: number };
  readonly gapMs: number;
  readonly seconds: number;
  readonly threads: number;
  /** More options of the crawl, by name. */
  readonly options?: Readonly<Record<string, readonly string[]>>;
  /** Seeds besides those of the world. */
  readonly seeds?: readonly string[];
  /** Flags for node, such as --cpu-prof. */
  readonly nodeFlags?: readonly string[];
  /** The network is played in the crawl's own threads (simulated-network.ts); nothing is judged then. */
  readonly simulated?: boolean;
  readonly judged?: boolean;
  /** Called as soon as the crawl listens at its debug socket, whose path it gets; what it returns is called when the crawl has ended. */
  readonly beside?: (socket: string) => () => void;
  /** Asked at each look; true stops the crawl in order. */
  readonly isEnough?: (sample: LoadSample) => boolean;
}

/** The crawl's own report, as far as it is used here. */
export interface CrawlFigures {
  readonly pages: number;
  readonly bytes: number;
  readonly urlsDiscovered: number;
  readonly urlsSeen: number;
  readonly duplicates: { readonly exact: number };
  readonly render: Readonly<Record<string, number>>;
  readonly hosts: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
  readonly peakRssBytes: number;
  readonly reason: string;
}

/** One look at the crawler. */
export interface LoadSample extends ProcessSample {
  readonly atSeconds: number;
  /** 200 pages durably stored. */
  readonly pages: number;
  readonly queued: number;
}

/** What came of a run. */
export interface LoadResult {
  readonly report: CrawlFigures;
  readonly samples: readonly LoadSample[];
  /** CPU of the web's process over the run, ms. */
  readonly webCpuMs: number;
  readonly verdict: Verdict | undefined;
  /** All requests as the web saw them; empty unless judged. */
  readonly log: readonly RequestEntry[];
  readonly world: World;
}

/** Runs one load. @throws Error when the crawler fails */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const web = plan.simulated === true ? simulatedWeb(plan.world) : await startWeb(plan.world);
  const dataDir = mkdtempSync(join(tmpdir(), 'load-'));
  try {
    const options = {
      seedsFile: [web.seedsFile],
      scope: ['all'],
      contact: ['bench@example.com'],
      minGapMs: [String(plan.gapMs)],
      allowNets: ['127.0.0.0/8'],
      dnsServers: [`127.0.0.1:${web.dnsPort}`],
      dataDir: [dataDir],
      maxTimeSeconds: [String(plan.seconds)],
      threads: [String(plan.threads)],
      // The web shares these cores: its queue at full speed says nothing of its hosts, and adapting to it would lower the offered rate.
      latencyFactor: ['0'],
      progress: ['json'],
      json: [''],
      ...plan.options,
    };
    for (const seed of plan.seeds ?? []) appendFileSync(web.seedsFile, `\n${seed}\n`);
    const before = sampleProcess(web.pid)?.cpuMs ?? 0;
    const { report, samples, simulatedWebMs } = await crawl(options, plan, dataDir);
    const after = sampleProcess(web.pid)?.cpuMs ?? 0;
    const webCpuMs = plan.simulated === true ? simulatedWebMs : after - before;
    const isJudged = plan.judged !== false && plan.simulated !== true;
    const log = isJudged ? await web.log() : [];
    const rules = { minGapMs: plan.gapMs, maxCrawlDelayMs: 30_000, listedMax: 3 };
    const verdict = isJudged ? judge(web.world, log, rules) : undefined;
    return { report, samples, webCpuMs, verdict, log, world: web.world };
  } finally {
    await web.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A web that nobody serves: its pages are made where they are asked for. */
function simulatedWeb(world: LoadPlan['world']): LoadWeb {
  const directory = mkdtempSync(join(tmpdir(), 'web-'));
  const seedsFile = join(directory, 'seeds.txt');
  const simulated = createWorld(world);
  writeFileSync(seedsFile, [...simulated.seeds()].join('\n'));
  return {
    pid: process.pid,
    dnsPort: 53,
    seedsFile,
    world: simulated,
    log: async () => [],
    stop: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

type LoadWeb = Pick<StartedWeb, 'pid' | 'dnsPort' | 'seedsFile' | 'world' | 'log' | 'stop'>;

/** The part of a run between its start and its end. */
export interface SteadyFigures {
  readonly pagesPerSecond: number;
  readonly cpuMsPerPage: number;
  /** CPU ms per page of the busiest threads, most first. */
  readonly threadMsPerPage: readonly number[];
  readonly memoryBytes: number;
}

const THREADS_SHOWN = 6;

/** @returns zeros when the run was too short to have a steady part */
export function steadyOf(samples: readonly LoadSample[], fromSeconds: number): SteadyFigures {
  const first = samples.find(({ atSeconds }) => atSeconds >= fromSeconds);
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.pages <= first.pages) {
    return { pagesPerSecond: 0, cpuMsPerPage: 0, threadMsPerPage: [], memoryBytes: 0 };
  }
  const pages = last.pages - first.pages;
  const threads = [...last.threadMs].map(
    ([thread, ms]) => (ms - (first.threadMs.get(thread) ?? 0)) / pages,
  );
  return {
    pagesPerSecond: pages / (last.atSeconds - first.atSeconds),
    cpuMsPerPage: (last.cpuMs - first.cpuMs) / pages,
    threadMsPerPage: threads.sort((a, b) => b - a).slice(0, THREADS_SHOWN),
    memoryBytes: last.memoryBytes,
  };
}

async function crawl(
  options: Readonly<Record<string, readonly string[]>>,
  plan: LoadPlan,
  dataDir: string,
): Promise<Pick<LoadResult, 'report' | 'samples'> & SimulatedWebCost> {
  const entry = fileURLToPath(new URL('./load-crawler.js', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      ...(plan.nodeFlags ?? []),
      entry,
      JSON.stringify(options),
      ...(plan.simulated === true ? ['simulated'] : []),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [WORLD_VARIABLE]: JSON.stringify(plan.world) },
    },
  );
  const startedMs = performance.now();
  const samples: LoadSample[] = [];
  let isStopping = false;
  let trouble = '';
  let simulatedWebMs = 0;
  let last = '';
  let leave: (() => void) | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line;
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    const progress = progressOf(line);
    simulatedWebMs += webCostOf(line);
    if (progress === undefined) trouble += `${line}\n`;
    const sample = progress === undefined ? undefined : sampleProcess(child.pid as number);
    if (progress === undefined || sample === undefined) return;
    const atSeconds = (performance.now() - startedMs) / 1_000;
    const look = { ...sample, ...progress, atSeconds };
    samples.push(look);
    leave ??= plan.beside?.(join(dataDir, 'debug.sock'));
    if (isStopping || plan.isEnough?.(look) !== true) return;
    isStopping = true;
    child.kill('SIGTERM');
  });
  const [status] = (await once(child, 'close')) as [number | null];
  leave?.();
  if (status !== 0) throw new Error(`the crawler ended with ${status}:\n${trouble}`);
  return { report: JSON.parse(last) as CrawlFigures, samples, simulatedWebMs };
}

function webCostOf(line: string): number {
  if (!line.startsWith('{"simulatedWebMs"')) return 0;
  return (JSON.parse(line) as SimulatedWebCost).simulatedWebMs;
}

/** A line of `--progress json`; undefined for any other line. */
function progressOf(line: string): { pages: number; queued: number } | undefined {
  if (!line.startsWith('{')) return undefined;
  const { pages, queued } = JSON.parse(line) as { pages?: number; queued?: number };
  return pages === undefined ? undefined : { pages, queued: queued ?? 0 };
}
