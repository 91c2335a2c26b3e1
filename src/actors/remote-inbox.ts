// Step 3 between machines, the receiving half: batches of other nodes' outboxes, each taken in once and acknowledged after its commit (I7). A
// sender repeats what was not acknowledged, to whoever owns the partition; a repetition of a batch that is still being staged is passed over,
// one of a committed batch acknowledged again. What the sender knows to be committed (`base`) may have been committed by an owner before us:
// it is not waited for. What cannot be told apart from new after a restart ends at the seen set, by URL key.

import type { PartitionIndex } from '../base/units.ts';
import { Inbox } from './inbox.ts';

/** Senders and partitions whose watermarks are kept; beyond, the oldest are forgotten, and a repetition is taken in again. */
const INBOXES_MAX = 65_536;

interface Known {
  readonly inbox: Inbox;
  /** Batches being staged. */
  readonly open: Set<number>;
}

export class RemoteInbox {
  readonly #known = new Map<string, Known>();

  /**
   * @param sender node, run and shard
   * @returns `new`: take it in, then call `committed`; else the watermark to acknowledge, or undefined while it is being staged
   */
  offered(
    sender: string,
    at: { readonly partition: PartitionIndex; readonly batch: number; readonly base: number },
  ): 'new' | number | undefined {
    const { inbox, open } = this.#of(sender, at.partition);
    inbox.skipTo(at.base);
    if (inbox.isCommitted(at.batch)) return inbox.through;
    if (open.has(at.batch)) return undefined;
    open.add(at.batch);
    return 'new';
  }

  /** A batch is durable here. @returns the watermark to acknowledge */
  committed(sender: string, partition: PartitionIndex, batch: number): number {
    const { inbox, open } = this.#of(sender, partition);
    open.delete(batch);
    if (!inbox.isCommitted(batch)) inbox.committed(batch);
    return inbox.through;
  }

  #of(sender: string, partition: PartitionIndex): Known {
    const name = `${sender} ${partition}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#known.size >= INBOXES_MAX) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    const fresh = { inbox: new Inbox(), open: new Set<number>() };
    this.#known.set(name, fresh);
    return fresh;
  }
}
