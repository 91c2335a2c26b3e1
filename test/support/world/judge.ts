// The judge: reads what the web saw and says whether the crawl kept its promises (DESIGN.md §12: I1 one in flight and an address's
// budget, I2 gaps, I3 nothing disallowed, I5 once per canonical URL, I6 coverage). It knows the rules from the world's model and the
// times from the web's side of the wire, so nothing the crawler believes or logs can soften it.
// A gap measured here is never shorter than the crawler's own: a head is read after it was sent, a last byte handed over before it
// arrives. The exception is an answer the client cuts short, which is why that has its own tolerance.
import { JudgeLedger } from './judge-ledger.ts';
import { RobotsHistory } from './judge-robots.ts';
import type { JudgeOptions, RequestEntry, Verdict } from './judge-types.ts';
import type { World } from './world.ts';
import { hostProfile } from './world-host.ts';
import { canonicalPath, resourceAt } from './world-path.ts';
import { retryAfter } from './world-respond.ts';
import { isAllowed, reachablePages } from './world-truth.ts';

/**
 * Judges a whole crawl.
 * @param entries the log in any order; all are held in memory at once, about 200 bytes each
 */
export function judge(
  world: World,
  entries: Iterable<RequestEntry>,
  options: JudgeOptions,
): Verdict {
  const ledger = new JudgeLedger(options.listedMax ?? 20);
  const all = [...entries].sort((a, b) => a.startMs - b.startMs);
  const robots = new RobotsHistory(world, all);
  const byHost = groupBy(all, (entry) => entry.host.toLowerCase());
  const fetched: Fetched = { pages: new Set(), traps: new Set() };
  let tightest = Number.POSITIVE_INFINITY;
  for (const [name, ofHost] of byHost) {
    if (world.hostIndex(name) < 0) {
      for (const entry of ofHost) ledger.add('unknown-host', entry, 'no host of this web');
      continue;
    }
    tightest = Math.min(tightest, judgeGaps(world, robots, ofHost, options, ledger));
    judgeRobots(robots, ofHost, options, ledger);
    judgeRepeats(world, ofHost, options, ledger, fetched);
  }
  for (const ofAddress of groupBy(all, (entry) => entry.address).values()) {
    judgeAddress(ofAddress, options, ledger);
  }
  const covered = judgeCoverage(world, options, ledger, fetched.pages);
  const repeatsKept = ledger.counts.repeat <= (options.repeatsAllowed ?? 0);
  return {
    ok: ledger.total - ledger.counts.repeat === 0 && repeatsKept,
    requests: all.length,
    hosts: byHost.size,
    bytes: all.reduce((sum, entry) => sum + entry.bytes, 0),
    counts: ledger.counts,
    violations: ledger.violations,
    coverage: { ...covered, pages: fetched.pages.size, trapPages: fetched.traps.size },
    tightestGapMs: Number.isFinite(tightest) ? tightest : null,
  };
}

interface Fetched {
  readonly pages: Set<string>;
  readonly traps: Set<string>;
}

/** I1 and I2 for one host. Returns the smallest margin over the gap that was due. */
function judgeGaps(
  world: World,
  robots: RobotsHistory,
  ofHost: readonly RequestEntry[],
  options: JudgeOptions,
  ledger: JudgeLedger,
): number {
  let tightest = Number.POSITIVE_INFINITY;
  let last: RequestEntry | null = null;
  for (const entry of ofHost) {
    if (last !== null) {
      const tolerance = last.complete
        ? (options.toleranceMs ?? 1)
        : (options.abortToleranceMs ?? 50);
      const gap = entry.startMs - last.endMs;
      const cap = options.maxCrawlDelayMs ?? Number.POSITIVE_INFINITY;
      const due = Math.max(options.minGapMs, Math.min(cap, robots.crawlDelayMs(entry)));
      tightest = Math.min(tightest, gap - due);
      if (gap < -tolerance) {
        ledger.add('overlap', entry, `started ${ms(-gap)} before the last ended`, last);
      } else if (gap < due - tolerance) {
        ledger.add('gap', entry, `${ms(gap)} after the last end, ${ms(due)} were due`, last);
      }
      const asked = waitAsked(world, last);
      if (gap >= due - tolerance && gap < asked - tolerance) {
        ledger.add('retry-after', entry, `${ms(gap)} after the last end, asked ${ms(asked)}`, last);
      }
    }
    if (last === null || entry.endMs > last.endMs) last = entry;
  }
  return tightest;
}

/** What Retry-After said in an answer, ms from its end. A date counts from the answer's start and has whole seconds. */
function waitAsked(world: World, { host, path, status, startMs, endMs }: RequestEntry): number {
  if ((status !== 429 && status !== 503) || path.startsWith('/robots')) return 0;
  const profile = hostProfile(world.options, world.hostIndex(host));
  const asked = retryAfter(world.options, profile, startMs);
  if (asked === null) return 0;
  return asked.asDate ? asked.waitMs - 1000 - (endMs - startMs) : asked.waitMs;
}

/** I3 for one host: every path but robots.txt against the rules last fetched. */
function judgeRobots(
  robots: RobotsHistory,
  ofHost: readonly RequestEntry[],
  options: JudgeOptions,
  ledger: JudgeLedger,
): void {
  const maxAgeMs = options.robotsMaxAgeMs ?? 24 * 3600_000 + 60_000;
  for (const entry of ofHost) {
    if (robots.isRobots(entry)) continue;
    const known = robots.knownTo(entry);
    if (known === null) {
      ledger.add('before-robots', entry, 'no robots.txt answer before it');
      continue;
    }
    if (!isAllowed(known.decision, entry.userAgent, entry.path)) {
      ledger.add('disallowed', entry, `against the rules of ${ms(known.sinceMs)}`);
    }
    const ageMs = entry.startMs - known.confirmedMs;
    if (ageMs > maxAgeMs) ledger.add('stale-robots', entry, `rules are ${ms(ageMs)} old`);
  }
}

/** I5 for one host: an answered canonical URL is not asked for again; also collects what was fetched whole. */
function judgeRepeats(
  world: World,
  ofHost: readonly RequestEntry[],
  options: JudgeOptions,
  ledger: JudgeLedger,
  fetched: Fetched,
): void {
  const host = hostProfile(world.options, world.hostIndex(ofHost[0]?.host ?? ''));
  const answered = new Map<string, RequestEntry>();
  for (const entry of ofHost) {
    if (entry.path.startsWith('/robots') || !entry.complete || !isFinal(entry.status)) continue;
    const canonical = canonicalPath(entry.path);
    const first = answered.get(canonical);
    if (first === undefined) answered.set(canonical, entry);
    else if (options.revisits !== true) ledger.add('repeat', entry, `again: ${canonical}`, first);
    if (entry.status !== 200) continue;
    const isTrap = resourceAt(world.options, host, canonical).kind === 'trap';
    (isTrap ? fetched.traps : fetched.pages).add(canonicalUrl(world, host.index, canonical));
  }
}

/** Answers after which nobody should ask again: not 304, not what a later try may mend. */
function isFinal(status: number): boolean {
  return status >= 200 && status < 500 && status !== 304 && status !== 408 && status !== 429;
}

/** I1 for one address. */
function judgeAddress(
  ofAddress: readonly RequestEntry[],
  options: JudgeOptions,
  ledger: JudgeLedger,
): void {
  const { addressBudget = 2, addressGapMs = 0, toleranceMs = 1, abortToleranceMs = 50 } = options;
  let open: RequestEntry[] = [];
  let last: RequestEntry | null = null;
  for (const entry of ofAddress) {
    open = open.filter(
      (other) => other.endMs - (other.complete ? toleranceMs : abortToleranceMs) > entry.startMs,
    );
    const other = open[0];
    open.push(entry);
    if (open.length > addressBudget && other !== undefined) {
      ledger.add('address-budget', entry, `${open.length} in flight to ${entry.address}`, other);
    }
    const apart = last === null ? Number.POSITIVE_INFINITY : entry.startMs - last.startMs;
    if (apart < addressGapMs - toleranceMs && last !== null) {
      ledger.add('address-gap', entry, `${ms(apart)} apart at ${entry.address}`, last);
    }
    last = entry;
  }
}

/** I6. */
function judgeCoverage(
  world: World,
  options: JudgeOptions,
  ledger: JudgeLedger,
  pages: ReadonlySet<string>,
) {
  let required = 0;
  let optionalMissing = 0;
  const { coverage, requireLate = false } = options;
  if (coverage === undefined) return { required, fetched: 0, optionalMissing };
  const groups = new Map<string, { url: string; fetched: boolean; late: boolean }>();
  const missing: string[] = [];
  const reached = new Set<string>();
  for (const { url, oneOf, late } of reachablePages(world.options, coverage)) {
    reached.add(url);
    const fetched = pages.has(url);
    if (oneOf !== null) {
      const group = groups.get(oneOf) ?? { url, fetched: false, late };
      if (!fetched) optionalMissing++;
      groups.set(oneOf, { ...group, fetched: group.fetched || fetched });
    } else if (late && !requireLate) {
      if (!fetched) optionalMissing++;
    } else {
      required++;
      if (!fetched) missing.push(url);
    }
  }
  for (const group of groups.values()) {
    if (group.late && !requireLate) continue;
    required++;
    if (!group.fetched) missing.push(group.url);
  }
  for (const url of missing) ledger.addUrl('missing', url, 'reachable, allowed, never fetched');
  if (options.exactReach ?? coverage.maxDepth === undefined) {
    for (const url of pages) {
      if (!reached.has(url)) ledger.addUrl('unexpected', url, 'no followed link leads there');
    }
  }
  return { required, fetched: required - missing.length, optionalMissing };
}

function canonicalUrl(world: World, host: number, canonical: string): string {
  const port = world.options.port === 80 ? '' : `:${world.options.port}`;
  return `http://${world.hostName(host)}${port}${canonical}`;
}

function groupBy<T>(values: Iterable<T>, keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
