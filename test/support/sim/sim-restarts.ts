// I2 across restarts, from what the web saw: whoever crashes in the middle of anything, no host that was asked before is asked again sooner
// than its full gap after the new process began. The judge alone would not see it: the process may have been down for longer than the gap.
import { RobotsHistory } from '../world/judge-robots.ts';
import type { RequestEntry } from '../world/judge-types.ts';
import type { World } from '../world/world.ts';
import type { SimWebLog } from './sim-fetch.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { SimPlan } from './sim-plan.ts';

/** A start of the process after another one. */
export interface Restart {
  readonly atMs: number;
  /** Requests made before it. */
  readonly entries: number;
}

export interface RestartsToCheck {
  readonly kernel: SimKernel;
  readonly world: World;
  readonly log: SimWebLog;
  readonly starts: readonly Restart[];
  readonly plan: Pick<SimPlan, 'minGapMs' | 'maxCrawlDelayMs'>;
}

/** Fails the simulation for the first host that was asked too early. */
export function checkRestarts({ kernel, world, log, starts, plan }: RestartsToCheck): void {
  const robots = new RobotsHistory(world, log.entries);
  for (const { atMs, entries } of starts) {
    const asked = new Set<string>();
    for (const { host } of log.entries.slice(0, entries)) asked.add(host);
    const first = new Map<string, RequestEntry>();
    for (const entry of log.entries.slice(entries)) {
      const before = first.get(entry.host);
      if (before === undefined || entry.startMs < before.startMs) first.set(entry.host, entry);
    }
    for (const [host, entry] of first) {
      if (!asked.has(host)) continue;
      const waitedMs = entry.startMs - atMs;
      const delayMs = Math.min(plan.maxCrawlDelayMs, robots.crawlDelayMs(entry));
      if (waitedMs >= Math.max(plan.minGapMs, delayMs) - 1) continue;
      kernel.fail(`I2: ${host} asked ${waitedMs} ms after a restart`);
    }
  }
}
