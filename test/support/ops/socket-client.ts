// A raw client of the debug socket for tests: sends bytes as they are and waits
// for text that matches, as `nc -U` would. It waits for what it expects, never for
// a time.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** See the head of this file. */
export class SocketClient {
  readonly socket: Socket;
  #text = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      this.#text += text;
    });
    socket.on('error', () => {});
  }

  static async connect(path: string): Promise<SocketClient> {
    const socket = connect({ path, allowHalfOpen: true });
    await once(socket, 'connect');
    return new SocketClient(socket);
  }

  get text(): string {
    return this.#text;
  }

  send(text: string): void {
    this.socket.write(text);
  }

  /** Waits until all that was received matches. Fails when the connection ends before. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (this.socket.destroyed || this.socket.readableEnded) {
        throw new Error(
          `closed before ${pattern}; received ${JSON.stringify(this.#text.slice(-500))}`,
        );
      }
      await Promise.race([
        once(this.socket, 'data'),
        once(this.socket, 'close'),
        once(this.socket, 'end'),
      ]);
    }
    return this.#text;
  }

  /** Waits until the crawl has closed the connection; gives all it said. */
  async closed(): Promise<string> {
    if (!this.socket.readableEnded && !this.socket.destroyed) {
      await Promise.race([once(this.socket, 'end'), once(this.socket, 'close')]);
    }
    this.socket.destroy();
    return this.#text;
  }

  close(): void {
    this.socket.destroy();
  }
}
