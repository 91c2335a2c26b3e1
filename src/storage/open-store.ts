// Opens a data directory for its writer and brings everything in it back to the last durable commit (DESIGN.md §5): lock, format, tables,
// identity, WARC files, logs, seen runs, then the replay of the frontier log. After it, files and rows agree and no URL is lost. Runs on
// the storage thread.

import { CrawlError } from '../base/errors.ts';
import type { WallMs } from '../base/units.ts';
import { openAuditLog } from './audit-log.ts';
import type { CommittedState } from './committed-state.ts';
import { readCommitted } from './committed-state.ts';
import type { CrawlIdentity } from './crawl-identity.ts';
import { openOrCreateIdentity } from './crawl-identity.ts';
import type { DataDirectory } from './directory.ts';
import { folderOf, openDirectory } from './directory.ts';
import { damaged, diskError } from './disk-error.ts';
import { openFeedLog } from './feed-log.ts';
import { openFrontierLog } from './frontier-log.ts';
import type { RecoveryReport } from './recovery.ts';
import { replayFrontier } from './recovery.ts';
import { readManifest } from './seen-publisher.ts';
import { rebuildSeenRuns } from './seen-rebuild.ts';
import { EMPTY_SEEN_MANIFEST, SeenRuns } from './seen-runs.ts';
import type { SegmentLog } from './segment-log.ts';
import { SpaceWatch } from './space-watch.ts';
import type { Tables } from './tables.ts';
import { openTables, tableFileBytes } from './tables.ts';
import type { WarcWriterOptions } from './warc-writer.ts';
import { WarcWriter } from './warc-writer.ts';

/** How to open; plain data, so that it can be a thread's workerData. */
export interface StoreOptions {
  readonly dir: string;
  /** For a new crawl; of an existing one compared when `partitionsExplicit`. */
  readonly partitions: number;
  readonly partitionsExplicit: boolean;
  /** The identity of a cluster's crawl to join; a new one is drawn without it. */
  readonly identity?: CrawlIdentity | undefined;
  readonly warc: Omit<WarcWriterOptions, 'now'>;
  /** Length at which log files are followed by the next; bytes. */
  readonly logRollBytes: number;
  /** Bytes of the change feed that are kept at least. */
  readonly feedKeptBytes: number;
  /** Free disk that is kept; bytes. */
  readonly reserveBytes: number;
  /** Most the directory may take; bytes, undefined for no such limit. */
  readonly quotaBytes?: number | undefined;
}

/** A recovered store. */
export interface OpenStore {
  readonly directory: DataDirectory;
  readonly tables: Tables;
  readonly identity: CrawlIdentity;
  readonly archive: WarcWriter;
  /** Start of the WARC files' names. */
  readonly warcPrefix: string;
  readonly frontier: SegmentLog;
  readonly audit: SegmentLog;
  readonly feed: SegmentLog;
  readonly feedKeptBytes: number;
  readonly seenRuns: SeenRuns;
  readonly committed: CommittedState;
  readonly recovery: RecoveryReport;
  /** Why the seen runs had to be made anew; empty when they were whole. */
  readonly seenDamage: readonly string[];
}

/**
 * @param now the wall clock, for the creation time of a new crawl
 * @throws CrawlError data-locked, data-version, data-damaged, disk-full, disk, config
 */
export function openStore(options: StoreOptions, now: WallMs): OpenStore {
  const { dir } = options;
  const directory = openDirectory(dir, options.reserveBytes);
  try {
    checkQuota(options);
    return recoverStore(options, directory, now);
  } catch (error) {
    directory.lock.release();
    throw diskError(error, dir, `open the crawl in ${dir}`);
  }
}

/** A crawl that has used up its quota does not begin: it could fetch a few pages each time, until the quota is broken. */
function checkQuota({ dir, quotaBytes }: StoreOptions): void {
  const verdict = new SpaceWatch(dir, { reserveBytes: 0, quotaBytes }, () => 0).look(0);
  if (verdict.kind === 'room') return;
  throw new CrawlError('disk-full', `${dir} has used up its quota of ${quotaBytes} bytes`, {
    remedy: 'Give a larger --disk-quota, or move closed files away, for example by --object-store.',
    retriable: true,
  });
}

function recoverStore(options: StoreOptions, directory: DataDirectory, now: WallMs): OpenStore {
  const { dir, logRollBytes } = options;
  const tableBytes = tableFileBytes(dir);
  const tables = openTables(dir, { readOnly: false });
  const committed = readCommitted(tables);
  if (tableBytes < committed.tableBytes) {
    throw damaged(`${dir}/lmdb holds ${tableBytes} bytes of ${committed.tableBytes}`);
  }
  const identity = openOrCreateIdentity(tables, {
    partitions: options.partitions,
    explicit: options.partitionsExplicit,
    now,
    identity: options.identity,
  });
  const archive = new WarcWriter(folderOf(dir, 'warc'), options.warc);
  archive.open(committed.warc);
  const frontier = openFrontierLog(dir, logRollBytes, committed.frontier);
  const audit = openAuditLog(dir, logRollBytes, committed.audit);
  const feed = openFeedLog(dir, options.feedKeptBytes, committed.feed);
  const seenRuns = new SeenRuns(folderOf(dir, 'frontier'));
  const seenDamage = seenRuns.open(readManifest(tables));
  if (seenDamage.length > 0) {
    seenRuns.open(EMPTY_SEEN_MANIFEST);
    rebuildSeenRuns(tables, seenRuns);
  }
  // Committed at once: a file that a crash left closed is nobody's open file any more, whatever is done to it next.
  const repaired = { ...committed, warc: archive.ends() };
  const replayed = replayFrontier({
    ...{ dir, tables, frontier, seen: seenRuns, hostOf },
    committed: repaired,
  });
  return {
    directory,
    tables,
    identity,
    archive,
    warcPrefix: options.warc.prefix,
    frontier,
    audit,
    feed,
    feedKeptBytes: options.feedKeptBytes,
    seenRuns,
    committed: replayed.committed,
    recovery: replayed.report,
    seenDamage,
  };
}

/** The canonical host name of a URL that was accepted: lower case by the WHATWG URL rules, without one final dot. */
function hostOf(url: string): string {
  const { hostname } = new URL(url);
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}
