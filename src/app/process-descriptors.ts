// How many files and sockets this process may have open at once: what bounds the idle connections that step 9 keeps (I10). Node raises its
// own limit to the most the system allows it at start, so what stands there now is all there is.

import { readFileSync } from 'node:fs';

/** What POSIX promises of no system, and every system that has no /proc gives at least (macOS: 10,240 after Node has raised it). */
const DESCRIPTORS_ASSUMED = 1_024;

/** The limit of open files (getrlimit(2), RLIMIT_NOFILE, soft); Infinity when there is none. */
export function openFilesMax(): number {
  try {
    const line = /^Max open files\s+(\d+|unlimited)/m.exec(
      readFileSync('/proc/self/limits', 'latin1'),
    );
    if (line?.[1] === undefined) return DESCRIPTORS_ASSUMED;
    return line[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(line[1]);
  } catch {
    return DESCRIPTORS_ASSUMED;
  }
}
