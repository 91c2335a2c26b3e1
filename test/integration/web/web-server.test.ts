// The shipped web over real sockets: bytes, times and accidents are the world's, and each request is logged once.
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { WebServer } from '../../support/server/web-server.ts';
import type { RequestEntry } from '../../support/world/judge-types.ts';
import { createWorld, type World } from '../../support/world/world.ts';
import type { PartialWorldOptions } from '../../support/world/world-options.ts';

/** A web in this process, its log, and a way to fetch from it by one kept connection for each host. */
async function serveWorld(options: PartialWorldOptions) {
  const log: RequestEntry[] = [];
  const waiting: (() => void)[] = [];
  const ended = (entry: RequestEntry) => {
    log.push(entry);
    for (const wake of waiting.splice(0)) wake();
  };
  const served = await WebServer.listen(0, (port) => createWorld({ ...options, port }), ended);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  after(async () => {
    agent.destroy();
    await served.server.close();
  });
  const open = async (host: number, path: string): Promise<IncomingMessage> => {
    const { world, port } = served;
    const headers = { Host: `${world.hostName(host)}:${port}`, 'User-Agent': 'tester/1' };
    const sent = request({ agent, host: world.addressOf(host), port, path, headers }).end();
    const [response] = await once(sent, 'response');
    return response;
  };
  const entries = async (count: number) => {
    while (log.length < count) await new Promise<void>((wake) => waiting.push(wake));
    return log;
  };
  return { ...served, open, entries };
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const expected = (world: World, host: number, path: string) =>
  world.respond({ host: world.hostName(host), path, atMs: 0, userAgent: 'tester/1' });

test('WebServer serves the world byte for byte and logs each request', async () => {
  const { world, port, open, entries } = await serveWorld({ hosts: 3, features: { robots: 1 } });
  for (let host = 0; host < 3; host++) {
    for (const path of ['/', '/robots.txt', '/missing/1']) {
      const response = await open(host, path);
      const body = await bodyOf(response);
      const { status, body: bytes } = expected(world, host, path);
      strictEqual(response.statusCode, status);
      deepStrictEqual(body, Buffer.from(bytes));
    }
  }
  const log = await entries(9);
  deepStrictEqual(log.map(({ host, path, address }) => `${host}${path} ${address}`).slice(0, 4), [
    'host-000000.test/ 127.1.0.1',
    'host-000000.test/robots.txt 127.1.0.1',
    'host-000000.test/missing/1 127.1.0.1',
    'host-000001.test/ 127.1.0.2',
  ]);
  for (const entry of log) {
    ok(entry.complete);
    ok(entry.endMs >= entry.startMs);
    strictEqual(entry.userAgent, 'tester/1');
  }
  ok([...world.seeds()].every((seed) => seed.endsWith(`:${port}/`)));
});

test('WebServer answers pipelined requests in order and refuses what is no plain GET', async () => {
  const { world, port } = await serveWorld({ hosts: 1, pageBytes: 500 });
  const socket = connect(port, '127.1.0.1');
  const head = (line: string, more = '') =>
    `${line} HTTP/1.1\r\nHost: host-000000.test\r\n${more}\r\n`;
  socket.end(head('GET /missing/1') + head('HEAD /') + head('POST /', 'Content-Length: 3\r\n'));
  let text = '';
  for await (const chunk of socket) text += chunk;
  deepStrictEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 404', 'HTTP/1.1 200', 'HTTP/1.1 400']);
  ok(text.includes(`Content-Length: ${expected(world, 0, '/').body.length}`));
  strictEqual(text.includes('<title>'), false);
});

test('WebServer resets broken hosts, keeps silent on mute ones, logs both', async () => {
  const broken = await serveWorld({ hosts: 1, features: { brokenHosts: 1 } });
  await rejects(broken.open(0, '/'), { code: 'ECONNRESET' });
  deepStrictEqual(
    (await broken.entries(1)).map(({ status, complete }) => ({ status, complete })),
    [{ status: 0, complete: false }],
  );
  const mute = await serveWorld({ hosts: 1, features: { muteHosts: 1 } });
  const socket = connect(mute.port, '127.1.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: host-000000.test\r\n\r\n', () => socket.end());
  await once(socket, 'finish');
  socket.destroy();
  const [entry] = await mute.entries(1);
  strictEqual(entry?.status, 0);
  strictEqual(entry?.complete, false);
});

test('WebServer cuts flaky bodies short and logs them as cut', async () => {
  const { world, port, entries } = await serveWorld({ hosts: 40, features: { flaky: 1 } });
  const cut = Array.from({ length: 40 }, (_, host) => host).filter(
    (host) => expected(world, host, '/').behaviour !== 'reset',
  );
  for (const host of cut) {
    const socket = connect(port, world.addressOf(host));
    socket.write(`GET / HTTP/1.1\r\nHost: ${world.hostName(host)}\r\n\r\n`);
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    await new Promise<void>((resolve) => {
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
    });
    ok(bytes < expected(world, host, '/').body.length);
  }
  const log = await entries(cut.length);
  ok(log.every(({ complete, status }) => !complete && status === 200));
});

test('WebServer sends slow bodies whole and endless ones until the client leaves', async () => {
  const slow = await serveWorld({ hosts: 1, features: { slowHosts: 1 }, slowMs: [20, 30] });
  const body = await bodyOf(await slow.open(0, '/'));
  deepStrictEqual(body, Buffer.from(expected(slow.world, 0, '/').body));
  const [entry] = await slow.entries(1);
  ok(entry?.complete && entry.endMs - entry.startMs >= 38);
  const endless = await serveWorld({ hosts: 1, features: { endless: 1 } });
  const response = await endless.open(0, '/endless');
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > 50_000) break;
  }
  const [cut] = await endless.entries(1);
  strictEqual(cut?.complete, false);
  ok(cut.bytes > 50_000);
});
