// Entry of the storage thread: the only thread that writes (DESIGN.md §3). Opens and recovers the store, then serves shards through ports it
// is handed. It is never terminated from outside; it ends when it is told to close, and every LMDB write is a synchronous transaction.

import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import { assert, unreachable } from '../base/assert.ts';
import { CrawlError } from '../base/errors.ts';
import { wallMs } from '../base/units.ts';
import { openStore } from './open-store.ts';
import { StorageLoop } from './storage-loop.ts';
import type { FromStorageThread, StorageThreadOptions, ToStorageThread } from './storage-owner.ts';

function start(parent: MessagePort, options: StorageThreadOptions): void {
  const post = (message: FromStorageThread) => parent.postMessage(message);
  const loop = openLoop(options, post);
  if (loop === undefined) return;
  parent.on('message', (message: ToStorageThread) => {
    switch (message.kind) {
      case 'attach':
        loop.attach(message.shard, message.port);
        return;
      case 'metrics':
        post({ kind: 'metrics', id: message.id, metrics: loop.metrics() });
        return;
      case 'save-bloom':
        loop.saveBloom(message.snapshot).then(
          () => post({ kind: 'bloom-saved', id: message.id, error: undefined }),
          (error) => post({ kind: 'bloom-saved', id: message.id, error: String(error) }),
        );
        return;
      case 'close':
        loop.close().then(() => {
          post({ kind: 'closed' });
          parent.close();
        }, fail);
        return;
      default:
        unreachable(message);
    }
  });
}

function openLoop(
  options: StorageThreadOptions,
  post: (message: FromStorageThread) => void,
): StorageLoop | undefined {
  try {
    const store = openStore(options.store, wallMs(Date.now()));
    const { reserveBytes, quotaBytes } = options.store;
    const loop = new StorageLoop(
      store,
      {
        policy: options.policy,
        archive: options.archive,
        space: { reserveBytes, quotaBytes },
      },
      {
        onNews: (news) => post({ kind: 'news', news }),
        onFailure: (code, detail) => post({ kind: 'failed', code, detail }),
      },
    );
    const { identity, recovery, seenDamage } = store;
    const seenRuns = store.seenRuns.manifest().runs;
    post({ kind: 'opened', opened: { identity, recovery, seenDamage, seenRuns } });
    return loop;
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    const { code, message, remedy, retriable } = error;
    post({ kind: 'open-failed', code, message, remedy, retriable });
    return undefined;
  }
}

/** A promise of ours that fails is a bug: it ends the thread loudly, as an exception does. */
function fail(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

assert(parentPort !== null, () => 'storage-thread.ts is a worker entry');
start(parentPort, workerData as StorageThreadOptions);
