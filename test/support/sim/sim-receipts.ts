// I7 between shards, seen from the wire: when a receipt leaves, what its batches carried is durable. A link that the seen set took in and
// the disk does not know would be lost by a crash, while its page has left the unparsed log.
import type { RoutedLink, ShardPeerMessage } from '../../../src/actors/messages.ts';

export interface SimReceiptsOptions {
  /** True when the URL was taken in and is not durable. */
  readonly isOnlyInMemory: (link: RoutedLink) => boolean;
  /** True when robots.txt allows the link as it is spelled. */
  readonly isAllowed: (link: RoutedLink) => boolean;
  readonly fail: (text: string) => void;
}

/** The batches under way between the shards of one run. */
export class SimReceipts {
  readonly #options: SimReceiptsOptions;
  readonly #batches = new Map<string, Map<number, readonly RoutedLink[]>>();

  constructor(options: SimReceiptsOptions) {
    this.#options = options;
  }

  /** A message leaves a shard. */
  sent(from: number, to: number, message: ShardPeerMessage): void {
    if (message.kind === 'offer-links') {
      const name = `${from}>${to}`;
      const batches = this.#batches.get(name) ?? new Map<number, readonly RoutedLink[]>();
      this.#batches.set(name, batches);
      batches.set(message.batch, message.links);
    } else if (message.kind === 'links-committed') {
      this.#acknowledged(`${to}>${from}`, message.through);
    }
  }

  #acknowledged(name: string, through: number): void {
    const batches = this.#batches.get(name);
    if (batches === undefined) return;
    for (const [batch, links] of batches) {
      if (batch > through) continue;
      batches.delete(batch);
      for (const link of links) {
        // A spelling of its own waits under its own key until the rules are known.
        if (link.isRespelled || !this.#options.isOnlyInMemory(link)) continue;
        // A spelling that the rules forbid is not taken in; an allowed one of a later batch may just have been, under the same key.
        if (!this.#options.isAllowed(link)) continue;
        this.#options.fail(`I7: batch ${batch} of ${name} acknowledged, ${link.url} not durable`);
      }
    }
  }
}
