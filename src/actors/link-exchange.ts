// Steps 2 to 4 of a URL's life as one shard does them: links of its pages go to its own host actors or into the outbox towards their
// owner's shard, and batches from other shards are dealt out here. Nothing is dropped when somebody cannot take more: host actors' parts
// wait in line, outboxes fill, and `isBlocked` then stops the parser (I10). A batch is acknowledged only after its commit (I7).

import { assert } from '../base/assert.ts';
import type { HostKey } from '../base/units.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import { Inbox } from './inbox.ts';
import type { LinkRouter, LinkSource } from './link-router.ts';
import type { HostMessage, HostPlaceIdentity, RoutedLink, ShardPeerMessage } from './messages.ts';
import { Outbox } from './outbox.ts';
import type { RemoteOutbox } from './remote-outbox.ts';
import { CountdownToken } from './work-token.ts';

export interface ExchangeOptions {
  readonly shard: number;
  readonly shards: number;
  readonly router: LinkRouter;
  readonly stage: CheckpointStage;
  /** Delivers to a host actor, waking it up. False when it cannot take the message now. */
  readonly offerHost: (host: HostPlaceIdentity, message: HostMessage) => boolean;
  /** Sends to another shard. False when the link has no credit now. */
  readonly sendPeer: (shard: number, message: ShardPeerMessage) => boolean;
  readonly toSelf: (message: ShardPeerMessage) => void;
  /** Links for other machines, in a cluster: those of hosts whose shard is number `shards`. */
  readonly remote: RemoteOutbox | undefined;
  /** Something waits that `pump` should try again soon. */
  readonly stalled: () => void;
}

export class LinkExchange {
  readonly #options: ExchangeOptions;
  readonly #outboxes: readonly Outbox[];
  readonly #inboxes: readonly Inbox[];
  #stalledOffers: { readonly host: HostPlaceIdentity; readonly message: HostMessage }[] = [];
  #stalledPeer: { readonly shard: number; readonly message: ShardPeerMessage }[] = [];

  constructor(options: ExchangeOptions) {
    this.#options = options;
    const peers = Array.from({ length: options.shards }, (_, peer) => peer);
    this.#outboxes = peers.map((peer) => this.#outboxTo(peer));
    this.#inboxes = peers.map(() => new Inbox());
  }

  /** Links not yet handed to the wire. */
  get waiting(): number {
    const remote = this.#options.remote?.waiting ?? 0;
    return this.#outboxes.reduce((sum, outbox) => sum + outbox.waiting, remote);
  }

  /** True when nothing is on its way to anybody. */
  get isIdle(): boolean {
    if (this.#options.remote?.isIdle === false) return false;
    const isEmpty = this.#stalledOffers.length === 0 && this.#stalledPeer.length === 0;
    return isEmpty && this.#outboxes.every((outbox) => outbox.isIdle);
  }

  /** True when no more pages should be parsed for now. */
  get isBlocked(): boolean {
    if (this.#options.remote?.isFull === true) return true;
    return this.#stalledOffers.length > 0 || this.#outboxes.some((outbox) => outbox.isFull);
  }

  /** For each shard, the batch that holds the newest link to it. */
  marks(): readonly number[] {
    const marks = this.#outboxes.map((outbox) => outbox.mark);
    if (this.#options.remote !== undefined) marks.push(this.#options.remote.mark);
    return marks;
  }

  /** For each shard, the batch up to which it has committed ours. */
  committedMarks(): readonly number[] {
    const marks = this.#outboxes.map((outbox) => outbox.committedThrough);
    if (this.#options.remote !== undefined) marks.push(this.#options.remote.durableThrough);
    return marks;
  }

  /** Routes the references of one page; links for other shards leave, those for this one are returned. */
  routeAll(references: Iterable<string>, source: LinkSource): RoutedLink[] {
    const own: RoutedLink[] = [];
    for (const reference of references) {
      const routed = this.#options.router.route(reference, source);
      if (routed === undefined) continue;
      if (routed.shard === this.#options.shard) own.push(routed.link);
      else if (routed.shard < this.#options.shards) this.#outbox(routed.shard).add(routed.link);
      else this.#toRemote(routed.link);
    }
    return own;
  }

  /** Deals links out to the host actors that own them; `token` learns when all have staged theirs. */
  deal(links: readonly RoutedLink[], token: CountdownToken | undefined): void {
    const work = token ?? new CountdownToken(() => {});
    for (const group of groupedByHost(links)) {
      const { host, hostKey, partition } = group[0] as RoutedLink;
      work.expect();
      const message = { kind: 'offer-urls', links: group, token: work } as const;
      this.giveHost({ host, hostKey, partition }, message);
    }
    work.applied();
  }

  /** Delivers to a host actor; what it cannot take now waits in line. */
  giveHost(host: HostPlaceIdentity, message: HostMessage): void {
    if (this.#stalledOffers.length === 0 && this.#options.offerHost(host, message)) return;
    this.#stalledOffers.push({ host, message });
    this.#options.stalled();
  }

  /** Sends to a shard, this one included; what the link cannot take now waits in line. */
  toPeer(shard: number, message: ShardPeerMessage): void {
    if (shard === this.#options.shard) {
      this.#options.toSelf(message);
      return;
    }
    if (this.#stalledPeer.length === 0 && this.#options.sendPeer(shard, message)) return;
    this.#stalledPeer.push({ shard, message });
    this.#options.stalled();
  }

  /** Takes a batch of another shard in; the receipt follows its commit. A batch committed before is acknowledged again. */
  take(from: number, batch: number, links: readonly RoutedLink[]): void {
    const inbox = this.#inboxes[from];
    assert(inbox !== undefined, () => `links from unknown shard ${from}`);
    if (inbox.isCommitted(batch)) {
      this.toPeer(from, this.#receipt(inbox));
      return;
    }
    const staged = () =>
      this.#options.stage.afterCommit(() => {
        if (inbox.committed(batch)) this.toPeer(from, this.#receipt(inbox));
      });
    this.deal(links, new CountdownToken(staged));
  }

  /** Another shard's receipt for our batches. */
  committed(from: number, through: number): void {
    this.#outbox(from).committed(through);
  }

  /** Closes and sends the open batches. */
  seal(): void {
    for (const outbox of this.#outboxes) outbox.seal();
    this.#options.remote?.seal();
  }

  /** Tries again what waits. */
  pump(): void {
    const peer = this.#stalledPeer;
    this.#stalledPeer = [];
    for (const { shard, message } of peer) this.toPeer(shard, message);
    for (const outbox of this.#outboxes) outbox.pump();
    this.#options.remote?.pump();
    const offers = this.#stalledOffers;
    this.#stalledOffers = [];
    for (const { host, message } of offers) this.giveHost(host, message);
  }

  #toRemote(link: RoutedLink): void {
    const { remote } = this.#options;
    assert(remote !== undefined, () => 'a link for another machine, and there is none');
    remote.add(link);
  }

  #receipt(inbox: Inbox): ShardPeerMessage {
    return { kind: 'links-committed', from: this.#options.shard, through: inbox.through };
  }

  #outboxTo(peer: number): Outbox {
    const from = this.#options.shard;
    return new Outbox((batch, links) =>
      this.#options.sendPeer(peer, { kind: 'offer-links', from, batch, links }),
    );
  }

  #outbox(peer: number): Outbox {
    const outbox = this.#outboxes[peer];
    assert(outbox !== undefined, () => `no shard ${peer}`);
    return outbox;
  }
}

function groupedByHost(links: readonly RoutedLink[]): Iterable<readonly RoutedLink[]> {
  const byHost = new Map<HostKey, RoutedLink[]>();
  for (const link of links) {
    const known = byHost.get(link.hostKey);
    if (known === undefined) byHost.set(link.hostKey, [link]);
    else known.push(link);
  }
  return byHost.values();
}
