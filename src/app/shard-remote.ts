// A shard thread's side of the cluster: turns what its actors send to other machines into messages to the main thread, which has the bus, and
// what comes back into messages of the shard. A batch that came over the bus is looked at here before an actor sees it: its structure, its
// shapes, and that its hosts are of the partition it was addressed to. Cuts off what is in flight when the lease has run out.

import type { MessagePort } from 'node:worker_threads';
import type {
  HostPlaceIdentity,
  RemoteBatch,
  RobotsAnswer,
  RobotsAsk,
  RoutedLink,
  ShardPeerMessage,
} from '../actors/messages.ts';
import type { OutboxReader } from '../actors/ports.ts';
import type { RemotePorts } from '../actors/remote-shard.ts';
import type { SeenSet } from '../actors/services.ts';
import type { RunningShard } from '../actors/shard-assembly.ts';
import { unreachable } from '../base/assert.ts';
import type { MonotonicMs, PartitionIndex } from '../base/units.ts';
import { hostKey, partitionIndex } from '../base/units.ts';
import { parseBase } from '../domain/base-url.ts';
import { partitionOf } from '../domain/ring.ts';
import type { UrlHasher } from '../domain/url-key.ts';
import { Codec } from '../runtime/codec.ts';
import { SharedTenure, type TenureMemory } from '../runtime/shared-tenure.ts';
import { isRemoteBatch } from './peer-messages.ts';

/** A shard's seat in the cluster, given with its plan. */
export interface RemoteSeat {
  readonly tenure: TenureMemory;
  readonly port: MessagePort;
}

/** From a shard to the main thread. */
export type ToBus =
  | {
      readonly kind: 'publish';
      readonly partition: number;
      readonly batch: number;
      readonly base: number;
      readonly bytes: Uint8Array;
    }
  | {
      readonly kind: 'acknowledge';
      readonly sender: string;
      readonly partition: number;
      readonly through: number;
    }
  | { readonly kind: 'ask'; readonly ask: RobotsAsk; readonly host: HostPlaceIdentity }
  | { readonly kind: 'answer'; readonly askId: number; readonly answer: RobotsAnswer };

/** From the main thread to a shard. */
export type FromBus =
  | {
      readonly kind: 'batch';
      readonly sender: string;
      readonly partition: number;
      readonly batch: number;
      readonly base: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'committed'; readonly partition: number; readonly through: number }
  | {
      readonly kind: 'gained' | 'lost' | 'elsewhere';
      readonly partitions: readonly number[];
    }
  | {
      readonly kind: 'ask';
      readonly askId: number;
      readonly url: string;
      readonly host: string;
      readonly hostKey: bigint;
      readonly partition: number;
    }
  | { readonly kind: 'answer'; readonly askId: number; readonly answer: RobotsAnswer };

/** How often the deadline of the lease is looked at, and what waits is sent again. */
const LOOK_MS = 50;
const PUMP_MS = 1_000;

export interface ShardRemoteOptions {
  readonly seat: RemoteSeat;
  readonly hasher: UrlHasher;
  readonly partitions: number;
  /** Number by which shards of this process call the rest of the cluster. */
  readonly busShard: number;
  readonly now: () => MonotonicMs;
  readonly reader: OutboxReader;
  readonly seen: SeenSet;
}

export class ShardRemote {
  readonly tenure: SharedTenure;
  readonly ports: RemotePorts;
  readonly #options: ShardRemoteOptions;
  readonly #codec = new Codec({ messagesMax: 1 });
  readonly #timers: NodeJS.Timeout[] = [];
  #pumpedMs = 0;
  #hasCut = false;
  /** Batches sent and taken in: what two rounds of asking compare. */
  activity = 0;

  constructor(options: ShardRemoteOptions) {
    this.#options = options;
    this.tenure = new SharedTenure(options.seat.tenure);
    this.ports = {
      tenure: this.tenure,
      encode: (batch) => this.#codec.encodeBatch([batch]),
      publish: (at, bytes) => {
        this.activity += 1;
        this.#send({ kind: 'publish', ...at, bytes });
      },
      acknowledge: (sender, partition, through) =>
        this.#send({ kind: 'acknowledge', sender, partition, through }),
      reader: options.reader,
      seen: options.seen,
      nowMs: options.now,
    };
  }

  /** True while this node may fetch the URL; asked again right before it connects and before it sends (I4). */
  mayRequest(url: string): boolean {
    const host = parseBase(url)?.host;
    if (host === undefined) return false;
    const { hasher, partitions, now } = this.#options;
    return this.tenure.holds(partitionOf(hasher.hostKey(host), partitions), now());
  }

  /** Errands to hosts of other nodes; links go by `ports`. */
  sendPeer(message: ShardPeerMessage): boolean {
    if (message.kind === 'ask-robots') {
      this.#send({ kind: 'ask', ask: message.ask, host: message.host });
    } else if (message.kind === 'robots-answered') {
      this.#send({ kind: 'answer', askId: message.askId, answer: message.answer });
    }
    return true;
  }

  /** Serves the port from now on. */
  serve(shard: RunningShard): void {
    const { seat, now } = this.#options;
    seat.port.on('message', (message: FromBus) => this.#hear(shard, message));
    const look = setInterval(() => {
      const isOver = now() >= this.tenure.deadlineMs;
      if (isOver && !this.#hasCut) shard.shard.gate.abortAll();
      this.#hasCut = isOver;
      if (now() - this.#pumpedMs < PUMP_MS) return;
      this.#pumpedMs = now();
      shard.tell({ kind: 'retry' });
    }, LOOK_MS);
    this.#timers.push(look);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#options.seat.port.close();
  }

  #hear(shard: RunningShard, message: FromBus): void {
    switch (message.kind) {
      case 'batch': {
        const content = this.#read(message.bytes, message.partition);
        if (content === undefined) return;
        this.activity += 1;
        const { sender, batch, base } = message;
        const partition = partitionIndex(message.partition);
        shard.tell({ kind: 'offer-remote', sender, partition, batch, base, content });
        return;
      }
      case 'committed': {
        const partition = partitionIndex(message.partition);
        shard.tell({ kind: 'remote-committed', partition, through: message.through });
        return;
      }
      case 'gained':
      case 'lost':
      case 'elsewhere': {
        const partitions = message.partitions.map((partition) => partitionIndex(partition));
        shard.tell({ kind: `partitions-${message.kind}`, partitions });
        return;
      }
      case 'ask': {
        const { askId, url, host } = message;
        const from = this.#options.busShard;
        const place = this.#placeOf(host);
        if (place.partition !== message.partition || place.hostKey !== message.hostKey) return;
        shard.tell({ kind: 'ask-robots', ask: { from, askId, url }, host: { host, ...place } });
        return;
      }
      case 'answer':
        shard.tell({ kind: 'robots-answered', askId: message.askId, answer: message.answer });
        return;
      default:
        unreachable(message);
    }
  }

  /** Undefined for what is no batch of this partition; the sender repeats it in vain, and is the one that is wrong. */
  #read(bytes: Uint8Array, partition: number): RemoteBatch | undefined {
    const result = this.#codec.decodeBatch(bytes, isRemoteBatch);
    const batch = result.kind === 'ok' ? result.messages[0] : undefined;
    if (batch === undefined) return undefined;
    return batch.links.every((link) => this.#isOf(link, partition)) ? batch : undefined;
  }

  #isOf(link: RoutedLink, partition: number): boolean {
    const place = this.#placeOf(link.host);
    if (place.partition !== partition || link.partition !== partition) return false;
    return place.hostKey === link.hostKey && parseBase(link.url)?.host === link.host;
  }

  #placeOf(host: string): { hostKey: ReturnType<typeof hostKey>; partition: PartitionIndex } {
    const key = this.#options.hasher.hostKey(host);
    return { hostKey: hostKey(key), partition: partitionOf(key, this.#options.partitions) };
  }

  #send(message: ToBus): void {
    this.#options.seat.port.postMessage(message);
  }
}
