// Entry of the thread that works on closed WARC files (archive-work.ts), one after the other, beside a crawl. It touches no LMDB and every
// step of its work survives a crash, so it may be terminated at any time. Its priority is the lowest: compressing a page costs as much as
// crawling it, and what the crawl needs of the processors comes first.

import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { CrawlError } from '../base/errors.ts';
import { type ArchiveWork, type TendedWarc, tendWarc } from './archive-work.ts';

/** What came of one file; `trouble` leaves it as it was, for the next start. */
export type FromArchiveThread =
  | ({ readonly kind: 'tended'; readonly file: number } & TendedWarc)
  | { readonly kind: 'trouble'; readonly file: number; readonly detail: string };

/** Linux gives each thread a priority of its own, addressed by its thread id; elsewhere the thread keeps the process's. */
function yieldToCrawl(): void {
  try {
    setPriority(
      Number(basename(readlinkSync('/proc/thread-self'))),
      constants.priority.PRIORITY_LOW,
    );
  } catch {
    // Without it the work is as right, and only less modest.
  }
}

function tend(work: ArchiveWork, file: number): FromArchiveThread {
  try {
    return { kind: 'tended', file, ...tendWarc(work, file) };
  } catch (error) {
    // A file we cannot work on is the disk's trouble or damage; anything else is our bug and ends the thread loudly.
    if (!(error instanceof CrawlError) && (error as NodeJS.ErrnoException).code === undefined) {
      throw error;
    }
    return { kind: 'trouble', file, detail: (error as Error).message };
  }
}

yieldToCrawl();
parentPort?.on('message', (file: number) => {
  parentPort?.postMessage(tend(workerData as ArchiveWork, file));
});
