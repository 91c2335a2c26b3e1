// What a crawler could know of a host's robots rules at any moment, from the log alone: the answers its robots.txt requests got, and
// the version of the rules that was in force then. A redirected robots.txt counts when the file behind the redirect was fetched.
// An answer that fails leaves an older copy in use (RFC 9309 §2.3.1.4); without one it closes the host.
import type { RequestEntry } from './judge-types.ts';
import type { World } from './world.ts';
import { hostProfile } from './world-host.ts';
import { robotsServedAt } from './world-respond.ts';
import { crawlDelayMs, type RobotsDecision, robotsDecision } from './world-truth.ts';

/** Where a host's own robots.txt may lead on the host itself. */
const OWN_FILE = '/robots-rules.txt';

/** The rules a crawler holds after one of its robots.txt requests. */
export interface KnownRobots {
  readonly decision: RobotsDecision;
  /** Time of the world at which these rules were served. */
  readonly sinceMs: number;
  /** When they were last asked for, with or without success. */
  readonly confirmedMs: number;
  /** From when on they are known. */
  readonly endMs: number;
}

/** All robots knowledge a log shows, by host. */
export class RobotsHistory {
  readonly #world: World;
  readonly #known = new Map<string, KnownRobots[]>();
  readonly #redirected = new Set<number>();

  /** @param entries the whole log, by start time */
  constructor(world: World, entries: readonly RequestEntry[]) {
    this.#world = world;
    for (const entry of entries) {
      if (entry.path.startsWith('/robots')) this.#read(entry);
    }
  }

  /** True for robots.txt and for the places where its redirects lead. */
  isRobots({ host, path, startMs }: RequestEntry): boolean {
    if (path === '/robots.txt') return true;
    if (!path.startsWith('/robots')) return false;
    const { options } = this.#world;
    const profile = hostProfile(options, this.#world.hostIndex(host));
    return robotsServedAt(options, profile, path, startMs) !== null;
  }

  /** The rules known when a request started; null when no robots.txt answer had come. */
  knownTo({ host, startMs }: RequestEntry): KnownRobots | null {
    const known = this.#known.get(host.toLowerCase());
    return known?.findLast(({ endMs }) => endMs <= startMs + 1) ?? null;
  }

  /** The Crawl-delay known when a request started, 0 without one. */
  crawlDelayMs(entry: RequestEntry): number {
    const known = this.knownTo(entry);
    return known === null ? 0 : crawlDelayMs(known.decision, entry.userAgent);
  }

  #read(entry: RequestEntry): void {
    const { options } = this.#world;
    const index = this.#world.hostIndex(entry.host);
    if (index < 0) return;
    const profile = hostProfile(options, index);
    const isFirst = entry.path === '/robots.txt';
    if (isFirst && entry.status >= 300 && entry.status < 400 && entry.status !== 304) {
      this.#redirected.add(index);
      return;
    }
    const owner = isFirst ? profile : robotsServedAt(options, profile, entry.path, entry.startMs);
    if (owner === null) return;
    // A host's own file speaks to it alone, mirrored or not. A file named for a host is the one that both hosts of a mirrored pair are sent to:
    // it speaks to whichever of the two had been redirected.
    const isNamed = entry.path !== OWN_FILE;
    const pair = owner.mirrored && isNamed ? [owner.source, owner.source + 1] : [owner.index];
    for (const host of isFirst ? [index] : pair) {
      if (isFirst || this.#redirected.has(host)) this.#learn(host, entry);
    }
  }

  #learn(host: number, entry: RequestEntry): void {
    const name = this.#world.hostName(host);
    const known = this.#known.get(name) ?? [];
    this.#known.set(name, known);
    const before = known.at(-1);
    const { startMs, endMs, status } = entry;
    if (!entry.complete || status === 0 || status >= 500) {
      known.push({
        decision: before?.decision ?? 'disallow-all',
        sinceMs: before?.sinceMs ?? startMs,
        confirmedMs: startMs,
        endMs,
      });
      return;
    }
    const profile = hostProfile(this.#world.options, host);
    const decision = robotsDecision(this.#world.options, profile, startMs);
    known.push({ decision, sinceMs: startMs, confirmedMs: startMs, endMs });
  }
}
