// A cluster on one machine, for a trial: a nodes file of loopback lines starts every node as a process of its own, with its directory in
// `DIR/<name>/`, and one report covers them all (DESIGN.md §9). This process crawls nothing: it starts the nodes, starts one again that
// died, passes signals on, and adds up what they report.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CrawlError } from '../base/errors.ts';
import { busPorts } from '../cluster/bus-config.ts';
import type { HostsFile, NodeLine } from '../cluster/hosts-file.ts';
import type { CrawlConfig } from '../config/options.ts';
import { type CrawlReport, reportText } from './crawl-report.ts';

/** Times a node that died is started again. */
const RESTARTS_MAX = 20;
const RESTART_MS = 1_000;
const STATUS_STOPPED_AT_ONCE = 130;

interface Trial {
  readonly node: NodeLine;
  readonly arguments: readonly string[];
  child: ChildProcess | undefined;
  restarts: number;
  report: CrawlReport | undefined;
  status: number;
}

/** @returns the exit status: 0 when every node ended in order, else that of the first that did not */
export async function runTrial(
  config: CrawlConfig,
  file: HostsFile,
  argv: readonly string[],
): Promise<number> {
  mkdirSync(config.dataDir, { recursive: true });
  const seeds = await seedArguments(config);
  const trials = file.nodes.map((node, index): Trial => {
    const own = ['--me', node.name, '--data', join(config.dataDir, node.name)];
    const rest = ['--json', '--progress', 'none', ...seeds, ...httpArguments(config, index)];
    const base = { restarts: 0, child: undefined, report: undefined, status: 0 };
    return { node, arguments: [...argv, ...own, ...rest], ...base };
  });
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    for (const { child } of trials) {
      if (signals > 1) child?.kill('SIGKILL');
      else if (child?.connected === true) child.send('stop-all');
    }
    if (signals > 1) process.exit(STATUS_STOPPED_AT_ONCE);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  await Promise.all(trials.map((trial) => runNode(trial, file, () => signals > 0)));
  process.off('SIGINT', onSignal);
  process.off('SIGTERM', onSignal);
  const report = mergedReport(trials.flatMap((trial) => trial.report ?? []));
  if (report !== undefined) {
    if (config.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    else process.stderr.write(`${reportText(report)}\n`);
  }
  return trials.find(({ status }) => status !== 0)?.status ?? 0;
}

/** Runs a node until it ends in order, cannot run at all, or has died too often. */
async function runNode(trial: Trial, file: HostsFile, isStopping: () => boolean): Promise<void> {
  const { node } = trial;
  for (;;) {
    tellPorts(node, file);
    const ended = await once(trial);
    trial.status = ended;
    const isDead = ended === STATUS_BUG || ended === STATUS_KILLED;
    if (!isDead || isStopping() || trial.restarts >= RESTARTS_MAX) return;
    trial.restarts += 1;
    process.stderr.write(`hostler: node ${node.name} died and is started again\n`);
    await new Promise((resolve) => {
      setTimeout(resolve, RESTART_MS);
    });
  }
}

const STATUS_BUG = 70;
/** Stands for an end by a signal. */
const STATUS_KILLED = 137;

function once(trial: Trial): Promise<number> {
  return new Promise((resolve, reject) => {
    // A group of its own: a terminal's interrupt comes to this process alone, which passes it on once.
    const [script = ''] = process.argv.slice(1);
    const child = spawn(process.execPath, [script, ...trial.arguments], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    trial.child = child;
    let lines = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      lines = (lines + piece).slice(-REPORT_CHARS_MAX);
    });
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      process.stderr.write(piece.replaceAll(/^(?=.)/gm, `[${trial.node.name}] `));
    });
    child.once('error', (cause) => {
      reject(new CrawlError('internal', `node ${trial.node.name} cannot be started`, { cause }));
    });
    child.once('close', (code) => {
      trial.report = lastReport(lines) ?? trial.report;
      resolve(code ?? STATUS_KILLED);
    });
  });
}

const REPORT_CHARS_MAX = 4 * 1024 * 1024;

function lastReport(lines: string): CrawlReport | undefined {
  const line = lines.trimEnd().split('\n').at(-1) ?? '';
  try {
    return line.startsWith('{') ? (JSON.parse(line) as CrawlReport) : undefined;
  } catch {
    return undefined;
  }
}

function tellPorts(node: NodeLine, { bus }: HostsFile): void {
  const { client, monitor, routes } = busPorts(node);
  const server =
    bus.kind === 'own' && bus.servers.includes(node.name)
      ? `bus ${client}, its monitor ${monitor}, its routes ${routes}`
      : 'no bus server';
  process.stderr.write(`hostler: node ${node.name} at ${node.address}: ${server}\n`);
}

/** Standard input can be read once: the nodes get what came as a file. */
async function seedArguments(config: CrawlConfig): Promise<string[]> {
  if (config.seedsFile !== '-') return [];
  const path = join(config.dataDir, 'seeds.txt');
  writeFileSync(path, await text(process.stdin));
  return ['--seeds', path];
}

/** Each node has a dashboard of its own, a hundred ports apart. */
function httpArguments({ http }: CrawlConfig, index: number): string[] {
  if (http === undefined) return [];
  const at = http.lastIndexOf(':');
  return ['--http', `${http.slice(0, at)}:${Number(http.slice(at + 1)) + 100 * index}`];
}

/** One report of several nodes: what can be added is added, times and peaks run side by side. */
export function mergedReport(reports: readonly CrawlReport[]): CrawlReport | undefined {
  const [first, ...others] = reports;
  if (first === undefined) return undefined;
  let merged: CrawlReport = first;
  for (const other of others) {
    const reason = merged.reason === other.reason ? merged.reason : worst(merged, other);
    const seconds = Math.max(merged.seconds, other.seconds);
    merged = { ...(added(merged, other) as CrawlReport), reason, seconds };
  }
  return merged;
}

function worst(one: CrawlReport, other: CrawlReport): CrawlReport['reason'] {
  return one.reason === 'failed' || other.reason === 'failed' ? 'failed' : other.reason;
}

function added(one: unknown, other: unknown): unknown {
  if (typeof one === 'number' && typeof other === 'number') {
    return Math.round((one + other) * 1_000) / 1_000;
  }
  if (typeof one !== 'object' || one === null) return one ?? other;
  const [left, right] = [one, other ?? {}] as Record<string, unknown>[];
  const names = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  return Object.fromEntries([...names].map((name) => [name, added(left?.[name], right?.[name])]));
}
