// Compresses a closed WARC file member by member, off the crawl threads (a pool thread calls it): the shards wrote stored blocks because
// compression costs ten times as much as the rest of the record (PERFORMANCE.md). After step 10; record numbers stay as they are, so
// every body pointer stays valid through the new offsets index.
// Atomic although two files change: the new index lies beside the old one, tied to the length of the compressed file, before that file takes
// its place; readers and recovery choose the index that fits (warc-offsets.ts, warc-repair.ts). A crash leaves either edition whole.

import { closeSync, existsSync, fstatSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { assert } from '../base/assert.ts';
import { CrawlError } from '../base/errors.ts';
import { onDisk, readFully, renameDurably, replaceDurably, writeFully } from './files.ts';
import { fieldValues } from './header-lines.ts';
import { readMemberAt } from './member-source.ts';
import type { WarcPaths } from './warc-names.ts';
import { encodeOffsets, OFFSETS_HEADER_BYTES, readClaim } from './warc-offsets.ts';
import { splitRecord } from './warc-reader.ts';
import { completeCompression } from './warc-repair.ts';

/** What a compression did; sizes in bytes. */
export interface CompressionResult {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly records: number;
}

/** Payloads above this that came compressed are left as they are: gzip gains nothing on them. */
const TRY_BYTES_MAX = 8 * 1024;

/**
 * Compresses a closed file. Members that do not shrink stay as they are, so the result is never larger.
 * @param paths of the file (warc-names.ts); the commit that no longer names it as open must be durable
 * @param level gzip level, 1 … 9, default 6
 * @returns sizes before and after; equal ones mean that nothing was worth replacing
 * @throws CrawlError `data-damaged` when the file holds a record that is not whole, `disk` or `disk-full` from the system
 */
export function compressWarc(paths: WarcPaths, level = 6): CompressionResult {
  assert(level >= 1 && level <= 9, () => `gzip level ${level}`);
  return onDisk(paths.closed, () => {
    completeCompression(paths);
    const temporary = `${paths.closed}.tmp`;
    const result = writeCompressed(paths.closed, temporary, level);
    if (result.bytesAfter >= result.bytesBefore) {
      rmSync(temporary);
      return { ...result, bytesAfter: result.bytesBefore };
    }
    replaceDurably(paths.nextOffsets, encodeOffsets(result.offsets, result.bytesAfter));
    renameDurably(temporary, paths.closed);
    renameDurably(paths.nextOffsets, paths.offsets);
    return result;
  });
}

/** Whether a closed file is the edition that `compressWarc` wrote: its index claims the length it has. */
export function isCompressedWarc(paths: WarcPaths): boolean {
  const { size } = statSync(paths.closed);
  return [paths.offsets, paths.nextOffsets].some((path) => claimOf(path) === size);
}

function claimOf(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  return readClaim(readFileHead(path, OFFSETS_HEADER_BYTES));
}

function readFileHead(path: string, length: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const head = Buffer.alloc(length);
    return head.subarray(0, readFully(fd, head, 0));
  } finally {
    closeSync(fd);
  }
}

function writeCompressed(
  from: string,
  to: string,
  level: number,
): CompressionResult & { offsets: number[] } {
  const source = openSync(from, 'r');
  const target = openSync(to, 'w');
  try {
    const bytesBefore = fstatSync(source).size;
    const offsets: number[] = [];
    let bytesAfter = 0;
    for (let at = 0; at < bytesBefore; ) {
      const member = readMemberAt(source, at);
      if (typeof member === 'string') throw notWhole(from, at);
      const length = member.end - at;
      const packed = packIfSmaller(member.record, length, level) ?? readBytes(source, at, length);
      writeFully(target, packed, bytesAfter);
      offsets.push(bytesAfter);
      bytesAfter += packed.byteLength;
      at = member.end;
    }
    fsyncSync(target);
    return { bytesBefore, bytesAfter, records: offsets.length, offsets };
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

/** The record as a compressed member, or undefined when it is not worth trying or does not get smaller. */
function packIfSmaller(record: Buffer, memberBytes: number, level: number): Buffer | undefined {
  const split = splitRecord(record);
  if (split !== undefined && split.payload.length > TRY_BYTES_MAX) {
    const coding = fieldValues(split.httpHeaders, 'content-encoding');
    const type = fieldValues(split.httpHeaders, 'content-type');
    if (coding !== '' || /^(?:image\/(?!svg)|audio\/|video\/)/i.test(type)) return undefined;
  }
  const packed = gzipSync(record, { level });
  return packed.byteLength < memberBytes ? packed : undefined;
}

function readBytes(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const read = readFully(fd, bytes, offset);
  assert(read === length, () => `read ${read} of ${length} bytes at ${offset}`);
  return bytes;
}

function notWhole(path: string, offset: number): CrawlError {
  const where = `${basename(path)} in ${dirname(path)}`;
  return new CrawlError('data-damaged', `${where}: no whole record at offset ${offset}`, {
    remedy: 'Restore the file from a copy; it was left as it is.',
  });
}
