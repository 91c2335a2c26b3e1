// Replays a crawl's own log of requests and proves that it was polite, or names the lines that show it was not (DESIGN.md §4, §12; I1, I2,
// I3): one request in flight per host, each gap at least the one in force, Retry-After obeyed, robots.txt read before each page and not
// stale, also across restarts. Pure and streaming: a line is looked at once, and what is remembered is some 100 bytes a host.
//
// Lines of one host are in the order of their ends (its one owner writes them); hosts are interleaved. A crash loses the lines of its last
// commit window, which the log cannot show; therefore the first request of a run to a host must also keep its gap from the run's start.
// A wall clock that was set back between two runs makes their times incomparable; then only that last rule is applied.

import { AddressSweep } from './audit-addresses.ts';
import { AuditRows } from './audit-rows.ts';
import { ROBOTS_FRESH_MS_MAX } from './robots-policy.ts';

/** One line of the log; the storage's AuditEntry is one. Times are wall clock, milliseconds. */
export interface AuditedRequest {
  readonly host: string;
  readonly address: string;
  readonly url: string;
  readonly purpose: 'page' | 'robots' | 'sitemap' | 'resource';
  readonly startedAt: number;
  readonly endedAt: number;
  readonly gapMs: number;
  readonly robotsAt: number;
  readonly status: number;
  readonly failure: string | undefined;
  readonly retryAfterMs: number;
  readonly runStartedAt: number;
}

/** What can have been broken. */
export const AUDIT_RULES = [
  'one-in-flight',
  'gap',
  'min-gap',
  'restart-gap',
  'retry-after',
  'robots-unknown',
  'robots-stale',
  'robots-denied',
  'address-in-flight',
] as const;
export type AuditRule = (typeof AUDIT_RULES)[number];

/** A line that breaks a rule. Ordinals count the lines of the log from 0. */
export interface Offence {
  readonly rule: AuditRule;
  readonly ordinal: number;
  /** The earlier line of the pair; undefined when the line offends by itself. */
  readonly otherOrdinal: number | undefined;
  /** For people. */
  readonly detail: string;
}

export interface AuditOptions {
  /** A 64-bit hash of a text, the same for the whole replay. */
  readonly keyOf: (text: string) => bigint;
  /** Requests open to one address, at most. */
  readonly addressOpenMax: number;
  /** Longest request plus the longest time from its end to its line in the log. */
  readonly horizonMs: number;
  /** Hold every gap against this too; undefined for the gaps in force alone. */
  readonly minGapMs?: number | undefined;
  /** What the stored rules say of a page; `unknown` when those it rested on are not stored any more. */
  readonly verdictOf?: (request: AuditedRequest) => 'allowed' | 'denied' | 'unknown';
  /** Offences that are kept with their lines; all are counted. */
  readonly keptMax?: number;
}

/** What the replay found. */
export interface AuditVerdict {
  /** True when no rule was broken and every line could be judged. */
  readonly proven: boolean;
  readonly requests: Readonly<Record<AuditedRequest['purpose'], number>>;
  readonly hosts: number;
  /** Processes that wrote the log, one after another. */
  readonly runs: number;
  /** Runs before which the wall clock was set back, as some host's lines show. */
  readonly clockSteps: number;
  /** Start of the first and end of the last request; 0 when there is none. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The shortest time between two requests to one host; undefined when no host was asked twice. */
  readonly tightest:
    | { readonly gapMs: number; readonly host: string; readonly ordinal: number }
    | undefined;
  /** The least surplus of a gap over the one in force, milliseconds. */
  readonly leastSurplusMs: number | undefined;
  readonly addressMostOpen: number;
  /** Lines too late to be put in order of their starts: their addresses are unproven. */
  readonly addressUnordered: number;
  /** Pages whose very URL was held against the stored rules, and those whose rules are not stored any more. */
  readonly robotsMatched: number;
  readonly robotsOlder: number;
  /** How many lines broke each rule. */
  readonly broken: Readonly<Record<AuditRule, number>>;
  /** Share of the lines that broke none, 0 … 1. */
  readonly cleanShare: number;
  /** The first offences, as many as were to be kept. */
  readonly offences: readonly Offence[];
  /** Bytes of what is remembered of hosts and origins. */
  readonly stateBytes: number;
}

/** Times pass through differences of doubles near 2e12, exact to 2^-12 ms; what is shorter than a millisecond is rounding. */
const TOLERANCE_MS = 1;
/** How much older than a day rules may be: a page admitted in time starts at once, unless the process was stopped in between. */
const ROBOTS_AGE_TOLERANCE_MS = 60_000;
const KEPT_DEFAULT = 100;

// Columns of a host's row.
const ENDED_AT = 0;
const ORDINAL = 1;
const RETRY_UNTIL = 2;
const RUN = 3;
const GAP = 4;
// Columns of an origin's row: its requests for /robots.txt.
const FIRST_END = 0;
const LAST_END = 1;
const LAST_DECIDED = 2;

/** Takes the lines in order, then gives the verdict. */
export class AuditProof {
  readonly #options: AuditOptions;
  readonly #hosts = new AuditRows(5);
  readonly #origins = new AuditRows(3);
  readonly #addresses: AddressSweep;
  readonly #requests = { page: 0, robots: 0, sitemap: 0, resource: 0 };
  readonly #broken: Record<AuditRule, number>;
  readonly #offences: Offence[] = [];
  readonly #runs = new Set<number>();
  readonly #steppedRuns = new Set<number>();
  #brokenTotal = 0;
  #ordinal = 0;
  #firstAt = Number.POSITIVE_INFINITY;
  #lastAt = 0;
  #tightest: AuditVerdict['tightest'];
  #leastSurplusMs: number | undefined;
  #robotsMatched = 0;
  #robotsOlder = 0;
  /** Lines that broke a rule; one that broke two counts once (an address's line is told of later, and counted again at most). */
  #unclean = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#broken = Object.fromEntries(AUDIT_RULES.map((rule) => [rule, 0])) as Record<
      AuditRule,
      number
    >;
    const { addressOpenMax: openMax, horizonMs } = options;
    this.#addresses = new AddressSweep(
      { openMax, horizonMs, toleranceMs: TOLERANCE_MS },
      ({ ordinal, otherOrdinal, open }) => {
        this.#offend('address-in-flight', `${open} open to one address, ${openMax} allowed`, {
          ordinal,
          otherOrdinal,
        });
        this.#unclean += 1;
      },
    );
  }

  /** Looks at the next line. */
  add(request: AuditedRequest): void {
    const before = this.#brokenTotal;
    this.#requests[request.purpose] += 1;
    this.#runs.add(request.runStartedAt);
    this.#firstAt = Math.min(this.#firstAt, request.startedAt);
    this.#lastAt = Math.max(this.#lastAt, request.endedAt);
    this.#checkPace(request);
    if (request.purpose === 'robots') this.#noteRobots(request);
    else this.#checkRobots(request);
    if (this.#brokenTotal > before) this.#unclean += 1;
    this.#addresses.add(this.#ordinal, request);
    this.#ordinal += 1;
  }

  /** The verdict over all lines so far; call once, at the end. */
  finish(): AuditVerdict {
    this.#addresses.finish();
    const lines = this.#ordinal;
    const late = this.#addresses.late;
    return {
      proven: this.#brokenTotal === 0 && late === 0,
      requests: { ...this.#requests },
      hosts: this.#hosts.size,
      runs: this.#runs.size,
      clockSteps: this.#steppedRuns.size,
      firstAt: lines === 0 ? 0 : this.#firstAt,
      lastAt: this.#lastAt,
      tightest: this.#tightest,
      leastSurplusMs: this.#leastSurplusMs,
      addressMostOpen: this.#addresses.mostOpen,
      addressUnordered: late,
      robotsMatched: this.#robotsMatched,
      robotsOlder: this.#robotsOlder,
      broken: { ...this.#broken },
      cleanShare: lines === 0 ? 1 : Math.max(lines - this.#unclean, 0) / lines,
      offences: this.#offences,
      stateBytes: this.#hosts.bytes + this.#origins.bytes,
    };
  }

  // -------------------------------------------------------------------------------------------------------------- pace

  #checkPace(request: AuditedRequest): void {
    const rows = this.#hosts;
    const key = this.#options.keyOf(request.host);
    const known = rows.find(key);
    const row = known ?? rows.add(key);
    if (known !== undefined) this.#checkPair(request, row);
    if (known === undefined || rows.get(row, RUN) !== request.runStartedAt) {
      this.#checkRestart(request);
    }
    const isRunNew = rows.get(row, RUN) !== request.runStartedAt;
    const endedAt = isRunNew ? request.endedAt : Math.max(rows.get(row, ENDED_AT), request.endedAt);
    rows.set(row, ENDED_AT, endedAt);
    rows.set(row, ORDINAL, this.#ordinal);
    rows.set(row, RUN, request.runStartedAt);
    if (request.gapMs > 0) rows.set(row, GAP, request.gapMs);
    const retryUntil = request.endedAt + request.retryAfterMs;
    if (request.retryAfterMs > 0) rows.set(row, RETRY_UNTIL, retryUntil);
  }

  /** A request against the one before it to the same host. */
  #checkPair(request: AuditedRequest, row: number): void {
    const rows = this.#hosts;
    const endedAt = rows.get(row, ENDED_AT);
    const pair = { ordinal: this.#ordinal, otherOrdinal: rows.get(row, ORDINAL) };
    if (rows.get(row, RUN) !== request.runStartedAt) {
      // One process at a time holds the data directory: a run that began before the last end saw another clock.
      if (endedAt > request.runStartedAt + TOLERANCE_MS) {
        this.#steppedRuns.add(request.runStartedAt);
        rows.set(row, RETRY_UNTIL, 0);
        return;
      }
    }
    const gapMs = request.startedAt - endedAt;
    if (this.#tightest === undefined || gapMs < this.#tightest.gapMs) {
      this.#tightest = { gapMs, host: request.host, ordinal: this.#ordinal };
    }
    // No gap in force, although the host was asked before, is as if the host had been forgotten.
    const inForceMs = request.gapMs > 0 ? request.gapMs : rows.get(row, GAP);
    const surplusMs = gapMs - inForceMs;
    if (this.#leastSurplusMs === undefined || surplusMs < this.#leastSurplusMs) {
      this.#leastSurplusMs = surplusMs;
    }
    const { minGapMs = 0 } = this.#options;
    if (gapMs < -TOLERANCE_MS) {
      this.#offend('one-in-flight', `started ${ms(-gapMs)} before the end of the last`, pair);
    } else if (surplusMs < -TOLERANCE_MS) {
      this.#offend('gap', `${ms(gapMs)} after the last, ${ms(inForceMs)} in force`, pair);
    } else if (gapMs < minGapMs - TOLERANCE_MS) {
      this.#offend('min-gap', `${ms(gapMs)} after the last, ${ms(minGapMs)} asked for`, pair);
    }
    const retryUntil = rows.get(row, RETRY_UNTIL);
    if (request.startedAt < retryUntil - TOLERANCE_MS) {
      const early = ms(retryUntil - request.startedAt);
      this.#offend('retry-after', `${early} before the time that Retry-After gave`, pair);
    }
  }

  /** The first request of a run to a host known from before; a host never asked has no gap in force. */
  #checkRestart(request: AuditedRequest): void {
    const sinceMs = request.startedAt - request.runStartedAt;
    if (sinceMs >= request.gapMs - TOLERANCE_MS) return;
    const detail = `${ms(sinceMs)} after the start of the run, ${ms(request.gapMs)} in force`;
    this.#offend('restart-gap', detail, { ordinal: this.#ordinal, otherOrdinal: undefined });
  }

  // ------------------------------------------------------------------------------------------------------------- robots

  #noteRobots(request: AuditedRequest): void {
    const origin = originOf(request.url);
    if (request.url !== `${origin}/robots.txt`) return;
    const key = this.#options.keyOf(origin);
    const known = this.#origins.find(key);
    const row = known ?? this.#origins.add(key);
    if (known === undefined) this.#origins.set(row, FIRST_END, request.endedAt);
    this.#origins.set(row, LAST_END, request.endedAt);
    this.#origins.set(row, LAST_DECIDED, isDecided(request) ? 1 : 0);
  }

  #checkRobots(request: AuditedRequest): void {
    const self = { ordinal: this.#ordinal, otherOrdinal: undefined };
    const { robotsAt, startedAt } = request;
    const row = this.#origins.find(this.#options.keyOf(originOf(request.url)));
    if (robotsAt === 0 || row === undefined) {
      const what = robotsAt === 0 ? 'rests on no robots.txt' : 'no robots.txt request before it';
      this.#offend('robots-unknown', what, self);
      return;
    }
    const isRead = this.#origins.get(row, FIRST_END) <= robotsAt + TOLERANCE_MS;
    if (robotsAt > startedAt + TOLERANCE_MS || !isRead) {
      this.#offend('robots-unknown', 'robots.txt was not read before it', self);
      return;
    }
    const ageMs = startedAt - robotsAt;
    if (ageMs > ROBOTS_FRESH_MS_MAX + ROBOTS_AGE_TOLERANCE_MS && !this.#isRetried(row, startedAt)) {
      this.#offend('robots-stale', `robots.txt was ${hours(ageMs)} old`, self);
    }
    this.#matchRobots(request);
  }

  /** A copy may be older while the file is unreachable (RFC 9309 §2.3.1.4): asked for within a day, without an answer that decides. */
  #isRetried(row: number, startedAt: number): boolean {
    if (this.#origins.get(row, LAST_DECIDED) === 1) return false;
    return startedAt - this.#origins.get(row, LAST_END) <= ROBOTS_FRESH_MS_MAX;
  }

  #matchRobots(request: AuditedRequest): void {
    const verdict = this.#options.verdictOf?.(request) ?? 'unknown';
    if (verdict === 'unknown') {
      this.#robotsOlder += 1;
      return;
    }
    this.#robotsMatched += 1;
    if (verdict === 'allowed') return;
    const self = { ordinal: this.#ordinal, otherOrdinal: undefined };
    this.#offend('robots-denied', 'the rules it rests on disallow it', self);
  }

  // ----------------------------------------------------------------------------------------------------------- offences

  #offend(rule: AuditRule, detail: string, lines: Pick<Offence, 'ordinal' | 'otherOrdinal'>): void {
    this.#broken[rule] += 1;
    this.#brokenTotal += 1;
    if (this.#offences.length >= (this.#options.keptMax ?? KEPT_DEFAULT)) return;
    this.#offences.push({ rule, detail, ...lines });
  }
}

/** Whether an answer settles what holds for its origin; a redirect may lead to one that does not. */
function isDecided({ failure, status }: AuditedRequest): boolean {
  if (failure !== undefined || status === 429) return false;
  return (status >= 200 && status < 300) || (status >= 400 && status < 500);
}

/** `scheme://host[:port]` of an absolute URL. */
function originOf(url: string): string {
  const pathStart = url.indexOf('/', 8);
  return pathStart === -1 ? url : url.slice(0, pathStart);
}

function ms(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
}

function hours(value: number): string {
  return `${(value / 3_600_000).toFixed(1)} h`;
}
