// Turns what the operating system and LMDB say about a disk into this project's words: a CrawlError at the edge, a StorageEvent code
// for the shards (step 10 fails in order, never half). The full disk is told apart from other trouble because the operator can act on it.

import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../base/errors.ts';
import { ByteDamage } from './byte-reader.ts';

/** The three kinds of trouble a StorageEvent names. */
export type StorageTrouble = 'disk-full' | 'disk' | 'data-damaged';

/** No room: out of blocks, over quota, over the file size limit of the process. */
const FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** Not ours to write, or mounted read-only. */
const UNWRITABLE_CODES: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);
/** LMDB reports a short write as EIO; if this many bytes cannot be written either, the disk or a quota was full. */
const PROBE_BYTES = 1 << 20;
const EIO = 5;
/** errno of EFBIG, ENOSPC and EDQUOT on Linux, as LMDB passes them on. */
const FULL_NUMBERS: ReadonlySet<number> = new Set([27, 28, 122]);
/** lmdb.h: MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_VERSION_MISMATCH. */
const LMDB_DAMAGE: ReadonlySet<number> = new Set([-30796, -30797, -30793, -30794]);

const REMEDIES: Readonly<Record<StorageTrouble, string>> = {
  'disk-full':
    'Free space on this disk or choose another with --data, then run the same command again.',
  disk: 'Check the disk and the permissions of this folder, then run the same command again.',
  'data-damaged':
    'Restore the data directory from a copy, or start a new crawl in another one with --data.',
};

/**
 * What kind of trouble an error stands for.
 * @param path the data directory, to ask how much may still be written
 */
export function troubleOf(error: unknown, path: string): StorageTrouble {
  if (error instanceof ByteDamage) return 'data-damaged';
  if (error instanceof CrawlError) {
    if (error.code === 'disk-full' || error.code === 'data-damaged') return error.code;
    return error.cause === undefined ? 'disk' : troubleOf(error.cause, path);
  }
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && FULL_CODES.has(code)) return 'disk-full';
  if (typeof code === 'number') {
    if (LMDB_DAMAGE.has(code)) return 'data-damaged';
    if (FULL_NUMBERS.has(code)) return 'disk-full';
    if (code === EIO && isFull(path)) return 'disk-full';
  }
  return 'disk';
}

function isFull(path: string): boolean {
  if (freeBytes(path) < PROBE_BYTES) return true;
  const probe = join(path, 'lock.space-probe');
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { flush: true });
    return false;
  } catch (error) {
    return FULL_CODES.has(String((error as NodeJS.ErrnoException).code));
  } finally {
    rmSync(probe, { force: true });
  }
}

/**
 * An error of the disk as a CrawlError; one that is a CrawlError already stays as it is.
 * @param doing what was attempted, for the message: `open the crawl in ./crawl-data`
 */
export function diskError(error: unknown, path: string, doing: string): CrawlError {
  if (error instanceof CrawlError) return error;
  const code = String((error as NodeJS.ErrnoException | null)?.code);
  if (UNWRITABLE_CODES.has(code)) {
    return new CrawlError('disk', `cannot ${doing}: ${path} cannot be written (${code})`, {
      remedy: 'Make the directory writable for this user or choose another with --data.',
      cause: error,
    });
  }
  const trouble = troubleOf(error, path);
  const text = error instanceof Error ? error.message : String(error);
  return new CrawlError(trouble, `cannot ${doing}: ${text}`, {
    remedy: REMEDIES[trouble],
    retriable: trouble === 'disk-full',
    cause: error,
  });
}

/** A CrawlError for stored bytes that are not what we write. */
export function damaged(where: string, cause?: unknown): CrawlError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new CrawlError('data-damaged', `damaged: ${where}${why}`, {
    remedy: REMEDIES['data-damaged'],
    cause,
  });
}

/**
 * Bytes an unprivileged process may still write on the disk that holds `path`; Infinity where the system cannot say.
 */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
