// What a fetch costs at step 9: CPU time of this process per 10 KB and 100 KB answer on a kept connection on loopback, handler, head
// reading and outcome included; the server is a process of its own and not counted. Beside it: the same through undici's bare dispatch
// (what the library itself takes), on new connections, and gzip-coded. `node dist/bench/fetch.bench.js` is the smoke size, `--full` the one
// to quote. The checksum is the sum of body bytes.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Client } from 'undici';
import type { FetchResponse } from '../src/actors/ports.ts';
import { monotonicMs } from '../src/base/units.ts';
import { AddressGuard } from '../src/net/address-guard.ts';
import { UndiciFetcher } from '../src/net/undici-fetcher.ts';

const IN_FLIGHT = 8;
const FIELDS =
  'Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: bench\r\nContent-Type: text/html; charset=utf-8\r\n' +
  'Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: "5d8c72a5edda8d6a"\r\nCache-Control: max-age=60\r\n' +
  'Vary: Accept-Encoding\r\nX-Frame-Options: DENY\r\n';

function answerFor(path: string): Buffer {
  const kilobytes = Number(/\d+/.exec(path)?.[0] ?? 10);
  const line = '<p>A line of <a href="/p/17">some</a> text that is like the next one.</p>\n';
  const text = Buffer.from(line.repeat(Math.ceil((kilobytes * 1_000) / line.length)));
  const isCoded = path.includes('gzip');
  const body = isCoded ? gzipSync(text) : text;
  const coding = isCoded ? 'Content-Encoding: gzip\r\n' : '';
  const close = path.includes('close') ? 'Connection: close\r\n' : '';
  const head = `HTTP/1.1 200 OK\r\n${FIELDS}${coding}${close}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function serve(): void {
  const answers = new Map<string, Buffer>();
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (head) => {
      const path = head.toString('latin1').split(' ', 2)[1] ?? '/';
      const answer = answers.get(path) ?? answerFor(path);
      answers.set(path, answer);
      socket.write(answer);
      if (path.includes('close')) socket.end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}

/** Runs `count` fetches, IN_FLIGHT at a time, each lane on its own origin; prints CPU µs each. */
async function measure(
  name: string,
  count: number,
  fetch: (lane: number, done: (bytes: number) => void) => void,
): Promise<void> {
  const run = (total: number): Promise<number> =>
    new Promise((resolve) => {
      let started = 0;
      let ended = 0;
      let checksum = 0;
      const next = (lane: number): void => {
        if (started === total) return;
        started += 1;
        fetch(lane, (bytes) => {
          checksum += bytes;
          ended += 1;
          if (ended === total) resolve(checksum);
          else next(lane);
        });
      };
      for (let lane = 0; lane < IN_FLIGHT; lane += 1) next(lane);
    });
  await run(Math.ceil(count / 5));
  const from = process.cpuUsage();
  const wall = performance.now();
  const checksum = await run(count);
  const { user, system } = process.cpuUsage(from);
  const cpuMicros = (user + system) / count;
  const rate = (count / (performance.now() - wall)) * 1_000;
  console.log(
    `${name.padEnd(28)} ${cpuMicros.toFixed(1).padStart(7)} µs CPU ${rate.toFixed(0).padStart(7)}/s  ${checksum}`,
  );
}

async function main(): Promise<void> {
  const count = process.argv.includes('--full') ? 20_000 : 200;
  const server = fork(fileURLToPath(import.meta.url), ['serve']);
  const [port] = (await once(server, 'message')) as [number];
  const fetcher = new UndiciFetcher({
    guard: new AddressGuard(['127.0.0.0/8']),
    now: () => monotonicMs(performance.now()),
    userAgent: 'hostler/0.0 (+https://example.org/)',
  });
  // One lane is one host, by name; all of them are this machine.
  let fetchId = 0;
  const through = (path: string) => (lane: number, done: (bytes: number) => void) => {
    fetchId += 1;
    const url = `http://lane${lane}.test:${port}${path}`;
    const rest = { purpose: 'page', etag: undefined, lastModified: undefined } as const;
    fetcher.start({ fetchId, url, addresses: ['127.0.0.1'], ...rest }, (outcome) => {
      if (outcome.kind === 'failed') throw new Error(`${outcome.failure} ${outcome.detail}`);
      done((outcome as FetchResponse).body.length);
    });
  };
  const clients = Array.from(
    { length: IN_FLIGHT },
    () => new Client(`http://127.0.0.1:${port}`, { pipelining: 1 }),
  );
  const bare = (path: string) => (lane: number, done: (bytes: number) => void) => {
    let bytes = 0;
    (clients[lane] as Client).dispatch(
      { path, method: 'GET', headers: ['User-Agent', 'hostler/0.0', 'Accept', '*/*'] },
      {
        onConnect: () => {},
        onHeaders: () => true,
        onData: (chunk: Buffer) => {
          bytes += chunk.length;
          return true;
        },
        onComplete: () => done(bytes),
        onError: (error: Error) => {
          throw error;
        },
      },
    );
  };
  await measure('10 KB, undici dispatch bare', count, bare('/10'));
  await measure('10 KB', count, through('/10'));
  await measure('100 KB, undici dispatch bare', count, bare('/100'));
  await measure('100 KB', count, through('/100'));
  await measure('10 KB from gzip', count, through('/10-gzip'));
  await measure('100 KB from gzip', count / 4, through('/100-gzip'));
  await measure('10 KB, new connections', count / 4, through('/10-close'));
  fetcher.close();
  for (const client of clients) client.destroy(null, () => {});
  server.disconnect();
}

if (process.argv.includes('serve')) serve();
else await main();
