// The debug socket: a Unix socket, mode 0600, by which the operator of this machine's crawl looks
// at it and steers it (DESIGN.md §10, docs/DEBUG-SOCKET.md). Whoever may open the file may do
// everything; there is no other check. Connections are few: a new one takes the place of the one
// that was silent longest, so that idle ones never lock an operator out.

import { createServer, type Server, type Socket } from 'node:net';
import { ANSWER_TIMEOUT_MS, type AnswerServices } from './answer-request.ts';
import { type ConnectionLimits, DebugConnection } from './debug-connection.ts';
import { listenPrivately, removeSocketFile, type SocketFile } from './socket-path.ts';

/** Bounds of the socket. */
export interface DebugSocketLimits extends ConnectionLimits {
  readonly connectionsMax: number;
  readonly timeoutMs: number;
}

/** What a crawl runs with; tests run with less. */
export const DEBUG_SOCKET_LIMITS: DebugSocketLimits = {
  connectionsMax: 64,
  timeoutMs: ANSWER_TIMEOUT_MS,
  idleMs: 300_000,
  writeMs: 10_000,
};

/** Where the socket lies and whom it asks; `limits` replace the usual ones. */
export interface DebugSocketOptions extends Omit<AnswerServices, 'timeoutMs' | 'source'> {
  readonly path: string;
  readonly limits?: Partial<DebugSocketLimits>;
}

/** See the head of this file. */
export class DebugSocket {
  readonly #server: Server;
  readonly #services: AnswerServices;
  readonly #limits: DebugSocketLimits;
  /** In order of their last beginning to be idle: a connection moves to the end whenever it sends something. */
  readonly #connections = new Set<DebugConnection>();
  #file: SocketFile | undefined;

  private constructor(options: DebugSocketOptions) {
    this.#limits = { ...DEBUG_SOCKET_LIMITS, ...options.limits };
    const { operator, audited } = options;
    const { timeoutMs } = this.#limits;
    this.#services = { operator, audited, timeoutMs, source: 'debug-socket' };
    // Half-open, so that `echo top | nc -U …` gets its answer after it has closed its own side.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /**
   * Opens the socket and serves it until `close`.
   * @throws CrawlError config, as listenPrivately does
   */
  static async open(options: DebugSocketOptions): Promise<DebugSocket> {
    const socket = new DebugSocket(options);
    socket.#file = await listenPrivately(socket.#server, options.path);
    // Descriptors may run out; the listener goes on when some are free again.
    socket.#server.on('error', () => {});
    return socket;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Drops all clients and removes the socket file. */
  async close(): Promise<void> {
    if (this.#file !== undefined) removeSocketFile(this.#file);
    this.#file = undefined;
    for (const connection of this.#connections) connection.drop();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    const connection = new DebugConnection(socket, this.#services, this.#limits);
    if (!this.#makeRoom()) {
      const most = this.#limits.connectionsMax;
      connection.refuse(`${most} requests are being answered already; try again`);
      return;
    }
    this.#connections.add(connection);
    socket.on('data', () => {
      if (this.#connections.delete(connection)) this.#connections.add(connection);
    });
    socket.on('close', () => this.#connections.delete(connection));
  }

  #makeRoom(): boolean {
    if (this.#connections.size < this.#limits.connectionsMax) return true;
    for (const connection of this.#connections) {
      if (!connection.isIdle) continue;
      this.#connections.delete(connection);
      connection.drop();
      return true;
    }
    return false;
  }
}
