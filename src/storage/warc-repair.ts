// Brings `warc/` back to the committed state after a crash. Part of recovery for step 10, run once when the writer opens.
// Rules: what was committed must be there, whole, or the crawl refuses to start (a body that rows point to cannot be had again without
// a refetch the operator has to know of); what was not committed goes, because its fetches were never acknowledged; the offsets index
// is derived and is rebuilt. A closed file is never deleted.
// I12: afterwards the committed end is a record boundary, proven by reading the last record.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { CrawlError } from '../base/errors.ts';
import { renameDurably, syncDirectory, writeFully } from './files.ts';
import { readMemberAt, scanMembers } from './member-source.ts';
import { type WarcPaths, warcFileNumber, warcPaths } from './warc-names.ts';
import { encodeOffsets, entryPosition, loadOffsets } from './warc-offsets.ts';

interface End {
  readonly file: number;
  readonly bytes: number;
  readonly records: number;
}

/**
 * Repairs the directory and says where to go on.
 * @param committed the end of the last durable commit; zero bytes mean that this number was not begun
 * @returns the end to append at: the committed one, or the next number when the committed file is closed
 * @throws CrawlError `data-damaged`
 */
export function repairArchive(directory: string, prefix: string, committed: End): End {
  for (const name of readdirSync(directory)) {
    const found = warcFileNumber(name, prefix);
    if (found === undefined) continue;
    const paths = warcPaths(directory, prefix, found.file);
    if (!found.open) completeCompression(paths);
    const begun = committed.bytes > 0 ? committed.file + 1 : committed.file;
    if (found.file < begun) continue;
    if (!found.open) throw unknownFile(paths.closed);
    rmSync(paths.open);
    rmSync(paths.offsets, { force: true });
  }
  syncDirectory(directory);
  if (committed.bytes === 0) return committed;
  const paths = warcPaths(directory, prefix, committed.file);
  if (!existsSync(paths.open)) {
    if (!existsSync(paths.closed)) throw damaged(paths.open, 'is missing');
    if (isClosedWhole(paths, committed)) return { file: committed.file + 1, bytes: 0, records: 0 };
    renameDurably(paths.closed, paths.open);
  }
  cutBack(paths, committed);
  return committed;
}

/**
 * Finishes or undoes a compression that a crash interrupted: an index for the compressed edition takes its place once that edition has.
 * Temporary files are removed.
 */
export function completeCompression(paths: WarcPaths): void {
  for (const path of [paths.closed, paths.nextOffsets, paths.cdxj]) {
    rmSync(`${path}.tmp`, { force: true });
  }
  const next = loadOffsets(paths.nextOffsets);
  if (next !== undefined && next.claimBytes === statSync(paths.closed).size) {
    renameSync(paths.nextOffsets, paths.offsets);
  } else {
    rmSync(paths.nextOffsets, { force: true });
  }
}

/** Whether a closed file holds exactly the committed records: at the committed size, or as its compressed edition. */
function isClosedWhole(paths: WarcPaths, committed: End): boolean {
  const { size } = statSync(paths.closed);
  if (size === committed.bytes) return true;
  const index = loadOffsets(paths.offsets);
  return (
    index !== undefined && index.claimBytes === size && index.offsets.length === committed.records
  );
}

/** Cuts the open file and its index to the committed end and proves that this is a record boundary. */
function cutBack(paths: WarcPaths, committed: End): void {
  const fd = openSync(paths.open, 'r+');
  try {
    const { size } = fstatSync(fd);
    if (size < committed.bytes) {
      throw damaged(paths.open, `has ${size} bytes of ${committed.bytes} that were committed`);
    }
    ftruncateSync(fd, committed.bytes);
    fsyncSync(fd);
    const offsets = committedOffsets(fd, paths, committed);
    const last = offsets[committed.records - 1]!;
    const member = readMemberAt(fd, last, { end: committed.bytes });
    if (typeof member === 'string' || member.end !== committed.bytes) {
      throw damaged(paths.open, `has a damaged record at offset ${last}`);
    }
  } finally {
    closeSync(fd);
  }
}

/** The committed part of the index, cut back on disk; rebuilt from the file when it is missing, short or wrong. */
function committedOffsets(warcFd: number, paths: WarcPaths, committed: End): readonly number[] {
  const index = loadOffsets(paths.offsets);
  const { records, bytes } = committed;
  if (index !== undefined && index.claimBytes === 0 && index.offsets.length >= records) {
    const offsets = index.offsets.slice(0, records);
    if (offsets[0] === 0 && offsets.every((at, record) => at < (offsets[record + 1] ?? bytes))) {
      writeIndex(paths.offsets, undefined, records);
      return offsets;
    }
  }
  const scan = scanMembers(warcFd, bytes);
  if (scan.end !== bytes || scan.offsets.length !== records) {
    throw damaged(paths.open, `has ${scan.offsets.length} whole records of ${records} committed`);
  }
  writeIndex(paths.offsets, encodeOffsets(scan.offsets, 0), records);
  return scan.offsets;
}

/** Cuts the index to `records` entries, after writing it anew when `bytes` is given; durable on return. */
function writeIndex(path: string, bytes: Uint8Array | undefined, records: number): void {
  const fd = openSync(path, bytes === undefined ? 'r+' : 'w');
  try {
    if (bytes !== undefined) writeFully(fd, bytes, 0);
    ftruncateSync(fd, entryPosition(records));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function damaged(path: string, what: string): CrawlError {
  return new CrawlError('data-damaged', `${path} ${what}`, {
    remedy: 'Restore the file from a copy, or start a new crawl in another data directory.',
  });
}

function unknownFile(path: string): CrawlError {
  return new CrawlError(
    'data-damaged',
    `${path} is a closed archive that this crawl did not write`,
    {
      remedy: 'Move it out of the directory, or use another data directory.',
    },
  );
}
