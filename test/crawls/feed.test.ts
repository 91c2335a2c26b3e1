// The change feed and its consumers, by the command line, on running and on stopped crawls: what is told, that a consumer that is killed misses
// nothing, that sinks are tried until they take, and that a search finds what was crawled a moment ago.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { FeedRecord } from '../../src/feed/feed-document.ts';
import type { FoundPage } from '../../src/feed/search-index.ts';
import { inFolder } from '../support/command-line.ts';
import { bareFlags, runCrawl, startCrawl, until, webFlags } from '../support/crawl/run-crawl.ts';
import { links, response, ScriptedWeb } from '../support/crawl/scripted-web.ts';
import { storedPages } from '../support/crawl/stored-crawl.ts';
import { startWeb } from '../support/server/start-web.ts';

async function eventsOf(dataDir: string, ...more: readonly string[]): Promise<FeedRecord[]> {
  const feed = await runCrawl(['feed', '--data', dataDir, ...more]);
  strictEqual(feed.status, 0, feed.stderr);
  return linesOf(feed.stdout);
}

function linesOf(ndjson: string): FeedRecord[] {
  const lines = ndjson.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as FeedRecord);
}

/** A site of three pages that changes when told to. */
async function withSite(
  body: (site: {
    readonly web: ScriptedWeb;
    readonly dataDir: string;
    readonly state: { text: string; isGone: boolean };
  }) => Promise<void>,
): Promise<void> {
  const state = { text: 'first words', isGone: false };
  const web = await ScriptedWeb.listen(() => ({
    'a.test/': `<html lang="en"><title>Home</title>${links('/changes', '/goes', '/copy')}`,
    'a.test/changes': (socket, request) => send(`<p>${state.text}</p>`, socket, request),
    'a.test/goes': (socket, request) =>
      send(state.isGone ? undefined : '<p>here &amp; now</p>', socket, request),
    'a.test/copy': `<html lang="en"><title>Home</title>${links('/changes', '/goes', '/copy')}`,
  }));
  try {
    await inFolder({}, (folder) => body({ web, dataDir: `${folder}/data`, state }));
  } finally {
    await web.close();
  }
}

type Scripted = Extract<ReturnType<typeof response>, (...given: never) => void>;

function send(body: string | undefined, ...given: Parameters<Scripted>): void {
  const fields = 'Content-Type: text/html\r\n';
  const answer = body === undefined ? response('410 Gone') : response('200 OK', fields, body);
  if (typeof answer === 'function') answer(...given);
}

const SOON = ['--recrawl-first', '1', '--recrawl-least', '1', '--recrawl-longest', '600'];

test('feed tells of new, duplicate, changed, unchanged and gone pages, in order', () =>
  withSite(async ({ web, dataDir, state }) => {
    const flags = [...bareFlags(web.dnsPort, dataDir), ...SOON];
    strictEqual((await runCrawl([...flags, web.url('a.test')])).status, 0);
    const first = await eventsOf(dataDir);
    const told = (events: readonly FeedRecord[]) =>
      events.map(({ kind, url }) => `${kind} ${new URL(url).pathname}`);
    deepStrictEqual(told(first), ['new /', 'new /changes', 'new /goes', 'duplicate /copy']);
    const [home, , , copy] = first;
    strictEqual(home?.title, 'Home');
    strictEqual(home?.language, 'en');
    strictEqual(home?.outlinks, 3);
    strictEqual(copy?.duplicateOf, web.url('a.test'));
    match(home?.digest ?? '', /^[0-9a-f]{40}$/);
    strictEqual(typeof home?.warc?.record, 'number');
    state.text = 'other words';
    state.isGone = true;
    const again = ['--recrawl', '--recrawl-first', '500', '--recrawl-least', '500'];
    strictEqual((await runCrawl([...flags, ...again])).status, 0);
    const later = await eventsOf(dataDir, '--from', first.at(-1)?.cursor ?? '');
    deepStrictEqual(told(later).sort(), [
      'changed /changes',
      'gone /goes',
      'unchanged /',
      'unchanged /copy',
    ]);
    strictEqual(later.find(({ kind }) => kind === 'gone')?.status, 410);
    deepStrictEqual(await eventsOf(dataDir, '--from', 'now'), []);
    deepStrictEqual(await eventsOf(dataDir), [...first, ...later]);
    const wrong = await runCrawl(['feed', '--data', dataDir, '--from', 'nowhere']);
    strictEqual(wrong.status, 2);
  }));

test('a feed consumer that is killed ten times misses nothing', () =>
  inFolder({}, async (folder) => {
    const web = await startWeb({ seed: 9, hosts: 8, pagesPerHost: 60, linksPerPage: 9 });
    try {
      const dataDir = `${folder}/data`;
      const out = `${folder}/events.ndjson`;
      const crawl = startCrawl(webFlags(web, dataDir, ['--linger', '1']));
      ok(await until(crawl, async () => (await web.log()).length > 20), crawl.stderr);
      const argv = ['feed', '--data', dataDir, '--to', `file:${out}`, '--follow'];
      for (let kill = 0; kill < 10; kill += 1) {
        const before = sizeOf(out);
        const consumer = startCrawl(argv);
        // At some time after it has begun to write, another one each time.
        await until(consumer, () => sizeOf(out) > before + kill * 400 || crawl.hasEnded);
        await consumer.kill();
      }
      const ended = await crawl.ended;
      strictEqual(ended.status, 0, ended.stderr);
      strictEqual((await runCrawl(argv.slice(0, -1))).status, 0);
      const all = await eventsOf(dataDir);
      const delivered = readFileSync(out, 'utf8')
        .split('\n')
        .flatMap((line) => (line.endsWith('}') ? linesOf(line) : []));
      const seen = new Set(delivered.map(({ cursor }) => cursor));
      deepStrictEqual(
        all.filter(({ cursor }) => !seen.has(cursor)),
        [],
      );
      strictEqual(seen.size, all.length);
      const pages = new Set(all.map(({ url }) => url));
      strictEqual(pages.size, (await storedPages(dataDir)).length, 'every stored page is told of');
    } finally {
      await web.stop();
    }
  }));

function sizeOf(path: string): number {
  try {
    return readFileSync(path).length;
  } catch {
    return 0;
  }
}

/** A server that answers each POST by the next of these, the last one for ever. */
async function withServer(
  answers: readonly ((response: ServerResponse, lines: string) => void)[],
  body: (url: string, bodies: readonly string[]) => Promise<void>,
): Promise<void> {
  const bodies: string[] = [];
  const server = createServer((request: IncomingMessage, answer) => {
    void text(request).then((lines) => {
      const at = Math.min(bodies.length, answers.length - 1);
      bodies.push(lines);
      answers[at]?.(answer, lines);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const status =
  (code: number, answerBody = '') =>
  (answer: ServerResponse): void => {
    answer.writeHead(code).end(answerBody);
  };

test('a webhook that is busy gets the same events again, in order', () =>
  withSite(async ({ web, dataDir }) => {
    const crawl = await runCrawl([...bareFlags(web.dnsPort, dataDir), web.url('a.test')]);
    strictEqual(crawl.status, 0);
    const busy = (answer: ServerResponse): void => void answer.destroy();
    await withServer([status(503), busy, status(204)], async (url, bodies) => {
      const feed = await runCrawl(['feed', '--data', dataDir, '--to', `${url}/hook`]);
      strictEqual(feed.status, 0, feed.stderr);
      strictEqual(bodies.length, 3);
      strictEqual(bodies[2], bodies[0]);
      deepStrictEqual(linesOf(bodies[2] ?? ''), await eventsOf(dataDir));
      // The cursor was kept: there is nothing more to send.
      strictEqual((await runCrawl(['feed', '--data', dataDir, '--to', `${url}/hook`])).status, 0);
      strictEqual(bodies.length, 3);
    });
    await withServer([status(403)], async (url) => {
      const more = ['--consumer', 'other'];
      const feed = await runCrawl(['feed', '--data', dataDir, '--to', url, ...more]);
      strictEqual(feed.status, 2);
      match(feed.stderr, /answers 403/);
    });
  }));

test('an OpenSearch server gets documents by _bulk, and again those it turned away', () =>
  withSite(async ({ web, dataDir }) => {
    const crawl = await runCrawl([...bareFlags(web.dnsPort, dataDir), web.url('a.test')]);
    strictEqual(crawl.status, 0);
    const full = JSON.stringify({ errors: true, items: [{ index: { _id: 'a', status: 429 } }] });
    const refuses = JSON.stringify({
      errors: true,
      items: [
        { index: { _id: 'a', status: 400, error: { type: 'mapper' } } },
        { delete: { _id: 'b', status: 404 } },
      ],
    });
    await withServer([status(200, full), status(200, refuses)], async (url, bodies) => {
      const to = `opensearch:${url}/pages`;
      const feed = await runCrawl(['feed', '--data', dataDir, '--to', to]);
      strictEqual(feed.status, 0, feed.stderr);
      match(feed.stderr, /a: 400 .*mapper/);
      strictEqual(bodies.length, 2);
      const lines = (bodies[1] ?? '').trimEnd().split('\n');
      const objects = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      deepStrictEqual(objects[0], { index: { _index: 'pages', _id: web.url('a.test') } });
      strictEqual(objects[1]?.title, 'Home');
      deepStrictEqual(objects.at(-1), {
        delete: { _index: 'pages', _id: web.url('a.test', '/copy') },
      });
      ok(objects.some((object) => object.text === 'here & now'));
    });
  }));

test('search finds a phrase of a page crawled a moment ago, and not what is gone', () =>
  withSite(async ({ web, dataDir, state }) => {
    const flags = [...bareFlags(web.dnsPort, dataDir), ...SOON, '--continuous'];
    const crawl = startCrawl([...flags, web.url('a.test')]);
    const search = async (words: string): Promise<FoundPage[]> => {
      const found = await runCrawl(['search', words, '--data', dataDir, '--json']);
      strictEqual(found.status, 0, found.stderr);
      return found.stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as FoundPage);
    };
    ok(await until(crawl, () => web.pathsOf('a.test').includes('/goes')), crawl.stderr);
    const finds = (words: string, paths: readonly string[]) =>
      until(crawl, async () => {
        const found = (await search(words)).map(({ url }) => new URL(url).pathname);
        return JSON.stringify(found) === JSON.stringify(paths);
      });
    ok(await finds('"first words"', ['/changes']), crawl.stderr);
    ok(await finds('here now', ['/goes']), crawl.stderr);
    const [page] = await search('words');
    match(page?.snippet ?? '', /first ⟦words⟧/);
    state.text = 'quite another text';
    state.isGone = true;
    ok(await finds('"another text"', ['/changes']), crawl.stderr);
    ok(await finds('"first words"', []), crawl.stderr);
    ok(await finds('here', []), crawl.stderr);
    crawl.signal('SIGTERM');
    strictEqual((await crawl.ended).status, 0);
    const plain = await runCrawl(['search', '--data', dataDir, 'HOME', '*', 'AND', '--limit', '1']);
    strictEqual(plain.status, 0, plain.stderr);
  }));
