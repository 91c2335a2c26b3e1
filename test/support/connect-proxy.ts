// A proxy that takes CONNECT and nothing else, on loopback: the witness of what was asked of it. It may refuse, or answer what a test wants.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ConnectProxy {
  readonly port: number;
  /** Heads of the requests, in order. */
  readonly heads: readonly string[];
  close(): Promise<void>;
}

/** @param answer what it says in place of opening a tunnel; undefined: it opens one */
export async function connectProxy(answer?: string): Promise<ConnectProxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const kept = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    kept(client).once('data', (chunk) => {
      const head = chunk.toString('latin1');
      heads.push(head);
      if (answer !== undefined) {
        client.write(answer);
        return;
      }
      const [, host = '', port = ''] = /^CONNECT (\S+):(\d+) HTTP/.exec(head) ?? [];
      const beyond = kept(connect({ host, port: Number(port) }));
      beyond.on('connect', () => {
        client.write('HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n');
        client.pipe(beyond).pipe(client);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    heads,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
