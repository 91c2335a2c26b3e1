// The shipped web over real sockets: every host of a world on its own 127.x.y.z, all on one port. Linux lets one socket accept for all
// of 127.0.0.0/8 only when it is bound to 0.0.0.0, and thousands of sockets, one an address, would cost more than the whole web; so it
// is bound to 0.0.0.0 and each connection that did not come in over 127.0.0.0/8 is destroyed before a byte of it is read. Nothing of it
// can be reached from outside this machine.
// A hand-written reader on node:net instead of node:http: see request-head.ts.
import { createServer, type Server, type Socket } from 'node:net';
import type { RequestEntry } from '../world/judge-types.ts';
import type { World } from '../world/world.ts';
import { WebConnection, type WebContext } from './web-connection.ts';

/** A web that is being served. */
export class WebServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #context: WebContext | null = null;

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = 100_000;
  }

  /**
   * Starts serving.
   * @param port 0 for any free one
   * @param worldAt makes the world, given the port that its URLs must name
   * @param ended is told of every request when it has ended
   * @throws the system's error when the port is taken
   */
  static async listen(
    port: number,
    worldAt: (port: number) => World,
    ended: (entry: RequestEntry) => void,
  ): Promise<{ server: WebServer; world: World; port: number }> {
    const web = new WebServer();
    await new Promise<void>((resolve, reject) => {
      web.#server.once('error', reject);
      web.#server.listen({ port, host: '0.0.0.0', backlog: 4096 }, resolve);
    });
    const bound = web.#server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the web has no port');
    const world = worldAt(bound.port);
    web.#context = contextOf(world, ended);
    return { server: web, world, port: bound.port };
  }

  /** Ends all connections, the pending requests being reported as cut, and frees the port. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    if (this.#context === null || socket.localAddress?.startsWith('127.') !== true) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    new WebConnection(this.#context, socket);
  }
}

/** The world's clock starts now and runs with the machine's monotonic one; Date follows it from the world's epoch, once a second. */
function contextOf(world: World, ended: (entry: RequestEntry) => void): WebContext {
  const startedMs = performance.now();
  const now = () => performance.now() - startedMs;
  let second = -1;
  let text = '';
  const date = () => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      text = new Date(world.options.epochMs + current * 1000).toUTCString();
    }
    return text;
  };
  return { world, now, ended, date };
}
