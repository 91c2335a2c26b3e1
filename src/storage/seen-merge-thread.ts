// Entry of the short-lived thread that merges seen runs (step 4): tens of nanoseconds a key, which the storage thread must not spend. It
// touches run files only, no LMDB, so it may be terminated; what it leaves unfinished is removed at the next open.

import { parentPort, workerData } from 'node:worker_threads';
import type { SeenMergePlan } from './seen-merge.ts';
import { mergeSeenRuns } from './seen-merge.ts';

/** What the thread is given. */
export interface SeenMergeOrder {
  readonly directory: string;
  readonly plan: SeenMergePlan;
}

const { directory, plan } = workerData as SeenMergeOrder;
parentPort?.postMessage(mergeSeenRuns(directory, plan));
