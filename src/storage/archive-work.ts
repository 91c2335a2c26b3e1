// What is done to a WARC file once it is closed, after step 10 (DESIGN.md §5): its members are compressed, then its CDXJ index is written. The
// index is the sign that a file is done: it is made last, from the edition that stays, and appears whole or not at all. So a crash at
// any point leaves work that is simply done again, and every body pointer holds throughout.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { CrawlError } from '../base/errors.ts';
import { indexWarc } from './cdxj.ts';
import { freeBytes } from './disk-error.ts';
import type { ObjectStoreAddress } from './object-store.ts';
import { compressWarc, isCompressedWarc } from './warc-compress.ts';
import { warcFileNumber, warcPaths } from './warc-names.ts';

/** How files are worked on; plain data, so that it can be a thread's workerData. */
export interface ArchiveWork {
  /** `warc/`. */
  readonly directory: string;
  /** Start of the WARC files' names. */
  readonly prefix: string;
  /** 1 … 9; 0 leaves closed files as they are. */
  readonly gzipLevel: number;
  /** Free disk that is kept; bytes. */
  readonly reserveBytes: number;
  /** Where closed files are moved to; undefined for nowhere. */
  readonly objectStore: ObjectStoreAddress | undefined;
  /** True when files that were uploaded stay here as well. */
  readonly keepsLocal: boolean;
}

/** What became of a file; sizes in bytes. */
export interface TendedWarc {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Captures in its index. */
  readonly captures: number;
}

/**
 * Compresses and indexes one closed file. May be repeated at any time.
 * @throws CrawlError `data-damaged` when a record is not whole, `disk-full` when there is no room for a second copy, `disk`
 */
export function tendWarc(work: ArchiveWork, file: number): TendedWarc {
  const paths = warcPaths(work.directory, work.prefix, file);
  const bytesBefore = statSync(paths.closed).size;
  if (work.gzipLevel > 0 && !isCompressedWarc(paths)) {
    // Both editions lie side by side for a moment, and the new one may be as long as the old.
    if (freeBytes(work.directory) < bytesBefore + work.reserveBytes) {
      throw new CrawlError('disk-full', `no room to compress ${paths.closed}`, {
        remedy: 'Free space on this disk, then run: node cluster.js archive',
      });
    }
    compressWarc(paths, work.gzipLevel);
  }
  const captures = indexWarc(paths.closed, paths.cdxj);
  return { bytesBefore, bytesAfter: statSync(paths.closed).size, captures };
}

/** Numbers of closed files with something left to do, each list ascending. */
export interface UndoneWarcs {
  /** Without index. */
  readonly untended: readonly number[];
  /** Done here, and not in the object store. */
  readonly waiting: readonly number[];
  /** In the object store, and still here. */
  readonly moved: readonly number[];
}

/** What lies undone in the directory. @throws system errors */
export function undoneWarcs({
  directory,
  prefix,
  objectStore,
  keepsLocal,
}: ArchiveWork): UndoneWarcs {
  const closed = readdirSync(directory).flatMap((name) => {
    const found = warcFileNumber(name, prefix);
    if (found === undefined || found.open) return [];
    const { cdxj, remote } = warcPaths(directory, prefix, found.file);
    return [{ file: found.file, isTended: existsSync(cdxj), isMoved: existsSync(remote) }];
  });
  const files = closed.sort((one, other) => one.file - other.file);
  const numbers = (undone: readonly { readonly file: number }[]): number[] =>
    undone.map(({ file }) => file);
  return {
    untended: numbers(files.filter(({ isTended }) => !isTended)),
    waiting:
      objectStore === undefined
        ? []
        : numbers(files.filter(({ isTended, isMoved }) => isTended && !isMoved)),
    moved: keepsLocal ? [] : numbers(files.filter(({ isMoved }) => isMoved)),
  };
}
