// A snapshot of a crawl that has run for `seconds`, made by rule: the figures grow
// with time and differ from each other, so that a test or a look at the dashboard
// sees when two are mixed up.

import type { CrawlOverview, ShardOverview } from '../../../src/ops/overview.ts';

/** When the sample crawl began, milliseconds since the epoch. */
export const SAMPLE_STARTED_AT = 1_750_000_000_000;

/** The snapshot after so many seconds. */
export function sampleOverview(seconds: number, startedAt = SAMPLE_STARTED_AT): CrawlOverview {
  const wave = Math.round(20 * Math.sin(seconds / 30));
  const fetched = 90 * seconds + 4 * wave;
  return {
    at: startedAt + seconds * 1_000,
    startedAt,
    version: '0.1.0',
    state: 'running',
    pages: 80 * seconds,
    fetched,
    bytes: fetched * 41_200,
    discovered: 210 * seconds,
    links: 9_100 * seconds,
    duplicates: { exact: 3 * seconds, near: seconds },
    soft404: 0,
    statuses: {
      ...{ '200': 80 * seconds, '301': 4 * seconds, '404': 3 * seconds, '403': seconds },
      ...{ '503': 2 * seconds, '999': 7 },
    },
    failures: { timeout: seconds, 'connect-refused': 12, 'odd-kind': 5 },
    retries: { 'status-5xx': 2 * seconds, timeout: seconds },
    render: { pages: seconds, gained: seconds, 'failed.timeout': 1 },
    rendering: 2,
    skipped: { scope: 700 * seconds, robots: 30 * seconds, trap: 9, 'not-http': 44, novel: 2 },
    responseMs: {
      boundsMs: [10, 30, 100, 300, 1_000, 3_000, 10_000],
      counts: [5, 20, 40, 15 + (wave >> 2), 7, 2, 1, 0].map((count) => count * seconds),
      sumMs: 14_000 * seconds,
    },
    queuedByBand: [40 * seconds, 60 * seconds, 20 * seconds],
    parked: 11,
    hosts: { known: 1_500, active: 420, ready: 30 + wave, waiting: 310 - wave, backingOff: 14 },
    inFlight: 64 + wave,
    slots: 256,
    minGapMs: 1_000,
    seenSet: {
      keys: 1_000 * seconds,
      capacity: 1_000_000,
      generations: 1,
      confirmed: 13 * seconds,
      falsePositives: seconds,
    },
    storage: {
      batches: 6 * seconds,
      groups: 4 * seconds,
      bytes: 50_000 * seconds,
      queuedBytes: 120_000,
      syncP50Ms: 1.1,
      syncMaxMs: 42,
      commitP50Ms: 7.5,
      commitMaxMs: 61,
      frontierSegments: 3,
      diskFreeBytes: 81e9,
    },
    shards: [sampleShard(0, seconds), sampleShard(1, seconds)],
    nodes: [{ name: 'local', state: 'up', partitions: 256 }],
    partitions: 256,
    memory: { anonBytes: 310e6, sharedBytes: 130e6 },
    cpuSeconds: 1.4 * seconds,
  };
}

function sampleShard(shard: number, seconds: number): ShardOverview {
  return {
    shard,
    inFlight: 32 + shard,
    hostsReady: 15,
    hostsWaiting: 155,
    hostsBackingOff: 7,
    hostsActive: 210,
    parseBacklog: 4 + shard,
    pendingBytes: 900_000,
    linksWaiting: 12 * shard,
    busyMs: 600 * seconds,
    loopDelayMs: 0.8 + shard,
    loopDelayMaxMs: 21,
    connections: 160,
    deadLetters: shard,
  };
}
