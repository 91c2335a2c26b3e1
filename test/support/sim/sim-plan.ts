// What a seed draws before anything runs: the web, the bounds of the crawl, the rates of faults (many of them zero) and the crashes. A plan
// is plain data, so a failing one can be shrunk by leaving faults out (run-sim.ts --shrink) and printed.
import { SeededRandom } from '../../../src/base/random.ts';
import { type PartialWorldOptions, VARIED_FEATURES } from '../world/world-options.ts';

/** Where a crash may be aimed: between what and what it falls. */
export const BOUNDARIES = [
  'fetch-started',
  'fetch-ended',
  'batch-submitted',
  'commit-begun',
  'committed',
  'receipt-delivered',
  'links-sent',
  'links-delivered',
  'receipt-sent',
  'log-rolled',
] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** How one run of the process ends before its time. */
export interface CrashPlan {
  /** `disk-full`: storage refuses, the shards drain, then the process ends. `orderly`: drained, committed, then ended. */
  readonly kind: 'crash' | 'disk-full' | 'orderly';
  /** Earliest time after the start of this run, ms. */
  readonly afterMs: number;
  /** From then on, at the `count`-th time this boundary is passed; absent: at once. */
  readonly at: { readonly boundary: Boundary; readonly count: number } | undefined;
  readonly downMs: number;
  /** By how much the wall clock jumps meanwhile. */
  readonly wallSkewMs: number;
  /** Threads of the next run. */
  readonly shardsAfter: number;
}

/** Rates are probabilities of one request, look-up or message. */
export interface FaultRates {
  readonly reset: number;
  readonly timeout: number;
  readonly refused: number;
  readonly overload: number;
  readonly retryAfter: boolean;
  readonly slow: number;
  readonly dnsFailed: number;
  readonly dnsSlow: number;
  readonly dnsShortTtl: number;
  readonly commitStall: number;
  readonly linkStall: number;
  readonly operator: number;
}

/** One simulation. */
export interface SimPlan {
  readonly world: string;
  readonly seed: number;
  readonly web: PartialWorldOptions;
  readonly shards: number;
  readonly partitions: number;
  readonly minGapMs: number;
  readonly maxCrawlDelayMs: number;
  readonly addressGapMs: number;
  readonly slotsMax: number;
  readonly hostsActiveMax: number;
  /** Queue entries in memory above which a shard puts hosts to sleep. */
  readonly residentEntriesMax: number;
  readonly flushMs: number;
  readonly pendingBytesMax: number;
  readonly backlogBytesMax: number;
  readonly robotsAskMs: number;
  readonly messagesPerTurn: number;
  readonly creditsMax: number;
  /** Entries of a log segment. */
  readonly rollEntries: number;
  readonly commitMs: readonly [number, number];
  readonly bloomKeys: number;
  readonly recentKeys: number;
  /** 0: no limit. */
  readonly maxPages: number;
  readonly faults: FaultRates;
  readonly crashes: readonly CrashPlan[];
  /** Pages are visited again when they are due. */
  readonly recrawls: boolean;
  readonly freshnessShare: number;
  /** Length of the safety phase, ms. */
  readonly safetyMs: number;
  /** Whether the ground truth of this web is exact: every reachable page must be stored. */
  readonly coverage: boolean;
  /** The web's traps are entered; what is parked then stays parked. */
  readonly isEndless: boolean;
  /** URLs of a host and of a domain to begin with. */
  readonly hostUrls: number;
  /** URLs waiting on a shard above which low-value discovery is parked. */
  readonly waitingHigh: number;
  /** Time to the first review of parked URLs, ms. */
  readonly reviewMs: number;
}

/** Bounds under which nothing is tight. */
export const PLAIN: Partial<SimPlan> = {
  slotsMax: 64,
  hostsActiveMax: 1000,
  pendingBytesMax: 10_000_000,
  backlogBytesMax: 10_000_000,
  messagesPerTurn: 16,
  creditsMax: 4096,
  rollEntries: 100_000,
  bloomKeys: 10_000,
  recentKeys: 65_536,
  maxPages: 0,
  addressGapMs: 0,
  shards: 1,
};

interface WorldDraw {
  readonly web: (random: SeededRandom) => PartialWorldOptions;
  readonly coverage: boolean;
  readonly safetyMs: number;
  /** Time-dependent answers name wall-clock dates: the crawl's clock must then be right. */
  readonly clockJumps: boolean;
  /** Its traps are entered. */
  readonly isEndless?: boolean;
  readonly recrawls?: true;
}

const between = (random: SeededRandom, low: number, high: number) =>
  low + random.below(high - low + 1);

/** The webs by name. Sizes are such that a seed takes tens of milliseconds. */
export const WORLDS: Readonly<Record<string, WorldDraw>> = {
  /** Healthy hosts with rules, delays, redirects and copies. */
  polite: {
    web: (random) => ({
      hosts: between(random, 3, 10),
      pagesPerHost: between(random, 3, 14),
      linksPerPage: 9,
      pageBytes: 300,
      crossHostLinks: 0.25,
      latencyMs: [1, 120],
      features: {
        robots: 0.6,
        crawlDelays: 0.3,
        redirects: 0.08,
        notFound: 0.05,
        duplicates: 0.1,
        mirrors: 0.1,
        spellings: 0.3,
        nofollow: 0.05,
        oddLinks: 0.05,
      },
    }),
    coverage: true,
    safetyMs: 30_000,
    clockJumps: true,
  },
  /** A little of everything that goes wrong on the web. */
  hostile: {
    web: (random) => ({
      hosts: between(random, 8, 18),
      pagesPerHost: between(random, 2, 8),
      linksPerPage: 9,
      pageBytes: 300,
      crossHostLinks: 0.35,
      latencyMs: [1, 400],
      features: {
        ...VARIED_FEATURES,
        robotsTrouble: 0.35,
        brokenHosts: 0.08,
        muteHosts: 0.06,
        dnsFailures: 0.1,
        slowHosts: 0.1,
        redirects: 0.12,
        spellings: 0.4,
        compressed: 0,
      },
    }),
    coverage: true,
    safetyMs: 60_000,
    clockJumps: true,
  },
  /** Few hosts with long queues: chunk rows, log rolls and sweeps. */
  deep: {
    web: (random) => ({
      hosts: between(random, 1, 3),
      pagesPerHost: between(random, 150, 320),
      linksPerPage: 60,
      pageBytes: 0,
      crossHostLinks: 0.1,
      latencyMs: [1, 30],
      features: { robots: 0.5, redirects: 0.05, spellings: 0.2, duplicates: 0.05 },
    }),
    coverage: true,
    safetyMs: 150_000,
    clockJumps: true,
  },
  /** Hosts with calendars, session ids and ever deeper folders without end: budgets alone keep the crawl from getting lost in them. */
  endless: {
    web: (random) => ({
      hosts: between(random, 2, 6),
      pagesPerHost: between(random, 10, 60),
      linksPerPage: 12,
      pageBytes: 600,
      crossHostLinks: 0.15,
      latencyMs: [1, 60],
      features: { robots: 0.4, redirects: 0.05, spellings: 0.2, duplicates: 0.06, traps: 0.7 },
    }),
    coverage: true,
    safetyMs: 60_000,
    clockJumps: false,
    isEndless: true,
  },
  /** Many hosts behind few addresses. */
  shared: {
    web: (random) => ({
      hosts: between(random, 8, 20),
      pagesPerHost: between(random, 2, 6),
      linksPerPage: 8,
      pageBytes: 100,
      crossHostLinks: 0.3,
      hostsPerAddress: between(random, 3, 10),
      latencyMs: [1, 900],
      features: { robots: 0.4, crawlDelays: 0.2, redirects: 0.05, spellings: 0.2, slowHosts: 0.1 },
    }),
    coverage: true,
    safetyMs: 40_000,
    clockJumps: true,
  },
  /** Pages that change, and a crawl that visits them again. */
  fresh: {
    web: (random) => ({
      hosts: between(random, 2, 6),
      pagesPerHost: between(random, 3, 10),
      linksPerPage: 6,
      pageBytes: 200,
      crossHostLinks: 0.3,
      latencyMs: [1, 80],
      changePeriodMs: 60_000,
      features: { robots: 0.4, redirects: 0.1, notFound: 0.1, duplicates: 0.1, changingPages: 0.5 },
    }),
    coverage: true,
    safetyMs: 120_000,
    clockJumps: false,
    recrawls: true,
  },
  /** Hosts that are overloaded now and then and cut answers short: what is reached depends on the time. */
  overload: {
    web: (random) => ({
      hosts: between(random, 4, 10),
      pagesPerHost: between(random, 3, 10),
      linksPerPage: 8,
      pageBytes: 400,
      crossHostLinks: 0.3,
      latencyMs: [1, 200],
      features: {
        robots: 0.5,
        robotsChanges: 0.3,
        errorsByTime: 0.25,
        flaky: 0.1,
        redirects: 0.06,
        spellings: 0.2,
        crawlDelays: 0.2,
      },
      robotsPeriodMs: 40_000,
    }),
    coverage: false,
    safetyMs: 60_000,
    clockJumps: false,
  },
};

/** Draws the plan of a seed in a world. @throws RangeError for an unknown world */
export function drawPlan(world: string, seed: number): SimPlan {
  const draw = WORLDS[world];
  if (draw === undefined) throw new RangeError(`no world ${world}: ${Object.keys(WORLDS)}`);
  const random = new SeededRandom(seed * 31 + world.length);
  const pick = <T>(...values: readonly T[]): T => values[random.below(values.length)] as T;
  const rate = (max: number) => (random.chance(0.5) ? 0 : random.float() * max);
  const shards = between(random, 1, 4);
  const safetyMs = draw.safetyMs * (0.3 + random.float());
  const faults: FaultRates = {
    reset: rate(0.1),
    timeout: rate(0.05),
    refused: rate(0.05),
    overload: rate(0.1),
    retryAfter: random.chance(0.5),
    slow: rate(0.1),
    dnsFailed: rate(0.2),
    dnsSlow: rate(0.3),
    dnsShortTtl: rate(0.5),
    commitStall: rate(0.1),
    linkStall: rate(0.2),
    operator: rate(0.5),
  };
  const crashCount = random.chance(0.3) ? 0 : between(random, 1, 5);
  const crashes = Array.from({ length: crashCount }, () =>
    drawCrash(random, safetyMs / crashCount, draw.clockJumps),
  );
  return {
    world,
    seed,
    web: { seed, ...draw.web(random) },
    shards,
    partitions: pick(16, 64, 256),
    minGapMs: pick(250, 1000, 1000, 2000),
    maxCrawlDelayMs: pick(2000, 30_000),
    addressGapMs: pick(0, 100, 250),
    slotsMax: pick(1, 2, 4, 16, 64),
    hostsActiveMax: pick(3, 4, 6, 1000, 1000, 1000),
    residentEntriesMax: 100_000,
    flushMs: pick(5, 50, 100, 250),
    pendingBytesMax: pick(2_000, 100_000, 10_000_000),
    backlogBytesMax: pick(1_500, 100_000, 10_000_000),
    robotsAskMs: pick(5_000, 30_000),
    messagesPerTurn: pick(1, 16),
    creditsMax: pick(1, 2, 8, 4096),
    rollEntries: pick(5, 40, 200, 100_000),
    commitMs: pick([0, 0], [1, 20], [50, 250]),
    bloomKeys: pick(8, 64, 10_000),
    recentKeys: pick(8, 64, 65_536),
    maxPages: draw.recrawls !== true && random.chance(0.1) ? between(random, 1, 40) : 0,
    faults,
    crashes,
    recrawls: draw.recrawls === true,
    freshnessShare: pick(1, 20, 20, 50),
    safetyMs,
    coverage: draw.coverage,
    isEndless: draw.isEndless === true,
    hostUrls: draw.isEndless === true ? 10_000 : pick(4, 30, 10_000, 10_000),
    reviewMs: draw.isEndless === true ? 30 * DAY_MS : pick(500, 20_000, 600_000),
    waitingHigh: draw.isEndless === true ? 1_000_000 : pick(5, 50, 1_000_000, 1_000_000),
  };
}

const DAY_MS = 86_400_000;

function drawCrash(random: SeededRandom, spacingMs: number, clockJumps: boolean): CrashPlan {
  const pick = <T>(...values: readonly T[]): T => values[random.below(values.length)] as T;
  const boundary = pick(...BOUNDARIES);
  return {
    kind: random.chance(0.8) ? 'crash' : pick('disk-full', 'orderly'),
    afterMs: random.float() * spacingMs,
    at: random.chance(0.6) ? { boundary, count: 1 + random.below(4) } : undefined,
    downMs: pick(0, 1, 300, 5_000),
    wallSkewMs: clockJumps ? pick(0, 0, 0, 0, -DAY_MS, DAY_MS, -30_000, 30_000) : 0,
    shardsAfter: between(random, 1, 4),
  };
}
