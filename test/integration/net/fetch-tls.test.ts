// https with a certificate authority made for the test by openssl: what is trusted, what is not, and what is said to the server.

import { ok, strictEqual, throws } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { CrawlError } from '../../../src/base/errors.ts';
import type { UndiciFetcherOptions } from '../../../src/net/undici-fetcher.ts';
import { connectProxy } from '../../support/connect-proxy.ts';
import { failureOf, fetchOnce, loopbackFetcher, responseOf } from '../../support/fetching.ts';
import { page, type Script, ScriptedServer } from '../../support/scripted-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'hostler-tls-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);
const openssl = (...args: string[]): Buffer =>
  execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] });

/** A certificate of our authority for these names. */
function certificate(name: string, alternatives: string, days = '2'): TlsOptions {
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    file(`${name}.key`),
    '-out',
    file(`${name}.csr`),
    '-subj',
    `/CN=${name}`,
  );
  writeFileSync(file(`${name}.ext`), `subjectAltName=${alternatives}\n`);
  openssl(
    'x509',
    '-req',
    '-in',
    file(`${name}.csr`),
    '-CA',
    file('ca.pem'),
    '-CAkey',
    file('ca.key'),
    '-CAcreateserial',
    '-days',
    days,
    '-extfile',
    file(`${name}.ext`),
    '-out',
    file(`${name}.pem`),
  );
  return { key: readFileSync(file(`${name}.key`)), cert: readFileSync(file(`${name}.pem`)) };
}

openssl(
  'req',
  '-x509',
  '-newkey',
  'ec',
  '-pkeyopt',
  'ec_paramgen_curve:prime256v1',
  '-nodes',
  '-keyout',
  file('ca.key'),
  '-out',
  file('ca.pem'),
  '-days',
  '2',
  '-subj',
  '/CN=test authority',
  '-addext',
  'basicConstraints=critical,CA:TRUE',
);
const ca = readFileSync(file('ca.pem'), 'utf8');
const good = certificate('good', 'DNS:good.test,DNS:*.wild.test,IP:127.0.0.1');

async function using(
  context: TestContext,
  script: Script,
  options: { tls?: TlsOptions; fetcher?: Partial<UndiciFetcherOptions> } = {},
) {
  const server = await ScriptedServer.listen(script, { tls: options.tls ?? good });
  const fetcher = loopbackFetcher(options.fetcher ?? { trustedCertificates: [ca] });
  context.after(async () => {
    fetcher.close();
    await server.close();
  });
  return { server, fetcher, url: (host: string) => `https://${host}:${server.port}/x` };
}

const answering: Script = { onRequest: (socket) => socket.write(page('secret')) };

test('UndiciFetcher.start fetches https from a host whose authority was named, on a kept connection', async (t) => {
  const names: (string | false | null)[] = [];
  const { server, fetcher, url } = await using(t, {
    onConnect: (socket) => names.push((socket as TLSSocket).servername),
    ...answering,
  });
  for (const host of ['good.test', 'a.wild.test', '127.0.0.1', 'good.test.']) {
    for (let round = 0; round < 3; round += 1) {
      const response = responseOf(await fetchOnce(fetcher, url(host)));
      strictEqual(Buffer.from(response.body).toString(), 'secret');
      strictEqual(response.requestHead, server.requests.at(-1)?.head);
    }
  }
  strictEqual(server.connections, 4);
  strictEqual(names.join(), 'good.test,a.wild.test,false,good.test');
});

test('UndiciFetcher.start proves a host by its certificate through a proxy too', async (t) => {
  const proxy = await connectProxy();
  t.after(() => proxy.close());
  const settingsOf = () => ({ proxy: `http://127.0.0.1:${proxy.port}` });
  const { server, fetcher, url } = await using(t, answering, {
    fetcher: { trustedCertificates: [ca], settingsOf },
  });
  for (let round = 0; round < 2; round += 1) {
    const response = responseOf(await fetchOnce(fetcher, url('good.test')));
    strictEqual(Buffer.from(response.body).toString(), 'secret');
  }
  strictEqual(server.connections, 1);
  strictEqual(failureOf(await fetchOnce(fetcher, url('other.test'))).failure, 'tls-failed');
  strictEqual(proxy.heads.length, 2);
});

test('UndiciFetcher.start refuses certificates of another name, of no known authority, and out of date', async (t) => {
  const trusting = await using(t, answering);
  const other = failureOf(await fetchOnce(trusting.fetcher, trusting.url('other.test')));
  strictEqual(other.failure, 'tls-failed');
  ok(other.detail.length <= 200);
  strictEqual(other.address, '127.0.0.1');
  const strict = await using(t, answering, { fetcher: {} });
  strictEqual(
    failureOf(await fetchOnce(strict.fetcher, strict.url('good.test'))).failure,
    'tls-failed',
  );
  strictEqual(strict.server.requests.length + trusting.server.requests.length, 0);
  const expired = await using(t, answering, { tls: certificate('old', 'DNS:old.test', '-1') });
  strictEqual(
    failureOf(await fetchOnce(expired.fetcher, expired.url('old.test'))).failure,
    'tls-failed',
  );
});

test('UndiciFetcher.start calls a failed handshake what it is [http-336]', async (t) => {
  const alert = Buffer.from([21, 3, 3, 0, 2, 2, 40]);
  const scripts: readonly [string, Script, string][] = [
    ['fatal alert', { onConnect: (socket) => socket.write(alert) }, 'tls-failed'],
    [
      'plain http',
      { onConnect: (socket) => socket.write('HTTP/1.1 400 Bad\r\n\r\n') },
      'tls-failed',
    ],
    [
      'reset',
      { onConnect: (socket) => socket.once('data', () => socket.resetAndDestroy()) },
      'reset',
    ],
    ['close', { onConnect: (socket) => socket.end() }, 'reset'],
    ['silence', {}, 'connect-timeout'],
  ];
  for (const [name, script, failure] of scripts) {
    const server = await ScriptedServer.listen(script);
    const fetcher = loopbackFetcher({ limits: { connectTimeoutMs: 300 } });
    t.after(async () => {
      fetcher.close();
      await server.close();
    });
    const outcome = await fetchOnce(fetcher, `https://good.test:${server.port}/`);
    strictEqual(failureOf(outcome).failure, failure, name);
  }
});

test('UndiciFetcher refuses certificates and identities it cannot use as errors of configuration', () => {
  const isConfig = (error: unknown): boolean =>
    error instanceof CrawlError && error.code === 'config';
  const broken = '-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n';
  throws(() => loopbackFetcher({ trustedCertificates: [broken] }), isConfig);
  throws(() => loopbackFetcher({ userAgent: 'a\r\nX: y' }), isConfig);
  throws(() => loopbackFetcher({ userAgent: '' }), isConfig);
});
