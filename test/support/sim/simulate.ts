// One whole simulation: a safety phase with faults and crashes, then a liveness phase without, until everything that can be fetched is
// stored. Then the judge speaks (test/support/world/judge.ts), who saw every request, and the state is accounted for once more.

import type { HostKey, UrlKey } from '../../../src/base/units.ts';
import { CRAWL_RULES, canonicalize } from '../../../src/domain/canonical-url.ts';
import type { XxHash64 } from '../../../src/domain/url-key.ts';
import { judge } from '../world/judge.ts';
import type { Violation } from '../world/judge-types.ts';
import { createWorld, type World } from '../world/world.ts';
import { hostProfile } from '../world/world-host.ts';
import { robotsDecision } from '../world/world-truth.ts';
import { checkBounds, checkChunkLeaks, checkHost } from './sim-checks.ts';
import { SimDisk } from './sim-disk.ts';
import { SimWebLog, USER_AGENT } from './sim-fetch.ts';
import { SimFailure, SimKernel } from './sim-kernel.ts';
import { SIM_RECRAWL, SimNode, seedCount } from './sim-node.ts';
import { SimOperator } from './sim-operator.ts';
import type { Boundary, CrashPlan, SimPlan } from './sim-plan.ts';
import { isStillWaiting, type RecrawlWatch, watchRecrawl } from './sim-recrawl.ts';
import { checkRestarts, type Restart } from './sim-restarts.ts';

/** How a simulation went. */
export interface SimResult {
  readonly digest: string;
  /** Why it failed; undefined when all promises were kept. */
  readonly failure: string | undefined;
  readonly events: number;
  readonly virtualMs: number;
  readonly requests: number;
  readonly runs: number;
  /** Rare branches and how often each was reached. */
  readonly reached: ReadonlyMap<string, number>;
}

/** Virtual time after which the liveness phase has failed: longer than any pause a host can be given twice over. */
const DAY_MS = 86_400_000;
const LIVENESS_MS_MAX = 4 * DAY_MS;
/** RFC 9309 §2.4, and a minute. */
const ROBOTS_AGE_MS_MAX = DAY_MS + 60_000;
/** Pages of one host's trap that may be fetched in one run. */
const TRAP_PAGES_MAX = 16;
/** How often bounds and quiet are looked at, virtual ms. */
const LOOK_MS = 200;
/** Hosts with longer queues are checked at one commit in eight. */
const CHECKED_KEYS_MAX = 100;

/** Runs a plan. Never throws for what the crawl does: a broken promise is the result's `failure`. */
export function simulate(
  plan: SimPlan,
  xxhash: XxHash64,
  trace?: (line: string) => void,
): SimResult {
  const simulation = new Simulation(plan, xxhash, trace);
  let failure: string | undefined;
  try {
    simulation.run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    failure = error instanceof SimFailure ? error.message : (error.stack ?? error.message);
    simulation.kernel.note(`failed ${failure.split('\n')[0]}`);
  }
  const { kernel, log, runs } = simulation;
  return {
    digest: kernel.digest,
    failure,
    events: kernel.events,
    virtualMs: kernel.nowMs,
    requests: log.entries.length,
    runs,
    reached: kernel.reached,
  };
}

class Simulation {
  readonly kernel: SimKernel;
  readonly log = new SimWebLog();
  runs = 0;
  readonly #plan: SimPlan;
  readonly #world: World;
  readonly #disk: SimDisk;
  readonly #starts: Restart[] = [];
  #crashes: CrashPlan[];
  #node: SimNode;
  #shards: number;
  #boundariesLeft = Infinity;
  #isCrashing = false;
  #repeatsAllowed = 0;
  #lookedMs = -LOOK_MS;
  #commits = 0;
  #backMs = 0;
  /** True when the page limit was reached and this run was told to drain, as the main thread does. */
  #isSpent = false;
  /** Requests of earlier runs in the log. */
  #entriesBefore = 0;
  /** Retry-After waits that a crash may have made us forget: their answers were not committed. */
  readonly #forgotten = new Set<string>();

  constructor(plan: SimPlan, xxhash: XxHash64, trace: ((line: string) => void) | undefined) {
    this.#plan = plan;
    this.#world = createWorld(plan.web);
    const { seed } = plan;
    this.kernel = new SimKernel({
      ...{ seed, xxhash, trace },
      wallStartMs: this.#world.options.epochMs,
    });
    this.#disk = new SimDisk((url) => this.#keyOf(url), SIM_RECRAWL);
    this.#crashes = [...plan.crashes];
    this.#shards = plan.shards;
    this.#node = this.#newNode();
  }

  run(): void {
    const { kernel, log } = this;
    this.#safety();
    this.#liveness();
    kernel.note(`quiet after ${log.entries.length} requests; ${counted(this.#disk.counters)}`);
    for (const hostKey of this.#disk.logged.keys()) checkHost(kernel, this.#disk, hostKey);
    checkChunkLeaks(kernel, this.#disk);
    this.#checkCounters();
    checkRestarts({ kernel, world: this.#world, log, starts: this.#starts, plan: this.#plan });
    this.#judge();
  }

  // ---------------------------------------------------------------------------------------------------------- the two phases

  #safety(): void {
    const { kernel } = this;
    const operator = new SimOperator(kernel, this.#world, this.#plan, () => this.#node);
    operator.start();
    this.#node.start();
    while (kernel.nowMs < this.#plan.safetyMs) {
      const crash = this.#crashes.shift();
      if (crash === undefined) {
        this.#runUntil(this.#plan.safetyMs, () => this.#isDone());
        break;
      }
      const atMs = Math.min(this.#node.startedMs + crash.afterMs, this.#plan.safetyMs);
      this.#runUntil(atMs, () => false);
      this.#end(crash);
    }
    operator.stop();
  }

  #liveness(): void {
    const { kernel } = this;
    kernel.faultsOn = false;
    kernel.note('faults off');
    this.#isSpent = false;
    this.#node.tellAll({ kind: 'resume-all' });
    if (this.#plan.recrawls) {
      watchRecrawl(this.#watch());
      return;
    }
    const until = kernel.nowMs + LIVENESS_MS_MAX;
    const isOver = (): boolean => this.#isDone() || kernel.nowMs > until;
    let reason = this.#runUntil(Infinity, isOver);
    // That the page limit is reached may be noticed only now: the drain that follows has its turn too.
    if (!this.#isDone()) reason = this.#runUntil(Infinity, isOver);
    if (this.#isDone()) return;
    const waiting = this.#waitingHosts().join(', ');
    kernel.fail(
      `I6: not quiet after faults stopped (${reason}); quiet ${this.#node.isQuiet}: ${waiting}`,
    );
  }

  #watch(): RecrawlWatch {
    return {
      ...{ kernel: this.kernel, node: this.#node, disk: this.#disk },
      runUntil: (untilMs, isDone) => this.#runUntil(untilMs, isDone),
      isHopeless: (host) => this.#isHopeless(host),
    };
  }

  #runUntil(untilMs: number, isDone: () => boolean): string {
    const { kernel } = this;
    return kernel.run(this.#node.dispatchers, untilMs, (nextMs) => {
      if (nextMs - this.#lookedMs < LOOK_MS) return false;
      this.#lookedMs = kernel.nowMs;
      checkBounds(kernel, this.#node, this.#plan);
      if (this.#node.hasStorageFailed) kernel.fail('storage failed unasked');
      return isDone();
    });
  }

  // ------------------------------------------------------------------------------------------------------------------ crashes

  #end(crash: CrashPlan): void {
    const { kernel } = this;
    if (crash.kind === 'orderly') {
      this.#node.tellAll({ kind: 'drain' });
      const until = kernel.nowMs + 120_000;
      const reason = this.#runUntil(
        until,
        () => this.#node.isQuiet && this.#node.fetch.inFlight === 0,
      );
      if (reason !== 'stopped' && !(this.#node.isQuiet && this.#node.fetch.inFlight === 0)) {
        const status = this.#node.shards.map((shard) => shard.shard.inspect());
        kernel.fail(`a drained node does not come to rest: ${JSON.stringify(status)}`);
      }
      kernel.count('end.orderly');
    } else if (crash.kind === 'disk-full') {
      this.#node.storage.failNow();
      kernel.run(this.#node.dispatchers, kernel.nowMs + 3_000, () => false);
      if (!this.#node.hasStorageFailed) kernel.fail('a failed disk was not reported');
      kernel.count('end.disk-full');
    } else {
      this.#awaitBoundary(crash);
    }
    this.#crash(crash);
  }

  #awaitBoundary({ at }: CrashPlan): void {
    if (at === undefined) {
      this.kernel.count('crash.timed');
      return;
    }
    this.#boundariesLeft = at.count;
    this.#isCrashing = true;
    this.#boundary = at.boundary;
    this.#runUntil(this.#plan.safetyMs, () => this.#isDone());
    const wasReached = this.#boundariesLeft <= 0;
    this.#isCrashing = false;
    this.kernel.count(wasReached ? `crash.${at.boundary}` : 'crash.boundary-missed');
  }

  #boundary: Boundary | undefined;

  #passed(boundary: Boundary): void {
    if (!this.#isCrashing || boundary !== this.#boundary) return;
    this.#boundariesLeft -= 1;
    if (this.#boundariesLeft <= 0) this.kernel.stop();
  }

  #crash(crash: CrashPlan): void {
    const { kernel } = this;
    this.#node.kill();
    this.#accountForLoss();
    this.#entriesBefore = this.log.entries.length;
    kernel.note(`end ${crash.kind} ${crash.at?.boundary ?? ''}`);
    for (const hostKey of this.#disk.logged.keys()) checkHost(kernel, this.#disk, hostKey);
    kernel.run([], kernel.nowMs + crash.downMs, () => false);
    if (crash.wallSkewMs !== 0) kernel.count('clock.jump');
    // A clock put back by less than the time that has passed goes unnoticed, and makes what is stored look younger.
    this.#backMs += Math.max(-crash.wallSkewMs, 0) % DAY_MS;
    if (crash.wallSkewMs > 0) this.log.retryAfterMs.clear();
    kernel.clock.skewWall(crash.wallSkewMs);
    this.#shards = crash.shardsAfter;
    kernel.count('recovered.entries', this.#disk.recover());
    for (const hostKey of this.#disk.logged.keys()) checkHost(kernel, this.#disk, hostKey);
    this.#starts.push({ atMs: kernel.nowMs, entries: this.#entriesBefore });
    this.#isSpent = false;
    this.#node = this.#newNode();
    kernel.count('reparsed', this.#disk.unparsed.size);
    this.#node.start();
  }

  /** Pages fetched and not committed may be fetched again: those of one commit window, no more. */
  #accountForLoss(): void {
    const { kernel, log } = this;
    const { startedMs, startedAt, storage } = this.#node;
    const windowMs = this.#plan.flushMs + 2 * storage.commitMsMax + 50;
    for (const entry of log.entries.slice(this.#entriesBefore)) {
      const startedWall = startedAt + (entry.startMs - startedMs);
      if (this.#disk.audited.has(`${entry.host} ${startedWall.toFixed(2)}`)) continue;
      this.#repeatsAllowed += 1;
      kernel.count('lost.requests');
      this.#forgotten.add(`${entry.host} ${entry.startMs}`);
      const asked = log.retryAfterMs.get(entry.host);
      if (asked?.askedMs === entry.startMs) log.retryAfterMs.delete(entry.host);
      const ageMs = kernel.nowMs - entry.endMs;
      if (ageMs <= windowMs || this.#node.hasStorageFailed) continue;
      kernel.fail(`I7: ${entry.host}${entry.path} ended ${ageMs} ms ago and is not durable`);
    }
  }

  #newNode(): SimNode {
    this.runs += 1;
    return new SimNode({
      ...{ kernel: this.kernel, plan: this.#plan, world: this.#world, disk: this.#disk },
      ...{ log: this.log, shards: this.#shards, run: this.runs },
      boundary: (boundary) => this.#passed(boundary),
      dueAtOf: (url) => this.#disk.dueAtOf(url),
      committed: (hosts) => this.#committed(hosts),
    });
  }

  #keyOf(url: string): UrlKey {
    const canonical = canonicalize(url, CRAWL_RULES);
    return this.kernel.hasher.urlKey(canonical.kind === 'canonical' ? canonical.canonical : url);
  }

  #committed(hosts: ReadonlySet<HostKey>): void {
    this.#commits += 1;
    for (const hostKey of hosts) {
      const keys = this.#disk.logged.get(hostKey)?.size ?? 0;
      if (keys <= CHECKED_KEYS_MAX || this.#commits % 8 === 0) {
        checkHost(this.kernel, this.#disk, hostKey);
      }
    }
  }

  // --------------------------------------------------------------------------------------------------------------- the end

  /** True when nothing is left that could be fetched. */
  #isDone(): boolean {
    if (this.#plan.maxPages > 0 && this.#node.allowance.isSpent) {
      // Looked at first: a shard with mail, the order to drain included, is not quiet.
      const isQuiet = this.#node.isQuiet && this.#node.fetch.inFlight === 0;
      if (!this.#isSpent) this.#node.tellAll({ kind: 'drain' });
      this.#isSpent = true;
      return isQuiet;
    }
    if (!this.#node.isQuiet) return false;
    return this.#waitingHosts().length === 0;
  }

  /** Hosts with queued URLs that could be fetched one day, and with parked ones, where there is an end to them: none is ever dropped. */
  #waitingHosts(): string[] {
    const waiting: string[] = [];
    for (const hostKey of this.#disk.seenHosts) {
      if (!this.#disk.hasWork(hostKey, !this.#plan.isEndless)) continue;
      const host = this.#disk.hostName(hostKey);
      if (!this.#isHopeless(host)) waiting.push(host);
    }
    return waiting;
  }

  #isHopeless(host: string): boolean {
    const { options } = this.#world;
    const profile = hostProfile(options, this.#world.hostIndex(host));
    const { health } = profile;
    // A name without an address may stand for one with a forbidden address: its URLs end (sim-dns.ts).
    if (health === 'nxdomain') return profile.index % 2 === 0;
    if (health !== 'ok' && health !== 'slow') return true;
    return robotsDecision(options, profile, this.kernel.nowMs) === 'disallow-all';
  }

  #checkCounters(): void {
    const { kernel } = this;
    const rows = [...this.#disk.pages.values()].filter(({ status }) => status === 200).length;
    const counted = this.#disk.counters.get('pages') ?? 0;
    if (rows !== counted) kernel.fail(`I8: ${rows} stored pages, ${counted} counted`);
    const { maxPages } = this.#plan;
    if (maxPages > 0 && counted > maxPages) kernel.fail(`${counted} pages of at most ${maxPages}`);
    if (this.#disk.unparsed.size > 0) kernel.fail(`${this.#disk.unparsed.size} pages unparsed`);
    if (this.#disk.segmentCount > 8 && this.#plan.rollEntries > 10) {
      kernel.fail(`I10: ${this.#disk.segmentCount} log segments stay`);
    }
  }

  #judge(): void {
    const { kernel } = this;
    const { minGapMs, maxCrawlDelayMs, addressGapMs, maxPages, coverage } = this.#plan;
    const fromSeeds = [...this.#world.seeds(seedCount(this.#plan, this.#world))];
    const verdict = judge(this.#world, this.log.entries, {
      ...{ minGapMs, maxCrawlDelayMs, abortToleranceMs: 1, requireLate: true },
      addressGapMs,
      robotsMaxAgeMs: ROBOTS_AGE_MS_MAX + this.#backMs,
      repeatsAllowed: this.#repeatsAllowed,
      exactReach: coverage,
      listedMax: 1_000,
      revisits: this.#plan.recrawls,
      ...(coverage && maxPages === 0 ? { coverage: { userAgent: USER_AGENT, fromSeeds } } : {}),
    });
    this.#checkTraps(verdict.coverage.trapPages);
    const found = verdict.violations.filter((violation) => !this.#isExcused(violation));
    const first = found.find(({ kind }) => kind !== 'repeat');
    const repeats = verdict.counts.repeat - this.#repeatsAllowed;
    if (first === undefined && repeats <= 0) return;
    const shown = first ?? found.find(({ kind }) => kind === 'repeat');
    const text = `${shown?.host}${shown?.path} at ${shown?.startMs}: ${shown?.detail}`;
    kernel.fail(`judge: ${shown?.kind} ${text} (${found.length} in all)`);
  }

  /** Budgets alone keep the crawl out of traps without end: a dozen pages a host, whose answers may be lost by crashes. */
  #checkTraps(trapPages: number): void {
    if (!this.#plan.isEndless) return;
    const mayBe = TRAP_PAGES_MAX * this.#world.options.hosts * this.runs;
    if (trapPages > 0) this.kernel.count('trap.entered');
    if (trapPages > mayBe) this.kernel.fail(`I6: ${trapPages} pages of traps, at most ${mayBe}`);
  }

  #isExcused({ kind, host, path, previous, startMs }: Violation): boolean {
    if (kind === 'missing' && this.#plan.recrawls) {
      return isStillWaiting(this.#watch(), (url) => this.#keyOf(url), `http://${host}${path}`);
    }
    if (previous === null || startMs === null) return false;
    const name = `${previous.host} ${previous.startMs}`;
    // What a crash made us forget: the answer that asked us to wait was not durable.
    if (kind === 'retry-after') return this.#forgotten.has(name);
    // Starts before and after a restart: the table of addresses is new, its gap is not promised across it.
    // A crash at the start of a request may be followed at once by the restart; nothing starts before a name is resolved.
    const apart = this.#starts.some(({ atMs }) => previous.startMs <= atMs && startMs > atMs);
    return kind === 'address-gap' && apart;
  }
}

const counted = (counters: ReadonlyMap<string, number>): string =>
  [...counters].map(([name, count]) => `${name} ${count}`).join(', ');
