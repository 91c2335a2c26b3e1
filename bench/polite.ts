// `npm run bench -- polite [--case plain|shared|mute] [--hosts 1000] [--gap MS] [--seconds N] [--threads N] [--factor 10]`: a polite crawl, everything on,
// the gap adapting to response times as well. The ideal is computed from the web's own rules: each host answers once in its gap (its
// Crawl-delay, if that is longer), so the most that may be asked of all hosts in a time is known. The share is taken from the web's log,
// once every host has been met; the judge tells whether any gap was broken (PERFORMANCE.md: at least 97 % on under one core, under 500 MB,
// no gap broken).
//
// `shared`: a hundred hosts on each address, whose budget then binds; the web's log tells whether it was kept. `mute`: half of the hosts
// accept and never answer; the healthy half must be asked at 95 % at least of the rate it is asked at alone, in a run before.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { RequestEntry } from '../test/support/world/judge-types.ts';
import type { World } from '../test/support/world/world.ts';
import { canAnswer, hostProfile } from '../test/support/world/world-host.ts';
import { crawlDelayMs, robotsDecision } from '../test/support/world/world-truth.ts';
import { type LoadResult, runLoad, steadyOf } from './load-run.ts';

/** Crawl-delay values of this web are at most this, so that every host is met several times. */
const CRAWL_DELAY_SECONDS = [2, 4] as const;
/** Time in which each host has answered for its robots.txt and its first page, seconds. */
const MEET_SECONDS = 12;
const HOSTS_PER_ADDRESS = 100;
/** addressInFlightMax by default. */
const ADDRESS_OPEN_MAX = 2;
/**
 * The web sees a start late, by as much as either process waits for a core: two starts may seem closer than they were, twenty in a row
 * only by the same wait once.
 */
const STARTS_IN_ROW = 20;
/** The healthy rate that must be kept beside mute hosts. */
const HEALTHY_SHARE_MIN = 0.95;

interface PoliteCase {
  readonly hosts: number;
  readonly gapMs: number;
  readonly seconds: number;
  readonly threads: number;
  /** 0: only the gap counts, not how busy the web is that shares these cores. */
  readonly latencyFactor: string;
  readonly hostsPerAddress: number;
  readonly muteHosts: number;
}

/** Requests to hosts that answer, between the time when all have been met and the end. */
interface Window {
  readonly fromMs: number;
  readonly endMs: number;
  readonly asked: number;
}

/** Runs the command. @returns the exit status: 1 when a gap or a budget was broken, or the mute hosts took their share */
export async function politeCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ case: text, hosts: text, gap: text, seconds: text, threads: text },
      factor: text,
    },
  });
  const plain: PoliteCase = {
    hosts: Number(values.hosts ?? 1_000),
    gapMs: Number(values.gap ?? 1_000),
    seconds: Number(values.seconds ?? 40),
    threads: Number(values.threads ?? availableParallelism()),
    latencyFactor: values.factor ?? '10',
    hostsPerAddress: 1,
    muteHosts: 0,
  };
  switch (values.case ?? 'plain') {
    case 'plain':
      return (await measured(plain)).status;
    case 'shared':
      return (await measured({ ...plain, hostsPerAddress: HOSTS_PER_ADDRESS })).status;
    case 'mute':
      return muteCase(plain);
    default:
      throw new RangeError(`--case ${values.case}: plain, shared or mute`);
  }
}

/** The same number of healthy hosts alone, then beside as many mute ones. */
async function muteCase(plain: PoliteCase): Promise<number> {
  const alone = await measured({ ...plain, hosts: Math.round(plain.hosts / 2) });
  const beside = await measured({ ...plain, muteHosts: 0.5 });
  const perHost = ({ rate, healthy }: Measured): number => rate / healthy;
  const share = perHost(beside) / perHost(alone);
  process.stdout.write(`healthy rate beside mute hosts: ${percent(share)} of that alone\n`);
  return share >= HEALTHY_SHARE_MIN ? Math.max(alone.status, beside.status) : 1;
}

interface Measured {
  readonly status: number;
  /** Requests a second to hosts that answer, and how many those are. */
  readonly rate: number;
  readonly healthy: number;
}

async function measured(one: PoliteCase): Promise<Measured> {
  const { hosts, gapMs, seconds, threads, hostsPerAddress, muteHosts } = one;
  const pagesPerHost = Math.max(20, Math.ceil((4 * seconds * 1_000) / gapMs));
  const features = { robots: 0.5, crawlDelays: 0.1, muteHosts };
  const shape = { pagesPerHost, pageBytes: 10_000, linksPerPage: 50, hostsPerAddress };
  const result = await runLoad({
    world: { hosts, ...shape, features, crawlDelaySeconds: CRAWL_DELAY_SECONDS },
    ...{ gapMs, seconds, threads },
    options: { latencyFactor: [one.latencyFactor] },
  });
  const { world, log } = result;
  const { rate: ideal, healthy } = idealRate(world, gapMs);
  const window = windowOf(world, log, gapMs);
  const rate = (1_000 * window.asked) / (window.endMs - window.fromMs);
  process.stdout.write(
    `hosts ${hosts} (${healthy} answer, ${hostsPerAddress} on an address), gap ${gapMs} ms, ` +
      `${seconds} s: ${result.report.pages} pages\n` +
      `ideal ${ideal.toFixed(1)} requests/s, asked ${rate.toFixed(1)}, share ${percent(rate / ideal)}\n`,
  );
  printLateness(world, log, window, gapMs);
  const broken = printCost(result) + printAddresses(log, gapMs / 4);
  return { status: broken === 0 ? 0 : 1, rate, healthy };
}

function windowOf(world: World, log: readonly RequestEntry[], gapMs: number): Window {
  const endMs = log.reduce((latest, entry) => Math.max(latest, entry.endMs), 0) - gapMs;
  const firstMs = log.reduce((first, entry) => Math.min(first, entry.startMs), endMs);
  const fromMs = firstMs + MEET_SECONDS * 1_000;
  const asked = log.filter(
    ({ startMs, host }) =>
      startMs >= fromMs && startMs < endMs && canAnswer(world.healthOf(world.hostIndex(host))),
  );
  return { fromMs, endMs, asked: asked.length };
}

/** Prints how long after it was due each request began, by the web's clock: what is lost of the ideal, and whether in a few hosts or in all. */
function printLateness(
  world: World,
  log: readonly RequestEntry[],
  { fromMs, endMs }: Window,
  gapMs: number,
): void {
  const endedAt = new Map<string, number>();
  const late: number[] = [];
  const lateOfHost = new Map<string, number>();
  for (const { host, startMs, endMs: ended } of log) {
    const before = endedAt.get(host);
    endedAt.set(host, ended);
    const index = world.hostIndex(host);
    if (before === undefined || startMs < fromMs || startMs > endMs) continue;
    if (!canAnswer(world.healthOf(index))) continue;
    const decision = robotsDecision(world.options, hostProfile(world.options, index), 0);
    const lateMs = startMs - before - Math.max(gapMs, crawlDelayMs(decision, 'hostler'));
    late.push(lateMs);
    lateOfHost.set(host, (lateOfHost.get(host) ?? 0) + lateMs);
  }
  const hosts = [...lateOfHost.values()];
  process.stdout.write(
    `late by ${quantiles(late)} ms a request; ${quantiles(hosts)} ms a host in all\n`,
  );
}

/** Median, 90th and 99th percentile and maximum. */
function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)}`;
}

/** Prints CPU, memory and the judgement. @returns how many promises were broken */
function printCost({ report, samples, verdict }: LoadResult): number {
  const steady = steadyOf(samples, MEET_SECONDS);
  const violations = Object.entries(verdict?.counts ?? {}).filter(([, count]) => count > 0);
  const lines = [
    `CPU ${steady.cpuMsPerPage.toFixed(3)} ms a page, ${((steady.cpuMsPerPage * steady.pagesPerSecond) / 1_000).toFixed(2)} cores; whole run ${(report.cpuSeconds / report.seconds).toFixed(2)} cores`,
    `memory at most ${(report.peakRssBytes / 1e6).toFixed(0)} MB`,
    `tightest gap ${verdict?.tightestGapMs?.toFixed(2)} ms over what was due; violations: ${violations.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none'}`,
    ...(verdict?.violations ?? []).map(({ kind, host, detail }) => `  ${kind} ${host}: ${detail}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return violations.reduce((sum, [, count]) => sum + count, 0);
}

/** Prints how the addresses were asked. @returns how often one had too many requests open, or two too close */
function printAddresses(log: readonly RequestEntry[], addressGapMs: number): number {
  const byAddress = new Map<string, RequestEntry[]>();
  for (const entry of log) {
    const known = byAddress.get(entry.address);
    if (known === undefined) byAddress.set(entry.address, [entry]);
    else known.push(entry);
  }
  let openMax = 0;
  let closestMs = Infinity;
  let broken = 0;
  for (const entries of byAddress.values()) {
    const starts = entries.map(({ startMs }) => startMs).sort((a, b) => a - b);
    const ends = entries.map(({ endMs }) => endMs).sort((a, b) => a - b);
    let ended = 0;
    for (const [at, startMs] of starts.entries()) {
      while ((ends[ended] ?? Infinity) <= startMs) ended += 1;
      const open = at + 1 - ended;
      const apartMs = startMs - (starts[at - 1] ?? -Infinity);
      const rowMs = startMs - (starts[at - STARTS_IN_ROW] ?? -Infinity);
      openMax = Math.max(openMax, open);
      closestMs = Math.min(closestMs, apartMs);
      const isTooFast = rowMs < (STARTS_IN_ROW - 1) * addressGapMs;
      if (open > ADDRESS_OPEN_MAX || isTooFast) broken += 1;
    }
  }
  process.stdout.write(
    `${byAddress.size} addresses: at most ${openMax} open, starts at least ${closestMs.toFixed(1)} ms ` +
      `apart where ${addressGapMs} are due; budget broken ${broken} times\n`,
  );
  return broken;
}

/** Requests a second that all hosts that answer admit together, if each answers at once; an address admits one in a quarter of the gap. */
function idealRate(world: World, gapMs: number): { rate: number; healthy: number } {
  const byAddress = new Map<string, number>();
  let healthy = 0;
  for (let host = 0; host < world.options.hosts; host += 1) {
    if (!canAnswer(world.healthOf(host))) continue;
    healthy += 1;
    const decision = robotsDecision(world.options, hostProfile(world.options, host), 0);
    const rate = 1_000 / Math.max(gapMs, crawlDelayMs(decision, 'hostler'));
    const address = world.addressOf(host);
    byAddress.set(address, (byAddress.get(address) ?? 0) + rate);
  }
  const addressRateMax = 4_000 / gapMs;
  let rate = 0;
  for (const wanted of byAddress.values()) rate += Math.min(wanted, addressRateMax);
  return { rate, healthy };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
