// The WARC files of a backup. Closed ones are copied with the index that belongs to the very edition copied, though a compression may be
// replacing both; the open one up to its committed end. Files that the snapshot of the tables does not know yet are left out.

import { closeSync, existsSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CopiedFile, copyFile, copyFrom } from './backup-copy.ts';
import { readFully } from './files.ts';
import { type WarcPaths, warcFileNumber, warcPaths } from './warc-names.ts';
import { entryPosition, OFFSETS_HEADER_BYTES, readClaim } from './warc-offsets.ts';
import type { WarcEnd } from './warc-writer.ts';

/** An edition may be replaced between two looks at a pair; a third time in a row will not happen. */
const LOOKS_MAX = 5;

/** A growing file and its index, open: they lead to the same bytes whatever becomes of the names. */
export interface HeldWarc {
  readonly warcFd: number;
  readonly offsetsFd: number;
}

/** Adds the files that grow now, by number, to those that are held; the caller lets go of them. */
export function holdOpenWarcs(
  directory: string,
  prefix: string,
  held: Map<number, HeldWarc>,
): void {
  for (const name of readdirSync(directory)) {
    const found = warcFileNumber(name, prefix);
    if (found?.open !== true || held.has(found.file)) continue;
    const pair = holdOpen(warcPaths(directory, prefix, found.file));
    if (pair !== undefined) held.set(found.file, pair);
  }
}

/** Closes what `holdOpenWarcs` opened. */
export function letGo(held: Iterable<HeldWarc>): void {
  for (const { warcFd, offsetsFd } of held) {
    closeSync(warcFd);
    closeSync(offsetsFd);
  }
}

function holdOpen(paths: WarcPaths): HeldWarc | undefined {
  const warcFd = tryOpen(paths.open);
  if (warcFd === undefined) return undefined;
  // An index with a claim is that of a compressed edition: the file was closed and worked on in between.
  const offsetsFd = openIndexOf({ ...paths, nextOffsets: paths.offsets }, Number.NaN);
  if (offsetsFd !== undefined) return { warcFd, offsetsFd };
  closeSync(warcFd);
  return undefined;
}

/**
 * Copies every file that a committed end knows.
 * @param held from `holdOpenWarcs`, taken before the tables were copied
 * @returns undefined when the archive has moved on so far that a newer snapshot of the tables is needed
 */
export function copyWarcs(
  source: { readonly directory: string; readonly prefix: string },
  target: string,
  state: { readonly end: WarcEnd | undefined; readonly held: ReadonlyMap<number, HeldWarc> },
): CopiedFile[] | undefined {
  const { directory, prefix } = source;
  const { end = { file: 0, bytes: 0, records: 0 }, held } = state;
  const copied: CopiedFile[] = [];
  if (end.bytes > 0) {
    const open = copyOpen(source, target, end, held);
    if (open === undefined) return undefined;
    copied.push(...open);
  }
  for (let file = 0; file < end.file; file += 1) {
    copied.push(...copyClosed(warcPaths(directory, prefix, file), target));
  }
  return copied;
}

function copyOpen(
  { directory, prefix }: { readonly directory: string; readonly prefix: string },
  target: string,
  end: WarcEnd,
  held: ReadonlyMap<number, HeldWarc>,
): CopiedFile[] | undefined {
  const paths = warcPaths(directory, prefix, end.file);
  // Until the commit after its end a file is closed and still named as open; it is compressed only later.
  const late = held.has(end.file)
    ? undefined
    : (holdOpen(paths) ?? holdOpen({ ...paths, open: paths.closed }));
  const pair = held.get(end.file) ?? late;
  if (pair === undefined) return undefined;
  try {
    const copy = (fd: number, path: string, bytes: number): CopiedFile => {
      const name = basename(path);
      return { path: `warc/${name}`, ...copyFrom(fd, join(target, name), bytes) };
    };
    return [
      copy(pair.warcFd, paths.open, end.bytes),
      copy(pair.offsetsFd, paths.offsets, entryPosition(end.records)),
    ];
  } finally {
    if (late !== undefined) letGo([late]);
  }
}

/** A closed file with its companions; nothing when it was moved away or never was. */
function copyClosed(paths: WarcPaths, target: string): CopiedFile[] {
  // An index is made from the last edition, so one that is there now belongs to what is found next.
  const companions = [paths.cdxj, paths.remote].filter((path) => existsSync(path));
  const copy = (from: string): CopiedFile => {
    const name = basename(from);
    return { path: `warc/${name}`, ...copyFile(from, join(target, name)) };
  };
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const fd = tryOpen(paths.closed);
    if (fd === undefined) break;
    const offsets = openIndexOf(paths, fstatSync(fd).size);
    try {
      if (offsets === undefined) continue;
      const name = basename(paths.closed);
      const index = basename(paths.offsets);
      return [
        { path: `warc/${name}`, ...copyFrom(fd, join(target, name)) },
        { path: `warc/${index}`, ...copyFrom(offsets, join(target, index)) },
        ...companions.map(copy),
      ];
    } finally {
      closeSync(fd);
      if (offsets !== undefined) closeSync(offsets);
    }
  }
  return [...companions, ...[paths.offsets].filter((path) => existsSync(path))].map(copy);
}

/** The index whose claim fits an edition, open: its name may change at any moment (warc-compress.ts). */
function openIndexOf(paths: WarcPaths, warcBytes: number): number | undefined {
  for (const path of [paths.nextOffsets, paths.offsets]) {
    const fd = tryOpen(path);
    if (fd === undefined) continue;
    const head = Buffer.alloc(OFFSETS_HEADER_BYTES);
    const claim = readClaim(head.subarray(0, readFully(fd, head, 0)));
    if (claim === warcBytes || (claim === 0 && path === paths.offsets)) return fd;
    closeSync(fd);
  }
  return undefined;
}

function tryOpen(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}
