// Messages between shard threads and the storage thread (step 10). Batches and keys travel as transferred bytes; the rest is small plain
// data. One MessagePort for each shard: messages of a shard arrive in the order they were sent, so its batches commit in order.

import type { PageReceipt, StorageEvent } from '../actors/ports.ts';
import type { SeenRunEntry } from './seen-merge.ts';

/** From a shard to storage. */
export type ToStorage =
  /** A packed batch (batch-codec.ts), its buffer transferred. */
  | { readonly kind: 'batch'; readonly sequence: number; readonly bytes: Uint8Array }
  /** All keys the shard added to its seen set since the last such message, the keys of all entries sent before among them. */
  | {
      readonly kind: 'seen-keys';
      readonly frozenId: number;
      readonly keys: BigUint64Array<ArrayBuffer>;
    }
  /** The shard sends nothing more. */
  | { readonly kind: 'detach' };

/** Runs of the seen set were committed: open `added`, close `removed`, then drop this shard's frozen memtables of these ids. */
export interface SeenRunsChange {
  readonly kind: 'seen-runs';
  readonly added: readonly SeenRunEntry[];
  readonly removed: readonly number[];
  readonly frozenIds: readonly number[];
}

/** From storage to a shard. */
export type ToShard =
  /** `durable` is false where `--fsync interval` acknowledges before the commit; a `durable` message follows then. */
  | {
      readonly kind: 'committed';
      readonly sequence: number;
      readonly receipts: readonly PageReceipt[];
      readonly durable: boolean;
    }
  /** All batches up to this one are in LMDB. */
  | { readonly kind: 'durable'; readonly sequence: number }
  | Extract<StorageEvent, { kind: 'log-rolled' | 'storage-failed' }>
  | SeenRunsChange
  /** Old log segments wait for this shard's keys: hand the memtable over soon. */
  | { readonly kind: 'seen-flush-wanted' };
