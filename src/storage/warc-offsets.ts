// The index `warc/<name>.offsets`: where each record of a WARC file begins, so that a body pointer (file, record) stays valid when the
// file is compressed and its offsets move (DESIGN.md §5). Steps 10 and 11.
// Layout: 8 bytes magic with version, 8 bytes claim, then one unsigned 64-bit little-endian offset per record. The claim is the byte
// length of the WARC file the offsets belong to, or 0 while that file can grow; it ties an index to the compressed or uncompressed
// edition of its file, because two renames cannot be one atomic step (warc-compress.ts).

import { closeSync, fstatSync, openSync } from 'node:fs';
import { assert } from '../base/assert.ts';
import { readFully } from './files.ts';

/** Bytes before the first offset. */
export const OFFSETS_HEADER_BYTES = 16;
/** Bytes of one offset. */
export const OFFSET_BYTES = 8;

const MAGIC = Buffer.from('HSTWOFF1', 'latin1');

/**
 * The 16 bytes that begin an index.
 * @param claimBytes length of the WARC file it belongs to; 0 for one that can still grow
 */
export function offsetsHeader(claimBytes: number): Buffer {
  const header = Buffer.alloc(OFFSETS_HEADER_BYTES);
  MAGIC.copy(header);
  writeOffset(header, MAGIC.length, claimBytes);
  return header;
}

/** The claim of an index header, or undefined when it is not one. */
export function readClaim(header: Buffer): number | undefined {
  if (header.length < OFFSETS_HEADER_BYTES) return undefined;
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  return readOffset(header, MAGIC.length);
}

/** Position of a record's entry in the index file. */
export function entryPosition(record: number): number {
  return OFFSETS_HEADER_BYTES + record * OFFSET_BYTES;
}

/** Writes an offset of 0 … 2^53 − 1. */
export function writeOffset(target: Buffer, at: number, offset: number): void {
  assert(Number.isSafeInteger(offset) && offset >= 0, () => `offset ${offset}`);
  target.writeUInt32LE(offset % 2 ** 32, at);
  target.writeUInt32LE(Math.floor(offset / 2 ** 32), at + 4);
}

/** Reads an offset; what a damaged file holds may exceed any file's length, which the caller notices. */
export function readOffset(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** An index in one piece, header included. */
export function encodeOffsets(offsets: readonly number[], claimBytes: number): Buffer {
  const bytes = Buffer.alloc(entryPosition(offsets.length));
  offsetsHeader(claimBytes).copy(bytes);
  for (let record = 0; record < offsets.length; record += 1) {
    writeOffset(bytes, entryPosition(record), offsets[record]!);
  }
  return bytes;
}

/**
 * Loads a whole index.
 * @returns its claim and its offsets (a torn last entry left out), or undefined when the file is missing or not an index
 */
export function loadOffsets(
  path: string,
): { readonly claimBytes: number; readonly offsets: readonly number[] } | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const bytes = Buffer.alloc(fstatSync(fd).size);
    const read = readFully(fd, bytes, 0);
    const claimBytes = readClaim(bytes.subarray(0, read));
    if (claimBytes === undefined) return undefined;
    const offsets: number[] = [];
    for (let at = OFFSETS_HEADER_BYTES; at + OFFSET_BYTES <= read; at += OFFSET_BYTES) {
      offsets.push(readOffset(bytes, at));
    }
    return { claimBytes, offsets };
  } finally {
    closeSync(fd);
  }
}
