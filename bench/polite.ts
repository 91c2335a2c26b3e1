// `npm run bench -- polite [--hosts 1000] [--gap MS] [--seconds N] [--threads N]`: a polite crawl, everything on, the gap adapting to response
// times as well. The ideal is computed from the web's own rules: each host answers once in its gap (its Crawl-delay, if that is longer), so
// the most that may be asked of all hosts in a time is known. The share is taken from the web's log, once every host has been met; the
// judge tells whether any gap was broken (PERFORMANCE.md: at least 97 % on under one core, under 500 MB, no gap broken).

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { World } from '../test/support/world/world.ts';
import { hostProfile } from '../test/support/world/world-host.ts';
import { crawlDelayMs, robotsDecision } from '../test/support/world/world-truth.ts';
import { runLoad, steadyOf } from './load-run.ts';

/** Crawl-delay values of this web are at most this, so that every host is met several times. */
const CRAWL_DELAY_SECONDS = [2, 4] as const;
/** Time in which each host has answered for its robots.txt and its first page, seconds. */
const MEET_SECONDS = 12;

/** Runs the command. @returns the exit status: 1 when a gap was broken */
export async function politeCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { hosts: text, gap: text, seconds: text, threads: text },
  });
  const hosts = Number(values.hosts ?? 1_000);
  const gapMs = Number(values.gap ?? 1_000);
  const seconds = Number(values.seconds ?? 40);
  const pagesPerHost = Math.max(20, Math.ceil((4 * seconds * 1_000) / gapMs));
  const features = { robots: 0.5, crawlDelays: 0.1 };
  const shape = { pagesPerHost, pageBytes: 10_000, linksPerPage: 50 };
  const { report, samples, verdict, log, world } = await runLoad({
    world: { hosts, ...shape, features, crawlDelaySeconds: CRAWL_DELAY_SECONDS },
    gapMs,
    seconds,
    threads: Number(values.threads ?? availableParallelism()),
    options: { latencyFactor: ['10'] },
  });
  const endMs = log.reduce((latest, entry) => Math.max(latest, entry.endMs), 0) - gapMs;
  const firstMs = log.reduce((first, entry) => Math.min(first, entry.startMs), endMs);
  const fromMs = firstMs + MEET_SECONDS * 1_000;
  const asked = log.filter(({ startMs }) => startMs >= fromMs && startMs < endMs).length;
  const ideal = idealRate(world, gapMs) * ((endMs - fromMs) / 1_000);
  const steady = steadyOf(samples, MEET_SECONDS);
  const violations = Object.entries(verdict?.counts ?? {}).filter(([, count]) => count > 0);
  const lines = [
    `hosts ${hosts}, gap ${gapMs} ms, ${seconds} s: ${report.pages} pages`,
    `ideal ${idealRate(world, gapMs).toFixed(1)} requests/s, asked ${((1_000 * asked) / (endMs - fromMs)).toFixed(1)}, share ${((100 * asked) / ideal).toFixed(1)} %`,
    `CPU ${steady.cpuMsPerPage.toFixed(3)} ms a page, ${((steady.cpuMsPerPage * steady.pagesPerSecond) / 1_000).toFixed(2)} cores; whole run ${(report.cpuSeconds / report.seconds).toFixed(2)} cores`,
    `memory at most ${(report.peakRssBytes / 1e6).toFixed(0)} MB`,
    `tightest gap ${verdict?.tightestGapMs?.toFixed(2)} ms over what was due; violations: ${violations.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none'}`,
    ...(verdict?.violations ?? []).map(({ kind, host, detail }) => `  ${kind} ${host}: ${detail}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return violations.length === 0 ? 0 : 1;
}

/** Requests a second that all hosts together admit, if each answers at once. */
function idealRate(world: World, gapMs: number): number {
  let rate = 0;
  for (let host = 0; host < world.options.hosts; host += 1) {
    const decision = robotsDecision(world.options, hostProfile(world.options, host), 0);
    rate += 1_000 / Math.max(gapMs, crawlDelayMs(decision, 'hostler'));
  }
  return rate;
}
