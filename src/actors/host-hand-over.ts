// What one host does when its partition is another node's: its queue goes there, entry by entry, as links that say they come from an owner. An
// entry leaves the queue in the very commit that puts it into the outbox, so a crash loses none and doubles none. A few hundred a turn.

import type { ActorContext } from '../runtime/actor.ts';
import type { HostQueues } from './host-queues.ts';
import type { HostMessage, HostPlaceIdentity, RoutedLink } from './messages.ts';
import type { QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';

/** Entries given away in one turn. */
const PER_TURN = 256;

export class HostHandOver {
  readonly #services: HostServices;
  readonly #id: HostPlaceIdentity;
  readonly #queues: HostQueues;

  constructor(services: HostServices, id: HostPlaceIdentity, queues: HostQueues) {
    this.#services = services;
    this.#id = id;
    this.#queues = queues;
  }

  /** True while another node, or none, owns the host's partition. */
  get isElsewhere(): boolean {
    return this.#services.tenures.opensMs(this.#id.partition) === Number.POSITIVE_INFINITY;
  }

  /** Something was queued or ended here that belongs elsewhere: it follows in a turn of its own. */
  remind(context: ActorContext<HostMessage>): void {
    if (this.isElsewhere && this.#queues.length > 0) {
      this.#services.toHost(context.self, { kind: 'give-away' });
    }
  }

  /** Gives a portion away. The caller stages the host's row in the same turn. */
  give(context: ActorContext<HostMessage>): void {
    if (!this.isElsewhere) return;
    const links: RoutedLink[] = [];
    for (let given = 0; given < PER_TURN; given += 1) {
      const head = this.#queues.peek();
      if (head === undefined) break;
      links.push(this.#linkTo(head.entry));
      this.#queues.advance(head.band);
    }
    if (links.length === 0) return;
    this.#services.stage.count('urls.discovered', -links.length);
    this.#services.giveAway(links);
    this.remind(context);
  }

  #linkTo({ url, urlKey, depth, hops, purpose }: QueueEntry): RoutedLink {
    return {
      host: this.#id.host,
      hostKey: this.#id.hostKey,
      partition: this.#id.partition,
      url,
      urlKey,
      depth,
      hops,
      purpose,
      isHome: false,
      isRespelled: this.#services.canonicalOf(url) !== url,
      isSuspect: false,
      fromOtherHost: false,
      isReturned: true,
    };
  }
}
