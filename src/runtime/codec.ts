// Packs batches of messages for links between threads and machines (step 3: route, batched): one codec for both. A batch is two bytes
// (magic, version) and one MessagePack array; objects are msgpackr records, whose shapes are written once a batch, so a batch stands
// alone: it can be stored, resent or read by another process. Bigints of 64 bits and floats survive; undefined fields stay undefined;
// −0 becomes 0. What comes in is hostile until proven otherwise: its size is bounded, its structure is proven by msgpack-scan.ts before
// msgpackr reads it, and every message is checked by the caller's validator. Decoding never throws.
import { Packr, RESERVE_START_SPACE, Unpackr } from 'msgpackr';
import { assert } from '../base/assert.ts';
import { type ScanProblem, scanMessagePack } from './msgpack-scan.ts';

/** First byte of a batch: 'H'. */
const MAGIC = 0x48;
/** Second byte; changes with any change of the format that old readers cannot read. */
export const CODEC_VERSION = 1;
const HEADER_BYTES = 2;

/** Limits of a codec; both sides of a link use the same. */
export interface CodecLimits {
  /** Most bytes of a batch. Default 4 MiB. */
  readonly batchBytesMax?: number;
  /** Most messages of a batch. Default 65,536. */
  readonly messagesMax?: number;
  /** Containers inside one another, the batch itself included; at most 64. Default 16. */
  readonly depthMax?: number;
}

/** Why a batch was refused. */
export type DecodeProblem =
  | { readonly kind: 'too-large'; readonly bytes: number }
  | { readonly kind: 'not-a-batch' }
  | { readonly kind: 'other-version'; readonly version: number }
  | { readonly kind: 'malformed'; readonly problem: ScanProblem | 'unreadable' }
  | { readonly kind: 'too-many'; readonly messages: number }
  /** The validator refused the message at this index. */
  | { readonly kind: 'invalid'; readonly index: number };

/** A batch as decoded. */
export type DecodeResult<Message> =
  | { readonly kind: 'ok'; readonly messages: Message[] }
  | DecodeProblem;

/** Encodes and decodes batches. Not shared between threads; not re-entrant. */
export class Codec {
  readonly batchBytesMax: number;
  readonly messagesMax: number;
  readonly #depthMax: number;
  readonly #packr = new Packr({ useRecords: true });
  readonly #unpackr = new Unpackr({ useRecords: true, int64AsType: 'bigint', copyBuffers: true });

  constructor(limits: CodecLimits = {}) {
    this.batchBytesMax = limits.batchBytesMax ?? 4 * 1024 * 1024;
    this.messagesMax = limits.messagesMax ?? 65_536;
    this.#depthMax = limits.depthMax ?? 16;
    assert(this.#depthMax <= 64, () => `depth ${this.#depthMax} is over 64`);
  }

  /**
   * Packs messages (plain data) into bytes with an ArrayBuffer of their own, ready to be transferred.
   * @throws RangeError when they do not fit `batchBytesMax` or hold something that has no encoding; a link then splits the batch
   */
  encodeBatch(messages: readonly unknown[]): Uint8Array<ArrayBuffer> {
    assert(messages.length <= this.messagesMax, () => `a batch of ${messages.length} messages`);
    let packed: Uint8Array;
    try {
      packed = this.#packr.pack(messages, RESERVE_START_SPACE | HEADER_BYTES);
    } catch (cause) {
      throw new RangeError('a message holds something that has no encoding', { cause });
    }
    if (packed.length > this.batchBytesMax) {
      throw new RangeError(`a batch of ${packed.length} bytes is over ${this.batchBytesMax}`);
    }
    const bytes = new Uint8Array(packed.length);
    bytes.set(packed);
    bytes[0] = MAGIC;
    bytes[1] = CODEC_VERSION;
    return bytes;
  }

  /**
   * Unpacks a batch. Never throws, whatever the bytes; linear in them.
   * @param validate accepts exactly the messages of the link; must not throw
   */
  decodeBatch<Message>(
    bytes: Uint8Array,
    validate: (message: unknown) => message is Message,
  ): DecodeResult<Message> {
    if (bytes.length > this.batchBytesMax) return { kind: 'too-large', bytes: bytes.length };
    if (bytes.length <= HEADER_BYTES || bytes[0] !== MAGIC) return { kind: 'not-a-batch' };
    if (bytes[1] !== CODEC_VERSION) return { kind: 'other-version', version: bytes[1] ?? 0 };
    const problem = scanMessagePack(bytes, HEADER_BYTES, this.#depthMax);
    if (problem !== undefined) return { kind: 'malformed', problem };
    const messages = this.#read(bytes);
    if (!Array.isArray(messages)) return { kind: 'malformed', problem: 'unreadable' };
    if (messages.length > this.messagesMax) return { kind: 'too-many', messages: messages.length };
    const index = messages.findIndex((message) => !validate(message));
    if (index >= 0) return { kind: 'invalid', index };
    return { kind: 'ok', messages };
  }

  #read(bytes: Uint8Array): unknown {
    try {
      return this.#unpackr.unpack(bytes.subarray(HEADER_BYTES));
    } catch {
      // The scan proved the structure; what is left (a name msgpackr dislikes, say) is refused.
      return undefined;
    }
  }
}
