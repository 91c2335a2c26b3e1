// hostOverrides `proxy`: requests of a host through a proxy of the operator's, http and https, and every way in which that can fail.

import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { type TestContext, test } from 'node:test';
import { connectProxy } from '../../support/connect-proxy.ts';
import { failureOf, fetchOnce, loopbackFetcher, responseOf } from '../../support/fetching.ts';
import { page, ScriptedServer } from '../../support/scripted-server.ts';

async function proxied(context: TestContext, answer?: string, login = '') {
  const server = await ScriptedServer.listen({ onRequest: (socket) => socket.write(page('x')) });
  const proxy = await connectProxy(answer);
  const through = `http://${login === '' ? '' : `${login}@`}127.0.0.1:${proxy.port}`;
  const fetcher = loopbackFetcher({
    settingsOf: (host) => (host === 'far.test' ? { proxy: through } : undefined),
    limits: { connectTimeoutMs: 400 },
  });
  context.after(async () => {
    fetcher.close();
    await Promise.all([server.close(), proxy.close()]);
  });
  return { server, proxy, fetcher, url: (host: string) => `http://${host}:${server.port}/x` };
}

test('UndiciFetcher.start goes through the proxy of a host, to the address that was resolved, and keeps the way', async (t) => {
  const { server, proxy, fetcher, url } = await proxied(t, undefined, 'me:pass');
  for (let round = 0; round < 3; round += 1) {
    const response = responseOf(await fetchOnce(fetcher, url('far.test')));
    strictEqual(Buffer.from(response.body).toString(), 'x');
    strictEqual(response.address, '127.0.0.1');
  }
  strictEqual(server.connections, 1);
  deepStrictEqual(proxy.heads, [
    `CONNECT 127.0.0.1:${server.port} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n` +
      'Proxy-Authorization: Basic bWU6cGFzcw==\r\n\r\n',
  ]);
  responseOf(await fetchOnce(fetcher, url('near.test')));
  strictEqual(proxy.heads.length, 1);
});

test('UndiciFetcher.start asks the proxy for no address that the guard forbids', async (t) => {
  const { proxy, fetcher, url } = await proxied(t);
  const failure = failureOf(
    await fetchOnce(fetcher, url('far.test'), { addresses: ['169.254.169.254'] }),
  );
  strictEqual(failure.failure, 'address-forbidden');
  strictEqual(proxy.heads.length, 0);
});

for (const [how, answer, detail] of [
  ['refuses', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', /^proxy: it answered 407$/],
  ['is none', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', /^proxy: it does not speak HTTP$/],
  ['says too much', 'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n', /^proxy: it sent more/],
  ['never ends its head', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(3_000)}`, /no end$/],
  ['is silent', '', /^no connection to 127\.0\.0\.1$/],
] as const) {
  test(`UndiciFetcher.start says so when the proxy of a host ${how}`, async (t) => {
    const { server, fetcher, url } = await proxied(t, answer);
    match(failureOf(await fetchOnce(fetcher, url('far.test'))).detail, detail);
    strictEqual(server.connections, 0);
  });
}
