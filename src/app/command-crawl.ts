// `node cluster.js [seed-url…]`: one crawl, from seeds to the final report; goes on with the crawl that the data directory holds. Watches
// limits, signals and trouble, shows progress, and sees to it that every way to end is an orderly one (DESIGN.md §9).

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostNotice } from '../actors/services.ts';
import type { ShardStatus } from '../actors/shard-ports.ts';
import { CrawlError } from '../base/errors.ts';
import { PRODUCT_TOKEN, VERSION } from '../base/version.ts';
import type { CrawlConfig } from '../config/options.ts';
import { Log } from '../ops/log.ts';
import { SharedAllowance } from '../runtime/shared-allowance.ts';
import { ReadStore } from '../storage/read-store.ts';
import { WARC_PREFIX } from '../storage/warc-names.ts';
import { readPlace } from './cluster-place.ts';
import { ClusterRun } from './cluster-run.ts';
import { runTrial } from './cluster-trial.ts';
import { CrawlMonitor, hostsWaiting } from './crawl-monitor.ts';
import { CrawlOperations, hasTerminal } from './crawl-operations.ts';
import { CrawlProcess, STOP_GRACE_MS } from './crawl-process.ts';
import { type CrawlReport, crawlReport, type EndReason, reportText } from './crawl-report.ts';
import { LiveLists } from './live-lists.ts';
import { readOptOutFile } from './opt-out-file.ts';
import { memoryBytes } from './process-memory.ts';
import { createProgress, type Progress, type ProgressSnapshot } from './progress.ts';
import { logRenderNews } from './render-crew.ts';
import { rememberSeeds } from './scope-seeds.ts';
import { readSeeds } from './seeds.ts';
import { tellWhatStops } from './stop-words.ts';
import { logStorageNews } from './storage-news.ts';
import { SHARD_ENTRY } from './waiting-shard.ts';

/** Time between two looks at the shards. */
const LOOK_MS = 100;
/** Seeds handed over at once; the shards answer before the next portion follows. */
const SEEDS_PORTION = 1_000;
/** How long an orderly end is waited for after trouble. */
const FAILED_END_MS = 10_000;
/** Time to print what happened before a process is ended whose threads cannot be. */
const FAILED_EXIT_MS = 500;
/** Links on their way between shards above which seeds wait. */
const SEEDS_LINKS_MAX = 50_000;

/** Why the run ends; the first reason counts. */
interface Ending {
  reason: EndReason | undefined;
  error: CrawlError | undefined;
  /** A node of a cluster goes alone: the others take over what it has. */
  isAlone: boolean;
}

/**
 * @param reread reads the config file anew, the flags over it
 * @param shardEntry the module that shard threads run; benchmarks have one of their own
 * @returns the exit status: 0 for a crawl that is done, at a limit or stopped in order
 */
export async function commandCrawl(
  config: CrawlConfig,
  seedArguments: readonly string[],
  reread: () => Promise<CrawlConfig>,
  shardEntry: URL = SHARD_ENTRY,
): Promise<number> {
  const startedMs = performance.now();
  const place =
    config.nodesFile === undefined ? undefined : readPlace(config.nodesFile, config.nodeName);
  if (place?.own.kind === 'all') return runTrial(config, place.file, process.argv.slice(2));
  const ending: Ending = { reason: undefined, error: undefined, isAlone: place !== undefined };
  const seeds = await readSeeds(seedArguments, config.seedsFile);
  if (place === undefined) checkHasWork(config, seeds);
  const certificates = config.caFile === undefined ? [] : [readCertificate(config.caFile)];
  const optOut = config.optOutFile === undefined ? [] : readOptOutFile(config.optOutFile).domains;
  const progress = createProgress(config.progress);
  const log = new Log({ level: config.logLevel, write: (line) => progress.writeAbove(line) });
  const restoreSignals = listenToSignals(ending);
  const failed = (error: CrawlError): void => {
    ending.error ??= error;
    ending.reason ??= 'failed';
  };
  const cluster =
    place?.own.kind === 'one'
      ? await ClusterRun.open(config, { file: place.file, node: place.own.node }, log)
      : undefined;
  let counters = new Map<string, number>();
  const crawl = await CrawlProcess.start(
    {
      config,
      userAgent: config.userAgent,
      software: `${PRODUCT_TOKEN}/${VERSION}`,
      trustedCertificates: certificates,
      optOut,
      storageNews: (news) => {
        logStorageNews(log, news);
        if (news.kind === 'quota-near') ending.reason ??= 'disk-quota';
      },
      renderNews: (news) => logRenderNews(log, news),
      noticed: (notice) => log.info(notice.code, noticeText(notice), { ...notice }),
      cluster: cluster?.seats,
      shardEntry,
      failed,
    },
    () => {
      counters = readCountersOf(config);
      return {
        storedPages: counters.get('pages') ?? 0,
        scopeSeeds: rememberSeeds(config, seeds),
      };
    },
  ).catch(async (error) => {
    await cluster?.end();
    throw error;
  });
  tellStart(log, config, crawl);
  const store = new ReadStore(config.dataDir, WARC_PREFIX);
  const lists = await LiveLists.open(config, crawl, log);
  const operations = await openOperations({ crawl, config, store, log, lists, reread });
  const run = new CrawlRun(
    { config, crawl, ending, cluster },
    { startedMs, countersBefore: counters },
  );
  await cluster?.begin(failed);
  await run.inject(seeds);
  await run.watch(store, progress, () => operations.state.pauses.holds(performance.now()));
  log.info('ending', `ending: ${ending.reason ?? 'done'}`, { reason: ending.reason ?? 'done' });
  lists.close();
  await operations.close();
  await store.close();
  progress.close();
  const report = await endWithin(run, ending);
  restoreSignals();
  if (report !== undefined) print(config, report);
  if (ending.error !== undefined) throw ending.error;
  return 0;
}

/** After trouble a thread may not be able to end in order: what was acknowledged is on disk, so the process need not wait for it. */
async function endWithin(run: CrawlRun, ending: Ending): Promise<CrawlReport | undefined> {
  if (ending.error === undefined) return run.end();
  const waiting = new AbortController();
  // Called off below: a timer that still runs would keep the process for its whole time.
  const tooLate = sleep(FAILED_END_MS, undefined, { signal: waiting.signal }).catch(
    () => undefined,
  );
  const report = await Promise.race([run.end(), tooLate]);
  waiting.abort();
  if (report === undefined) {
    const { exitStatus } = ending.error;
    setTimeout(() => process.exit(exitStatus), FAILED_EXIT_MS).unref();
  }
  return report;
}

/** A crawl begins with a seed, or goes on with what its directory holds. */
function checkHasWork(config: CrawlConfig, seeds: readonly string[]): void {
  if (seeds.length > 0 || existsSync(join(config.dataDir, 'lmdb'))) return;
  throw new CrawlError(
    'usage',
    `nothing to crawl: no seed was given and ${config.dataDir} holds no crawl`,
    {
      remedy: 'Give a seed, for example: node cluster.js https://example.com/ (or --seeds FILE).',
    },
  );
}

/** Opens socket and dashboard; a crawl that cannot be operated as asked does not begin, and leaves its directory in order. */
async function openOperations(
  options: Parameters<typeof CrawlOperations.open>[0],
): Promise<CrawlOperations> {
  try {
    return await CrawlOperations.open(options);
  } catch (error) {
    await options.store.close();
    await options.crawl.stop(0);
    throw error;
  }
}

function tellStart(log: Log, config: CrawlConfig, crawl: CrawlProcess): void {
  const { recovery, seenDamage } = crawl.storage.opened;
  const { dataDir, threads, concurrency, minGapMs, debugSocket } = config;
  log.info('started', `crawling into ${dataDir} with ${threads} threads`, {
    ...{ dataDir, threads, concurrency, minGapMs, debugSocket },
    hostsResumed: crawl.recoveredHosts,
    recovery,
  });
  for (const damage of seenDamage) log.warn('seen-damage', damage);
}

function noticeText({ host, askedMs, keptMs }: HostNotice): string {
  return `${host} asks for a Crawl-delay of ${askedMs / 1_000} s; ${keptMs / 1_000} s are kept (maxCrawlDelayMs)`;
}

/** One run from the first seed to the last commit. */
class CrawlRun {
  readonly #config: CrawlConfig;
  readonly #crawl: CrawlProcess;
  readonly #ending: Ending;
  readonly #cluster: ClusterRun | undefined;
  readonly #started: { readonly startedMs: number; readonly countersBefore: Map<string, number> };
  readonly #allowance: SharedAllowance;
  #peakBytes = 0;
  #waiting = 0;

  constructor(
    parts: {
      readonly config: CrawlConfig;
      readonly crawl: CrawlProcess;
      readonly ending: Ending;
      readonly cluster: ClusterRun | undefined;
    },
    started: { readonly startedMs: number; readonly countersBefore: Map<string, number> },
  ) {
    this.#config = parts.config;
    this.#crawl = parts.crawl;
    this.#ending = parts.ending;
    this.#cluster = parts.cluster;
    this.#started = started;
    this.#allowance = new SharedAllowance(parts.crawl.memories.pages);
  }

  /** Hands the seeds over portion by portion, as fast as the shards take them. */
  async inject(seeds: readonly string[]): Promise<void> {
    for (let at = 0; at < seeds.length && this.#ending.reason === undefined; at += SEEDS_PORTION) {
      const portion = seeds.slice(at, at + SEEDS_PORTION);
      this.#crawl.inject(portion.map((url) => ({ url, depth: 0 })));
      let news = await this.#crawl.refresh();
      while (news.reduce((sum, { status }) => sum + status.linksWaiting, 0) > SEEDS_LINKS_MAX) {
        await sleep(LOOK_MS);
        news = await this.#crawl.refresh();
      }
    }
  }

  /** Returns when there is a reason to end. @param isHeld an operator has paused something: the crawl is not done before it is resumed */
  async watch(store: ReadStore, progress: Progress, isHeld: () => boolean): Promise<void> {
    const { lingerSeconds, continuous, maxTimeSeconds } = this.#config;
    const monitor = new CrawlMonitor(lingerSeconds * 1_000);
    let asked: Promise<void> | undefined;
    let isFresh = false;
    while (this.#ending.reason === undefined) {
      // A busy shard answers late: what it said before is shown, but only a new answer of all tells whether the crawl is done.
      asked ??= this.#crawl.refresh().then(() => {
        isFresh = true;
        asked = undefined;
      });
      await Promise.race([sleep(LOOK_MS), asked]);
      await sleep(LOOK_MS);
      const statuses = this.#crawl.news().map(({ status }) => status);
      this.#peakBytes = Math.max(this.#peakBytes, memoryBytes());
      this.#waiting = hostsWaiting(statuses);
      const seconds = (performance.now() - this.#started.startedMs) / 1_000;
      progress.show(() => this.#snapshot(store, statuses, seconds));
      if (this.#allowance.isSpent) this.#ending.reason ??= 'max-pages';
      if (maxTimeSeconds !== undefined && seconds >= maxTimeSeconds)
        this.#ending.reason ??= 'max-time';
      if (isFresh && !continuous) {
        this.#look(monitor.isDone(statuses, performance.now()) && !isHeld());
      }
      isFresh = false;
    }
  }

  /** Alone, a crawl with nothing to do is done; in a cluster when all nodes find so. */
  #look(isQuiet: boolean): void {
    if (this.#cluster === undefined) {
      if (isQuiet) this.#ending.reason ??= 'done';
      return;
    }
    this.#cluster.report(this.#crawl.news(), isQuiet);
    if (this.#cluster.ending !== undefined) this.#ending.reason ??= 'done';
  }

  /** Checkpoints, closes and reports. Undefined when the data directory cannot be read any more. */
  async end(): Promise<CrawlReport | undefined> {
    const reason = this.#ending.reason ?? 'done';
    if (reason === 'stopped' && this.#ending.isAlone) await this.#cluster?.drain(this.#crawl);
    const told = tellWhatStops(this.#crawl, (text) => process.stderr.write(`hostler: ${text}\n`));
    await this.#crawl.stop(reason === 'failed' ? 0 : STOP_GRACE_MS);
    told();
    await this.#cluster?.end();
    const { user, system } = process.cpuUsage();
    const seconds = (performance.now() - this.#started.startedMs) / 1_000;
    return crawlReport(readCountersOf(this.#config), {
      countersBefore: this.#started.countersBefore,
      cpuSeconds: (user + system) / 1e6,
      peakRssBytes: this.#peakBytes,
      seconds,
      hostsWaiting: this.#waiting,
      reason,
    });
  }

  #snapshot(store: ReadStore, statuses: readonly ShardStatus[], seconds: number): ProgressSnapshot {
    const counters = store.counters();
    const before = this.#started.countersBefore;
    const pages = counters.get('pages') ?? 0;
    const sum = (of: (status: ShardStatus) => number): number =>
      statuses.reduce((total, status) => total + of(status), 0);
    return {
      pages,
      fetched: counters.get('fetched') ?? 0,
      queued: QUEUED.reduce((total, name) => total + Math.max(counters.get(name) ?? 0, 0), 0),
      inFlight: sum(({ inFlight }) => inFlight),
      hostsReady: sum(({ due }) => due),
      hostsWaiting: sum(({ waiting, backingOff }) =>
        waiting.reduce((all, hosts) => all + hosts, backingOff),
      ),
      pagesPerSecond: seconds > 0 ? (pages - (before.get('pages') ?? 0)) / seconds : 0,
      bytes: counters.get('bytes') ?? 0,
      seconds,
      limit: this.#config.maxPages,
    };
  }
}

function readCountersOf(config: CrawlConfig): Map<string, number> {
  const store = new ReadStore(config.dataDir, WARC_PREFIX);
  try {
    return store.counters();
  } finally {
    void store.close();
  }
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CrawlError('config', `--ca ${path} cannot be read: ${String(cause)}`, { cause });
  }
}

/** The first SIGINT or SIGTERM ends the crawl in order, a second one at once. @returns a function that stops listening */
function listenToSignals(ending: Ending): () => void {
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals += 1;
    if (signals > 1) process.exit(EXIT_STOPPED_AT_ONCE);
    ending.reason ??= 'stopped';
    process.stderr.write(`hostler: ${signal}: checkpointing; once more to stop at once\n`);
  };
  // The starter of a trial cluster ends all its nodes at once, and they end when it is gone.
  const onTrialEnd = (): void => {
    ending.isAlone = false;
    ending.reason ??= 'stopped';
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  // The terminal of a crawl is gone; one that never had a terminal reads its configuration anew (crawl-operations.ts).
  if (hasTerminal()) process.on('SIGHUP', onSignal);
  process.on('message', onTrialEnd);
  process.on('disconnect', onTrialEnd);
  return () => {
    process.off('message', onTrialEnd);
    process.off('disconnect', onTrialEnd);
    if (process.connected) process.disconnect();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('SIGHUP', onSignal);
  };
}

/** Counters of URLs waiting, by band (actors/host-queues.ts). */
const QUEUED = ['queued.0', 'queued.1', 'queued.2', 'queued.due'];

/** DESIGN.md §9. */
const EXIT_STOPPED_AT_ONCE = 130;

function print(config: CrawlConfig, report: CrawlReport): void {
  if (config.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stderr.write(`${reportText(report)}\n`);
}
