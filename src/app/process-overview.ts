// The snapshot that dashboard, metrics and live view are drawn from (ops/overview.ts), put together from the durable counters, the shards'
// last words and the storage thread's figures.

import { statfsSync } from 'node:fs';
import { RESPONSE_BOUNDS_MS, type ResponseCounts } from '../actors/response-times.ts';
import { VERSION } from '../base/version.ts';
import type { CrawlOverview, DurationHistogram, ShardOverview } from '../ops/overview.ts';
import type { ShardNews } from './crawl-process.ts';
import { withPrefix } from './crawl-report.ts';
import { memoryParts } from './process-memory.ts';
import type { OperatedCrawl } from './process-operator.ts';

export async function overviewOf(operated: OperatedCrawl): Promise<CrawlOverview> {
  const { crawl, reading } = operated;
  const { config, store } = reading;
  const [news, storage] = await Promise.all([crawl.refresh(), crawl.storage.metrics()]);
  const counters = store.counters();
  const count = (name: string): number => counters.get(name) ?? 0;
  const shards = news.map(shardOverview);
  const sum = (of: (shard: ShardOverview) => number): number =>
    shards.reduce((total, shard) => total + of(shard), 0);
  const { user, system } = process.cpuUsage();
  return {
    at: Date.now(),
    startedAt: Math.round(crawl.anchor.wall),
    version: VERSION,
    state: operated.state.stopping
      ? 'stopping'
      : operated.state.pauses.isAllPaused
        ? 'paused'
        : 'running',
    pages: count('pages'),
    fetched: count('fetched'),
    bytes: count('bytes'),
    discovered: count('urls.discovered'),
    links: count('links'),
    duplicates: { exact: count('duplicates.exact'), near: count('duplicates.near') },
    soft404: count('pages.soft-404'),
    statuses: withPrefix(counters, 'status.'),
    failures: withPrefix(counters, 'failures.'),
    retries: withPrefix(counters, 'retries.'),
    skipped: withPrefix(counters, 'skipped.'),
    render: withPrefix(counters, 'render.'),
    rendering: news.reduce((total, { status }) => total + status.rendering, 0),
    responseMs: responsesOf(news),
    queuedByBand: [
      waitingIn(count('queued.0')),
      waitingIn(count('queued.1')),
      waitingIn(count('queued.2')),
    ],
    parked: waitingIn(count('parked.urls')),
    hosts: {
      known: count('hosts'),
      active: sum(({ hostsActive }) => hostsActive),
      ready: sum(({ hostsReady }) => hostsReady),
      waiting: sum(({ hostsWaiting }) => hostsWaiting),
      backingOff: sum(({ hostsBackingOff }) => hostsBackingOff),
    },
    inFlight: sum(({ inFlight }) => inFlight),
    slots: config.concurrency,
    minGapMs: config.minGapMs,
    seenSet: {
      keys: count('urls.discovered'),
      capacity: config.expectedUrls,
      generations: crawl.memories.bloom.buffers.length,
      confirmed: news.reduce((total, { load }) => total + load.seen.confirmed, 0),
      falsePositives: news.reduce((total, { load }) => total + load.seen.falsePositives, 0),
    },
    storage: { ...storageOf(storage), diskFreeBytes: diskFree(config.dataDir) },
    shards,
    nodes: [{ name: 'local', state: 'up', partitions: crawl.storage.opened.identity.partitions }],
    partitions: crawl.storage.opened.identity.partitions,
    memory: memoryParts(),
    cpuSeconds: (user + system) / 1e6,
  };
}

function responsesOf(news: readonly ShardNews[]): DurationHistogram {
  const responses = news.map(({ load }) => load.responses);
  const add = (of: (one: ResponseCounts) => number): number =>
    responses.reduce((sum, one) => sum + of(one), 0);
  const buckets = RESPONSE_BOUNDS_MS.length + 1;
  return {
    boundsMs: RESPONSE_BOUNDS_MS,
    counts: Array.from({ length: buckets }, (_, bucket) =>
      add(({ counts }) => counts[bucket] ?? 0),
    ),
    sumMs: add(({ sumMs }) => sumMs),
  };
}

function waitingIn(count: number): number {
  return Math.max(count, 0);
}

function shardOverview({ status, load }: ShardNews): ShardOverview {
  return {
    shard: status.shard,
    inFlight: status.inFlight,
    hostsReady: status.due,
    // The schedule counts those that are due among those that wait.
    hostsWaiting: Math.max(status.waiting.reduce((all, hosts) => all + hosts) - status.due, 0),
    hostsBackingOff: status.backingOff,
    hostsActive: load.hostsActive,
    parseBacklog: status.parseBacklog,
    pendingBytes: status.pendingBytes,
    linksWaiting: status.linksWaiting,
    busyMs: load.busyMs,
    loopDelayMs: load.loopDelayMs,
    loopDelayMaxMs: load.loopDelayMaxMs,
    connections: load.connections,
    deadLetters: load.deadLetters,
  };
}

type StorageMetrics = Awaited<ReturnType<OperatedCrawl['crawl']['storage']['metrics']>>;

function storageOf(metrics: StorageMetrics): Omit<CrawlOverview['storage'], 'diskFreeBytes'> {
  const { batches, groups, bytes, queuedBytes, frontierSegments } = metrics;
  const { syncP50Ms, syncMaxMs, commitP50Ms, commitMaxMs } = metrics;
  return {
    ...{ batches, groups, bytes, queuedBytes, frontierSegments },
    ...{ syncP50Ms, syncMaxMs, commitP50Ms, commitMaxMs },
  };
}

function diskFree(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
