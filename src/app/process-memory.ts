// How much memory this process holds: anonymous and shared pages from /proc, since the resident set counts LMDB's map of the disk too
// (PERFORMANCE.md 8).

import { readFileSync } from 'node:fs';

/** RssAnon + RssShmem in bytes; the resident set where /proc does not tell. */
export function memoryBytes(): number {
  const { anonBytes, sharedBytes } = memoryParts();
  return anonBytes + sharedBytes > 0 ? anonBytes + sharedBytes : process.memoryUsage.rss();
}

/** The two parts apart; zeros where /proc does not tell. */
export function memoryParts(): { readonly anonBytes: number; readonly sharedBytes: number } {
  try {
    const status = readFileSync('/proc/self/status', 'latin1');
    return { anonBytes: kibibytes(status, 'RssAnon'), sharedBytes: kibibytes(status, 'RssShmem') };
  } catch {
    return { anonBytes: 0, sharedBytes: 0 };
  }
}

function kibibytes(status: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
  return match === null ? 0 : Number(match[1]) * 1_024;
}
