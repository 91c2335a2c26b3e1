// How much memory this process holds: anonymous and shared pages from /proc, since the resident set counts LMDB's map of the disk too
// (PERFORMANCE.md 8).

import { readFileSync } from 'node:fs';

/** RssAnon + RssShmem in bytes; the resident set where /proc does not tell. */
export function memoryBytes(): number {
  try {
    const status = readFileSync('/proc/self/status', 'latin1');
    return kibibytes(status, 'RssAnon') + kibibytes(status, 'RssShmem');
  } catch {
    return process.memoryUsage.rss();
  }
}

function kibibytes(status: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
  return match === null ? 0 : Number(match[1]) * 1_024;
}
