// Pages visited again by a real crawl: unchanged ones cost a 304 and next to no bytes, changed ones are stored anew, gone ones leave, and a
// crawl that goes on keeps to the rules of the first.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { inFolder } from '../support/command-line.ts';
import { bareFlags, runCrawl, startCrawl, until, webFlags } from '../support/crawl/run-crawl.ts';
import { links, response, ScriptedWeb } from '../support/crawl/scripted-web.ts';
import { archiveFaults, readCrawl, storedRows } from '../support/crawl/stored-crawl.ts';
import { startWeb } from '../support/server/start-web.ts';

const SOON = ['--recrawl-first', '1', '--recrawl-least', '1'];

test('a recrawl of unchanged pages stores under 2 % of what the first crawl fetched, and is as polite', () =>
  inFolder({}, async (folder) => {
    const web = await startWeb({ seed: 5, hosts: 5, pagesPerHost: 12, pageBytes: 60_000 });
    try {
      const dataDir = `${folder}/data`;
      const first = await runCrawl(webFlags(web, dataDir, SOON));
      strictEqual(first.status, 0, first.stderr);
      const firstBytes = await readCrawl(dataDir, (store) => store.storageBytes().archive);
      const rows = await storedRows(dataDir);
      const requests = (await web.log()).length;
      const later = ['--recrawl-first', '900', '--recrawl-least', '900', '--recrawl'];
      const again = await runCrawl(webFlags(web, dataDir, later));
      strictEqual(again.status, 0, again.stderr);
      strictEqual(again.report?.pages, first.report?.pages);
      strictEqual(again.report?.visits.changed, undefined);
      const secondBytes = await readCrawl(dataDir, (store) => store.storageBytes().archive);
      const asked = (await web.log()).slice(requests).filter(({ path }) => path !== '/robots.txt');
      strictEqual(asked.length, rows.size, 'each page once');
      const stored = [...rows.values()].filter(({ status }) => status === 200).length;
      strictEqual(asked.filter(({ status }) => status === 304).length, stored);
      // Revisit records and their index, compressed, against the bytes that came over the wire: a page costs some 700 bytes more.
      const part = (secondBytes - firstBytes) / (first.report?.bytes ?? 0);
      ok(part < 0.02, `${secondBytes - firstBytes} bytes after ${first.report?.bytes}: ${part}`);
      for (const [url, row] of await storedRows(dataDir)) {
        const before = rows.get(url);
        deepStrictEqual(row.pointer, before?.pointer, url);
        strictEqual(row.contentDigest, before?.contentDigest, url);
      }
      const verdict = await web.judge({ minGapMs: 30, revisits: true });
      deepStrictEqual(verdict.violations, []);
      deepStrictEqual(await archiveFaults(dataDir), []);
    } finally {
      await web.stop();
    }
  }));

test('a continuous crawl sees what changed, what is gone and what came back', () =>
  inFolder({}, async (folder) => {
    const state = { text: 'one', isGone: false };
    const web = await ScriptedWeb.listen(() => ({
      'a.test/': links('/changes', '/goes', '/stays'),
      'a.test/changes': (socket, request) => send(`<title>${state.text}</title>`, socket, request),
      'a.test/goes': (socket, request) =>
        state.isGone
          ? send(undefined, socket, request)
          : send('<title>here</title>', socket, request),
      'a.test/stays': 'always the same',
    }));
    try {
      const dataDir = `${folder}/data`;
      const flags = [...bareFlags(web.dnsPort, dataDir), ...SOON, '--continuous'];
      const crawl = startCrawl([...flags, web.url('a.test')]);
      const visits = (path: string, count: number) =>
        until(crawl, () => web.pathsOf('a.test').filter((one) => one === path).length >= count);
      ok(await visits('/changes', 1), crawl.stderr);
      state.text = 'two';
      state.isGone = true;
      ok(await visits('/changes', 3), crawl.stderr);
      ok(await visits('/goes', 2), crawl.stderr);
      crawl.signal('SIGTERM');
      const ended = await crawl.ended;
      strictEqual(ended.status, 0, ended.stderr);
      const rows = await storedRows(dataDir);
      const row = (path: string) => rows.get(web.url('a.test', path));
      strictEqual(row('/goes')?.status, 404);
      ok((row('/goes')?.visit?.missed ?? 0) >= 1);
      const changed = row('/changes');
      ok((changed?.visit?.changed ?? 0) >= 1);
      const body = await readCrawl(dataDir, (store) =>
        changed?.pointer === undefined ? undefined : store.body(changed.pointer),
      );
      strictEqual(Buffer.from(body?.body ?? []).toString(), '<title>two</title>');
      ok((row('/stays')?.visit?.unchanged ?? 0) >= 1);
      // Three pages are there, and the fourth is gone.
      strictEqual(ended.report?.pages, 3);
      deepStrictEqual(await archiveFaults(dataDir), []);
    } finally {
      await web.close();
    }
  }));

type Scripted = Extract<ReturnType<typeof response>, (...given: never) => void>;

function send(body: string | undefined, ...given: Parameters<Scripted>): void {
  const answer =
    body === undefined
      ? response('404 Not Found')
      : response('200 OK', 'Content-Type: text/html\r\n', body);
  if (typeof answer === 'function') answer(...given);
}
