// What is done to a WARC file once it is closed, after step 10 (DESIGN.md §5): its members are compressed, then its CDXJ index is written. The
// index is the sign that a file is done: it is made last, from the edition that stays, and appears whole or not at all. So a crash at
// any point leaves work that is simply done again, and every body pointer holds throughout.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { CrawlError } from '../base/errors.ts';
import { indexWarc } from './cdxj.ts';
import { freeBytes } from './disk-error.ts';
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

/** Numbers of closed files that have no index yet, ascending. @throws system errors */
export function untendedWarcs(directory: string, prefix: string): number[] {
  const numbers = readdirSync(directory).flatMap((name) => {
    const found = warcFileNumber(name, prefix);
    if (found === undefined || found.open) return [];
    return existsSync(warcPaths(directory, prefix, found.file).cdxj) ? [] : [found.file];
  });
  return numbers.sort((one, other) => one - other);
}
