// Opens the connection for a request: the given addresses in their order, the next one when one cannot be reached, TLS on top for https.
// Step 9 of a URL's life; keeps I13: the guard is asked before each attempt and once more about the remote address of the connection
// that came about. No name is ever looked up here (net.connect gets a textual address only), and no timer is started: the owner's clock
// tick calls `expire`. Certificates are checked against the host's name, never against the address. Through a proxy of the operator's, the
// guard is asked about the address beyond it (proxy-tunnel.ts).

import { connect, isIP, type Socket } from 'node:net';
import {
  type ConnectionOptions,
  checkServerIdentity,
  type SecureContext,
  connect as secureConnect,
} from 'node:tls';
import type { ProxyTarget } from '../base/proxy-target.ts';
import type { MonotonicMs } from '../base/units.ts';
import type { AddressGuard } from './address-guard.ts';
import {
  connectFailureKind,
  errorDetail,
  FetchError,
  handshakeFailureKind,
} from './fetch-error.ts';
import { openTunnel } from './proxy-tunnel.ts';

/** Where to connect to. */
export interface DialTarget {
  /** Textual addresses, tried in this order. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Host name of the URL; an IPv6 literal without brackets. */
  readonly hostname: string;
  /** A proxy to go through; undefined: none. */
  readonly proxy: ProxyTarget | undefined;
  /** Set for https. */
  readonly tls:
    | {
        readonly context: SecureContext;
        /** Ticket of an earlier connection to the same origin: spares the certificates. */
        readonly session: Buffer | undefined;
        readonly saveSession: (session: Buffer) => void;
      }
    | undefined;
}

/** What a dial needs besides its target. */
export interface DialOptions {
  readonly guard: AddressGuard;
  readonly now: () => MonotonicMs;
  /** Longest time for one address, TCP and TLS together. */
  readonly connectTimeoutMs: number;
}

/** Size of one read from a plain connection, as undici's own connector has it. */
const READ_BYTES = 65_536;

/** How a dial ends: with a connection to one of the addresses, or with the first failure. */
export type Dialled =
  | { readonly socket: Socket; readonly address: string }
  | { readonly socket: undefined; readonly error: FetchError };

/** One attempt to get a connection. `done` is called once. */
export class Dial {
  readonly #target: DialTarget;
  readonly #options: DialOptions;
  readonly #done: (dialled: Dialled) => void;
  #next = 0;
  #socket: Socket | undefined;
  #attemptEndsMs = 0;
  #failure: FetchError | undefined;
  #ended = false;

  constructor(target: DialTarget, options: DialOptions, done: (dialled: Dialled) => void) {
    this.#target = target;
    this.#options = options;
    this.#done = done;
  }

  /** Begins with the first address. `done` may be called before this returns when no address is admitted. */
  start(): void {
    while (this.#next < this.#target.addresses.length) {
      const address = this.#target.addresses[this.#next] as string;
      this.#next += 1;
      // isIP as well: a name in this place would make net.connect ask the system's resolver.
      if (isIP(address) !== 0 && this.#options.guard.admits(address)) {
        this.#attempt(address);
        return;
      }
      const text = `address not allowed: ${address}`;
      this.#failure ??= new FetchError('address-forbidden', text, address);
    }
    const error = this.#failure ?? new FetchError('connect-failed', 'no address');
    this.#end({ socket: undefined, error });
  }

  /** Gives the address in progress up when its time is over. */
  expire(now: number): void {
    if (this.#ended || now < this.#attemptEndsMs) return;
    const address = this.#target.addresses[this.#next - 1];
    this.#abandon(new FetchError('connect-timeout', `no connection to ${address}`, address));
  }

  /** Ends the whole dial; `done` gets this error. */
  cancel(error: FetchError): void {
    if (this.#ended) return;
    this.#next = this.#target.addresses.length;
    this.#failure = undefined;
    this.#abandon(error);
  }

  #attempt(address: string): void {
    this.#attemptEndsMs = this.#options.now() + this.#options.connectTimeoutMs;
    const { port, tls, proxy } = this.#target;
    if (proxy !== undefined) {
      this.#attemptThrough(proxy, address);
    } else if (tls === undefined) {
      const socket = this.#watch(plainSocket(address, port), address);
      socket.on('connect', () => this.#established(socket, address));
    } else {
      this.#secure(tls, { host: address, port }, address);
    }
  }

  #attemptThrough(proxy: ProxyTarget, address: string): void {
    const { port, tls } = this.#target;
    const socket = this.#watch(plainSocket(proxy.host, proxy.port), address);
    socket.on('connect', () =>
      openTunnel(socket, { address, port }, proxy, (problem) => {
        if (this.#socket !== socket) return;
        const text = `proxy: ${problem}`;
        if (problem !== undefined) this.#abandon(new FetchError('connect-failed', text, address));
        else if (tls === undefined) this.#established(socket, address);
        else this.#secure(tls, { socket }, address);
      }),
    );
  }

  #secure(
    tls: NonNullable<DialTarget['tls']>,
    over: { readonly host: string; readonly port: number } | { readonly socket: Socket },
    address: string,
  ): void {
    const { hostname } = this.#target;
    // SNI names no address and no trailing dot (RFC 6066 §3).
    const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
    const options: ConnectionOptions = {
      servername: isIP(name) === 0 ? name : '',
      secureContext: tls.context,
      ...(tls.session === undefined ? {} : { session: tls.session }),
      ALPNProtocols: ['http/1.1'],
      checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    };
    const socket = this.#watch(secureConnect(Object.assign(options, over)), address);
    socket.on('session', tls.saveSession);
    socket.on('secureConnect', () => this.#established(socket, address));
  }

  /** Makes a socket the one in progress. */
  #watch<Kind extends Socket>(socket: Kind, address: string): Kind {
    this.#socket = socket;
    let connected = !socket.connecting;
    socket.setNoDelay(true);
    socket.on('connect', () => {
      connected = true;
    });
    // Stays for the connection's life: an error without any listener would end the process.
    socket.on('error', (error) => {
      if (this.#socket !== socket) return;
      const kind = connected ? handshakeFailureKind(error) : connectFailureKind(error);
      this.#abandon(new FetchError(kind, errorDetail(error), address));
    });
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#abandon(new FetchError(connected ? 'reset' : 'connect-failed', 'closed', address));
    });
    return socket;
  }

  #established(socket: Socket, address: string): void {
    if (this.#socket !== socket) return;
    const remote = this.#target.proxy === undefined ? socket.remoteAddress : address;
    if (remote === undefined || !this.#options.guard.admits(remote)) {
      const text = `connected to an address not allowed: ${remote ?? 'unknown'}`;
      this.#abandon(new FetchError('address-forbidden', text, address));
      return;
    }
    this.#socket = undefined;
    this.#end({ socket, address: remote });
  }

  /** Drops the attempt in progress and goes on to the next address; the first failure is the one reported. */
  #abandon(error: FetchError): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
    this.#failure ??= error;
    // A failed handshake is the host's doing, whichever of its addresses answered.
    if (error.kind === 'tls-failed') this.#next = this.#target.addresses.length;
    this.start();
  }

  #end(dialled: Dialled): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#done(dialled);
  }
}

function plainSocket(host: string, port: number): Socket {
  // The types of Node 20 do not know this option of the stream below.
  const options = { host, port, highWaterMark: READ_BYTES };
  return connect(options);
}
