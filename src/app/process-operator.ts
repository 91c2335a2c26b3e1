// The Operator of a crawling process (DESIGN.md §10): answers what debug socket and dashboard ask, from the shards' own words, the durable
// counters and rows, and passes on what an operator wants done. Reads stored state through the read-only store and changes the crawl only
// by messages. What this version does not have is refused, with a sentence that says so.

import { redactedConfig } from '../config/redact-config.ts';
import { parseBase } from '../domain/base-url.ts';
import { matchRobots } from '../domain/robots-matcher.ts';
import type { RobotsRules } from '../domain/robots-rules.ts';
import type { Operation } from '../ops/operation.ts';
import {
  type Answer,
  type AskLimits,
  answered,
  type Operator,
  type PlacedActorRow,
  refused,
  type TraceBounds,
  type TraceEvent,
} from '../ops/operator.ts';
import type { CrawlOverview } from '../ops/overview.ts';
import type * as Reports from '../ops/reports.ts';
import type { DeadLetter } from '../runtime/dead-letters.ts';
import type { TopOrder } from '../runtime/inspection.ts';
import type { SlowTurnRecord } from '../runtime/turn-records.ts';
import { profileThread } from './cpu-profile.ts';
import type { CrawlProcess } from './crawl-process.ts';
import { explainUrl } from './explain-url.ts';
import { frontReport } from './front-report.ts';
import { heapReport } from './heap-report.ts';
import { hostLines, hostReport, type LiveHost } from './host-report.ts';
import { HostSettings } from './host-settings.ts';
import { operateProcess } from './operate-process.ts';
import type { PauseBook } from './pause-book.ts';
import { overviewOf } from './process-overview.ts';
import type { CrawlReading } from './read-crawl.ts';
import { placeOfHost } from './read-crawl.ts';
import type { NextHostRow } from './shard-inspection.ts';
import type { ShardQuery } from './thread-plan.ts';
import { traceShards } from './trace-shards.ts';
import { urlReport } from './url-report.ts';

/** What an operator acts on. */
export interface OperatedCrawl {
  readonly crawl: CrawlProcess;
  readonly reading: CrawlReading;
  readonly shardOf: (partition: number) => number;
  readonly setLogLevel: (level: string) => void;
  /** Reads the operator's lists again. @returns what was read, a sentence each */
  readonly reload: () => Promise<readonly string[]>;
  /** The other nodes; undefined for a crawl on one machine. */
  readonly cluster?: ClusterOperator;
  /** What the crawl is doing, for `overview`. */
  readonly state: { readonly pauses: PauseBook; stopping: boolean };
}

/** What an operator may ask of, and do to, the division of a crawl among nodes. No method rejects. */
export interface ClusterOperator {
  leases(limits: AskLimits): Promise<Answer<readonly Reports.LeaseLine[]>>;
  operate(
    operation: Extract<Operation, { readonly kind: 'move' | 'drain' }>,
  ): Promise<Answer<{ readonly text: string }>>;
}

export class ProcessOperator implements Operator {
  readonly #operated: OperatedCrawl;

  constructor(operated: OperatedCrawl) {
    this.#operated = operated;
  }

  async overview(_limits: AskLimits): Promise<Answer<CrawlOverview>> {
    return answered(await overviewOf(this.#operated));
  }

  tree(path: string, limits: AskLimits): Promise<Answer<readonly PlacedActorRow[]>> {
    return this.#rows({ kind: 'tree', path, limit: limits.rowsMax }, limits);
  }

  async top(by: TopOrder, limits: AskLimits): Promise<Answer<readonly PlacedActorRow[]>> {
    const answer = await this.#rows({ kind: 'top', by, limit: limits.rowsMax }, limits);
    if (answer.kind === 'refused') return answer;
    const amount = AMOUNTS[by];
    const sorted = [...answer.value].sort((one, other) => amount(other) - amount(one));
    return answered(sorted.slice(0, limits.rowsMax));
  }

  async state(
    actor: string,
    limits: AskLimits,
  ): Promise<Answer<{ readonly row: PlacedActorRow; readonly state: unknown }>> {
    const found = await this.#findActor(actor, 'state', limits);
    if (found === undefined) return noActor(actor);
    const { row, state } = found.answer as { row: PlacedActorRow; state: unknown };
    return answered({ row: { ...row, shard: found.shard }, state });
  }

  async mailbox(actor: string, limits: AskLimits): Promise<Answer<readonly string[]>> {
    const found = await this.#findActor(actor, 'mailbox', limits);
    if (found === undefined) return noActor(actor);
    return answered((found.answer as string[]).slice(0, limits.rowsMax));
  }

  async trace(
    actor: string,
    bounds: TraceBounds,
    tell: (event: TraceEvent) => void,
  ): Promise<Answer<{ readonly events: number }>> {
    const place = this.#placeOfActor(actor);
    const shards = place.shard === undefined ? await this.#shardsOf(place.path) : [place.shard];
    if (shards.length === 0) return noActor(actor);
    const events = await traceShards(this.#operated.crawl.questions, shards, {
      ...bounds,
      actor: place.path,
      tell,
    });
    return answered({ events });
  }

  async host(host: string, limits: AskLimits): Promise<Answer<Reports.HostReport>> {
    const { reading } = this.#operated;
    const { hostKey, partition } = placeOfHost(reading, host);
    const shard = this.#operated.shardOf(partition);
    const live = await this.#ask(shard, { kind: 'host', hostKey }, limits);
    const row = reading.store.rows.host(hostKey, partition);
    const requests = reading.store.auditOf(host, RECENT_SEGMENTS);
    const place = { host, hostKey, partition, shard };
    const settings = new HostSettings(reading.config);
    const report = hostReport({ ...place, row, live: live as LiveHost, settings, requests });
    if (report === undefined) return refused('not-found', `this crawl does not know ${host}`);
    const robots = await this.robots(host, limits);
    return answered({ ...report, robots: robots.kind === 'answered' ? robots.value : [] });
  }

  async hosts(
    by: Reports.HostOrder,
    limits: AskLimits,
  ): Promise<Answer<readonly Reports.HostLine[]>> {
    return answered(hostLines(this.#operated, by, limits.rowsMax));
  }

  async why(url: string, limits: AskLimits): Promise<Answer<Reports.UrlReport>> {
    const { reading, shardOf } = this.#operated;
    const known = explainUrl(reading, url, Date.now());
    if (known.trace === undefined) return answered(urlReport(known, undefined));
    const { hostKey, partition } = placeOfHost(reading, known.trace.host);
    const live = await this.#ask(shardOf(partition), { kind: 'host', hostKey }, limits);
    return answered(urlReport(known, live as LiveHost | undefined));
  }

  async front(limits: AskLimits): Promise<Answer<Reports.FrontReport>> {
    const overview = await overviewOf(this.#operated);
    const limit = Math.min(limits.rowsMax, NEXT_HOSTS_MAX);
    const next = await this.#askAll({ kind: 'next-hosts', limit }, limits);
    const { reading } = this.#operated;
    return answered(frontReport(overview, reading, next as (NextHostRow[] | undefined)[], limit));
  }

  async deadLetters(limits: AskLimits): Promise<Answer<readonly DeadLetter[]>> {
    const answers = await this.#askAll({ kind: 'dead-letters' }, limits);
    const letters = answers.flatMap(
      (answer) => (answer as { recent?: DeadLetter[] })?.recent ?? [],
    );
    return answered(letters.sort((one, other) => other.at - one.at).slice(0, limits.rowsMax));
  }

  async slowlog(limits: AskLimits): Promise<Answer<readonly Reports.SlowTurn[]>> {
    const answers = await this.#askAll({ kind: 'slow-turns' }, limits);
    const turns = answers.flatMap((answer, shard) =>
      ((answer as SlowTurnRecord[] | undefined) ?? []).map((turn) => ({ ...turn, shard })),
    );
    const longest = turns.sort((one, other) => other.turnMs - one.turnMs);
    return answered(longest.slice(0, limits.rowsMax));
  }

  async config(): Promise<Answer<Readonly<Record<string, unknown>>>> {
    return answered(redactedConfig(this.#operated.reading.config));
  }

  async heap(limits: AskLimits): Promise<Answer<readonly Reports.HeapReport[]>> {
    const own = heapReport('main');
    const answers = await this.#askAll({ kind: 'heap' }, limits);
    const shards = answers.filter((answer) => answer !== undefined) as Reports.HeapReport[];
    return answered([own, ...shards]);
  }

  async cpuProfile(seconds: number, limits: AskLimits): Promise<Answer<Reports.CpuReport>> {
    const timeoutMs = seconds * 1_000 + limits.timeoutMs;
    const [own, shards] = await Promise.all([
      profileThread('main', seconds),
      this.#askAll({ kind: 'cpu', seconds }, { ...limits, timeoutMs }),
    ]);
    const hottest = [own, ...(shards as (typeof own | undefined)[])].flatMap((one) => one ?? []);
    return answered({ seconds, hottest });
  }

  async robots(host: string, _limits: AskLimits): Promise<Answer<readonly Reports.RobotsReport[]>> {
    const { reading } = this.#operated;
    const { hostKey, partition } = placeOfHost(reading, host);
    const rows = reading.store.rows.robots(hostKey, partition);
    if (rows.length === 0) return refused('not-found', `no robots.txt of ${host} was fetched yet`);
    return answered(
      rows.map((row) => ({
        origin: row.origin,
        decision: row.decision,
        because: row.status === 0 ? 'no answer' : `status ${row.status}`,
        fetchedAt: row.fetchedAt,
        expiresAt: row.expiresAt,
        crawlDelayMs: ((row.rules as RobotsRules).crawlDelaySeconds ?? 0) * 1_000,
      })),
    );
  }

  async robotsTest(url: string, _limits: AskLimits): Promise<Answer<Reports.RobotsVerdict>> {
    const base = parseBase(url);
    if (base === undefined || !base.isHttp) return refused('usage', `${url} is no http(s) URL`);
    const { reading } = this.#operated;
    const { hostKey, partition } = placeOfHost(reading, base.host);
    const rows = reading.store.rows.robots(hostKey, partition);
    const row = rows.find(({ origin }) => origin === base.authority);
    if (row === undefined) return refused('not-found', `no robots.txt of ${base.authority} yet`);
    const verdict = matchRobots(row.rules as RobotsRules, base.href);
    const line = verdict.rule === undefined ? '' : `line ${verdict.line}: ${verdict.rule}`;
    return answered({ url: base.href, allowed: verdict.allowed, line, because: row.decision });
  }

  async dns(host: string, limits: AskLimits): Promise<Answer<Reports.DnsReport>> {
    const { hostKey, partition } = placeOfHost(this.#operated.reading, host);
    const shard = this.#operated.shardOf(partition);
    const live = (await this.#ask(shard, { kind: 'host', hostKey }, limits)) as
      | LiveHost
      | undefined;
    if (live?.state === undefined) return refused('not-found', `${host} is asleep or unknown`);
    const { addresses, addressesExpireMs } = live.state;
    const expiresInMs = Math.max(addressesExpireMs - live.nowMs, 0);
    return answered({ host, addresses, expiresInMs, failure: undefined });
  }

  async budget(
    host: string | undefined,
    _limits: AskLimits,
  ): Promise<Answer<readonly Reports.BudgetReport[]>> {
    const { reading } = this.#operated;
    const counters = reading.store.counters();
    const pages = {
      of: 'pages',
      used: counters.get('pages') ?? 0,
      limit: reading.config.maxPages ?? 0,
    };
    if (host === undefined) return answered([pages]);
    const { hostKey, partition } = placeOfHost(reading, host);
    const row = reading.store.rows.host(hostKey, partition);
    if (row === undefined) return refused('not-found', `this crawl does not know ${host}`);
    return answered([{ of: `URLs of ${host}`, used: row.counts.discovered, limit: 0 }]);
  }

  async leases(limits: AskLimits): Promise<Answer<readonly Reports.LeaseLine[]>> {
    const { cluster, reading, shardOf } = this.#operated;
    if (cluster !== undefined) return cluster.leases(limits);
    // Alone, a crawl owns all of itself for as long as it holds the directory's lock.
    const count = Math.min(reading.store.identity.partitions, limits.rowsMax);
    return answered(
      Array.from({ length: count }, (_, partition) => ({
        ...{ partition, node: 'local', thread: shardOf(partition) },
        ...{ epoch: 0, expiresInMs: Number.POSITIVE_INFINITY },
      })),
    );
  }

  operate(operation: Operation, _limits: AskLimits): Promise<Answer<{ readonly text: string }>> {
    return operateProcess(this.#operated, operation);
  }

  #ask(shard: number, query: ShardQuery, limits: AskLimits): Promise<unknown> {
    return this.#operated.crawl.questions.ask(shard, query, limits.timeoutMs);
  }

  #askAll(query: ShardQuery, limits: AskLimits): Promise<unknown[]> {
    const shards = Array.from({ length: this.#operated.crawl.shards }, (_, shard) => shard);
    return Promise.all(shards.map((shard) => this.#ask(shard, query, limits)));
  }

  async #rows(query: ShardQuery, limits: AskLimits): Promise<Answer<readonly PlacedActorRow[]>> {
    const answers = await this.#askAll(query, limits);
    if (answers.every((answer) => answer === undefined)) {
      return refused('timeout', 'no crawl thread answered in time');
    }
    const rows = answers.flatMap((answer, shard) =>
      ((answer as PlacedActorRow[] | undefined) ?? []).map((row) => ({ ...row, shard })),
    );
    return answered(rows);
  }

  /** The actor as one of the shards has it; the first, when several have one of that name. */
  async #findActor(
    actor: string,
    kind: 'state' | 'mailbox',
    limits: AskLimits,
  ): Promise<{ readonly shard: number; readonly answer: unknown } | undefined> {
    const { shard, path } = this.#placeOfActor(actor);
    if (shard !== undefined) {
      const answer = await this.#ask(shard, { kind, actor: path }, limits);
      return answer === undefined ? undefined : { shard, answer };
    }
    const answers = await this.#askAll({ kind, actor: path }, limits);
    const found = answers.findIndex((answer) => answer !== undefined);
    return found === -1 ? undefined : { shard: found, answer: answers[found] };
  }

  /** For people: `host:example.com` is the actor `host:<key>` of the shard that owns it, and `1/shard` the actor `shard` of shard 1. */
  #placeOfActor(actor: string): { readonly shard: number | undefined; readonly path: string } {
    const { crawl, reading, shardOf } = this.#operated;
    const placed = /^(\d{1,4})\/(.+)$/.exec(actor);
    const path = placed?.[2] ?? actor;
    const shard = placed === null ? undefined : Math.min(Number(placed[1]), crawl.shards - 1);
    const host = /^host:(.*[^0-9].*)$/.exec(path)?.[1];
    if (host === undefined) return { shard, path };
    const { hostKey, partition } = placeOfHost(reading, host);
    return { shard: shardOf(partition), path: `host:${hostKey}` };
  }

  async #shardsOf(path: string): Promise<number[]> {
    const limits = { timeoutMs: SEARCH_MS, rowsMax: 1 };
    const answers = await this.#askAll({ kind: 'state', actor: path }, limits);
    return answers.flatMap((answer, shard) => (answer === undefined ? [] : [shard]));
  }
}

/** Files of the audit log in which a host's last requests are looked for: 64 MiB, 0.1 s at most. */
const RECENT_SEGMENTS = 1;
/** Hosts next in turn that `front` tells. */
const NEXT_HOSTS_MAX = 20;
/** Time to find out where an actor lives, milliseconds. */
const SEARCH_MS = 2_000;

const AMOUNTS: Readonly<Record<TopOrder, (row: PlacedActorRow) => number>> = {
  mailbox: (row) => row.mailbox,
  busy: (row) => row.busyMs,
  mem: (row) => row.bytes,
  wait: (row) => row.waitMs,
};

function noActor(actor: string): Answer<never> {
  return refused('not-found', `no crawl thread has an actor ${actor}; see \`tree\``);
}
