// The scripted cases of http.json that are about a crawl rather than one request: redirect chains and what they lead to, refusals that end,
// validators across visits. One crawl of all hosts at once, each named after its case, and one that goes on. Cases about one request are in
// conformance/http.test.ts and integration/net/.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { after, test } from 'node:test';
import type { PageRow } from '../../src/actors/rows.ts';
import { inFolder } from '../support/command-line.ts';
import { bareFlags, runCrawl, startCrawl, until } from '../support/crawl/run-crawl.ts';
import {
  type Answer,
  links,
  redirect,
  response,
  ScriptedWeb,
  type Site,
} from '../support/crawl/scripted-web.ts';
import { archiveFaults, storedRows } from '../support/crawl/stored-crawl.ts';
import { once } from '../support/once.ts';

/** Bounds that the cases name. */
const REDIRECT_REQUESTS_MAX = 21;
const FAILING_REQUESTS_MAX = 10;
const RETRY_AFTER_MS = 3_000;
const DATE = 'Wed, 04 Nov 2026 10:00:00 GMT';

let web: ScriptedWeb;
let rows: Map<string, PageRow>;

const crawled = once(async () => {
  web = await ScriptedWeb.listen(siteOf, {
    resolve: (name) => (name === 'internal.test' ? ['10.0.0.5'] : 'automatic'),
  });
  await inFolder({}, async (folder) => {
    const dataDir = `${folder}/data`;
    const hosts = ['chain.test', 'a.test', 'inward.test', 'wait.test', 'ill.test', 'dead.test'];
    const scope = ['--scope', 'all', '--contact', 'https://example.org/crawler'];
    // Longer than the pause after the third failure in a row.
    const flags = [...bareFlags(web.dnsPort, dataDir), ...scope, '--linger', '20'];
    const ended = await runCrawl([...flags, ...hosts.map((host) => web.url(host))]);
    strictEqual(ended.status, 0, ended.stderr);
    rows = await storedRows(dataDir);
    deepStrictEqual(await archiveFaults(dataDir), []);
  });
});
after(() => web?.close());

function siteOf(port: number): Site {
  return {
    'chain.test': (socket, request) => {
      const next = Number(request.path.slice(1)) + 1;
      send(redirect(`/${next}`), socket, request);
    },
    'a.test/': redirect(`http://b.test:${port}/y`),
    'b.test/robots.txt': 'User-agent: *\nDisallow: /y\n',
    'b.test/y': 'never to be asked for',
    'inward.test/': redirect(`http://internal.test:${port}/`),
    'wait.test/': `wait ${links('/x', '/y')}`,
    'wait.test': failing(1, '429 Too Many Requests', 'Retry-After: 3\r\n'),
    'ill.test/': failing(3, '503 Service Unavailable'),
    'dead.test/': failing(Infinity, '503 Service Unavailable'),
  };
}

/** Refuses so many times, then answers with a page. */
function failing(times: number, status: string, fields = ''): Answer {
  let left = times;
  return (socket, request) => {
    left -= 1;
    if (left >= 0) send(response(status, fields), socket, request);
    else send(html(`after all: ${request.path}`), socket, request);
  };
}

const html = (text: string, fields = ''): Answer =>
  response('200 OK', `Content-Type: text/html\r\n${fields}`, text);

function send(answer: Answer, ...given: Parameters<Extract<Answer, (...all: never) => void>>) {
  if (typeof answer === 'function') answer(...given);
}

/** Times between the requests of a host for pages, milliseconds. */
function waitsOf(host: string): number[] {
  const asked = web.requests.filter((one) => one.host === host && one.path !== '/robots.txt');
  return asked.slice(1).map(({ atMs }, at) => atMs - (asked[at]?.atMs ?? 0));
}

test('a chain of ever new redirects ends [http-325]', async () => {
  await crawled();
  const asked = web.pathsOf('chain.test');
  ok(asked.length <= REDIRECT_REQUESTS_MAX, `${asked.length} requests`);
  strictEqual(new Set(asked).size, asked.length, 'each once');
  const last = rows.get(web.url('chain.test', asked.at(-1)));
  strictEqual(last?.failure, 'too-many-redirects');
});

test('a redirect to what another host disallows is not followed [http-327]', async () => {
  await crawled();
  deepStrictEqual(web.pathsOf('a.test'), ['/']);
  ok(web.requests.some(({ host, path }) => host === 'b.test' && path === '/robots.txt'));
  deepStrictEqual(web.pathsOf('b.test'), []);
});

test('a redirect to a name with a private address reaches nothing [http-328]', async () => {
  await crawled();
  ok(web.namesAsked.includes('internal.test'));
  strictEqual(rows.get(web.url('internal.test'))?.failure, 'address-forbidden');
  ok(web.requests.every(({ host }) => host !== 'internal.test'));
});

test('429 with Retry-After holds the whole host, and the page comes after it [http-339]', async () => {
  await crawled();
  const [, held] = waitsOf('wait.test');
  ok(held !== undefined && held >= RETRY_AFTER_MS, `waited ${held} ms`);
  for (const path of ['/x', '/y']) {
    strictEqual(rows.get(web.url('wait.test', path))?.status, 200, path);
  }
});

test('503 three times is waited out with growing pauses [http-340]', async () => {
  await crawled();
  const waits = waitsOf('ill.test');
  strictEqual(waits.length, 3);
  ok(
    waits.every((wait, at) => at === 0 || wait > (waits[at - 1] ?? 0)),
    `${waits}`,
  );
  strictEqual(rows.get(web.url('ill.test'))?.status, 200);
});

test('503 for ever ends as a failure after few requests [http-341]', async () => {
  await crawled();
  const asked = web.pathsOf('dead.test').length;
  ok(asked > 1 && asked <= FAILING_REQUESTS_MAX, `${asked} requests`);
  strictEqual(rows.get(web.url('dead.test'))?.failure, 'status-5xx');
});

test('a 304 with another ETag leaves the new one to be sent; equal bytes are no change [http-342 to http-346]', () =>
  inFolder({}, async (folder) => {
    const site: Site = {
      'v.test/': `visits ${links('/etag', '/dated', '/same')}`,
      'v.test/etag': (socket, request) => {
        const isKnown = /^if-none-match:/im.test(request.head);
        const fresh = html('tagged', 'ETag: "a"\r\n');
        const kept: Answer = (one) =>
          void one.write('HTTP/1.1 304 Not Modified\r\nETag: "b"\r\n\r\n');
        send(isKnown ? kept : fresh, socket, request);
      },
      'v.test/dated': (socket, request) => {
        const isKnown = new RegExp(`^if-modified-since: ${DATE}`, 'im').test(request.head);
        const kept: Answer = (one) => void one.write('HTTP/1.1 304 Not Modified\r\n\r\n');
        send(isKnown ? kept : html('dated', `Last-Modified: ${DATE}\r\n`), socket, request);
      },
      'v.test/same': html('ever the same'),
    };
    const web = await ScriptedWeb.listen(() => site);
    try {
      const dataDir = `${folder}/data`;
      const soon = ['--recrawl-first', '1', '--recrawl-least', '1', '--continuous'];
      const crawl = startCrawl([...bareFlags(web.dnsPort, dataDir), ...soon, web.url('v.test')]);
      const asked = (path: string) => web.requests.filter((one) => one.path === path);
      const counts = () => ['/etag', '/dated', '/same'].map((path) => asked(path).length);
      const enough = () => counts().every((count) => count >= 3);
      ok(await until(crawl, enough), crawl.stderr);
      crawl.signal('SIGTERM');
      const ended = await crawl.ended;
      strictEqual(ended.status, 0, ended.stderr);
      const sent = asked('/etag').map(({ head }) => /^if-none-match: *(.*?)\r?$/im.exec(head)?.[1]);
      deepStrictEqual(sent.slice(0, 3), [undefined, '"a"', '"b"']);
      const stored = await storedRows(dataDir);
      for (const path of ['/etag', '/dated', '/same']) {
        const row = stored.get(web.url('v.test', path));
        strictEqual(row?.status, 200, path);
        strictEqual(row?.visit?.changed ?? 0, 0, path);
        ok((row?.visit?.unchanged ?? 0) >= 1, path);
      }
      deepStrictEqual(await archiveFaults(dataDir), []);
    } finally {
      await web.close();
    }
  }));
