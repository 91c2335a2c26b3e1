// What an operator may hand a crawl for politeness' sake: the list of those who asked to be left alone, edited while it runs, and a table of
// autonomous systems, one of which is in trouble. Seen from the web's side, and from the crawl's own audit log.
import { match, ok, strictEqual } from 'node:assert';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inFolder, runCommand } from '../support/command-line.ts';
import { bareFlags, startCrawl, until } from '../support/crawl/run-crawl.ts';
import { type Answer, links, response, ScriptedWeb } from '../support/crawl/scripted-web.ts';
import { readCrawl } from '../support/crawl/stored-crawl.ts';

const DEFINE = "import { defineConfig } from 'hostler/config';\nexport default defineConfig(";

/** A host whose pages never end. */
const endless: Answer = (socket, request) => {
  const number = Number(/\d+/.exec(request.path)?.[0] ?? 0);
  // With its name in it: links of a page seen elsewhere are not followed twice. With words of its own: the URLs of a host whose pages read
  // alike are soon parked (its budget shrinks with what it yields).
  const words = Array.from({ length: 120 }, (_, at) =>
    Math.abs(Math.imul(number * 131 + at + 1, 2_654_435_761)).toString(36),
  );
  const body =
    request.host + words.join(' ') + links(`/page-${2 * number + 1}`, `/page-${2 * number + 2}`);
  const answer = response('200 OK', 'Content-Type: text/html\r\n', body);
  if (typeof answer === 'function') answer(socket, request);
};
const noRobots = response('404 Not Found');

test('optOutFile, edited while the crawl runs, ends all requests to a host within a second', async () => {
  const web = await ScriptedWeb.listen(() => ({
    'stays.test': endless,
    'stays.test/robots.txt': noRobots,
    'www.leaves.test': endless,
    'www.leaves.test/robots.txt': noRobots,
  }));
  const files = {
    'opt-out.txt': '# nobody yet\n',
    'polite.config.ts': `${DEFINE}{ optOutFile: import.meta.dirname + '/opt-out.txt' });`,
  };
  await inFolder(files, async (folder) => {
    const config = ['--config', join(folder, 'polite.config.ts')];
    const data = join(folder, 'data');
    const seeds = ['stays.test', 'www.leaves.test'].map((host) => web.url(host));
    const crawl = startCrawl([...bareFlags(web.dnsPort, data), ...config, ...seeds]);
    const asked = (host: string): number => web.pathsOf(host).length;
    ok(await until(crawl, () => asked('stays.test') > 3 && asked('www.leaves.test') > 3));
    const before = web.requests.at(-1)?.atMs ?? 0;
    appendFileSync(join(folder, 'opt-out.txt'), 'leaves.test # asked by mail\n');
    // Twice the time that is promised, by the web's own clock.
    ok(await until(crawl, () => (web.requests.at(-1)?.atMs ?? 0) > before + 2_000));
    const late = web.requests.filter(
      ({ host, atMs }) => host === 'www.leaves.test' && atMs > before + 1_000,
    );
    strictEqual(late.length, 0);
    const inspected = await runCommand(['inspect', 'reload', '--data', data]);
    ok(/opt-out\.txt: 1 domains are left alone/.test(inspected.stdout), inspected.stderr);
    crawl.signal('SIGTERM');
    const { status, stderr, report } = await crawl.ended;
    strictEqual(status, 0, stderr);
    const page = web.url('www.leaves.test', '/never-linked');
    const why = await runCommand(['why', page, '--data', data, ...config]);
    match(why.stdout, /^Not crawled: the owner of leaves\.test asked to be left alone/);
    match(why.stdout, /\n {2}opt-out +leaves\.test, listed in .*opt-out\.txt\n/);
    ok(((report?.skipped as Record<string, number> | undefined)?.['opt-out'] ?? 0) > 0);
  });
  await web.close();
});

test('optOutFile that is not there is refused before anything is fetched', async () => {
  const files = { 'c.ts': `${DEFINE}{ optOutFile: '/nonexistent/opt-out.txt' });` };
  await inFolder(files, async (cwd) => {
    const { status, stderr } = await runCommand(['--config', 'c.ts', 'http://a.test/'], { cwd });
    strictEqual(status, 2);
    ok(stderr.startsWith('hostler: optOutFile: /nonexistent/opt-out.txt cannot be read'), stderr);
  });
});

/** The gaps in force at each host's requests, first to last. */
function gapsOf(dataDir: string): Promise<ReadonlyMap<string, readonly number[]>> {
  return readCrawl(dataDir, (store) => {
    const gaps = new Map<string, number[]>();
    for (const { host, gapMs } of store.audit()) {
      const known = gaps.get(host);
      if (known === undefined) gaps.set(host, [gapMs]);
      else known.push(gapMs);
    }
    return gaps;
  });
}

const FAILING = Array.from({ length: 30 }, (_, at) => `failing-${at}.test`);

test('asnTable slows a healthy host of a network that is down, and no host of another network', async () => {
  const web = await ScriptedWeb.listen(
    () => ({
      ...Object.fromEntries(FAILING.map((host) => [host, response('503 Service Unavailable')])),
      'neighbour.test': endless,
      'neighbour.test/robots.txt': noRobots,
      'elsewhere.test': endless,
      'elsewhere.test/robots.txt': noRobots,
    }),
    {
      resolve: (name) => {
        const at = FAILING.indexOf(name);
        if (at >= 0) return [`127.2.0.${at + 1}`];
        return name === 'neighbour.test' ? ['127.2.1.1'] : ['127.1.0.1'];
      },
    },
  );
  const files = {
    'asn.csv': '127.1.0.0,127.1.255.255,64501,one\n127.2.0.0,127.2.255.255,64502,two\n',
    'polite.config.ts': `${DEFINE}{ asnTable: [import.meta.dirname + '/asn.csv'], latencyFactor: 0 });`,
  };
  await inFolder(files, async (folder) => {
    const data = join(folder, 'data');
    const config = ['--config', join(folder, 'polite.config.ts'), '--log-level', 'info'];
    const hosts = ['neighbour.test', 'elsewhere.test', ...FAILING];
    const crawl = startCrawl([
      ...[...bareFlags(web.dnsPort, data), '--min-gap', '100', ...config],
      ...hosts.map((host) => web.url(host)),
    ]);
    const distinct = (): number => new Set(web.requests.map(({ host }) => host)).size;
    ok(await until(crawl, () => distinct() === hosts.length));
    const from = web.pathsOf('elsewhere.test').length;
    ok(await until(crawl, () => web.pathsOf('elsewhere.test').length > from + 30));
    crawl.signal('SIGTERM');
    const { status, stderr } = await crawl.ended;
    strictEqual(status, 0, stderr);
    ok(stderr.includes('autonomous systems: 2 ranges'), stderr);
    const gaps = await gapsOf(data);
    strictEqual(Math.max(...(gaps.get('elsewhere.test') ?? [])), 100);
    ok(Math.max(...(gaps.get('neighbour.test') ?? [])) >= 400);
    const proof = await runCommand(['audit', '--data', data]);
    strictEqual(proof.status, 0, proof.stdout + proof.stderr);
  });
  await web.close();
});
