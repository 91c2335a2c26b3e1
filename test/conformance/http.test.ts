// Every case of http.json that consists of bytes, over real sockets: one request each, on a fresh connection. The scripted `behaviour`
// cases that concern the fetcher are in test/integration/fetch-hostile.test.ts; those about queues, robots.txt and retries belong to the
// suites of those steps.

import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import type { FetchOutcome, FetchResponse } from '../../src/actors/ports.ts';
import { wallMs } from '../../src/base/units.ts';
import { headerValue } from '../../src/domain/header-list.ts';
import { redirectTarget } from '../../src/domain/location.ts';
import { retryAfterOf } from '../../src/domain/retry-after.ts';
import { AddressGuard } from '../../src/net/address-guard.ts';
import { DnsResolver } from '../../src/net/resolver.ts';
import { loadCases } from '../support/cases.ts';
import { failureOf, fetchOnce, loopbackFetcher, responseOf } from '../support/fetching.ts';
import { type Script, ScriptedServer } from '../support/scripted-server.ts';

interface HttpCase {
  readonly id: string;
  readonly name: string;
  readonly serverBytes?: string;
  readonly serverBytesBase64?: string;
  readonly serverBytesParts?: readonly { text: string; times: number }[];
  readonly behaviour?: readonly string[];
  readonly baseUrl?: string;
  readonly contested: boolean;
  readonly expected: {
    readonly outcome: string;
    readonly status?: number;
    readonly bodyLength?: number;
    readonly bodySha1?: string | null;
    readonly links?: readonly string[];
    readonly target?: string;
    readonly waitSeconds?: number | null;
    readonly nextRequest?: Readonly<Record<string, string>>;
  };
}

/** The longest Retry-After obeyed here; anything above is "cap at the own maximum". */
const WAIT_MS_MAX = 3_600_000;
const PAGE = '<html><a href="/x">x</a></html>';

const cases: readonly HttpCase[] | undefined = loadCases('http.json')?.cases;
const fetcher = loopbackFetcher();
after(() => fetcher.close());

if (cases === undefined) {
  test('http.json is absent: conformance of the fetcher not judged', { skip: 'no shared cases' });
} else {
  for (const httpCase of cases) {
    if (httpCase.behaviour !== undefined) continue;
    test(`UndiciFetcher.start decides ${httpCase.id} ${httpCase.name}`, () => judge(httpCase));
  }
}

function bytesOf(httpCase: HttpCase): Buffer {
  if (httpCase.serverBytesBase64 !== undefined) {
    return Buffer.from(httpCase.serverBytesBase64, 'base64');
  }
  const parts = httpCase.serverBytesParts?.map(({ text, times }) => text.repeat(times)) ?? [];
  return Buffer.from(httpCase.serverBytes ?? parts.join(''), 'utf8');
}

async function serving(script: Script, use: (server: ScriptedServer) => Promise<void>) {
  const server = await ScriptedServer.listen(script);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

async function judge(httpCase: HttpCase): Promise<void> {
  const bytes = bytesOf(httpCase);
  await serving({ onRequest: (socket) => socket.end(bytes) }, async (server) => {
    const outcome = await fetchOnce(fetcher, server.url());
    strictEqual(server.requests.length, 1);
    await judgeOutcome(httpCase, outcome);
    if (httpCase.expected.nextRequest !== undefined) {
      await judgeNextRequest(httpCase.expected.nextRequest, responseOf(outcome), server);
    }
  });
}

async function judgeOutcome(httpCase: HttpCase, outcome: FetchOutcome): Promise<void> {
  const { expected } = httpCase;
  switch (expected.outcome) {
    case 'failed':
      failureOf(outcome);
      return;
    case 'page-truncated-or-failed':
      if (outcome.kind === 'response') strictEqual(outcome.truncated, 'disconnect');
      return;
    case 'page-truncated':
      strictEqual(responseOf(outcome).truncated, 'length');
      return;
    case 'page-or-failed':
      return;
    case 'redirect-or-failed':
      if (outcome.kind === 'response') strictEqual(targetOf(httpCase, outcome).kind, 'target');
      return;
    case 'redirect':
      deepStrictEqual(targetOf(httpCase, responseOf(outcome)), {
        kind: 'target',
        url: expected.target,
      });
      return;
    case 'refused':
      await judgeRefusal(httpCase, responseOf(outcome));
      return;
    default:
      judgeResponse(httpCase, responseOf(outcome));
  }
}

function targetOf(httpCase: HttpCase, response: FetchResponse) {
  return redirectTarget(response.status, response.headers, httpCase.baseUrl ?? 'http://a.test/');
}

/** A target is refused by its form, or because its host leads to no address that may be contacted. */
async function judgeRefusal(httpCase: HttpCase, response: FetchResponse): Promise<void> {
  const target = targetOf(httpCase, response);
  if (target.kind !== 'target') {
    strictEqual(target.kind, 'refused');
    return;
  }
  const resolver = new DnsResolver({ guard: new AddressGuard([]), servers: ['127.0.0.1:9'] });
  const host = new URL(target.url).hostname;
  const kind = await new Promise<string>((resolve) => {
    resolver.resolve(host, (outcome) => resolve(outcome.kind));
  });
  resolver.close();
  strictEqual(kind, 'forbidden');
}

function judgeResponse({ expected }: HttpCase, response: FetchResponse): void {
  strictEqual(response.truncated, undefined);
  if (expected.status !== undefined) strictEqual(response.status, expected.status);
  if (expected.bodyLength !== undefined) strictEqual(response.body.length, expected.bodyLength);
  if (typeof expected.bodySha1 === 'string') {
    strictEqual(createHash('sha1').update(response.body).digest('hex'), expected.bodySha1);
  }
  if (expected.links?.length === 1) strictEqual(Buffer.from(response.body).toString(), PAGE);
  if (expected.outcome === 'not-redirect') {
    const target = redirectTarget(response.status, response.headers, 'http://a.test/');
    strictEqual(target.kind, 'none');
  }
  if (expected.waitSeconds !== undefined) judgeWait(expected.waitSeconds, response);
}

function judgeWait(waitSeconds: number | null, response: FetchResponse): void {
  const wait = retryAfterOf(response.headers, wallMs(Date.now()), WAIT_MS_MAX);
  if (waitSeconds !== null) strictEqual(wait, waitSeconds * 1_000);
  else ok(wait === undefined || wait === WAIT_MS_MAX, `waits ${wait}`);
}

async function judgeNextRequest(
  nextRequest: Readonly<Record<string, string>>,
  response: FetchResponse,
  server: ScriptedServer,
): Promise<void> {
  await fetchOnce(fetcher, server.url(), {
    etag: headerValue(response.headers, 'etag'),
    lastModified: headerValue(response.headers, 'last-modified'),
  });
  const head = server.requests.at(-1)?.head ?? '';
  for (const name of ['If-None-Match', 'If-Modified-Since']) {
    const sent = new RegExp(`^${name}: (.*)\r$`, 'm').exec(head)?.[1];
    strictEqual(sent, nextRequest[name]);
  }
}
