// The data directory of DESIGN.md §9: `lock`, `format`, `lmdb/`, `frontier/`, `warc/`, `audit/`. Makes it, checks that this version may use
// it, and tells the operator what is wrong when it may not. The format number is a plain file of its own, so that any version can read it
// before it maps anything.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../base/errors.ts';
import { diskError, freeBytes } from './disk-error.ts';
import { syncDirectory } from './files.ts';
import type { DirectoryLock } from './lock.ts';
import { takeLock } from './lock.ts';

/** Number of the layout of everything below the data directory; raised whenever an older version would misread it. */
export const FORMAT_NUMBER = 1;

const FOLDERS = ['lmdb', 'frontier', 'warc', 'audit', 'feed'] as const;
type Folder = (typeof FOLDERS)[number];
/** Names that may lie in a directory before a crawl is created there; `bus` is the node's own server's. */
const OWN_NAMES: ReadonlySet<string> = new Set(['lost+found', 'debug.sock', 'bus', ...FOLDERS]);

/** A data directory opened for writing. */
export interface DataDirectory {
  readonly dir: string;
  readonly lock: DirectoryLock;
}

/** The path of one of the directory's folders. */
export function folderOf(dir: string, folder: Folder): string {
  return join(dir, folder);
}

/** Where the Bloom filter's snapshot lies. */
export function bloomPath(dir: string): string {
  return join(folderOf(dir, 'frontier'), 'bloom.snapshot');
}

/**
 * Makes a directory ready for its one writer and locks it.
 * @param reserveBytes least free disk with which a crawl may start
 * @throws CrawlError data-locked, data-version, disk-full, disk
 */
export function openDirectory(dir: string, reserveBytes: number): DataDirectory {
  try {
    mkdirDeep(dir);
  } catch (error) {
    throw notDirectory(error, dir);
  }
  const free = freeBytes(dir);
  if (free < reserveBytes) {
    throw new CrawlError(
      'disk-full',
      `${dir} has ${free} bytes free; ${reserveBytes} are kept in reserve`,
      { remedy: 'Free space on this disk or choose another with --data.', retriable: true },
    );
  }
  const lock = takeLock(dir);
  try {
    checkFormat(dir, { create: true });
    prepareFolders(dir);
    return { dir, lock };
  } catch (error) {
    lock.release();
    throw diskError(error, dir, `prepare ${dir}`);
  }
}

/** Makes the folders of a data directory, durably. */
export function prepareFolders(dir: string): void {
  for (const folder of FOLDERS) mkdirSync(folderOf(dir, folder), { recursive: true });
  syncDirectory(dir);
}

/**
 * Checks that a directory holds a crawl this version can read.
 * @throws CrawlError usage when it holds none; data-version; disk
 */
export function checkReadable(dir: string): void {
  if (!existsSync(join(dir, 'format'))) {
    throw new CrawlError('usage', `${dir} holds no crawl`, {
      remedy: 'Name the directory of a crawl with --data.',
    });
  }
  checkFormat(dir, { create: false });
}

function checkFormat(dir: string, options: { create: boolean }): void {
  const path = join(dir, 'format');
  if (!existsSync(path)) {
    if (options.create) createFormat(dir);
    return;
  }
  const text = readFileSync(path, 'utf8').trim();
  if (text === String(FORMAT_NUMBER)) return;
  if (!/^\d{1,9}$/.test(text)) {
    throw new CrawlError('data-damaged', `${path} holds no format number`, {
      remedy: 'Restore the directory from a copy, or start a new crawl with --data.',
    });
  }
  throw new CrawlError(
    'data-version',
    `${dir} has data format ${text}, this version writes format ${FORMAT_NUMBER}`,
    {
      remedy: `Continue this crawl with the version that wrote it, or start a new one with --data.`,
    },
  );
}

function createFormat(dir: string): void {
  const strangers = readdirSync(dir).filter(
    (name) => !OWN_NAMES.has(name) && !name.startsWith('lock'),
  );
  if (strangers.length > 0) {
    throw new CrawlError('usage', `${dir} is not empty and holds no crawl (${strangers[0]} …)`, {
      remedy: 'Name an empty or new directory with --data.',
    });
  }
  const draft = join(dir, 'lock.format-draft');
  writeFileSync(draft, `${FORMAT_NUMBER}\n`, { flush: true });
  renameSync(draft, join(dir, 'format'));
}

/** mkdir -p; on a read-only disk Node's own says ENOENT, so the system is asked once more for the true reason. */
function mkdirDeep(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(dir);
  }
}

function notDirectory(error: unknown, dir: string): CrawlError {
  const code = (error as NodeJS.ErrnoException).code;
  if (code !== 'ENOTDIR' && code !== 'EEXIST') return diskError(error, dir, `create ${dir}`);
  return new CrawlError('disk', `${dir} is not a directory`, {
    remedy: 'Choose a directory with --data.',
    cause: error,
  });
}
