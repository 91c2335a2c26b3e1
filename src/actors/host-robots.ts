// The robots rules of one host, one set per origin (scheme and port), as its owner keeps them (step 5). Tells whether a URL may be sent,
// when a robots.txt has to be fetched first, and what follows its answer: redirect hops, rules, refusal, retry (RFC 9309 §2.3). The rules
// themselves are in domain/robots-*.ts; this file is the state around them.

import { assert } from '../base/assert.ts';
import type { WallMs } from '../base/units.ts';
import { wallMs } from '../base/units.ts';
import { isRedirectStatus } from '../domain/location.ts';
import { matchRobots, type RobotsVerdict } from '../domain/robots-matcher.ts';
import { decideRobots, type RobotsFetchOutcome } from '../domain/robots-policy.ts';
import { ALLOW_ALL, absoluteSitemaps, type RobotsRules } from '../domain/robots-rules.ts';
import { followRobotsRedirect, robotsUrlOf } from '../domain/robots-url.ts';
import type { RobotsAnswer } from './messages.ts';
import { type Residency, ResidencyShare } from './residency.ts';
import type { RobotsRow } from './rows.ts';
import type { CrawlPolicy } from './services.ts';

/** Origins of one host that are remembered; a host with more (ports in links) loses the oldest, which is then fetched anew. */
const ORIGINS_MAX = 16;

/** What is known about sending one URL. */
export type Admission =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly verdict: RobotsVerdict }
  /** The rules have to be fetched from `robotsUrl` first. */
  | { readonly kind: 'fetch-first'; readonly origin: string; readonly robotsUrl: string }
  /** An answer is awaited, or the file is unreachable and will be asked for again at `untilAt` (wall clock; 0: when the answer comes). */
  | { readonly kind: 'wait'; readonly untilAt: WallMs };

/** What follows a robots answer. */
export type RobotsStep =
  /** The file moved: ask for `url` next. */
  | { readonly kind: 'redirected'; readonly url: string }
  /** Decided; `row` is to be stored. */
  | {
      readonly kind: 'decided';
      readonly row: RobotsRow;
      readonly rulesChanged: boolean;
      readonly sitemaps: readonly string[];
    };

interface OriginState {
  rules: RobotsRules;
  row: RobotsRow | undefined;
  /** True from the first request until the decision. */
  asking: boolean;
  hops: number;
  /** Fetch again at the next opportunity, whatever the age. */
  refresh: boolean;
}

const UNCOUNTED = { residency: { entries: 0, visits: 0, waiting: 0 }, startedAt: wallMs(0) };

export class HostRobots {
  readonly #productToken: string;
  readonly #bytesMax: number;
  readonly #residency: ResidencyShare;
  readonly #startedAt: WallMs;
  readonly #origins = new Map<string, OriginState>();

  /**
   * @param run where the rules held in memory are counted, and when this process started, by the wall clock
   */
  constructor(
    policy: Pick<CrawlPolicy, 'productToken' | 'robotsBytesMax'>,
    rows: readonly RobotsRow[],
    run: { readonly residency: Residency; readonly startedAt: WallMs } = UNCOUNTED,
  ) {
    this.#productToken = policy.productToken;
    this.#bytesMax = policy.robotsBytesMax;
    this.#residency = new ResidencyShare(run.residency);
    this.#startedAt = run.startedAt;
    for (const row of rows) {
      const state = this.#open(row.origin);
      state.row = this.#believed(row);
      state.rules = row.rules as RobotsRules;
    }
    this.#count();
  }

  /** The host falls asleep: its rules are no longer held in memory. */
  released(): void {
    this.#residency.hold(0);
  }

  /** Whether `url` may be sent now. */
  admission(url: string, wallNow: WallMs): Admission {
    const origin = originOf(url);
    const state = this.#origins.get(origin);
    if (state?.asking === true) return { kind: 'wait', untilAt: wallMs(0) };
    if (state?.row === undefined || state.refresh || wallNow >= state.row.expiresAt) {
      const robotsUrl = robotsUrlOf(url);
      assert(robotsUrl !== undefined, () => `a queued URL without an origin: ${url}`);
      return { kind: 'fetch-first', origin, robotsUrl };
    }
    if (state.row.decision === 'disallow-all')
      return { kind: 'wait', untilAt: state.row.expiresAt };
    const verdict = matchRobots(state.rules, url);
    return verdict.allowed ? { kind: 'allowed' } : { kind: 'denied', verdict };
  }

  /** What the rules in hand say, for a URL just discovered: undefined while they are unknown or stale. */
  knownVerdict(url: string): RobotsVerdict | undefined {
    const state = this.#origins.get(originOf(url));
    if (state?.row === undefined || state.row.decision === 'disallow-all') return undefined;
    return matchRobots(state.rules, url);
  }

  /** Wall-clock fetch time of the rules that admit `url`; 0 when there are none. */
  fetchedAt(url: string): WallMs {
    return this.#origins.get(originOf(url))?.row?.fetchedAt ?? wallMs(0);
  }

  /** True once an answer has told what the rules are, for one origin at least. A file that cannot be had closes the host and tells nothing. */
  get areKnown(): boolean {
    for (const { row } of this.#origins.values()) {
      if (row !== undefined && row.decision !== 'disallow-all') return true;
    }
    return false;
  }

  /** The largest Crawl-delay of the host's origins in seconds, if any has one. */
  crawlDelaySeconds(): number | undefined {
    let largest: number | undefined;
    for (const { rules } of this.#origins.values()) {
      const delay = rules.crawlDelaySeconds;
      if (delay !== undefined && (largest === undefined || delay > largest)) largest = delay;
      const rate = rules.requestRate;
      if (rate !== undefined && rate.requests > 0) {
        const spacing = rate.seconds / rate.requests;
        if (largest === undefined || spacing > largest) largest = spacing;
      }
    }
    return largest;
  }

  /** A request for the origin's robots.txt was started. */
  asked(origin: string): void {
    this.#open(origin).asking = true;
  }

  /** An answer to the request in progress of `origin`; `url` is the URL that answered. */
  answered(origin: string, url: string, answer: RobotsAnswer, wallNow: WallMs): RobotsStep {
    const state = this.#open(origin);
    if (answer.kind === 'response' && isRedirectStatus(answer.status)) {
      const next = followRobotsRedirect({
        from: url,
        location: answer.location,
        followed: state.hops,
      });
      if (next.kind !== 'follow') return this.#decide(origin, state, next, wallNow);
      state.hops += 1;
      return { kind: 'redirected', url: next.url };
    }
    return this.#decide(origin, state, outcomeOf(answer), wallNow);
  }

  /** Forgets the age of all rules: they are fetched anew before the next page. */
  refresh(): void {
    for (const state of this.#origins.values()) state.refresh = true;
  }

  rows(): readonly RobotsRow[] {
    return Array.from(this.#origins.values(), (state) => state.row).filter(
      (row) => row !== undefined,
    );
  }

  #decide(
    origin: string,
    state: OriginState,
    outcome: RobotsFetchOutcome,
    wallNow: WallMs,
  ): RobotsStep {
    const before = state.row;
    const failingSince =
      before === undefined || before.failures === 0 ? wallNow : before.failingSince;
    const decision = decideRobots(outcome, {
      productToken: this.#productToken,
      bytesMax: this.#bytesMax,
      ...(before?.decision === 'rules' ? { previous: state.rules } : {}),
      failures: before?.failures ?? 0,
      unreachableMs: Math.max(wallNow - failingSince, 0),
    });
    const failed = decision.retryInMs !== undefined;
    const isChanged = before !== undefined && !sameRules(state.rules, decision.rules);
    // An operator who asks for the rules wants everything that was set aside looked at again, whatever it was set aside for.
    const rulesChanged = isChanged || state.refresh;
    state.rules = decision.rules;
    this.#count();
    state.asking = false;
    state.refresh = false;
    state.hops = 0;
    state.row = {
      origin,
      rules: decision.rules,
      decision: decision.kind,
      fetchedAt: failed ? (before?.fetchedAt ?? wallNow) : wallNow,
      expiresAt: wallMs(wallNow + decision.expiresInMs),
      status: outcome.kind === 'response' ? outcome.status : 0,
      failures: failed ? (before?.failures ?? 0) + 1 : 0,
      failingSince: failed ? failingSince : wallMs(0),
      processAt: this.#startedAt,
    };
    return {
      kind: 'decided',
      row: state.row,
      rulesChanged,
      sitemaps: absoluteSitemaps(decision.rules.sitemaps, `${origin}/robots.txt`),
    };
  }

  /**
   * Rules that another process fetched after this one started: the clock was put back, nobody knows how old they are (RFC 9309 §2.4: 24
   * hours), and they are to be fetched anew. By the start and not by the time of this look: until a host wakes, the clock may have passed the
   * time of its rules again.
   */
  #believed(row: RobotsRow): RobotsRow {
    const isFromFuture = row.processAt !== this.#startedAt && row.fetchedAt > this.#startedAt;
    return isFromFuture ? { ...row, expiresAt: wallMs(0) } : row;
  }

  #count(): void {
    let rules = 0;
    for (const state of this.#origins.values()) rules += state.rules.patterns.length;
    this.#residency.hold(rules);
  }

  #open(origin: string): OriginState {
    const found = this.#origins.get(origin);
    if (found !== undefined) return found;
    if (this.#origins.size >= ORIGINS_MAX) {
      for (const [oldest, state] of this.#origins) {
        if (state.asking) continue;
        this.#origins.delete(oldest);
        break;
      }
    }
    const state: OriginState = {
      rules: ALLOW_ALL,
      row: undefined,
      asking: false,
      hops: 0,
      refresh: false,
    };
    this.#origins.set(origin, state);
    return state;
  }
}

/** `scheme://host[:port]` of an absolute http(s) URL without credentials. */
export function originOf(url: string): string {
  const pathStart = url.indexOf('/', 8);
  return pathStart === -1 ? url : url.slice(0, pathStart);
}

function outcomeOf(answer: RobotsAnswer): RobotsFetchOutcome {
  if (answer.kind === 'unreachable') return { kind: 'unreachable', reason: answer.reason };
  return {
    kind: 'response',
    status: answer.status,
    body: answer.body,
    truncated: answer.truncated,
    ...(answer.cacheControl === undefined ? {} : { cacheControl: answer.cacheControl }),
    ageSeconds: answer.ageSeconds,
    retryAfterSeconds: answer.retryAfterSeconds,
  };
}

function sameRules(a: RobotsRules, b: RobotsRules): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
