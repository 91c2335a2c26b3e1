// Entry of the thread that works on closed WARC files, one order after the other, beside a crawl: compress and index (archive-work.ts), upload
// (object-upload.ts). It touches no LMDB and every step of its work survives a crash, so it may be terminated at any time. Its
// priority is the lowest: compressing a page costs as much as crawling it, and what the crawl needs of the processors comes first.

import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { AssertionFailure, assert } from '../base/assert.ts';
import { CrawlError } from '../base/errors.ts';
import { type ArchiveWork, type TendedWarc, tendWarc } from './archive-work.ts';
import { ObjectStore, storeTrouble } from './object-store.ts';
import { uploadWarc } from './object-upload.ts';
import { remoteUrl, writeRemote } from './remote-warc.ts';
import { warcPaths } from './warc-names.ts';

/** What to do with a file, by its number. */
export interface ArchiveOrder {
  readonly kind: 'tend' | 'upload';
  readonly file: number;
}

/** What came of an order; after `trouble` the file is as it was. */
export type FromArchiveThread =
  | ({ readonly kind: 'tended'; readonly file: number } & TendedWarc)
  | { readonly kind: 'uploaded'; readonly file: number; readonly url: string }
  | { readonly kind: 'trouble'; readonly file: number; readonly detail: string };

const work = workerData as ArchiveWork;
let store: ObjectStore | undefined;

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

/** A file we cannot work on is the disk's trouble or damage; anything else is our bug and ends the thread loudly. */
function tend(file: number): FromArchiveThread {
  try {
    return { kind: 'tended', file, ...tendWarc(work, file) };
  } catch (error) {
    if (!(error instanceof CrawlError) && (error as NodeJS.ErrnoException).code === undefined) {
      throw error;
    }
    return { kind: 'trouble', file, detail: (error as Error).message };
  }
}

/** Whatever a store or the way to it does is trouble to be told and tried again. */
async function upload(file: number): Promise<FromArchiveThread> {
  assert(work.objectStore !== undefined, () => 'an upload without object store');
  try {
    store ??= await ObjectStore.open(work.objectStore);
    const paths = warcPaths(work.directory, work.prefix, file);
    const remote = await uploadWarc(store, paths);
    writeRemote(paths, remote);
    return { kind: 'uploaded', file, url: remoteUrl(remote) };
  } catch (error) {
    if (error instanceof AssertionFailure) throw error;
    return { kind: 'trouble', file, detail: storeTrouble(error) };
  }
}

yieldToCrawl();
parentPort?.on('message', ({ kind, file }: ArchiveOrder) => {
  if (kind === 'tend') parentPort?.postMessage(tend(file));
  else void upload(file).then((result) => parentPort?.postMessage(result));
});
