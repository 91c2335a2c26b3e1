// What goes into and comes out of the ownership state machine (ownership.ts): its options, the actions its driver performs in order, and how a
// write can end. The driver is src/cluster on a real bus, and the simulator in tests; both speak this and nothing else, so what is
// simulated is what runs. A write ends as `unknown` when no answer came: it may have been written, now or later.

import type { LeaseTimes } from './lease-times.ts';

/** What the driver has to do, in order. */
export type OwnershipAction =
  /** Write `text` if the key is at revision `expect` (0: absent); tell the outcome by `answered`. */
  | {
      readonly kind: 'write';
      readonly op: number;
      readonly key: string;
      readonly expect: number;
      readonly text: string;
    }
  /**
   * The partition is ours. `token` is its fencing token. `isForeign`: another node owned it last, so its politeness state is not here, and the
   * longest gap has to pass before the first fetch (rule 5).
   */
  | {
      readonly kind: 'gained';
      readonly partition: number;
      readonly token: number;
      readonly isForeign: boolean;
    }
  /** It is ours no longer, from this moment on: whatever is in flight there is to be aborted. */
  | { readonly kind: 'lost'; readonly partition: number }
  /** Stop fetching there, hand over what there is, then call `handedOver` (rule 5). */
  | { readonly kind: 'hand-over'; readonly partition: number }
  /** Begin a fresh session of the view: `viewBegins`, every key, `viewEnds`. */
  | { readonly kind: 'view'; readonly why: 'bus-lost-data' | 'conflict' }
  /** Another process runs under our name (rule 6). */
  | { readonly kind: 'name-taken' }
  /** Everything was handed over and the lease given back. */
  | { readonly kind: 'left' };

/** How a write ended. `unknown`: no answer came; it may have been written, now or later. */
export type WriteOutcome =
  | { readonly kind: 'written'; readonly revision: number }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown' };

export interface OwnershipOptions {
  readonly name: string;
  readonly weight: number;
  readonly region: string | undefined;
  readonly times: LeaseTimes;
  /** P of the crawl. */
  readonly partitions: number;
  /** Nodes that the first ring waits for. */
  readonly expectedNodes: number;
  readonly hash: (text: string) => bigint;
  readonly drawIncarnation: () => string;
  readonly nowMs: number;
  /** True when the bus may have lost data before this node began: nothing is taken until leases of then have run out. */
  readonly isSuspect: boolean;
}
