// The few file operations whose details decide whether data survives: whole writes, whole reads, renames made durable. Step 10.
// Every error of the operating system leaves here as a CrawlError, so that a full disk is told from a broken one (DESIGN.md §9).

import { closeSync, fsyncSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { CrawlError } from '../base/errors.ts';

/**
 * Runs a file operation and converts what the operating system throws.
 * @param path named in the error
 * @throws CrawlError `disk-full` for ENOSPC and EDQUOT, `disk` for anything else
 */
export function onDisk<Result>(path: string, operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    if (error instanceof CrawlError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const full = code === 'ENOSPC' || code === 'EDQUOT';
    throw new CrawlError(full ? 'disk-full' : 'disk', `${path}: ${(error as Error).message}`, {
      remedy: full
        ? 'Free space on this file system, then start again: nothing acknowledged is lost.'
        : 'Check the file system and the permissions of the data directory.',
      retriable: full,
      cause: error,
    });
  }
}

/** Writes all bytes at a position, however many calls the system needs. */
export function writeFully(fd: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.byteLength) {
    done += writeSync(fd, bytes, done, bytes.byteLength - done, position + done);
  }
}

/**
 * Reads into `target` from a position until it is full or the file ends.
 * @returns bytes read, 0 … target.byteLength
 */
export function readFully(fd: number, target: Uint8Array, position: number): number {
  let done = 0;
  while (done < target.byteLength) {
    const count = readSync(fd, target, done, target.byteLength - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

/** Makes names in a directory durable: a rename or a new file survives power loss only after this. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Renames within one directory, durably. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncDirectory(dirname(to));
}

/** Writes a file durably under the name `path`, over whatever was there, so that it appears whole or not at all. */
export function replaceDurably(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.tmp`;
  const fd = openSync(temporary, 'w');
  try {
    writeFully(fd, bytes, 0);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameDurably(temporary, path);
}
