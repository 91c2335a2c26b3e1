// The whole crawl against a web that loops, drips, explodes and lies: one crawl of all hostile hosts at once, so that each also proves
// that it holds up nobody else. What each host does is in hostile-site.ts.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { after, test } from 'node:test';
import type { PageRow } from '../../src/actors/rows.ts';
import { inFolder } from '../support/command-line.ts';
import {
  bytesSent,
  DEADLINE_MS,
  DECODED_BYTES_MAX,
  hostileSite,
  pagesAsked,
  RETRY_AFTER_SECONDS,
} from '../support/crawl/hostile-site.ts';
import { bareFlags, type EndedCrawl, runCrawl } from '../support/crawl/run-crawl.ts';
import { links, ScriptedWeb } from '../support/crawl/scripted-web.ts';
import { archiveFaults, storedRows } from '../support/crawl/stored-crawl.ts';
import { once } from '../support/once.ts';

const REDIRECTS_MAX = 6;
const CONFIG = `export default {
  requestDeadlineMs: ${DEADLINE_MS}, headersTimeoutMs: 2000, connectTimeoutMs: 2000,
  bodyBytesMax: 100_000, decodedBytesMax: ${DECODED_BYTES_MAX}, redirectsMax: ${REDIRECTS_MAX},
};`;

let web: ScriptedWeb;
let ended: EndedCrawl;
let rows: Map<string, PageRow>;
let faults: readonly string[];

const crawled = once(async () => {
  const hosts = new Set<string>();
  web = await ScriptedWeb.listen(
    (port) => {
      const site = hostileSite(port);
      for (const key of Object.keys(site)) hosts.add(key.split('/')[0] as string);
      hosts.add('zero.test');
      return site;
    },
    { resolve: (name) => (name === 'zero.test' ? ['0.0.0.0'] : 'automatic') },
  );
  const seeds = [...hosts].map((host) => web.url(host, host === 'endless.test' ? '/1' : '/'));
  await inFolder({ 'hostile.ts': CONFIG, seeds: seeds.join('\n') }, async (folder) => {
    const files = ['--config', `${folder}/hostile.ts`, '--seeds', `${folder}/seeds`];
    const scope = ['--scope', 'all', '--contact', 'https://example.org/crawler'];
    const flags = [...bareFlags(web.dnsPort, `${folder}/data`), '--linger', '5'];
    ended = await runCrawl([...flags, ...files, ...scope]);
    strictEqual(ended.status, 0, ended.stderr);
    rows = await storedRows(`${folder}/data`);
    faults = await archiveFaults(`${folder}/data`);
  });
});
after(() => web?.close());

function row(host: string, path = '/'): PageRow {
  const found = rows.get(web.url(host, path));
  ok(found, `no row of ${host}${path}; ${[...rows.keys()].filter((url) => url.includes(host))}`);
  return found;
}

/** How often a host was asked for pages. */
function asked(host: string): number {
  return pagesAsked(web.requests, host).length;
}

test('the crawl of a hostile web ends in order with a sound archive', async () => {
  await crawled();
  strictEqual(ended.status, 0, ended.stderr);
  strictEqual(ended.report?.reason, 'done');
  deepStrictEqual(faults, []);
});

test('redirect loops end: re-encoded, by cookie, between two hosts, and without an end', async () => {
  await crawled();
  ok(asked('reencode.test') <= 3, `${asked('reencode.test')} requests`);
  strictEqual(asked('cookie.test'), 1);
  ok(asked('www.pair.test') <= 1 && asked('pair.test') <= 1);
  strictEqual(asked('endless.test'), 1 + REDIRECTS_MAX);
  strictEqual(row('endless.test', `/${1 + REDIRECTS_MAX}`).failure, 'too-many-redirects');
});

test('Location in raw UTF-8 is requested percent-encoded, and a relative one by its own rules', async () => {
  await crawled();
  strictEqual(row('raw.test', '/a%C3%A7%C3%A3o').status, 200);
  deepStrictEqual(web.pathsOf('escaped.test'), ['/', '/http%3A//scrapytest.org/a%C3%A7%C3%A3o']);
  strictEqual(asked('empty.test'), 1);
});

test('redirects to a metadata address, its IPv6 spelling or a file reach nothing', async () => {
  await crawled();
  const refused = [...rows.values()].filter(({ failure }) => failure === 'address-forbidden');
  const urls = refused.map(({ url }) => url).sort();
  deepStrictEqual(urls, [
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/',
    web.url('zero.test'),
  ]);
  ok([...rows.keys()].every((url) => url.startsWith('http')));
});

test('links of a page count from where its redirect, base element or refresh puts it', async () => {
  await crawled();
  ok(web.pathsOf('moved.test').includes('/deep/page/relative'));
  ok(web.pathsOf('based.test').includes('/folder/target'));
  ok(web.pathsOf('quoted.test').includes('/target'));
});

test('bombs are cut at the bound and recorded as truncated', async () => {
  await crawled();
  for (const host of ['gzip-bomb.test', 'nested-bomb.test', 'brotli-bomb.test']) {
    const { truncated, bodyBytes } = row(host);
    ok(truncated !== undefined, host);
    ok(bodyBytes <= DECODED_BYTES_MAX, `${host}: ${bodyBytes}`);
  }
});

test('a body that ends early is truncated, never whole; trailing bytes do no harm', async () => {
  await crawled();
  ok(row('cut-gzip.test').truncated !== undefined);
  const { truncated, failure } = row('short.test');
  ok(truncated !== undefined || failure !== undefined);
  strictEqual(row('trailing.test').truncated, undefined);
  ok(web.pathsOf('trailing.test').includes('/after'));
  ok(web.pathsOf('continue.test').includes('/after'));
});

test('dripping and endless answers are cut at the deadline or the bound', async () => {
  await crawled();
  const drip = row('drip.test');
  ok(drip.truncated !== undefined || drip.failure === 'timeout', JSON.stringify(drip));
  ok((bytesSent.get('drip.test') ?? 0) < 5_000);
  ok(asked('drip-head.test') >= 1);
  strictEqual(row('endless-head.test').failure, 'headers-too-large');
  ok((bytesSent.get('endless-head.test') ?? 0) < 1_000_000);
});

test('Retry-After is obeyed, in seconds and as a date, for the whole host', async () => {
  await crawled();
  for (const [host, slackMs] of [
    ['seconds.test', 0],
    ['date.test', 1_000],
  ] as const) {
    const [root, refused, next, last] = pagesAsked(web.requests, host);
    ok(root && refused && next && last, host);
    const waited = next.atMs - refused.atMs;
    ok(waited >= RETRY_AFTER_SECONDS * 1_000 - slackMs, `${host} waited ${waited} ms`);
    strictEqual(row(host, '/a').status, 200);
    strictEqual(row(host, '/b').status, 200);
  }
  strictEqual(asked('busy.test'), 1);
  ok((ended.report?.hostsWaiting ?? 0) >= 1);
});

test('401 without a challenge is an answer; misshapen sitemaps are read', async () => {
  await crawled();
  strictEqual(row('unauthorised.test').status, 401);
  strictEqual(row('maps.test', '/listed').status, 200);
});

test('a host whose robots.txt never comes holds up nobody else', async () => {
  const mute = await ScriptedWeb.listen(() => ({
    'mute.test/robots.txt': () => undefined,
    'good.test/': links('/1', '/2', '/3', '/4'),
    'good.test': 'text',
  }));
  try {
    await inFolder({}, async (folder) => {
      const flags = [...bareFlags(mute.dnsPort, `${folder}/data`), '--max-pages', '5'];
      const seeds = [mute.url('mute.test'), mute.url('good.test')];
      const { status, stderr, report } = await runCrawl([...flags, '--threads', '1', ...seeds]);
      strictEqual(status, 0, stderr);
      strictEqual(report?.reason, 'max-pages');
      deepStrictEqual(mute.pathsOf('mute.test'), []);
      const [first] = mute.requests;
      const last = pagesAsked(mute.requests, 'good.test').at(-1);
      // The silent request alone may take 30 s.
      ok(first && last && last.atMs - first.atMs < 20_000);
    });
  } finally {
    await mute.close();
  }
});
