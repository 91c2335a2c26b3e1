// Changing a crawl over HTTP: what lets a request in, and everything that keeps one out. No refusal may change anything or be silent.
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { OPERATE_BYTES_MAX } from '../../../src/ops/http-operate.ts';
import { OpsHttpServer } from '../../../src/ops/http-server.ts';
import type { OperationEntry } from '../../../src/ops/operation.ts';
import { SampleCrawl } from '../../support/ops/sample-crawl.ts';

const TOKEN = 'x'.repeat(43);
const JSON_TYPE = 'application/json';

interface Door {
  readonly url: string;
  readonly crawl: SampleCrawl;
  readonly audit: OperationEntry[];
  readonly send: (
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ status: number; text: string }>;
}

async function door(t: TestContext, isOperable = true): Promise<Door> {
  const crawl = new SampleCrawl();
  const audit: OperationEntry[] = [];
  const audited = (entry: OperationEntry): number => audit.push(entry);
  const operate = isOperable ? { token: TOKEN, audited } : undefined;
  const server = await OpsHttpServer.open({ operator: crawl, address: '127.0.0.1:0', operate });
  t.after(() => server.close());
  const { url } = server;
  const send = async (body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const usual = { 'content-type': JSON_TYPE, authorization: `Bearer ${TOKEN}` };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const sent = request(`${url}api/operate`, {
      method: 'POST',
      agent: false,
      headers: { ...usual, 'content-length': Buffer.byteLength(text), ...headers },
    });
    // The server hangs up on what it does not read.
    sent.on('error', () => undefined);
    sent.end(text);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let answer = '';
    for await (const chunk of response) answer += String(chunk);
    return { status: response.statusCode ?? 0, text: answer };
  };
  return { url, crawl, audit, send };
}

const PAUSE = { verb: 'pause', args: ['host', 'a.example'] };

test('OpsHttpServer does what comes with the token, and has it audited as http', async (t) => {
  const { crawl, audit, send, url } = await door(t);
  strictEqual((await send(PAUSE)).status, 200);
  strictEqual((await send(PAUSE, { origin: url.slice(0, -1) })).status, 200);
  deepStrictEqual(crawl.operations.at(-1), {
    kind: 'pause',
    target: { kind: 'host', host: 'a.example' },
  });
  deepStrictEqual(
    audit.map(({ source, outcome }) => `${source} ${outcome}`),
    ['http done', 'http done'],
  );
});

test('OpsHttpServer changes nothing for a request that another site could have made', async (t) => {
  const { crawl, audit, send } = await door(t);
  const cases: readonly (readonly [number, Readonly<Record<string, string>>])[] = [
    [401, { authorization: '' }],
    [401, { authorization: `Bearer ${TOKEN}x` }],
    [401, { authorization: `Bearer ${TOKEN.slice(1)}` }],
    [401, { authorization: `Basic ${TOKEN}` }],
    [401, { authorization: '', cookie: `token=${TOKEN}` }],
    [403, { origin: 'http://evil.example' }],
    [403, { origin: 'null' }],
    [403, { origin: 'http://127.0.0.1:1' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { 'sec-fetch-site': 'same-site' }],
    [415, { 'content-type': 'text/plain' }],
    [415, { 'content-type': 'application/x-www-form-urlencoded' }],
    [421, { host: 'evil.example' }],
    [421, { host: 'rebound.evil.example:80', origin: 'http://rebound.evil.example:80' }],
    [421, { host: '[::1' }],
  ];
  for (const [status, headers] of cases) {
    const answer = await send(PAUSE, headers);
    strictEqual(answer.status, status, JSON.stringify(headers));
    match(answer.text, /"error":"[^"]{10,}/);
  }
  deepStrictEqual([crawl.operations, audit], [[], []]);
});

test('OpsHttpServer takes only its verbs, in bounded requests that are JSON', async (t) => {
  const { crawl, send } = await door(t);
  const cases: readonly (readonly [number, unknown])[] = [
    [400, 'garbage'],
    [400, '[]'],
    [400, 'null'],
    [400, { verb: 'pause', args: 'all' }],
    [400, { verb: 'pause', args: [{}] }],
    [400, { verb: 'pause', args: ['everything'] }],
    [400, { verb: 'delay', args: ['a.example', '-1'] }],
    [400, { verb: 'inject', args: Array.from({ length: 2_000 }, () => 'https://a.example/') }],
    [400, 'x'.repeat(OPERATE_BYTES_MAX + 1)],
    [501, { verb: 'log', args: ['silent'] }],
    [501, { verb: 'state', args: ['shard'] }],
    [501, { verb: 'constructor' }],
  ];
  for (const [status, body] of cases) {
    const answer = await send(body);
    strictEqual(answer.status, status, JSON.stringify(body).slice(0, 80));
  }
  deepStrictEqual(crawl.operations, []);
});

test('OpsHttpServer without --http-operate has no such door', async (t) => {
  const { crawl, send, url } = await door(t, false);
  strictEqual((await send(PAUSE)).status, 405);
  deepStrictEqual(crawl.operations, []);
  const told = await fetch(`${url}api/operate`);
  deepStrictEqual(await told.json(), { isOperable: false });
});
