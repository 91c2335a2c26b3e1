import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { CrawlError } from '../../../src/base/errors.ts';
import { dashboardFiles } from '../../../src/ops/dashboard-files.ts';
import { isHostAccepted, isLoopback, parseHttpAddress } from '../../../src/ops/http-address.ts';
import { OpsHttpServer } from '../../../src/ops/http-server.ts';
import { SampleCrawl } from '../../support/ops/sample-crawl.ts';
import { sampleOverview } from '../../support/ops/sample-overview.ts';

async function open(
  t: TestContext,
  crawl = new SampleCrawl(),
): Promise<{ url: string; crawl: SampleCrawl; server: OpsHttpServer }> {
  const server = await OpsHttpServer.open({ operator: crawl, address: '127.0.0.1:0' });
  t.after(() => server.close());
  return { url: server.url, crawl, server };
}

/** The answer to a request whose Host header and method are free to choose. */
async function answerTo(
  url: string,
  options: { method?: string; host?: string } = {},
): Promise<{ status: number; text: string }> {
  const headers = options.host === undefined ? {} : { host: options.host };
  const sent = request(url, { method: options.method ?? 'GET', headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, text };
}

test('OpsHttpServer serves the page and its files, and no page refers to another server', async (t) => {
  const { url } = await open(t);
  for (const path of ['', 'assets/dashboard.css', 'assets/dashboard.js', 'assets/charts.js']) {
    const response = await fetch(`${url}${path}`);
    assert.equal(response.status, 200, path);
    assert.ok((await response.text()).length > 500);
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.equal(response.headers.get('access-control-allow-origin'), null);
  }
  for (const [path, { bytes }] of dashboardFiles()) {
    if (path.startsWith('/assets/uplot')) continue;
    const text = bytes.toString('utf8').replaceAll('http://www.w3.org/2000/svg', '');
    assert.doesNotMatch(text, /(?:src|href|url\()\s*[=(]?\s*["']?(?:https?:)?\/\//, path);
  }
});

test('every module that the dashboard imports is served', () => {
  const files = dashboardFiles();
  for (const [path, { bytes }] of files) {
    if (!path.endsWith('.js') || path.includes('uplot')) continue;
    for (const [, name] of bytes.toString('utf8').matchAll(/from '\.\/([a-z-]+\.js)'/g)) {
      assert.ok(files.has(`/assets/${name}`), `${name} of ${path}`);
    }
  }
});

test('OpsHttpServer answers overview, host and why as JSON', async (t) => {
  const { url } = await open(t);
  const overview = (await (await fetch(`${url}api/overview`)).json()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(overview), ['overview', 'rates', 'reach', 'point', 'topHosts']);
  const host = (await (await fetch(`${url}api/host/www.example.org`)).json()) as { host: string };
  assert.equal(host.host, 'www.example.org');
  const asked = 'https://www.example.org/a?b=1#c';
  const why = await fetch(`${url}api/why?url=${encodeURIComponent(asked)}`);
  assert.equal(((await why.json()) as { input: string }).input, asked);
});

test('OpsHttpServer gives each refusal its status', async (t) => {
  const { url } = await open(t);
  const cases = [
    ['api/host/no.such.host', 404],
    ['api/host/%zz', 404],
    ['api/host/', 404],
    ['api/why?url=nonsense', 400],
    ['api/why', 400],
    ['../../etc/passwd', 404],
    ['assets/..%2f..%2fpackage.json', 404],
    ['api/nothing', 404],
  ] as const;
  for (const [path, status] of cases) {
    const response = await fetch(`${url}${path}`);
    assert.equal(response.status, status, path);
    assert.ok(((await response.json()) as { error: string }).error.length > 5);
  }
});

test('OpsHttpServer says health and readiness of the crawl', async (t) => {
  const { url, crawl } = await open(t);
  assert.equal((await fetch(`${url}health`)).status, 200);
  assert.equal((await fetch(`${url}ready`)).status, 200);
  const metrics = await fetch(`${url}metrics`);
  assert.match(metrics.headers.get('content-type') ?? '', /text\/plain; version=0\.0\.4/);
  assert.match(await metrics.text(), /hostler_10_checkpoint_pages_total 8000/);
  crawl.overviewNow = () => ({ ...sampleOverview(101), state: 'draining' });
  const events = await fetch(`${url}api/events`);
  const reader = (events.body as ReadableStream<Uint8Array>).getReader();
  let seen = '';
  while (!seen.includes('draining')) {
    const { value } = await reader.read();
    seen += Buffer.from(value ?? []).toString('utf8');
  }
  await reader.cancel();
  const ready = await fetch(`${url}ready`);
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), /the crawl is draining/);
});

test('OpsHttpServer is not healthy while the crawl never answered', async (t) => {
  const crawl = new SampleCrawl();
  crawl.mood = 'failing';
  const { url } = await open(t, crawl);
  for (const path of ['health', 'ready']) assert.equal((await fetch(url + path)).status, 503);
  assert.equal((await fetch(`${url}metrics`)).status, 504);
});

test('OpsHttpServer streams the last minutes, then news', async (t) => {
  const { url } = await open(t);
  const response = await fetch(`${url}api/events`);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while ((text.match(/\n\n/g) ?? []).length < 2) {
    const { value } = await reader.read();
    text += Buffer.from(value ?? []).toString('utf8');
  }
  await reader.cancel();
  const [history = '', news = ''] = text.split('\n\n');
  assert.match(history, /^event: history\ndata: \[\{"at":\d+/);
  assert.match(news, /^event: news\ndata: \{"overview":/);
});

test('OpsHttpServer bounds its streams and stays usable', async (t) => {
  const { url } = await open(t);
  const streams = await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}api/events`)));
  const statuses = streams.map(({ status }) => status).sort();
  assert.deepEqual([statuses.filter((s) => s === 200).length, statuses.at(-1)], [16, 503]);
  assert.equal((await fetch(`${url}health`)).status, 200);
  for (const stream of streams) await stream.body?.cancel();
});

test('OpsHttpServer bound to loopback answers only to loopback names', async (t) => {
  const { url } = await open(t);
  for (const host of ['evil.example', 'evil.example:9090', '127.0.0.1.evil.example']) {
    const { status } = await answerTo(`${url}api/overview`, { host });
    assert.equal(status, 421, host);
  }
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '127.9.9.9:80', '[::1]:9']) {
    assert.equal((await answerTo(`${url}health`, { host })).status, 200, host);
  }
});

test('OpsHttpServer only looks: other methods are refused', async (t) => {
  const { url, crawl } = await open(t);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    assert.equal((await answerTo(`${url}api/overview`, { method })).status, 405, method);
  }
  const head = await answerTo(url, { method: 'HEAD' });
  assert.deepEqual(head, { status: 200, text: '' });
  assert.deepEqual(crawl.operations, []);
});

test('OpsHttpServer survives what is no HTTP', async (t) => {
  const { url } = await open(t);
  const { port } = new URL(url);
  for (const bytes of [
    '\u0000\u0001\u0002\r\n\r\n',
    'GET\r\n\r\n',
    `GET /${'a'.repeat(100_000)}`,
  ]) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write(bytes);
    await new Promise((resolve) => socket.on('close', resolve));
  }
  assert.equal((await answerTo(`http://127.0.0.1:${port}//evil.example/`)).status, 400);
  assert.equal((await fetch(`${url}health`)).status, 200);
});

test('OpsHttpServer.open names the port that is taken, and an address that is not ours', async (t) => {
  const { url } = await open(t);
  const { port } = new URL(url);
  const refusal = (address: string, pattern: RegExp) =>
    assert.rejects(OpsHttpServer.open({ operator: new SampleCrawl(), address }), (error) => {
      assert.ok(error instanceof CrawlError && error.code === 'config');
      assert.match(error.message, pattern);
      return true;
    });
  await refusal(`127.0.0.1:${port}`, new RegExp(`port ${port} of 127\\.0\\.0\\.1 is in use`));
  await refusal('192.0.2.1:0', /192\.0\.2\.1 is no address of this machine/);
  await refusal('nonsense', /--http takes HOST:PORT, not nonsense/);
});

test('parseHttpAddress reads the forms of an address, loopback when no host is named', () => {
  assert.deepEqual(parseHttpAddress('0.0.0.0:9090'), { host: '0.0.0.0', port: 9090 });
  assert.deepEqual(parseHttpAddress('[::1]:80'), { host: '::1', port: 80 });
  assert.deepEqual(parseHttpAddress(':80'), { host: '127.0.0.1', port: 80 });
  assert.deepEqual(parseHttpAddress('80'), { host: '127.0.0.1', port: 80 });
  for (const text of ['', 'host', '::1:80', 'a:65536', 'http://a:80', 'a:-1']) {
    assert.throws(() => parseHttpAddress(text), CrawlError, text);
  }
});

test('isHostAccepted lets any name reach a public bind, loopback names a loopback one', () => {
  assert.ok(isHostAccepted('0.0.0.0', 'crawler.example:9090'));
  assert.ok(isHostAccepted('::1', 'localhost'));
  assert.ok(!isHostAccepted('::1', undefined) && !isHostAccepted('::1', ''));
  assert.ok(!isHostAccepted('localhost', 'localhost.evil.example'));
  assert.ok(isLoopback('127.1.2.3') && !isLoopback('128.0.0.1') && !isLoopback('example.org'));
});
