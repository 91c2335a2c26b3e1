// A shard's side of a cluster: what the bus brings it, and what it gains and loses at run time (CLUSTER.md; step 3 between machines). A gained
// partition's hosts enter the schedule from this node's own disk. A lost one's requests are cut off at once. Once another node owns it,
// everything this node has of it goes there: what is queued, as links, and the keys of what was fetched, so that nothing is lost and nothing
// fetched twice. It is one way for a graceful hand-over, a lease that lapsed and the disk of a node that died and came back. Here stay the
// stored pages.

import { assert, unreachable } from '../base/assert.ts';
import type { HostKey, MonotonicMs, PartitionIndex } from '../base/units.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { FetchGate } from './fetch-gate.ts';
import type { TenureSource } from './fetch-tenure.ts';
import type { HostSchedule } from './host-schedule.ts';
import type { LinkRouter } from './link-router.ts';
import type {
  HostMessage,
  HostPlaceIdentity,
  RemoteBatch,
  RemoteMessage,
  RoutedLink,
} from './messages.ts';
import { MovedUrls } from './moved-urls.ts';
import type { OutboxReader, StateReader } from './ports.ts';
import { RemoteInbox } from './remote-inbox.ts';
import { RemoteOutbox, type RemoteOutboxOptions } from './remote-outbox.ts';
import type { SeenSet } from './services.ts';
import type { ShardOptions, ShardPorts } from './shard-ports.ts';
import { CountdownToken } from './work-token.ts';

/** What a shard of a cluster is given by the thread that runs it. */
export interface RemotePorts {
  /** What this node may fetch now. */
  readonly tenure: TenureSource;
  readonly encode: (batch: RemoteBatch) => Uint8Array;
  readonly publish: RemoteOutboxOptions['publish'];
  /** Tells a sender how far its batches of a partition are committed here. */
  readonly acknowledge: (sender: string, partition: PartitionIndex, through: number) => void;
  readonly reader: OutboxReader;
  readonly seen: SeenSet;
  readonly nowMs: () => MonotonicMs;
}

export interface RemoteShardOptions {
  readonly shard: number;
  readonly ports: RemotePorts;
  readonly stage: CheckpointStage;
  readonly router: Pick<LinkRouter, 'ringChanged'>;
  readonly reader: Pick<StateReader, 'hostsWithWork' | 'page'>;
  readonly gate: FetchGate;
  readonly schedule: HostSchedule;
  readonly partitionOf: (hostKey: HostKey) => PartitionIndex;
  readonly activeHosts: () => Iterable<HostKey>;
  readonly offerHost: (host: HostPlaceIdentity | HostKey, message: HostMessage) => boolean;
  readonly giveHost: (host: HostPlaceIdentity, message: HostMessage) => void;
  readonly deal: (links: readonly RoutedLink[], token: CountdownToken) => void;
  /** Hosts entered the schedule. */
  readonly scheduled: () => void;
}

/** The shard's side of the cluster, with what an earlier run had not sent; undefined on one machine. */
export function openRemoteShard(
  { shard, shards }: Pick<ShardOptions, 'shard' | 'shards'>,
  ports: ShardPorts,
  stages: Pick<
    RemoteShardOptions,
    'stage' | 'gate' | 'schedule' | 'giveHost' | 'deal' | 'scheduled'
  >,
): RemoteShard | undefined {
  const { remote, router, reader, partitionOf, activeHosts, offerHost } = ports;
  if (remote === undefined) return undefined;
  const lent = { router, reader, partitionOf, activeHosts, offerHost };
  const opened = new RemoteShard({ shard, ports: remote, ...lent, ...stages });
  opened.outbox.recover(remote.reader.outbox(), shards);
  return opened;
}

export class RemoteShard {
  readonly outbox: RemoteOutbox;
  readonly moved: MovedUrls;
  readonly #options: RemoteShardOptions;
  readonly #inbox = new RemoteInbox();

  constructor(options: RemoteShardOptions) {
    const { shard, ports, stage } = options;
    this.#options = options;
    this.moved = new MovedUrls(options.reader);
    this.outbox = new RemoteOutbox({
      shard,
      stage,
      encode: ports.encode,
      publish: ports.publish,
      read: (partition, id) => ports.reader.outboxBytes(partition, id),
      nowMs: ports.nowMs,
    });
  }

  /** Links of a host whose partition is another node's. */
  giveAway(links: readonly RoutedLink[]): void {
    for (const link of links) this.outbox.add(link);
  }

  receive(message: RemoteMessage): void {
    switch (message.kind) {
      case 'offer-remote':
        this.#take(message);
        return;
      case 'remote-committed':
        this.outbox.committed(message.partition, message.through);
        return;
      case 'partitions-gained':
        this.#gained(new Set(message.partitions));
        return;
      case 'partitions-lost':
        this.#lost(new Set(message.partitions));
        return;
      case 'partitions-elsewhere':
        for (const partition of message.partitions) this.#elsewhere(partition);
        return;
      default:
        unreachable(message);
    }
  }

  #take(message: Extract<RemoteMessage, { kind: 'offer-remote' }>): void {
    const { ports, stage, deal } = this.#options;
    const { sender, partition, batch, content } = message;
    const offered = this.#inbox.offered(sender, message);
    if (offered === undefined) return;
    if (offered !== 'new') {
      ports.acknowledge(sender, partition, offered);
      return;
    }
    for (const urlKey of content.known) {
      // A link to it may have come before this word did, and stand in a queue.
      if (!ports.seen.addIfNew(urlKey)) this.moved.settledElsewhere(urlKey);
    }
    const staged = (): void =>
      stage.afterCommit(() =>
        ports.acknowledge(sender, partition, this.#inbox.committed(sender, partition, batch)),
      );
    deal(content.links, new CountdownToken(staged));
  }

  #gained(partitions: ReadonlySet<PartitionIndex>): void {
    const { ports, router, reader, schedule, activeHosts, partitionOf, scheduled } = this.#options;
    router.ringChanged();
    const now = ports.nowMs();
    for (const { hostKey } of reader.hostsWithWork((partition) => partitions.has(partition))) {
      schedule.put(hostKey, now, 0, 'gap');
    }
    // An actor that is awake may know of work that is not committed yet. One without work gives its slot back.
    for (const hostKey of activeHosts()) {
      if (partitions.has(partitionOf(hostKey))) schedule.put(hostKey, now, 0, 'gap');
    }
    scheduled();
  }

  #lost(partitions: ReadonlySet<PartitionIndex>): void {
    const { router, gate, partitionOf } = this.#options;
    router.ringChanged();
    gate.abortWhere((hostKey) => partitions.has(partitionOf(hostKey)));
  }

  #elsewhere(partition: PartitionIndex): void {
    const { router, stage } = this.#options;
    router.ringChanged();
    this.outbox.ownerChanged(partition);
    // What was fetched last is among the settled keys only when it is committed.
    stage.afterCommit(() => this.#giveAway(partition));
  }

  #giveAway(partition: PartitionIndex): void {
    const { ports, reader, activeHosts, partitionOf, offerHost, giveHost } = this.#options;
    // It may have come back while this message was under way.
    if (ports.tenure.opensMs(partition) !== Number.POSITIVE_INFINITY) return;
    // First what is done, then what is to do.
    for (const urlKey of ports.reader.settledKeys(partition)) {
      this.outbox.addKnown(partition, urlKey);
    }
    for (const hostKey of activeHosts()) {
      if (partitionOf(hostKey) === partition) offerHost(hostKey, { kind: 'give-away' });
    }
    for (const { hostKey, row } of reader.hostsWithWork((each) => each === partition)) {
      assert(row.partition === partition, () => `${row.host} lies in ${row.partition}`);
      giveHost({ host: row.host, hostKey, partition }, { kind: 'give-away' });
    }
  }
}
