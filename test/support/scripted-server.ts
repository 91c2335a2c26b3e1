// A web server that sends exactly the bytes a test wants, well-formed or not, on loopback. It sees every request head, so it is also the
// witness of what was sent, how often, and on how many connections.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** One request as the server saw it. */
export interface SeenRequest {
  readonly head: string;
  /** 0 for the first connection accepted. */
  readonly connection: number;
  /** 0 for the first request on its connection. */
  readonly nth: number;
}

export interface Script {
  /** A whole request head arrived. */
  readonly onRequest?: (socket: Socket, request: SeenRequest) => void;
  /** A connection was accepted. */
  readonly onConnect?: (socket: Socket) => void;
}

export class ScriptedServer {
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #accepted = 0;

  private constructor(script: Script, tls: TlsOptions | undefined) {
    const accept = (socket: Socket): void => this.#accept(socket, script);
    this.#server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
    });
    this.#server.on('tlsClientError', () => {});
  }

  static async listen(
    script: Script,
    options: { tls?: TlsOptions; host?: string } = {},
  ): Promise<ScriptedServer> {
    const made = new ScriptedServer(script, options.tls);
    made.#server.listen(0, options.host ?? '127.0.0.1');
    await once(made.#server, 'listening');
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#accepted;
  }

  /** http URL of a path on this server. */
  url(path = '/'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(socket: Socket, script: Script): void {
    const connection = this.#accepted;
    this.#accepted += 1;
    let nth = 0;
    let text = '';
    socket.on('error', () => {});
    script.onConnect?.(socket);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const request = { head: text.slice(0, end + 4), connection, nth };
        text = text.slice(end + 4);
        nth += 1;
        this.requests.push(request);
        script.onRequest?.(socket, request);
      }
    });
  }
}

/** A well-formed answer with a length. */
export function page(body: string, fields = ''): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${fields}Content-Length: ${length}\r\n\r\n${body}`;
}
