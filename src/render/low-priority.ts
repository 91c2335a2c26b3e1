// The browser yields to the crawl (docs/RENDERING.md): a page in it costs as much as a few hundred plain ones, and these come first. A thread's
// priority is inherited by the processes it starts; but Linux shares processors out among sessions first (sched(7), autogrouping), and a
// browser has a session of its own, so that its group is lowered too. Elsewhere, and where it is not allowed, nothing changes. Never throws.

import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';

/**
 * Below the crawl's own priority: 110 of 1,134 parts of a processor that both want (kernel, sched_prio_to_weight), a tenth. With less, pages
 * would reach their bounds of time on a machine that is busy.
 */
const NICE_BELOW = 10;
/** setpriority(2). */
const NICE_MAX = 19;

/** Lowers this thread, and what it starts from now on. Linux gives each thread a priority of its own, by its thread id. */
export function lowerThread(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(getPriority() + NICE_BELOW, NICE_MAX));
  } catch {
    // Without it the work is as right, and only less modest.
  }
}

/** Lowers the session of a process, unless it is our own. */
export function lowerSession(pid: number): void {
  try {
    if (sessionOf(pid) === sessionOf(process.pid)) return;
    writeFileSync(`/proc/${pid}/autogroup`, String(NICE_BELOW));
  } catch {
    // No autogrouping here.
  }
}

/** `/autogroup-875`, of `/autogroup-875 nice 0`. */
function sessionOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/autogroup`, 'latin1').split(' ')[0];
}
