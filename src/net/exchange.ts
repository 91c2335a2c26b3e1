// One request and its answer (step 9 of a URL's life): undici's handler for it, from the moment it is handed over to the one outcome.
// Outcomes are values: whatever undici, the socket or a decoder reports ends here as a response or a failure, exactly once. A message cut
// short is kept, marked (WARC-Truncated), when its head came whole and something of its body; a message that breaks the protocol, or that
// needed repair and was cut as well, is no answer. Times are honest: from before the connection is asked for, to the last byte.

import type { FetchOutcome, FetchRequest, FetchResponse } from '../actors/ports.ts';
import type { MonotonicMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import { contentCodings, decodeContent } from './content-decoding.ts';
import { errorDetail, exchangeFailureKind, FetchError, isDisconnect } from './fetch-error.ts';
import type { HeadSink } from './head-reader.ts';
import { PayloadCollector } from './payload-collector.ts';
import { type RequestTarget, requestHead } from './request-head.ts';
import type { ResponseHead } from './response-head.ts';

/** How much of a body is taken. */
export interface BodyBounds {
  /** Bytes of the payload, content coding still applied. */
  readonly payloadBytesMax: number;
  /** Bytes with content codings removed. */
  readonly decodedBytesMax: number;
}

/** The connection as its exchange sees it. */
export interface ExchangeConnection {
  /** Remote address, undefined while there is no connection. */
  readonly address: string | undefined;
  /** True when an earlier request was answered on this connection. */
  readonly isReused: boolean;
  /** True when the connection broke off, as against being ended in order. */
  readonly isBroken: boolean;
  /** About to send: the next bytes are this exchange's response. */
  sending(sink: HeadSink): void;
  /** Sends the request once more on a new connection. */
  resend(exchange: Exchange): void;
}

/** Who started the exchange. */
export interface ExchangeOwner {
  readonly now: () => MonotonicMs;
  /** How long before now what is just read may have arrived, milliseconds. */
  readonly blindMs: (now: MonotonicMs) => number;
  /** Asked right before the request is sent; false ends the exchange as `aborted`. */
  readonly mayRequest: (url: string) => boolean;
  /** Called once, before `ended`, when the connection is free again. */
  readonly released: (exchange: Exchange) => void;
}

/** What is sent, and how much of the answer is taken. */
export interface ExchangeSubject {
  readonly request: FetchRequest;
  readonly target: RequestTarget;
  /** Fields of the request besides Host and Connection, flat. */
  readonly fields: readonly string[];
  /** The same as the WARC record shows them: without secrets. */
  readonly shown: readonly string[];
  readonly bounds: BodyBounds;
}

type Truncation = FetchResponse['truncated'];

/** How decoding ended, in the words of WARC-Truncated. */
const STATE_TRUNCATION = {
  whole: undefined,
  length: 'length',
  cut: 'disconnect',
  damaged: 'unspecified',
} as const;

/** A request in flight. */
export class Exchange implements HeadSink {
  readonly subject: ExchangeSubject;
  readonly startedMs: MonotonicMs;
  /** Its place in the owner's list; only the owner touches it. */
  slot = -1;
  /** Last sign of life (sent, or a byte of the answer); for the timeouts on silence. */
  lastByteMs: MonotonicMs;
  readonly #owner: ExchangeOwner;
  readonly #connection: ExchangeConnection;
  readonly #ended: (outcome: FetchOutcome) => void;
  #abort: ((error?: Error) => void) | undefined;
  #address: string | undefined;
  /** When the request was handed to the connection, last. */
  #sentMs: MonotonicMs;
  #responseMs: number | undefined;
  #head: ResponseHead | undefined;
  #payload: PayloadCollector | undefined;
  #isResent = false;
  #isOver = false;

  constructor(
    subject: ExchangeSubject,
    connection: ExchangeConnection,
    owner: ExchangeOwner,
    ended: (outcome: FetchOutcome) => void,
  ) {
    this.subject = subject;
    this.#connection = connection;
    this.#owner = owner;
    this.#ended = ended;
    this.startedMs = owner.now();
    this.lastByteMs = this.startedMs;
    this.#sentMs = this.startedMs;
  }

  /** True once the outcome is decided. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True once the final head arrived. */
  get hasHead(): boolean {
    return this.#head !== undefined;
  }

  /** True once the request was handed to a connection. */
  get isSent(): boolean {
    return this.#abort !== undefined;
  }

  /** Bytes of the payload so far. */
  get payloadBytes(): number {
    return this.#payload?.length ?? 0;
  }

  // ------------------------------------------------------------------------------------------------ undici's handler

  /** undici is about to write the request. */
  onConnect(abort: (error?: Error) => void): void {
    if (this.#isOver) {
      abort(new FetchError('aborted', 'no longer wanted'));
      return;
    }
    this.#abort = abort;
    this.#address = this.#connection.address;
    this.lastByteMs = this.#owner.now();
    this.#sentMs = this.lastByteMs;
    if (this.#owner.mayRequest(this.subject.request.url)) this.#connection.sending(this);
    else this.stop('aborted', 'no longer allowed to ask this host');
  }

  /** Never used: no protocol switch is asked for. */
  onUpgrade(): void {
    this.stop('protocol-error', 'protocol switch nobody asked for');
  }

  /** The head was read before (headRead); undici's view of it adds nothing. */
  onHeaders(): boolean {
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    this.lastByteMs = this.#owner.now();
    if (this.#payload?.add(chunk) === false) this.#cut('length');
    return true;
  }

  onComplete(): void {
    if (this.#isOver) return;
    // Without a declared length the end of the connection ends the message; a broken connection ends nothing.
    const isCut = this.#head?.contentLength === undefined && this.#connection.isBroken;
    this.#respond(isCut ? 'disconnect' : undefined);
  }

  onError(error: unknown): void {
    if (this.#isOver) return;
    if (this.#head === undefined && this.#mayResend(error)) {
      this.#isResent = true;
      this.#abort = undefined;
      this.#connection.resend(this);
      return;
    }
    if (this.#isKeepable(error)) {
      this.#respond('disconnect');
      return;
    }
    if (error instanceof FetchError && error.address !== undefined) this.#address = error.address;
    this.#fail(exchangeFailureKind(error), errorDetail(error));
  }

  // ------------------------------------------------------------------------------------------------ the head reader's sink

  firstByte(): void {
    this.lastByteMs = this.#owner.now();
    if (this.#responseMs !== undefined) return;
    const blindMs = this.#owner.blindMs(this.lastByteMs);
    this.#responseMs = Math.max(this.lastByteMs - this.#sentMs - blindMs, 0);
  }

  headRead(head: ResponseHead): void {
    this.#head = head;
    this.#payload = new PayloadCollector(head.contentLength, this.subject.bounds.payloadBytesMax);
  }

  // ------------------------------------------------------------------------------------------------ the owner's orders

  /** Ends the exchange by our own decision. What arrived is kept if time ran out within a body. */
  stop(kind: FailureKind, detail: string): void {
    if (this.#isOver) return;
    if (kind === 'timeout' && this.#hasUsable()) this.#cut('time');
    else this.#fail(kind, detail);
    this.#abort?.(new FetchError(kind, detail));
  }

  // ------------------------------------------------------------------------------------------------ endings

  /** A kept connection may be closed by the server just as we write: then nobody saw the request (RFC 9110 §9.2.2, RFC 9112 §9.3.1). */
  #mayResend(error: unknown): boolean {
    if (this.#isResent || this.#responseMs !== undefined || this.#abort === undefined) return false;
    return this.#connection.isReused && exchangeFailureKind(error) === 'reset';
  }

  /** True when the message was well-formed as far as it came, and it came far enough. */
  #isKeepable(error: unknown): boolean {
    return isDisconnect(error) && this.#head?.repaired === undefined && this.#hasUsable();
  }

  /** A redirect or an error says all in its head; anything else needs a piece of its body. */
  #hasUsable(): boolean {
    if (this.#head === undefined) return false;
    return this.payloadBytes > 0 || this.#head.status >= 300;
  }

  /** Ends the message here and the connection with it. */
  #cut(truncated: Truncation): void {
    this.#respond(truncated);
    this.#abort?.(new FetchError('aborted', 'cut'));
  }

  #respond(truncated: Truncation): void {
    const head = this.#head as ResponseHead;
    const endedMs = this.#owner.now();
    this.#over();
    const payload = this.#payload?.join() ?? new Uint8Array(0);
    const codings = contentCodings(head.headers);
    if (codings === undefined) {
      this.#deliverFailure('protocol-error', 'too many content codings', endedMs);
    } else if (codings.length === 0 || payload.length === 0) {
      this.#deliverResponse(head, endedMs, { payload, body: payload, truncated });
    } else {
      decodeContent(payload, codings, this.subject.bounds.decodedBytesMax, ({ body, state }) => {
        if (body.length === 0 && state === 'damaged') {
          this.#deliverFailure('protocol-error', `not ${codings.join(', ')} as declared`, endedMs);
          return;
        }
        const reason = truncated ?? STATE_TRUNCATION[state];
        this.#deliverResponse(head, endedMs, { payload, body, truncated: reason });
      });
    }
  }

  #fail(kind: FailureKind, detail: string): void {
    const endedMs = this.#owner.now();
    this.#over();
    this.#deliverFailure(kind, detail, endedMs);
  }

  #over(): void {
    this.#isOver = true;
    this.#owner.released(this);
  }

  #deliverResponse(
    head: ResponseHead,
    endedMs: MonotonicMs,
    content: Pick<FetchResponse, 'payload' | 'body' | 'truncated'>,
  ): void {
    this.#deliver({
      kind: 'response',
      status: head.status,
      reason: head.reason,
      headers: head.headers,
      payload: content.payload,
      body: content.body,
      truncated: content.truncated,
      requestHead: requestHead(this.subject.target, this.subject.shown),
      address: this.#address ?? '',
      startedMs: this.startedMs,
      responseMs: this.#responseMs ?? Math.max(endedMs - this.#sentMs, 0),
      endedMs,
    });
  }

  #deliverFailure(failure: FailureKind, detail: string, endedMs: MonotonicMs): void {
    this.#deliver({
      kind: 'failed',
      failure,
      detail: errorDetail(detail),
      address: this.#address ?? this.#connection.address,
      startedMs: this.startedMs,
      endedMs,
    });
  }

  /** Outside undici's stack: never synchronously with `start`, and a fault of the receiver is not taken for one of the answer. */
  #deliver(outcome: FetchOutcome): void {
    queueMicrotask(() => this.#ended(outcome));
  }
}
