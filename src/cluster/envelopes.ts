// What nodes say to each other over the bus, as bytes: batches of links, receipts, robots errands, how quiet a node is. Everything that comes in
// is hostile until it was looked at: size and structure by the codec, the shape of each message here, and of a batch's links by the shard
// that takes it (it alone knows the hosts). What cannot be read is counted and dropped; senders repeat what matters.

import type { RobotsAnswer } from '../actors/messages.ts';
import { Codec } from '../runtime/codec.ts';
import { PAYLOAD_BYTES_MAX } from './bus-config.ts';

/** A batch of a node's outbox. */
export interface LinksEnvelope {
  readonly kind: 'links';
  readonly node: string;
  /** The sender's lease as it was sent: a batch of a node that has lost it is refused (CLUSTER.md, shuffle). */
  readonly incarnation: string;
  /** The sender's process: batches count from 1 in each. */
  readonly run: string;
  readonly shard: number;
  readonly batch: number;
  readonly base: number;
  readonly bytes: Uint8Array;
}

/** A receiver's watermark, to the sender's node. */
export interface AckEnvelope {
  readonly kind: 'acks';
  readonly run: string;
  readonly shard: number;
  readonly partition: number;
  readonly through: number;
}

/** A robots.txt was redirected to a host of another node; its owner shall fetch it. */
export interface AskEnvelope {
  readonly kind: 'ask';
  readonly node: string;
  readonly run: string;
  readonly shard: number;
  readonly askId: number;
  readonly url: string;
  readonly host: string;
  readonly hostKey: bigint;
}

export interface AnswerEnvelope {
  readonly kind: 'answer';
  readonly run: string;
  readonly shard: number;
  readonly askId: number;
  readonly answer: RobotsAnswer;
}

/** How a node is, told to all about once a second. */
export interface StateEnvelope {
  readonly kind: 'state';
  readonly node: string;
  readonly run: string;
  /** True when it has found nothing to do, twice in a row. */
  readonly isQuiet: boolean;
  /** Grows with everything it does: two equal vectors of all nodes mean that nothing happened between them. */
  readonly activity: number;
  /** Set once the crawl ends, as this node has decided or heard. */
  readonly ending: string | undefined;
}

export type Envelope = LinksEnvelope | AckEnvelope | AskEnvelope | AnswerEnvelope | StateEnvelope;

const TEXT_MAX = 16_384;

/** Encodes and reads envelopes. Not shared between threads. */
export class EnvelopeCodec {
  readonly #codec = new Codec({ batchBytesMax: PAYLOAD_BYTES_MAX, messagesMax: 1 });

  encode(envelope: Envelope): Uint8Array {
    return this.#codec.encodeBatch([envelope]);
  }

  /** Undefined for anything but one envelope of this kind. Never throws. */
  read<Kind extends Envelope['kind']>(
    kind: Kind,
    bytes: Uint8Array,
  ): Extract<Envelope, { kind: Kind }> | undefined {
    const result = this.#codec.decodeBatch(bytes, isEnvelope);
    const envelope = result.kind === 'ok' ? result.messages[0] : undefined;
    if (envelope?.kind !== kind) return undefined;
    return envelope as Extract<Envelope, { kind: Kind }>;
  }
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Record<string, unknown>;
  const { kind, node, run, shard, askId } = record;
  if (!isText(run, 64)) return false;
  switch (kind) {
    case 'links':
      if (!isText(node, 64) || !isText(record.incarnation, 64) || !isCount(shard)) return false;
      return isCount(record.batch) && isCount(record.base) && record.bytes instanceof Uint8Array;
    case 'acks':
      return isCount(shard) && isCount(record.partition) && isCount(record.through);
    case 'ask':
      if (!isText(node, 64) || !isCount(shard) || !isCount(askId)) return false;
      if (!isText(record.url, TEXT_MAX) || !isText(record.host, 255)) return false;
      return typeof record.hostKey === 'bigint';
    case 'answer':
      return isCount(shard) && isCount(askId) && isAnswer(record.answer);
    case 'state':
      if (!isText(node, 64) || typeof record.isQuiet !== 'boolean') return false;
      return isCount(record.activity) && isOptionalText(record.ending);
    default:
      return false;
  }
}

function isAnswer(value: unknown): value is RobotsAnswer {
  if (typeof value !== 'object' || value === null) return false;
  const answer = value as Record<string, unknown>;
  if (answer.kind === 'unreachable') return isText(answer.reason, 64);
  if (answer.kind !== 'response' || !isCount(answer.status)) return false;
  if (typeof answer.ageSeconds !== 'number' || typeof answer.retryAfterSeconds !== 'number') {
    return false;
  }
  if (!isOptionalText(answer.cacheControl) || !isOptionalText(answer.location)) return false;
  return answer.body instanceof Uint8Array && typeof answer.truncated === 'boolean';
}

function isText(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value.length <= charsMax;
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || isText(value, TEXT_MAX);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
