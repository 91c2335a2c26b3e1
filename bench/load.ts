// `npm run bench -- load --rate 400,1000,2000 --size 2k,10k,100k [--hosts N] [--seconds N] [--threads N] [--repeat N] [--json FILE] [--sim]`:
// the whole crawler against the shipped web at each rate and size, one table row each (PERFORMANCE.md's bar). With `--repeat` the runs
// are interleaved, and rows are medians with their ranges in the JSON. Sizes have 10, 50 and 100 links, as the bar has.
// With `--sim` the network is played in the crawl's threads, without sockets: `web ms/page` is then part of the crawler's CPU.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { type LoadResult, runLoad, type SteadyFigures, steadyOf } from './load-run.ts';

/** One row to measure. */
interface LoadCase {
  readonly rate: number;
  readonly size: string;
  readonly hosts: number;
  readonly seconds: number;
  readonly threads: number;
}

/** One measured run of a row. */
interface LoadFigures extends SteadyFigures {
  readonly pages: number;
  readonly wholeCpuMsPerPage: number;
  readonly wholePagesPerSecond: number;
  readonly linksPerSecond: number;
  readonly newUrlShare: number;
  readonly peakBytes: number;
  readonly writtenBytesPerPage: number;
  readonly webCpuMsPerPage: number;
  readonly violations: number;
}

/** Bytes and links of each page size: about one link in 200 bytes on small pages, in 1,000 on large ones. */
const LINKS: Readonly<Record<string, number>> = { '2k': 10, '10k': 50, '100k': 100 };

/** Share of a run that counts as its start. */
const START_SHARE = 0.4;

/** Runs the command. @returns the exit status: 1 when the web's judge found a promise broken */
export async function loadCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ rate: text, size: text, hosts: text, seconds: text },
      ...{ threads: text, repeat: text, json: text, prof: text },
      sim: { type: 'boolean' },
    },
  });
  const list = (given: string | undefined, standard: string) => (given ?? standard).split(',');
  const cases: LoadCase[] = list(values.size, '10k').flatMap((size) =>
    list(values.rate, '2000').map((rate) => ({
      rate: Number(rate),
      size,
      hosts: Number(values.hosts ?? 1_000),
      seconds: Number(values.seconds ?? 10),
      threads: Number(values.threads ?? availableParallelism()),
    })),
  );
  const runs = cases.map((): LoadFigures[] => []);
  const repeat = Number(values.repeat ?? 1);
  print(HEADINGS);
  for (let round = 0; round < repeat; round += 1) {
    for (const [at, one] of cases.entries()) {
      const figures = await measured(one, values.prof, values.sim === true);
      runs[at]?.push(figures);
      print(columnsOf(one, figures));
    }
  }
  if (repeat > 1) {
    process.stdout.write(`medians of ${repeat}\n`);
    for (const [at, one] of cases.entries()) print(columnsOf(one, medianOf(runs[at] ?? [])));
  }
  const document = { ...machine(), rows: cases.map((one, at) => ({ ...one, runs: runs[at] })) };
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(document)}\n`);
  return runs.flat().some(({ violations }) => violations > 0) ? 1 : 0;
}

async function measured(
  one: LoadCase,
  profileDir: string | undefined,
  simulated: boolean,
): Promise<LoadFigures> {
  const linksPerPage = LINKS[one.size];
  if (linksPerPage === undefined) throw new RangeError(`--size ${one.size}: 2k, 10k or 100k`);
  const pagesPerHost = Math.max(50, Math.ceil((1.5 * one.rate * one.seconds) / one.hosts));
  const pageBytes = 1_000 * Number.parseInt(one.size, 10);
  const result = await runLoad({
    world: { hosts: one.hosts, pagesPerHost, pageBytes, linksPerPage },
    gapMs: Math.max(1, Math.round((1_000 * one.hosts) / one.rate)),
    seconds: one.seconds,
    threads: one.threads,
    simulated,
    nodeFlags: profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`],
  });
  return figuresOf(result, START_SHARE * one.seconds);
}

function figuresOf(result: LoadResult, steadyFromSeconds: number): LoadFigures {
  const { report, samples, webCpuMs, verdict } = result;
  const counts: readonly number[] = Object.values(verdict?.counts ?? {});
  return {
    ...steadyOf(samples, steadyFromSeconds),
    pages: report.pages,
    wholeCpuMsPerPage: (1_000 * report.cpuSeconds) / report.pages,
    wholePagesPerSecond: report.pages / report.seconds,
    linksPerSecond: report.urlsSeen / report.seconds,
    newUrlShare: report.urlsDiscovered / Math.max(report.urlsSeen, 1),
    peakBytes: report.peakRssBytes,
    writtenBytesPerPage: (samples.at(-1)?.writtenBytes ?? 0) / (samples.at(-1)?.pages ?? 1),
    webCpuMsPerPage: webCpuMs / report.pages,
    violations: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** The middle of each figure on its own. */
function medianOf(runs: readonly LoadFigures[]): LoadFigures {
  const first = runs[0];
  if (first === undefined) throw new RangeError('no run');
  const median: Record<string, unknown> = { ...first };
  for (const [name, value] of Object.entries(first)) {
    if (typeof value !== 'number') continue;
    const sorted = runs.map((run) => run[name as keyof LoadFigures] as number);
    median[name] = sorted.sort((a, b) => a - b)[sorted.length >> 1];
  }
  return median as unknown as LoadFigures;
}

const HEADINGS = [
  ...['size', 'offered/s', 'steady/s', 'CPU ms/page', 'whole/s', 'whole ms/page', 'links/s'],
  ...['new URLs', 'peak MB', 'written KB/page', 'web ms/page', 'violations', 'by thread'],
];

function columnsOf(one: LoadCase, figures: LoadFigures): string[] {
  return [
    one.size,
    String(one.rate),
    figures.pagesPerSecond.toFixed(0),
    figures.cpuMsPerPage.toFixed(3),
    figures.wholePagesPerSecond.toFixed(0),
    figures.wholeCpuMsPerPage.toFixed(3),
    figures.linksPerSecond.toFixed(0),
    `${(100 * figures.newUrlShare).toFixed(1)} %`,
    (figures.peakBytes / 1e6).toFixed(0),
    (figures.writtenBytesPerPage / 1e3).toFixed(1),
    figures.webCpuMsPerPage.toFixed(3),
    String(figures.violations),
    figures.threadMsPerPage.map((ms) => ms.toFixed(3)).join(' '),
  ];
}

function print(columns: readonly string[]): void {
  const widths = HEADINGS.map((heading) => heading.length);
  const cells = columns.map((column, at) => column.padStart(widths[at] ?? 0));
  process.stdout.write(`${cells.join('  ')}\n`);
}

/** What a figure depends on. */
export function machine(): Readonly<Record<string, string | number>> {
  const git = (...args: string[]): string => {
    try {
      return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return '';
    }
  };
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.version,
    commit: git('rev-parse', 'HEAD').trim(),
    changed: git('status', '--porcelain', '--untracked-files=no') === '' ? 0 : 1,
    at: new Date().toISOString(),
  };
}
