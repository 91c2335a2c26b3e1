// What a host actor's parts are lent, for tests that run one part alone: the real stage, staged reader and gate over recording ports, and
// a seen set that is a plain set.

import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { DomainAccounts } from '../../../src/actors/domain-accounts.ts';
import { FetchGate } from '../../../src/actors/fetch-gate.ts';
import { ALWAYS_OURS, TenureBook } from '../../../src/actors/fetch-tenure.ts';
import type { HostPlaceIdentity } from '../../../src/actors/messages.ts';
import { OperatorSettings } from '../../../src/actors/operator-settings.ts';
import type { DeniedCheckpoint } from '../../../src/actors/ports.ts';
import type { HostNotice, HostServices } from '../../../src/actors/services.ts';
import { StagedReader } from '../../../src/actors/staged-reader.ts';
import { monotonicMs, partitionIndex, type UrlKey, wallMs } from '../../../src/base/units.ts';
import { CRAWL_RULES, canonicalize } from '../../../src/domain/canonical-url.ts';
import { trapOptions } from '../../../src/domain/traps.ts';
import { URL_BUDGET } from '../../../src/domain/url-budget.ts';
import type { UrlHasher } from '../../../src/domain/url-key.ts';
import { shapeOf } from '../../../src/domain/url-shape.ts';
import { SharedTallies } from '../../../src/runtime/shared-tallies.ts';
import { RECRAWL } from '../recrawl-policy.ts';
import { RecordingCheckpoint, RecordingFetch, readerOf } from './recording-ports.ts';

const GAP = { minGapMs: 1_000, maxCrawlDelayMs: 30_000, latencyFactor: 0 };

/** Services of one host and what they were asked. */
export interface LentServices {
  readonly services: HostServices;
  readonly checkpoint: RecordingCheckpoint;
  readonly seen: Set<bigint>;
  readonly notices: HostNotice[];
  /** Hosts that asked to be left alone; may change. */
  readonly optedOut: Set<string>;
  readonly id: HostPlaceIdentity;
}

/**
 * @param hasher of the crawl
 * @param denied URLs that storage knows as denied
 */
export function lendServices(
  hasher: UrlHasher,
  denied: readonly DeniedCheckpoint[] = [],
): LentServices {
  const checkpoint = new RecordingCheckpoint();
  const stage = new CheckpointStage(checkpoint, {
    pageCommitted: () => {},
    opened: () => {},
    full: () => {},
  });
  const seen = new Set<bigint>();
  const notices: HostNotice[] = [];
  const tallies = new SharedTallies(SharedTallies.createMemory(64));
  const optedOut = new Set<string>();
  const canonicalOf = (url: string): string => {
    const canonical = canonicalize(url, CRAWL_RULES);
    return canonical.kind === 'canonical' ? canonical.canonical : url;
  };
  const keyOf = (url: string): UrlKey => hasher.urlKey(canonicalOf(url));
  const services: HostServices = {
    policy: {
      gap: GAP,
      productToken: 'hostler',
      redirectsMax: 10,
      robotsBytesMax: 512_000,
      robotsAskMs: 5_000,
      budget: URL_BUDGET,
      waitingHigh: 1_000_000,
      reviewMsMin: 3_600_000,
      reviewMsMax: 7 * 86_400_000,
      recrawl: RECRAWL,
      freshnessShare: 20,
      renderShare: 30,
      renders: false,
    },
    residency: { entries: 0, visits: 0, waiting: 0 },
    reader: new StagedReader(stage, readerOf(denied)),
    resolver: { resolve: () => {} },
    stage,
    gate: new FetchGate(new RecordingFetch(), 1, () => {}),
    tenures: new TenureBook(ALWAYS_OURS),
    giveAway: () => {},
    mayReturn: () => false,
    isDoneAlready: () => false,
    addresses: { tryTake: () => ({ kind: 'taken' }), release: () => {} },
    settings: new OperatorSettings(),
    networks: { networkOf: () => undefined, factorOf: () => 1, heard: () => {} },
    notice: (notice) => notices.push(notice),
    pages: { tryReserve: () => true, settle: () => {} },
    seen: {
      addIfNew: (key) => {
        const isNew = !seen.has(key);
        seen.add(key);
        return isNew;
      },
      has: (key) => seen.has(key),
    },
    domains: new DomainAccounts(tallies, (name) => hasher.hostKey(name)),
    shapeOf: (url) => shapeOf(url, trapOptions(2026)),
    gapPolicyOf: () => GAP,
    urlsOf: () => services.policy.budget.urlsPerHost,
    leastGapMsOf: () => 0,
    isOptedOut: (host) => optedOut.has(host),
    startedMs: monotonicMs(0),
    startedAt: wallMs(1_700_000_000_000),
    toShard: () => {},
    scheduledBand: () => undefined,
    toHost: () => {},
    keyOf,
    canonicalOf,
    spellingKeyOf: (url) => hasher.urlKey(url),
    hostOf: (url) => new URL(url).hostname,
    askRobots: () => 1,
    answerRobots: () => {},
    answerResource: () => {},
    hasStoppedRendering: () => false,
    robotsRead: () => {},
  };
  const host = 'site.test';
  const id = { host, hostKey: hasher.hostKey(host), partition: partitionIndex(0) };
  return { services, checkpoint, seen, notices, optedOut, id };
}
