// Copies single files for a backup and back (step 10's data, DESIGN.md §5): whole, synced, with their digest taken on the way, so that a
// restore can prove that it has what was saved.

import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { damaged } from './disk-error.ts';
import { readFully, writeFully } from './files.ts';

/** A file of a backup. */
export interface CopiedFile {
  /** Relative to the data directory, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal SHA-256. */
  readonly sha256: string;
}

const PORTION_BYTES = 1024 * 1024;

/**
 * Copies from an open file into a new one, which is durable on return (its name is not).
 * @param bytesMax copies at most so much; default to the end
 * @returns bytes copied and their digest
 * @throws system errors
 */
export function copyFrom(
  fd: number,
  target: string,
  bytesMax: number = Number.POSITIVE_INFINITY,
): Omit<CopiedFile, 'path'> {
  mkdirSync(dirname(target), { recursive: true });
  const to = openSync(target, 'wx');
  try {
    const copied = digestOf(fd, bytesMax, (part, at) => writeFully(to, part, at));
    fsyncSync(to);
    return copied;
  } finally {
    closeSync(to);
  }
}

/** Length and digest of a file that is in its place already. @throws system errors */
export function describeFile(path: string): Omit<CopiedFile, 'path'> {
  const fd = openSync(path, 'r');
  try {
    return digestOf(fd, Number.POSITIVE_INFINITY, () => {});
  } finally {
    closeSync(fd);
  }
}

function digestOf(
  fd: number,
  bytesMax: number,
  take: (part: Uint8Array, at: number) => void,
): Omit<CopiedFile, 'path'> {
  const hash = createHash('sha256');
  const portion = Buffer.allocUnsafe(PORTION_BYTES);
  let bytes = 0;
  while (bytes < bytesMax) {
    const wanted = portion.subarray(0, Math.min(PORTION_BYTES, bytesMax - bytes));
    const part = wanted.subarray(0, readFully(fd, wanted, bytes));
    if (part.length === 0) break;
    take(part, bytes);
    hash.update(part);
    bytes += part.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** As `copyFrom`, by name. */
export function copyFile(
  from: string,
  target: string,
  bytesMax?: number,
): Omit<CopiedFile, 'path'> {
  const fd = openSync(from, 'r');
  try {
    return copyFrom(fd, target, bytesMax);
  } finally {
    closeSync(fd);
  }
}

/**
 * Copies a file and holds it against what was saved.
 * @throws CrawlError data-damaged when it is not the same; system errors
 */
export function copyProven(from: string, target: string, saved: CopiedFile): void {
  const copied = copyFile(from, target);
  if (copied.bytes === saved.bytes && copied.sha256 === saved.sha256) return;
  throw damaged(`${from} is not what was saved (${copied.bytes} bytes of ${saved.bytes})`);
}
