// Between a node's shards and the bus, on the main thread: gives each shard its seat, carries batches and receipts to and fro, and errands about
// robots.txt with a number of its own for each. Looks into nothing but envelopes: what a batch holds is read by the shard that takes it.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { unreachable } from '../base/assert.ts';
import type { ClusterNode, ClusterNodeEvents } from '../cluster/cluster-node.ts';
import type { AskEnvelope, Envelope, LinksEnvelope } from '../cluster/envelopes.ts';
import { createTenureMemory, SharedTenure } from '../runtime/shared-tenure.ts';
import type { FromBus, RemoteSeat, ToBus } from './shard-remote.ts';

/** Errands of other nodes that await their answers, at most; the asker gives up after two minutes anyway. */
const ERRANDS_MAX = 10_000;

type Seat = MessagePort;

export class ClusterBridge {
  readonly tenure: SharedTenure;
  readonly #memory: ReturnType<typeof createTenureMemory>;
  readonly #threadOf: (partition: number) => number;
  readonly #seats: Seat[] = [];
  readonly #errands = new Map<number, Pick<AskEnvelope, 'node' | 'run' | 'shard' | 'askId'>>();
  #nextErrand = 1;
  #node: ClusterNode | undefined;

  /** @param threadOf the shard of this node that has a partition, whoever owns it now */
  constructor(partitions: number, threadOf: (partition: number) => number) {
    this.#memory = createTenureMemory(partitions);
    this.tenure = new SharedTenure(this.#memory);
    this.#threadOf = threadOf;
  }

  /** The seat of a shard that is about to start; once for each. */
  seat(shard: number): RemoteSeat {
    const { port1, port2 } = new MessageChannel();
    this.#seats[shard] = port1;
    port1.on('message', (message: ToBus) => this.#fromShard(shard, message));
    return { tenure: this.#memory, port: port2 };
  }

  connect(node: ClusterNode): void {
    this.#node = node;
  }

  close(): void {
    for (const port of this.#seats) port.close();
  }

  /** What the node does with what it hears. */
  events(rest: Pick<ClusterNodeEvents, 'warn' | 'failed'>): ClusterNodeEvents {
    const tell =
      (kind: 'gained' | 'lost' | 'elsewhere') =>
      (partitions: readonly number[]): void => {
        const byShard = new Map<number, number[]>();
        for (const partition of partitions) {
          const shard = this.#threadOf(partition);
          byShard.set(shard, [...(byShard.get(shard) ?? []), partition]);
        }
        for (const [shard, some] of byShard) this.#toShard(shard, { kind, partitions: some });
      };
    const heard = (subject: string, envelope: Exclude<Envelope, { kind: 'state' }>): void =>
      this.#heard(subject, envelope);
    return {
      ...rest,
      gained: tell('gained'),
      lost: tell('lost'),
      elsewhere: tell('elsewhere'),
      heard,
    };
  }

  #fromShard(shard: number, message: ToBus): void {
    const node = this.#node;
    if (node === undefined) return;
    const { name, run, incarnation } = node;
    switch (message.kind) {
      case 'publish': {
        const { partition, batch, base, bytes } = message;
        const place = { node: name, incarnation, run, shard };
        node.publish(`links.${partition}`, { kind: 'links', ...place, batch, base, bytes });
        return;
      }
      case 'acknowledge': {
        const { sender, partition, through } = message;
        const [to = '', toRun = '', toShard = ''] = sender.split(' ');
        const place = { run: toRun, shard: Number(toShard), partition, through };
        node.publish(`acks.${to}`, { kind: 'acks', ...place });
        return;
      }
      case 'ask': {
        const { ask, host } = message;
        const { askId, url } = ask;
        const place = { node: name, run, shard, askId, url };
        const { hostKey } = host;
        node.publish(`ask.${host.partition}`, { kind: 'ask', ...place, host: host.host, hostKey });
        return;
      }
      case 'answer': {
        const errand = this.#errands.get(message.askId);
        this.#errands.delete(message.askId);
        if (errand === undefined) return;
        const { answer } = message;
        const { node: to, ...place } = errand;
        node.publish(`answer.${to}`, { kind: 'answer', ...place, answer });
        return;
      }
      default:
        unreachable(message);
    }
  }

  #heard(subject: string, envelope: Exclude<Envelope, { kind: 'state' }>): void {
    const partition = Number(subject.slice(subject.indexOf('.') + 1));
    switch (envelope.kind) {
      case 'links':
        this.#takeLinks(partition, envelope);
        return;
      case 'acks': {
        const { run, shard, through } = envelope;
        const committed = { kind: 'committed', partition: envelope.partition, through } as const;
        if (run === this.#node?.run) this.#toShard(shard, committed);
        return;
      }
      case 'ask': {
        const askId = this.#nextErrand;
        this.#nextErrand += 1;
        const { node, run, shard, url, host, hostKey } = envelope;
        this.#errands.set(askId, { node, run, shard, askId: envelope.askId });
        if (this.#errands.size > ERRANDS_MAX) this.#forgetOldest();
        const ask = { kind: 'ask', askId, url, host, hostKey, partition } as const;
        this.#toShard(this.#threadOf(partition), ask);
        return;
      }
      case 'answer': {
        const { run, shard, askId, answer } = envelope;
        if (run === this.#node?.run) this.#toShard(shard, { kind: 'answer', askId, answer });
        return;
      }
      default:
        unreachable(envelope);
    }
  }

  /** A batch of a node that has lost its lease since is refused; it comes again, under the new one. */
  #takeLinks(partition: number, envelope: LinksEnvelope): void {
    const { node, incarnation, run, shard, batch, base, bytes } = envelope;
    if (this.#node?.isCurrent(node, incarnation) !== true) return;
    if (/\s/.test(node + run)) return;
    const sender = `${node} ${run} ${shard}`;
    const message = { kind: 'batch', sender, partition, batch, base, bytes } as const;
    this.#toShard(this.#threadOf(partition), message);
  }

  #forgetOldest(): void {
    const [oldest] = this.#errands.keys();
    if (oldest !== undefined) this.#errands.delete(oldest);
  }

  #toShard(shard: number, message: FromBus): void {
    this.#seats[shard]?.postMessage(message);
  }
}
