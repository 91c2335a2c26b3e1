// Names of the files in `warc/`: `<prefix>-<number>` with `.warc.gz.open` while it grows, `.warc.gz` when closed, and its companions
// `.offsets` (record → byte offset) and `.cdxj` (look-up by URL). A pointer holds only the number (DESIGN.md §5); this is the one place
// that turns it into a path.

import { join } from 'node:path';

/** Every path one WARC file can have. */
export interface WarcPaths {
  /** Closed. */
  readonly closed: string;
  /** Growing. */
  readonly open: string;
  readonly offsets: string;
  /** The index of a compressed edition, until it takes the place of `offsets`. */
  readonly nextOffsets: string;
  readonly cdxj: string;
  /** Says that the file is in an object store (remote-warc.ts). */
  readonly remote: string;
  /** Notes an upload that is under way (object-upload.ts). */
  readonly upload: string;
}

/** Default start of every file's name. */
export const WARC_PREFIX = 'hostler';

const DIGITS = 6;

/**
 * The paths of a file.
 * @param file 0, 1, 2 …; more than six digits are fine
 */
export function warcPaths(directory: string, prefix: string, file: number): WarcPaths {
  const stem = join(directory, `${prefix}-${String(file).padStart(DIGITS, '0')}`);
  return {
    closed: `${stem}.warc.gz`,
    open: `${stem}.warc.gz.open`,
    offsets: `${stem}.offsets`,
    nextOffsets: `${stem}.offsets.next`,
    cdxj: `${stem}.cdxj`,
    remote: `${stem}.remote`,
    upload: `${stem}.upload`,
  };
}

/**
 * The number in a file's name.
 * @param name a name without its directory
 * @returns undefined when it is not a WARC file of this prefix
 */
export function warcFileNumber(
  name: string,
  prefix: string,
): { readonly file: number; readonly open: boolean } | undefined {
  if (!name.startsWith(`${prefix}-`)) return undefined;
  const match = /^(\d{6,12})\.warc\.gz(\.open)?$/.exec(name.slice(prefix.length + 1));
  if (match === null) return undefined;
  return { file: Number(match[1]), open: match[2] !== undefined };
}
