// A run of ports of loopback that nothing listens on, for servers whose ports must follow one another. Another program may take one before
// the test does; the test then fails and says so.

import { once } from 'node:events';
import { createServer } from 'node:net';

/** Tries before the machine is taken to be full. */
const TRIES = 50;
/** Below the ports that the system gives to connections. */
const LOWEST = 10_000;
const PORTS = 20_000;

/** @returns the first of `count` free ports */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const first = LOWEST + ((process.pid * 64 + attempt * 997) % PORTS);
    let isFree = true;
    for (let next = 0; isFree && next < count; next += 1) isFree = await canListen(first + next);
    if (isFree) return first;
  }
  throw new Error(`no ${count} free ports in a row`);
}

/** Listens for a moment. */
async function canListen(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  try {
    await listening;
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
