// One undici Client and its connection to one origin (step 9 of a URL's life). A host has one request in flight (I1), so one connection
// serves it, and it is kept between requests: a new one costs ten times as much as a fetch (PERFORMANCE.md). Connections are made here,
// by dial.ts, to the addresses of the request at hand; if the connected address is no longer among those resolved, it is given up.
// undici opens a new connection by itself when an idle one closes; a server that closes or greets each at once would keep it busy for ever,
// hence the bound on connections per request.

import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
// The client alone: undici's index also loads fetch, WebSockets and caches, which takes each thread 85 ms more at its start.
import Client from 'undici/lib/dispatcher/client.js';
import { assert } from '../base/assert.ts';
import type { ProxyTarget } from '../base/proxy-target.ts';
import { Dial, type DialOptions, type DialTarget } from './dial.ts';
import type { Exchange, ExchangeConnection } from './exchange.ts';
import { FetchError } from './fetch-error.ts';
import { HeadReader, type HeadSink } from './head-reader.ts';
import type { RequestTarget } from './request-head.ts';

/** What all clients share. */
export interface OriginClientOptions extends DialOptions {
  readonly secureContext: () => NonNullable<DialTarget['tls']>['context'];
  readonly headerBytesMax: number;
  /** The proxy of a host (as URL.hostname), asked for at each new connection. Default: none for any. */
  readonly proxyOf?: (hostname: string) => ProxyTarget | undefined;
  /** How long an idle connection is kept; a server's shorter Keep-Alive hint is obeyed. */
  readonly keepAliveMaxMs: number;
}

/** New connections undici may make for one request: the first, one after a resend, one more for an idle one that closed meanwhile. */
const DIALS_MAX = 3;
/** An idle connection is given up this long before the server said it would. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** Why a client's requests end when it is closed; one for all, as its stack, which says nothing, is what it costs. */
const CLOSED = new FetchError('aborted', 'client closed');

/** A client for one origin. */
export class OriginClient implements ExchangeConnection {
  readonly origin: string;
  /** Neighbours in the cache's order of use; only client-cache.ts touches them. */
  older: OriginClient | undefined;
  newer: OriginClient | undefined;
  readonly #target: RequestTarget;
  readonly #options: OriginClientOptions;
  readonly #client: Client;
  #exchange: Exchange | undefined;
  #dial: Dial | undefined;
  #dials = 0;
  #socket: Socket | undefined;
  #reader: HeadReader | undefined;
  #session: Buffer | undefined;
  #address: string | undefined;
  /** Requests sent on the present connection. */
  #sent = 0;
  #isBroken = false;
  #bytesReadBefore = 0;

  constructor(target: RequestTarget, options: OriginClientOptions) {
    this.origin = target.origin;
    this.#target = target;
    this.#options = options;
    this.#client = new Client(target.origin, {
      pipelining: 1,
      connect: (_, callback) => this.#connect(callback),
      // All times are watched by the fetcher's own clock tick: a timer per request costs more than it is worth.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.keepAliveMaxMs,
      keepAliveMaxTimeout: options.keepAliveMaxMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      // Heads are bounded by the head reader; this one is for trailers.
      maxHeaderSize: 2 * options.headerBytesMax,
    });
  }

  get address(): string | undefined {
    return this.#address;
  }

  get isReused(): boolean {
    return this.#sent > 1;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** True while a request is under way: the client must then be kept. */
  get isBusy(): boolean {
    return this.#exchange !== undefined;
  }

  /** True when its connection, if any, goes to one of these addresses. */
  serves(addresses: readonly string[]): boolean {
    return this.#address === undefined || addresses.includes(this.#address);
  }

  /** Bytes read from the network for the present exchange, framing included. */
  bytesRead(): number {
    return (this.#socket?.bytesRead ?? 0) - this.#bytesReadBefore;
  }

  /** Sends a request; one at a time. */
  dispatch(exchange: Exchange): void {
    assert(this.#exchange === undefined, () => `two requests in flight to ${this.origin}`);
    this.#exchange = exchange;
    this.#dials = 0;
    this.#send(exchange);
  }

  /** Sends the request in flight once more. */
  resend(exchange: Exchange): void {
    assert(this.#exchange === exchange, () => 'resent without being in flight');
    this.#send(exchange);
  }

  /** The exchange is over; what undici still says about it is ignored. */
  released(exchange: Exchange): void {
    if (this.#exchange === exchange) this.#exchange = undefined;
  }

  sending(sink: HeadSink): void {
    this.#sent += 1;
    this.#bytesReadBefore = this.#socket?.bytesRead ?? 0;
    this.#reader?.expect(sink);
  }

  /** Lets a connection attempt look at the clock. */
  tick(now: number): void {
    this.#dial?.expire(now);
  }

  /** Gives an attempt to connect up, if there is one. */
  cancelDial(error: FetchError): void {
    this.#dial?.cancel(error);
  }

  /** Closes the connection and the client. */
  destroy(): void {
    this.cancelDial(CLOSED);
    this.#client.destroy(CLOSED, ignore);
  }

  #send(exchange: Exchange): void {
    const { target, fields } = exchange.subject;
    const options = { path: target.path, method: 'GET', headers: fields as string[] } as const;
    this.#client.dispatch(options, exchange);
  }

  #connect(callback: buildConnector.Callback): void {
    const exchange = this.#exchange;
    this.#dials += 1;
    if (exchange === undefined || this.#dials > DIALS_MAX) {
      const text = exchange === undefined ? 'no request' : 'connections closed at once';
      callback(new FetchError('reset', text), null);
      return;
    }
    this.#dial = new Dial(this.#dialTarget(exchange), this.#options, (dialled) => {
      this.#dial = undefined;
      if (dialled.socket === undefined) callback(dialled.error, null);
      else this.#established(dialled.socket, dialled.address, callback);
    });
    this.#dial.start();
  }

  #dialTarget(exchange: Exchange): DialTarget {
    const { hostname, port, secure } = this.#target;
    return {
      addresses: exchange.subject.request.addresses,
      port,
      hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
      proxy: this.#options.proxyOf?.(hostname),
      tls: secure
        ? {
            context: this.#options.secureContext(),
            session: this.#session,
            saveSession: (session) => {
              this.#session = session;
            },
          }
        : undefined,
    };
  }

  #established(socket: Socket, address: string, callback: buildConnector.Callback): void {
    this.#socket = socket;
    this.#address = address;
    this.#sent = 0;
    this.#isBroken = false;
    this.#reader = new HeadReader(socket, this.#options.headerBytesMax);
    socket.on('error', () => {
      if (this.#socket === socket) this.#isBroken = true;
    });
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#address = undefined;
      this.#reader = undefined;
    });
    callback(null, socket);
  }
}

function ignore(): void {
  // Nobody waits for the end of a discarded client; its exchanges have had their outcomes.
}
