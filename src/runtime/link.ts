// One end of a batched link with credits: step 3 of a URL's life (route) between threads. postMessage has no backpressure of its own, so
// every link has credits: an end may send as many messages as the other has granted, and at zero `send` refuses; the caller spills or
// slows its parser and never blocks. Credits come back when the other end has handled messages. Messages leave in batches (by count or
// after a short delay), since a postMessage costs microseconds and a message in a batch a fraction. A second lane carries raw buffers
// (bodies for the storage thread) beside a message, transferred and not copied, bounded by bytes in flight, and brings them back for
// reuse. The order of everything sent is kept. This file knows no threads: thread-link.ts and local-link.ts bring the wire.
import { assert, unreachable } from '../base/assert.ts';
import type { AlarmId, Alarms } from './clock.ts';
import type { Codec, DecodeProblem } from './codec.ts';

/** What passes over the wire of a link. */
export type Frame =
  | { readonly kind: 'batch'; readonly bytes: Uint8Array<ArrayBuffer>; readonly count: number }
  | {
      readonly kind: 'bulk';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly buffers: ArrayBuffer[];
    }
  | { readonly kind: 'grant'; readonly messages: number; readonly bulkBytes: number }
  | { readonly kind: 'returned'; readonly buffers: ArrayBuffer[] }
  | { readonly kind: 'closed' };

/** Carries frames to the other end, in order. */
export interface Wire {
  post(frame: Frame, transfer: ArrayBuffer[]): void;
  close(): void;
}

/** What went wrong with single messages. The link goes on. */
export type LinkProblem =
  /** A message of ours has no encoding or is over the limit; it was dropped. */
  | { readonly kind: 'unencodable'; readonly message: unknown; readonly error: string }
  /** What arrived was no valid batch; it was dropped and its credits granted back. */
  | { readonly kind: 'undecodable'; readonly problem: DecodeProblem };

/** Options of one end. Both ends use the same codec limits, `creditsMax` and `bulkBytesMax`. */
export interface LinkOptions<In> {
  readonly name: string;
  readonly codec: Codec;
  readonly alarms: Alarms;
  /** Accepts exactly the messages that the other end may send. */
  readonly validate: (message: unknown) => message is In;
  /** Gets each message in order; `buffers` is empty but for the bulk lane, and then belongs to the receiver. */
  readonly onMessage: (message: In, buffers: ArrayBuffer[]) => void;
  /** Gets buffers that the other end is done with. */
  readonly onReturned?: (buffers: ArrayBuffer[]) => void;
  /** Called when sending is possible again after a refusal. */
  readonly onCredit?: () => void;
  readonly onProblem?: (problem: LinkProblem) => void;
  /** Called once, when the other end or its thread is gone. */
  readonly onClosed?: () => void;
  /** Messages sent and not yet granted back, at most. Default 4096. */
  readonly creditsMax?: number;
  /**
   * Bytes of bulk buffers sent and not yet granted back, at most; a message of any size passes while less than a quarter of that is
   * under way. Default 32 MiB.
   */
  readonly bulkBytesMax?: number;
  /** Messages in a batch, at most. Default 100. */
  readonly batchCountMax?: number;
  /** Longest wait of a message for its batch to fill. Default 2 ms. */
  readonly batchDelayMs?: number;
  /** False: credits go back only by `grant`. Default true: when `onMessage` has returned. */
  readonly grantsOnReturn?: boolean;
}

/** Counters of one end, for inspection. */
export interface LinkCounters {
  readonly messagesSent: number;
  readonly messagesReceived: number;
  readonly batchesSent: number;
  readonly batchesReceived: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly bulkBytesSent: number;
  readonly bulkBytesReceived: number;
  /** Sends refused for want of credit. */
  readonly refused: number;
  readonly unencodable: number;
  readonly undecodable: number;
  /** Messages that may be sent now. */
  readonly credits: number;
  /** Messages waiting for their batch to fill. */
  readonly waiting: number;
}

/** The sending half of a link, as its users see it. */
export interface LinkSender<Out> {
  /** Queues a message. False, and nothing happened, at zero credit or when closed. */
  send(message: Out): boolean;
  /** Sends a message with buffers, which are transferred and gone here. False, and nothing happened, without credit. */
  sendBulk(message: Out, buffers: ArrayBuffer[]): boolean;
  /** Sends what waits now: at the end of a turn. */
  flush(): void;
}

type Tally = { -readonly [Name in keyof Omit<LinkCounters, 'credits' | 'waiting'>]: number };

/** One end of a link. */
export class LinkEnd<Out, In> implements LinkSender<Out> {
  readonly name: string;
  readonly #options: LinkOptions<In>;
  readonly #wire: Wire;
  readonly #creditsMax: number;
  readonly #bulkBytesMax: number;
  readonly #batchCountMax: number;
  #waiting: Out[] = [];
  #alarm: AlarmId | undefined;
  #credits: number;
  #bulkBytesInFlight = 0;
  #wasRefused = false;
  #owedMessages = 0;
  #owedBulkBytes = 0;
  #isClosed = false;
  readonly #tally: Tally = {
    messagesSent: 0,
    messagesReceived: 0,
    batchesSent: 0,
    batchesReceived: 0,
    bytesSent: 0,
    bytesReceived: 0,
    bulkBytesSent: 0,
    bulkBytesReceived: 0,
    refused: 0,
    unencodable: 0,
    undecodable: 0,
  };

  constructor(wire: Wire, options: LinkOptions<In>) {
    this.name = options.name;
    this.#wire = wire;
    this.#options = options;
    this.#creditsMax = options.creditsMax ?? 4096;
    this.#bulkBytesMax = options.bulkBytesMax ?? 32 * 1024 * 1024;
    this.#batchCountMax = options.batchCountMax ?? 100;
    this.#credits = this.#creditsMax;
    assert(this.#creditsMax >= 1, () => 'a link needs a credit');
    assert(this.#batchCountMax >= 1, () => 'a batch holds at least one message');
  }

  get counters(): LinkCounters {
    return { ...this.#tally, credits: this.#credits, waiting: this.#waiting.length };
  }

  /** Messages that may be sent now. */
  get credits(): number {
    return this.#isClosed ? 0 : this.#credits;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(message: Out): boolean {
    if (this.#isClosed || this.#credits === 0) return this.#refuse();
    this.#credits -= 1;
    this.#waiting.push(message);
    // Without credit no further message can fill the batch: waiting would be for nothing.
    if (this.#waiting.length >= this.#batchCountMax || this.#credits === 0) this.flush();
    else if (this.#alarm === undefined) {
      this.#alarm = this.#options.alarms.after(this.#options.batchDelayMs ?? 2, () => {
        this.#alarm = undefined;
        this.flush();
      });
    }
    return true;
  }

  sendBulk(message: Out, buffers: ArrayBuffer[]): boolean {
    const bytes = bytesOf(buffers);
    // Up to a quarter may be handled and not yet granted back (see `grant`), so it must not hold up a large buffer.
    const fits =
      this.#bulkBytesInFlight * 4 < this.#bulkBytesMax ||
      this.#bulkBytesInFlight + bytes <= this.#bulkBytesMax;
    if (this.#isClosed || this.#credits === 0 || !fits) return this.#refuse();
    this.flush();
    const packed = this.#encode([message]);
    if (packed === undefined) return true;
    this.#credits -= 1;
    this.#bulkBytesInFlight += bytes;
    this.#tally.messagesSent += 1;
    this.#tally.bytesSent += packed.length;
    this.#tally.bulkBytesSent += bytes;
    this.#wire.post({ kind: 'bulk', bytes: packed, buffers }, [packed.buffer, ...buffers]);
    return true;
  }

  flush(): void {
    if (this.#alarm !== undefined) this.#options.alarms.cancel(this.#alarm);
    this.#alarm = undefined;
    if (this.#waiting.length === 0 || this.#isClosed) return;
    const messages = this.#waiting;
    this.#waiting = [];
    this.#post(messages);
  }

  /** Gives credits back for messages handled, and for their bulk bytes. For links with `grantsOnReturn: false`. */
  grant(messages: number, bulkBytes = 0): void {
    this.#owedMessages += messages;
    this.#owedBulkBytes += bulkBytes;
    // Held back while small: a grant is a postMessage. Always less than a quarter, so the sender never starves.
    const isDue =
      this.#owedMessages * 4 >= this.#creditsMax || this.#owedBulkBytes * 4 >= this.#bulkBytesMax;
    if (!isDue || this.#isClosed) return;
    const grant = { messages: this.#owedMessages, bulkBytes: this.#owedBulkBytes };
    this.#owedMessages = 0;
    this.#owedBulkBytes = 0;
    this.#wire.post({ kind: 'grant', ...grant }, []);
  }

  /** Gives buffers of the bulk lane back to the end they came from, for reuse. They are gone here. */
  returnBuffers(buffers: ArrayBuffer[]): void {
    if (this.#isClosed || buffers.length === 0) return;
    this.#wire.post({ kind: 'returned', buffers }, buffers);
  }

  /** Sends what waits, tells the other end, and closes. */
  close(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#wire.post({ kind: 'closed' }, []);
    this.#isClosed = true;
    this.#wire.close();
  }

  /** Takes a frame off the wire. Called by the wire alone. */
  accept(frame: Frame): void {
    if (this.#isClosed) return;
    switch (frame.kind) {
      case 'batch':
        this.#receive(frame.bytes, frame.count, []);
        return;
      case 'bulk':
        this.#receive(frame.bytes, 1, frame.buffers);
        return;
      case 'grant':
        this.#regain(frame.messages, frame.bulkBytes);
        return;
      case 'returned':
        this.#options.onReturned?.(frame.buffers);
        return;
      case 'closed':
        this.lose();
        return;
      default:
        unreachable(frame);
    }
  }

  /** The other end is gone. Called by the wire alone. */
  lose(): void {
    if (this.#isClosed) return;
    if (this.#alarm !== undefined) this.#options.alarms.cancel(this.#alarm);
    this.#isClosed = true;
    this.#waiting = [];
    this.#wire.close();
    this.#options.onClosed?.();
  }

  #refuse(): false {
    this.#tally.refused += 1;
    this.#wasRefused = true;
    return false;
  }

  #post(messages: Out[]): void {
    const bytes = this.#encode(messages);
    if (bytes === undefined) {
      if (messages.length > 1) {
        const half = messages.length >> 1;
        this.#post(messages.slice(0, half));
        this.#post(messages.slice(half));
      } else this.#credits += 1;
      return;
    }
    this.#tally.batchesSent += 1;
    this.#tally.messagesSent += messages.length;
    this.#tally.bytesSent += bytes.length;
    this.#wire.post({ kind: 'batch', bytes, count: messages.length }, [bytes.buffer]);
  }

  /** Undefined when it cannot be done; a single message is then reported. */
  #encode(messages: Out[]): Uint8Array<ArrayBuffer> | undefined {
    try {
      return this.#options.codec.encodeBatch(messages);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (messages.length === 1) {
        this.#tally.unencodable += 1;
        const problem = { message: messages[0], error: error.message };
        this.#options.onProblem?.({ kind: 'unencodable', ...problem });
      }
      return undefined;
    }
  }

  #receive(bytes: Uint8Array, count: number, buffers: ArrayBuffer[]): void {
    const bulkBytes = bytesOf(buffers);
    this.#tally.batchesReceived += 1;
    this.#tally.bytesReceived += bytes.length;
    this.#tally.bulkBytesReceived += bulkBytes;
    const result = this.#options.codec.decodeBatch(bytes, this.#options.validate);
    if (result.kind !== 'ok') {
      this.#tally.undecodable += 1;
      this.#options.onProblem?.({ kind: 'undecodable', problem: result });
      this.grant(count, bulkBytes);
      return;
    }
    this.#tally.messagesReceived += result.messages.length;
    for (const message of result.messages) this.#options.onMessage(message, buffers);
    if (this.#options.grantsOnReturn !== false) this.grant(count, bulkBytes);
  }

  #regain(messages: number, bulkBytes: number): void {
    this.#credits += messages;
    this.#bulkBytesInFlight -= bulkBytes;
    assert(this.#credits <= this.#creditsMax, () => `${this.name} was granted too much`);
    assert(this.#bulkBytesInFlight >= 0, () => `${this.name} was granted bytes it never sent`);
    if (!this.#wasRefused) return;
    this.#wasRefused = false;
    this.#options.onCredit?.();
  }
}

function bytesOf(buffers: readonly ArrayBuffer[]): number {
  let bytes = 0;
  for (const buffer of buffers) bytes += buffer.byteLength;
  return bytes;
}
