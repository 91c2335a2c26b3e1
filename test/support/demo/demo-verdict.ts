// What `npm start` says at its end: the crawl held against the ground truth of the web it crawled. Two witnesses that share nothing with
// the crawler: the web's own log of requests (judge.ts) for politeness, the stored page rows for coverage.
import type { JudgeOptions, Verdict } from '../world/judge-types.ts';
import type { World } from '../world/world.ts';
import type { ReachableOptions } from '../world/world-truth.ts';

/** What is stored, against what should be. */
export interface StoredVerdict {
  /** Stored pages, each URL once. */
  readonly pages: number;
  /** Pages that had to be stored; of the copies on a mirrored pair of hosts one is enough. */
  readonly required: number;
  readonly missing: readonly string[];
  /** Stored more than once. */
  readonly repeated: readonly string[];
  /** Stored although no allowed link leads there. */
  readonly unexpected: readonly string[];
}

/**
 * Compares what was stored with what can be reached.
 * @param stored canonical URLs of all stored 200 pages, in any order
 */
export function judgeStored(
  world: World,
  stored: readonly string[],
  walk: ReachableOptions,
): StoredVerdict {
  const pages = new Set(stored);
  const reachable = new Set<string>();
  /** True once a copy is stored, by the key of its group. */
  const groups = new Map<string, boolean>();
  const missing: string[] = [];
  let single = 0;
  for (const { url, oneOf, late } of world.reachablePages(walk)) {
    reachable.add(url);
    // Behind a robots.txt that fails at first: there when it recovers in time, which nobody can promise.
    if (late) continue;
    const isStored = pages.has(url);
    if (oneOf !== null) {
      groups.set(oneOf, (groups.get(oneOf) ?? false) || isStored);
      continue;
    }
    single++;
    if (!isStored) missing.push(url);
  }
  for (const [group, isStored] of groups) if (!isStored) missing.push(`a copy of ${group}`);
  return {
    pages: pages.size,
    required: single + groups.size,
    missing,
    repeated: stored.filter((url, at) => stored.indexOf(url) !== at),
    unexpected: [...pages].filter((url) => !reachable.has(url)),
  };
}

/** True when nothing was missed, repeated or stored that should not be. */
export function isWhole({ missing, repeated, unexpected }: StoredVerdict): boolean {
  return missing.length + repeated.length + unexpected.length === 0;
}

/** The verdict for people, a line each: `ok` or `BROKEN`, the promise, the figures. */
export function verdictLines(
  stored: StoredVerdict,
  verdict: Verdict,
  { minGapMs }: Pick<JudgeOptions, 'minGapMs'>,
): string[] {
  const { counts } = verdict;
  const tightest = verdict.tightestGapMs ?? 0;
  const gaps = counts.gap + counts['retry-after'] + counts['address-gap'];
  const unasked = counts['before-robots'] + counts['stale-robots'];
  const lines = [
    line(isWhole(stored), 'every reachable, allowed page stored exactly once', [
      `${stored.pages} pages stored`,
      `${stored.required} required, ${stored.missing.length} missing`,
      `${stored.repeated.length} stored twice, ${stored.unexpected.length} out of place`,
    ]),
    line(counts.disallowed + unasked === 0, 'nothing fetched that robots.txt disallows', [
      `${verdict.requests} requests to ${verdict.hosts} hosts`,
      `${counts.disallowed} disallowed, ${unasked} without knowing the rules`,
    ]),
    line(counts.overlap + counts['address-budget'] === 0, 'at most one request in flight per host'),
    line(gaps === 0, 'no gap between two requests to a host broken', [
      `at least ${minGapMs} ms or the host's own Crawl-delay`,
      `the tightest was ${tightest.toFixed(1)} ms ${tightest < 0 ? 'under' : 'over'} what was due`,
    ]),
    line(counts.repeat === 0, 'no page fetched twice'),
  ];
  const details = verdict.violations.map(
    ({ kind, host, path, detail }) => `         ${kind}: ${host}${path}: ${detail}`,
  );
  return [...lines, ...details, ...stored.missing.map((url) => `         missing: ${url}`)];
}

function line(isKept: boolean, promise: string, figures: readonly string[] = []): string {
  const tail = figures.length === 0 ? '' : ` (${figures.join('; ')})`;
  return `  ${isKept ? 'ok    ' : 'BROKEN'}  ${promise}${tail}`;
}
