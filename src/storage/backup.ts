// Saves a data directory while its crawl runs, and without asking it: a snapshot of the tables first, then what the snapshot names (DESIGN.md
// §5). Logs only grow, so a copy made later holds what was committed; files that a running crawl removes (log segments, seen runs) or
// replaces (the WARC file that grows) are held open before the snapshot is taken. Nothing acknowledged before the call can be missing:
// receipts are sent after their commit. `backup.json` and `format` come last, so an unfinished backup is never taken for one.

import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { CrawlError } from '../base/errors.ts';
import { copyWarcs, type HeldWarc, holdOpenWarcs, letGo } from './backup-archive.ts';
import { type CopiedFile, copyFile, copyFrom, describeFile } from './backup-copy.ts';
import { type CommittedState, readCommitted } from './committed-state.ts';
import { readIdentity } from './crawl-identity.ts';
import { checkReadable, FORMAT_NUMBER, folderOf } from './directory.ts';
import { diskError } from './disk-error.ts';
import { replaceDurably, syncDirectory } from './files.ts';
import { openTables } from './tables.ts';

/** `backup.json`: what a backup holds. */
export interface BackupManifest {
  /** Number of the data format (directory.ts). */
  readonly format: number;
  readonly crawlId: string;
  /** ISO 8601, UTC: when the snapshot was taken. */
  readonly takenAt: string;
  readonly files: readonly CopiedFile[];
}

/** Name of the manifest. */
export const MANIFEST_NAME = 'backup.json';

/** A snapshot that the crawl has outrun is taken again; each try needs seconds, and a WARC file lasts longer. */
const TRIES_MAX = 5;
/** Not part of a backup: who runs, what is being written, what is derived (filter, local index), and what is copied by rules of its own. */
const LEFT_OUT = /^(?:lock.*|format|backup\.json|.*\.sock|.*\.tmp|bloom\.snapshot)$/;
const TABLES_PATH = 'lmdb/data.mdb';
const OWN_RULES: ReadonlySet<string> = new Set(['lmdb', 'warc', 'search']);
const CONSUMERS = 'feed/consumers/';

/**
 * Saves the crawl in `dir` into the new or empty directory `target`.
 * @throws CrawlError usage when there is no crawl or the target is not empty; data-version; disk, disk-full
 */
export async function takeBackup(
  dir: string,
  warcPrefix: string,
  target: string,
): Promise<BackupManifest> {
  checkReadable(dir);
  claimEmpty(target);
  try {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const manifest = await tryBackup(dir, warcPrefix, target);
      if (manifest === undefined) {
        for (const name of readdirSync(target)) rmSync(join(target, name), { recursive: true });
        continue;
      }
      replaceDurably(join(target, MANIFEST_NAME), Buffer.from(`${JSON.stringify(manifest)}\n`));
      replaceDurably(join(target, 'format'), Buffer.from(`${FORMAT_NUMBER}\n`));
      return manifest;
    }
  } catch (error) {
    throw diskError(error, target, `save ${dir} in ${target}`);
  }
  throw new CrawlError('disk', `the crawl in ${dir} outran ${TRIES_MAX} snapshots`, {
    remedy:
      'Save it to a faster disk, or pause the crawl meanwhile: node cluster.js inspect pause all',
    retriable: true,
  });
}

/** @throws CrawlError usage */
export function claimEmpty(target: string): void {
  try {
    mkdirSync(target, { recursive: true });
    if (readdirSync(target).filter((name) => name !== 'lost+found').length === 0) return;
  } catch (error) {
    throw diskError(error, target, `write to ${target}`);
  }
  throw new CrawlError('usage', `${target} is not empty`, {
    remedy: 'Name a new or empty directory.',
  });
}

async function tryBackup(
  dir: string,
  warcPrefix: string,
  target: string,
): Promise<BackupManifest | undefined> {
  const warc = folderOf(dir, 'warc');
  const heldWarcs = new Map<number, HeldWarc>();
  const heldFiles = new Map<string, number>();
  const hold = (isBefore: boolean): void => {
    holdOpenWarcs(warc, warcPrefix, heldWarcs);
    holdFiles(dir, heldFiles, isBefore);
  };
  try {
    const takenAt = new Date().toISOString();
    await copyTables(dir, target, hold);
    const { state, crawlId } = await readCopiedState(target);
    const warcs = copyWarcs({ directory: warc, prefix: warcPrefix }, folderOf(target, 'warc'), {
      end: state.warc[0],
      held: heldWarcs,
    });
    if (warcs === undefined) return undefined;
    const others = copyOthers(dir, target, heldFiles);
    if (!holdsLogs(target, state)) return undefined;
    const tables = { path: TABLES_PATH, ...describeFile(join(target, TABLES_PATH)) };
    for (const folder of ['lmdb', 'frontier', 'warc', 'audit', 'feed'] as const) {
      mkdirSync(folderOf(target, folder), { recursive: true });
      syncDirectory(folderOf(target, folder));
    }
    return { format: FORMAT_NUMBER, crawlId, takenAt, files: [tables, ...warcs, ...others] };
  } finally {
    letGo(heldWarcs.values());
    for (const fd of heldFiles.values()) closeSync(fd);
  }
}

/** Everything but what has rules of its own, relative. */
function listFiles(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile() || LEFT_OUT.test(entry.name)) return [];
    const path = relative(dir, join(entry.parentPath, entry.name));
    return OWN_RULES.has(path.split('/', 1)[0] as string) ? [] : [path];
  });
}

/**
 * Files that a running crawl may remove or replace: segments of the frontier and of the feed, seen runs, places of the feed's consumers. A
 * place must not be younger than the snapshot, or its consumer would miss what a restored crawl tells anew.
 */
function holdFiles(dir: string, held: Map<string, number>, isBefore: boolean): void {
  for (const path of listFiles(dir)) {
    if (!/^(?:frontier|feed)\//.test(path) || held.has(path)) continue;
    if (path.startsWith(CONSUMERS) && !isBefore) continue;
    try {
      held.set(path, openSync(join(dir, path), 'r'));
    } catch {
      // It went since it was listed; the snapshot, which is younger, does not name it.
    }
  }
}

/**
 * Copies the tables as of one moment.
 * @param hold called right before and right after that moment: whatever the snapshot names is there in one of the two
 */
async function copyTables(
  dir: string,
  target: string,
  hold: (isBefore: boolean) => void,
): Promise<void> {
  const tables = openTables(dir, { readOnly: true });
  try {
    const folder = folderOf(target, 'lmdb');
    mkdirSync(folder, { recursive: true });
    hold(true);
    // Its read transaction begins at once, on a thread of LMDB's; the copy takes as long as it takes.
    const copied = tables.root.backup(folder, false);
    hold(false);
    await copied;
  } finally {
    await tables.root.close();
  }
}

/** Reads the snapshot, and gives its file the length that its rows speak of: LMDB copies the pages in use, not the room behind them. */
async function readCopiedState(
  target: string,
): Promise<{ state: CommittedState; crawlId: string }> {
  const tables = openTables(target, { readOnly: true });
  try {
    const state = readCommitted(tables);
    const identity = readIdentity(tables);
    if (identity === undefined) {
      throw new CrawlError('usage', 'the crawl has not begun yet', { remedy: 'Try again.' });
    }
    const path = join(target, TABLES_PATH);
    if (statSync(path).size < state.tableBytes) truncateSync(path, state.tableBytes);
    return { state, crawlId: identity.crawlId };
  } finally {
    await tables.root.close();
    rmSync(join(folderOf(target, 'lmdb'), 'lock.mdb'), { force: true });
  }
}

function copyOthers(dir: string, target: string, held: ReadonlyMap<string, number>): CopiedFile[] {
  const younger = listFiles(dir).filter((path) => !path.startsWith(CONSUMERS));
  const paths = new Set([...held.keys(), ...younger]);
  return [...paths].sort().flatMap((path) => {
    const to = join(target, path);
    const fd = held.get(path);
    if (fd !== undefined) return [{ path, ...copyFrom(fd, to) }];
    try {
      return [{ path, ...copyFile(join(dir, path), to) }];
    } catch (error) {
      // It went since it was listed; whether it was needed is judged by the snapshot.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}

/** Whether the copied logs are at least as long as committed. */
function holdsLogs(target: string, state: CommittedState): boolean {
  const logs = [
    ...state.frontier.map((segment) => ({ path: `frontier/urls-${segment.number}.log`, segment })),
    ...state.audit.map((segment) => ({ path: `audit/audit-${segment.number}.log`, segment })),
    ...state.feed.map((segment) => ({ path: `feed/feed-${segment.number}.log`, segment })),
    ...state.feed.map((segment) => ({ path: `feed/feed-${segment.number}.log`, segment })),
  ];
  return logs.every(({ path, segment }) => {
    const size = statSync(join(target, path), { throwIfNoEntry: false })?.size ?? 0;
    return size >= segment.bytes;
  });
}
