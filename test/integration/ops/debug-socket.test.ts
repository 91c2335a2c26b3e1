import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { DebugClient } from '../../../src/ops/debug-client.ts';
import { DebugSocket } from '../../../src/ops/debug-socket.ts';
import { openSocket, temporaryFolder } from '../../support/ops/open-sockets.ts';
import { actorRow, SampleCrawl } from '../../support/ops/sample-crawl.ts';
import { SocketClient } from '../../support/ops/socket-client.ts';

const silent = (): void => {};

test('DebugSocket answers JSON lines with their ids, in order', async (t) => {
  const { path } = await openSocket(t);
  const client = await SocketClient.connect(path);
  client.send(
    '{"id":1,"verb":"top","args":["busy",1]}\n{"id":"two","verb":"nonsense"}\n{"id":3,"verb":"help"}\n',
  );
  const lines = (await client.until(/"id":3.*\n/)).trim().split('\n');
  const answers = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    answers.map(({ id, ok, code }) => ({ id, ok, code })),
    [
      { id: 1, ok: true, code: undefined },
      { id: 'two', ok: false, code: 'usage' },
      { id: 3, ok: true, code: undefined },
    ],
  );
  assert.equal((answers[0] as { value: { path: string }[] }).value[0]?.path, 'shard-0/host-2');
  client.close();
});

test('DebugSocket answers words with a table and an empty line, also after the client closed its side', async (t) => {
  const { path } = await openSocket(t);
  const client = await SocketClient.connect(path);
  client.socket.end('top busy 10');
  const text = await client.closed();
  assert.match(
    text,
    /^path +shard +state .*\nshard-0\/host-2 .*\nshard-0\/host-1 .*\nshard-0\/host-0 .*\n\n$/,
  );
});

test('DebugSocket audits what an operator changes, by either form', async (t) => {
  const { path, audit, crawl } = await openSocket(t);
  const client = await SocketClient.connect(path);
  client.send(
    'pause host a.example\n{"id":1,"verb":"block","args":["b.example"],"options":{"until":60}}\nquit\n',
  );
  await client.closed();
  assert.deepEqual(
    crawl.operations.map(({ kind }) => kind),
    ['pause', 'block'],
  );
  assert.deepEqual(
    audit.map(({ outcome, source }) => [outcome, source]),
    [
      ['done', 'debug-socket'],
      ['done', 'debug-socket'],
    ],
  );
});

test('DebugSocket survives garbage and goes on with the next line', async (t) => {
  const { path, crawl } = await openSocket(t);
  const client = await SocketClient.connect(path);
  const bytes = Buffer.from(
    Array.from({ length: 4_000 }, (_, index) => (index * 7919 + (index >> 3)) % 256),
  );
  client.socket.write(bytes);
  client.send('\n{"verb":{}}\n{{{{\n"\n\u0000\n');
  client.send('{"id":9,"verb":"config"}\n');
  await client.until(/"id":9,"ok":true/);
  assert.deepEqual(crawl.operations, []);
  client.close();
});

test('DebugSocket closes on a line of 100 MB without keeping it', async (t) => {
  const { path, server } = await openSocket(t);
  const client = await SocketClient.connect(path);
  const before = process.memoryUsage();
  const chunk = Buffer.alloc(1_000_000, 0x61);
  for (let sent = 0; sent < 100 && !client.socket.destroyed; sent += 1) {
    if (!client.socket.write(chunk)) {
      // The connection is closed under the writer: that is what the test is about.
      await once(client.socket, 'drain').catch(() => client.socket.destroy());
    }
  }
  const text = await client.closed();
  assert.equal(text, 'error: a line is at most 65536 bytes long (usage)\n\n');
  const after = process.memoryUsage();
  const grown = after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed;
  assert.ok(grown < 50_000_000, `${grown} bytes more`);
  const next = await SocketClient.connect(path);
  next.send('config\n');
  await next.until(/minGapMs: 1000/);
  next.close();
  assert.ok(server.connections <= 2);
});

test('DebugSocket keeps 64 of 1,000 idle connections and still serves the next one', async (t) => {
  const { path, server } = await openSocket(t);
  const idle: SocketClient[] = [];
  for (let count = 0; count < 1_000; count += 1) {
    idle.push(await SocketClient.connect(path));
    assert.ok(server.connections <= 64);
  }
  const client = await DebugClient.connect(path);
  assert.equal((await client.ask(['config'])).ok, true);
  assert.ok(server.connections <= 64);
  client.close();
  for (const one of idle) one.close();
});

test('DebugSocket refuses a connection while all others are being answered', async (t) => {
  const { path, crawl } = await openSocket(t, { connectionsMax: 2, timeoutMs: 60_000 });
  crawl.mood = 'silent';
  const busy = [await SocketClient.connect(path), await SocketClient.connect(path)];
  for (const client of busy) client.send('front\n');
  // Both were read once the crawl was asked twice.
  while (crawl.asked < 2) await new Promise((resolve) => setImmediate(resolve));
  const late = await SocketClient.connect(path);
  assert.match(await late.closed(), /^error: 2 requests are being answered already.*\(busy\)\n\n$/);
  const client = await DebugClient.connect(path);
  const answer = await client.ask(['config']);
  assert.equal(answer.ok === false && answer.code, 'busy');
  for (const one of busy) one.close();
});

test('DebugSocket drops a client that never reads, and holds one answer for it at most', async (t) => {
  const { path, crawl, server } = await openSocket(t, { writeMs: 50 });
  crawl.actors = Array.from({ length: 20_000 }, (_, index) =>
    actorRow(`${'x'.repeat(300)}${index}`, index),
  );
  const client = await SocketClient.connect(path);
  client.socket.pause();
  for (let count = 0; count < 2_000; count += 1) client.send('tree\n');
  while (server.connections > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(crawl.asked < 20, `${crawl.asked} questions were answered`);
  client.close();
});

test('DebugSocket drops a client that does not read the events of a trace, and ends the trace', async (t) => {
  const { path, crawl, server } = await openSocket(t);
  const ended = new Promise<void>((resolve) => {
    crawl.endTrace = resolve;
  });
  const client = await SocketClient.connect(path);
  client.socket.pause();
  client.send('trace endless --for 60\n');
  await ended;
  while (server.connections > 0) await new Promise((resolve) => setImmediate(resolve));
  client.close();
});

test('DebugSocket streams a trace as lines, then says how it ended', async (t) => {
  const { path } = await openSocket(t);
  const client = await DebugClient.connect(path);
  const events: unknown[] = [];
  const answer = await client.ask(['trace', 'shard-0', '--max', '3', '--for', '1'], (event) => {
    events.push(event);
  });
  assert.equal(events.length, 3);
  assert.deepEqual(answer.ok && answer.value, { events: 3 });
  client.close();
});

test('DebugSocket answers within its deadline when the crawl does not', async (t) => {
  const { path, crawl } = await openSocket(t, { timeoutMs: 30 });
  crawl.mood = 'silent';
  const client = await DebugClient.connect(path);
  const answer = await client.ask(['overview']);
  assert.equal(answer.ok === false && answer.code, 'timeout');
  client.close();
});

test('DebugSocket drops a client that is silent too long', async (t) => {
  const { path, server } = await openSocket(t, { idleMs: 30 });
  const client = await SocketClient.connect(path);
  assert.equal(await client.closed(), '');
  while (server.connections > 0) await new Promise((resolve) => setImmediate(resolve));
});

test('DebugSocket.open makes a socket of mode 0600 whatever the umask, and nothing beside it', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const { path, server } = await openSocket(t);
  assert.equal(statSync(path).mode & 0o7777, 0o600);
  await server.close();
  assert.equal(existsSync(path), false);
});

test('DebugSocket.open replaces the socket of a dead process, not that of a live one', async (t) => {
  const path = join(temporaryFolder(t), 'debug.sock');
  const options = { path, operator: new SampleCrawl(), audited: silent };
  const dead = createServer();
  // A handle that is closed without unlinking leaves what a killed process leaves.
  await new Promise<void>((resolve) => dead.listen(`${path}.bound`, resolve));
  renameSync(`${path}.bound`, path);
  await new Promise((resolve) => dead.close(resolve));
  assert.ok(existsSync(path));
  const server = await DebugSocket.open(options);
  t.after(() => server.close());
  await assert.rejects(DebugSocket.open(options), (error: CrawlError) => {
    assert.equal(error.code, 'config');
    assert.match(error.message, /another process listens/);
    return true;
  });
  const client = await DebugClient.connect(path);
  assert.equal((await client.ask(['config'])).ok, true);
  client.close();
});

test('DebugSocket.close leaves a socket that another process has put in its place', async (t) => {
  const { path, server } = await openSocket(t);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(`${path}.2`, resolve));
  t.after(() => other.close());
  renameSync(`${path}.2`, path);
  await server.close();
  assert.ok(existsSync(path));
});

test('DebugSocket.open refuses a path over 107 bytes, a file that is no socket, and a missing directory', async (t) => {
  const folder = temporaryFolder(t);
  const options = { operator: new SampleCrawl(), audited: silent };
  const long = join(folder, 'd'.repeat(120 - folder.length));
  const refusal = (path: string, pattern: RegExp) =>
    assert.rejects(DebugSocket.open({ ...options, path }), (error: unknown) => {
      assert.ok(error instanceof CrawlError && error.code === 'config', String(error));
      assert.match(error.message, pattern);
      assert.notEqual(error.remedy, '');
      return true;
    });
  await refusal(long, /takes 121 bytes, and the system allows 107/);
  assert.equal(existsSync(long), false);
  writeFileSync(join(folder, 'file'), 'precious');
  await refusal(join(folder, 'file'), /exists and is no socket/);
  await refusal(join(folder, 'no', 's.sock'), /cannot make the debug socket/);
});

test('DebugSocket.open takes a path of exactly 107 bytes', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'd'.repeat(106 - folder.length));
  assert.equal(Buffer.byteLength(path), 107);
  const server = await DebugSocket.open({ path, operator: new SampleCrawl(), audited: silent });
  t.after(() => server.close());
  const client = await DebugClient.connect(path);
  assert.equal((await client.ask(['config'])).ok, true);
  client.close();
});

test('DebugSocket.open says so where it may not write', async (t) => {
  const folder = join(temporaryFolder(t), 'closed');
  mkdirSync(folder, { mode: 0o500 });
  // Root may write to any directory but those of the kernel.
  const isRoot = process.getuid?.() === 0;
  const path = join(isRoot ? '/proc' : folder, 'debug.sock');
  await assert.rejects(
    DebugSocket.open({ path, operator: new SampleCrawl(), audited: silent }),
    (error: unknown) => {
      assert.ok(error instanceof CrawlError && error.code === 'config');
      assert.match(error.message, isRoot ? /cannot make the debug socket/ : /no permission/);
      return true;
    },
  );
});
