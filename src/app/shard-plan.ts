// From the operator's configuration to what one shard is built with: bounds of its actors, policy of its hosts, limits of its fetcher.

import { totalmem } from 'node:os';
import type { TenureSource } from '../actors/fetch-tenure.ts';
import type { BandWeights } from '../actors/host-schedule.ts';
import type { ShardPlan } from '../actors/shard-assembly.ts';
import { assert } from '../base/assert.ts';
import type { PartitionIndex } from '../base/units.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import type { CrawlConfig } from '../config/options.ts';
import { createIdentityRules, type IdentityRules } from '../domain/canonical-query.ts';
import type { RecrawlPolicy } from '../domain/recrawl.ts';
import { Ring } from '../domain/ring.ts';
import { Scope } from '../domain/scope.ts';
import { TrackingParameters } from '../domain/tracking-parameters.ts';
import { trapOptions } from '../domain/traps.ts';
import { URL_BUDGET } from '../domain/url-budget.ts';
import type { UrlHasher } from '../domain/url-key.ts';
import { FETCH_LIMITS, type FetchLimits } from '../net/fetch-limits.ts';
import type { HostSettings } from './host-settings.ts';
import { openFilesMax } from './process-descriptors.ts';
import type { ShardThreadPlan } from './thread-plan.ts';

/** Share of the machine's memory that bodies on their way through one process may take, at most. */
const BODIES_SHARE = 1 / 16;
/** Bodies awaiting their commit: at a window of 250 ms, enough for 200 MB/s. */
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/** Bodies awaiting their parse: this much work in hand is plenty, more is only memory. */
const BACKLOG_BYTES_MAX = 24 * 1024 * 1024;
/** Queue entries and robots rules in memory for each thread; at about 200 bytes each, 24 MB. */
const RESIDENT_ENTRIES_MAX = 120_000;
/** Longest wait for the owner of another host to fetch a redirected robots.txt: its gap may be long. */
const ROBOTS_ASK_MS = 120_000;
/** Longest wait between two reviews of a host's parked URLs: a week. */
const REVIEW_MS_MAX = 7 * 86_400_000;

/**
 * @param isOptedOut asked for each host each time: its answers may change while the crawl runs
 * @param settings of single hosts; they may change, too
 * @param tenure what this node owns; undefined on one machine. The rest of the cluster is the shard after the last.
 */
export function shardPlanOf(
  plan: ShardThreadPlan,
  hasher: UrlHasher,
  isOptedOut: (host: string) => boolean,
  settings: HostSettings,
  tenure: TenureSource | undefined,
): ShardPlan {
  const { config, shards, partitions } = plan;
  const ring = shardRing(shards, partitions, hasher);
  const bodiesBytes = totalmem() * BODIES_SHARE;
  return {
    options: {
      shard: plan.shard,
      shards,
      productToken: PRODUCT_TOKEN,
      slotsMax: Math.max(Math.floor(config.concurrency / shards), 1),
      bandWeights: bandWeightsOf(config.bandWeights),
      freshnessShare: config.freshnessShare,
      // Visits do not move with their partitions yet.
      recrawls: (config.continuous || config.recrawl) && plan.remote === undefined,
      flushMs: Math.min(config.commitWindowMs, 40),
      pendingBytesMax: Math.min(bodiesBytes, PENDING_BYTES_MAX) / shards,
      backlogBytesMax: Math.min(bodiesBytes, BACKLOG_BYTES_MAX) / shards,
      residentEntriesMax: RESIDENT_ENTRIES_MAX,
      sitemaps: config.sitemaps,
      wellKnownSitemaps: config.wellKnownSitemaps,
      ...(config.render === 'off'
        ? {}
        : { render: { mode: config.render, inHandMax: config.renderPagesMax } }),
    },
    policy: {
      gap: settings.gapPolicyOf(''),
      productToken: PRODUCT_TOKEN,
      redirectsMax: config.redirectsMax,
      robotsBytesMax: config.robotsBytesMax,
      robotsAskMs: ROBOTS_ASK_MS,
      budget: {
        ...URL_BUDGET,
        urlsPerHost: config.hostUrls,
        ordinaryPagesMin: config.alikePagesMax,
        urlsPerDomain: config.domainUrls,
        hostsPerDomain: config.domainHosts,
      },
      waitingHigh: Math.ceil(config.frontierUrlsMax / shards),
      reviewMsMin: config.parkedReviewSeconds * 1_000,
      reviewMsMax: Math.max(REVIEW_MS_MAX, config.parkedReviewSeconds * 1_000),
      recrawl: recrawlPolicyOf(config),
      freshnessShare: config.freshnessShare,
      renderShare: config.renderShare,
      renders: config.render !== 'off',
    },
    gapPolicyOf: (host) => settings.gapPolicyOf(host),
    urlsOf: (host) => settings.urlsOf(host),
    isOptedOut,
    rules: identityRulesOf(config),
    scope: new Scope({
      mode: config.scope,
      seeds: plan.scopeSeeds,
      include: config.include,
      exclude: config.exclude,
    }),
    traps: trapOptions(new Date(plan.anchor.wall).getUTCFullYear()),
    depthMax: config.maxDepth ?? Number.POSITIVE_INFINITY,
    partitions,
    shardOf: (partition: PartitionIndex) =>
      tenure?.opensMs(partition) === Number.POSITIVE_INFINITY ? shards : ring.ownerOf(partition),
    hostsActiveMax: config.activeHostsMax,
  };
}

/** Bounds of the time between two visits of a page. */
export function recrawlPolicyOf(config: CrawlConfig): RecrawlPolicy {
  const { recrawlFirstSeconds, recrawlLeastSeconds, recrawlLongestSeconds } = config;
  return {
    firstMs: recrawlFirstSeconds * 1_000,
    leastMs: recrawlLeastSeconds * 1_000,
    longestMs: recrawlLongestSeconds * 1_000,
  };
}

/** Which thread owns which partition: the same ring that places partitions on machines (DESIGN.md §3). */
export function shardRing(threads: number, partitions: number, hasher: UrlHasher): Ring {
  const members = Array.from({ length: threads }, (_, shard) => ({
    name: `thread-${shard}`,
    weight: 1,
  }));
  return new Ring(members, partitions, (text) => hasher.hostKey(text));
}

/** What makes two spellings one URL in this crawl. */
export function identityRulesOf(config: CrawlConfig): IdentityRules {
  const tracking = new TrackingParameters({ drop: config.trackingParameters });
  return createIdentityRules({ stripSessions: config.stripSessions, tracking });
}

/** @throws AssertionFailure when there are not three: the configuration has checked them */
function bandWeightsOf(weights: readonly number[]): BandWeights {
  const [first, second, third] = weights;
  assert(first !== undefined && second !== undefined && third !== undefined, () => 'band weights');
  return [first, second, third];
}

/**
 * Idle connections that a thread keeps open: half of the descriptors the process may have, in equal parts, so that requests, DNS, files and
 * whoever inspects the crawl find theirs.
 * @param descriptors see process-descriptors.ts
 */
export function clientsMaxOf(descriptors: number, shards: number): number {
  return Math.min(FETCH_LIMITS.clientsMax, Math.max(Math.floor(descriptors / 2 / shards), 1));
}

export function fetchLimitsOf(plan: ShardThreadPlan): Partial<FetchLimits> {
  const { config } = plan;
  return {
    clientsMax: clientsMaxOf(openFilesMax(), plan.shards),
    deadlineMs: config.requestDeadlineMs,
    connectTimeoutMs: config.connectTimeoutMs,
    headersTimeoutMs: config.headersTimeoutMs,
    bodies: {
      ...FETCH_LIMITS.bodies,
      page: { payloadBytesMax: config.bodyBytesMax, decodedBytesMax: config.decodedBytesMax },
    },
  };
}
