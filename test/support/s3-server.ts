// A real S3-compatible server for tests, moto (Python), on loopback, and a proxy in front of it that refuses or breaks what a test asks it to. The
// program is installed by .ci/run; where it is missing the tests that need it are skipped.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ObjectStore } from '../../src/storage/object-store.ts';

/** Credentials that any client takes from the environment; moto believes all until it is told otherwise. */
export const S3_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
} as const;

/** One request that went through the proxy: `PUT /bucket/key?partNumber=1&uploadId=…` without its host. */
export type S3Request = string;

/** What the proxy does with a request: undefined passes it on, a status answers it, `cut` breaks the connection. */
export type S3Fault = (request: S3Request) => number | 'cut' | undefined;

const START_LOOKS_MAX = 600;
const OBJECT_BYTES_MAX = 1 << 30;

export function hasS3Server(): boolean {
  try {
    execFileSync('moto_server', ['--help'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export class S3Server {
  readonly requests: S3Request[] = [];
  fault: S3Fault = () => undefined;
  readonly #child: ChildProcess;
  readonly #motoPort: number;
  readonly #proxy: Server;

  private constructor(child: ChildProcess, motoPort: number) {
    this.#child = child;
    this.#motoPort = motoPort;
    this.#proxy = createServer((incoming, answer) => this.#pass(incoming, answer));
  }

  static async start(): Promise<S3Server> {
    const port = await freePort();
    const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', String(port)], {
      stdio: 'ignore',
    });
    const server = new S3Server(child, port);
    server.#proxy.listen(0, '127.0.0.1');
    await once(server.#proxy, 'listening');
    for (let look = 0; look < START_LOOKS_MAX; look += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
      if (answer !== undefined) return server;
      await sleep(50);
    }
    await server.stop();
    throw new Error('moto_server did not start');
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}`;
  }

  async createBucket(name: string): Promise<void> {
    await fetch(`http://127.0.0.1:${this.#motoPort}/${name}`, { method: 'PUT' });
  }

  /** From now on moto holds every request's signature against the users it knows, which are none. */
  async denyStrangers(): Promise<void> {
    const url = `http://127.0.0.1:${this.#motoPort}/moto-api/reset-auth`;
    await fetch(url, { method: 'POST', body: '0' });
  }

  /** Bytes of a whole object. */
  async object(bucket: string, key: string): Promise<Buffer> {
    const address = { bucket, prefix: '', endpoint: this.endpoint, region: 'us-east-1' };
    const store = await ObjectStore.open(address);
    try {
      return await store.readRange(key, 0, OBJECT_BYTES_MAX);
    } finally {
      store.close();
    }
  }

  async stop(): Promise<void> {
    this.#proxy.closeAllConnections();
    this.#proxy.close();
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = incoming;
    const name = `${method} ${url}`;
    const fault = this.fault(name);
    if (fault === 'cut') {
      incoming.socket.destroy();
      return;
    }
    if (fault !== undefined) {
      const body = '<Error><Code>StorageFull</Code><Message>no room left</Message></Error>';
      incoming.resume();
      answer.writeHead(fault, { 'content-type': 'application/xml' }).end(body);
      return;
    }
    this.requests.push(name);
    const onward = request({ port: this.#motoPort, host: '127.0.0.1', method, path: url, headers });
    onward.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    incoming.pipe(onward);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
