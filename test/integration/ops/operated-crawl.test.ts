// An operator at a whole crawl that runs: what each verb of the debug socket says of it and does to it, seen from the web's side where it
// shows there.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { join } from 'node:path';
import { test } from 'node:test';
import { DebugClient, type FinalLine } from '../../../src/ops/debug-client.ts';
import type { CrawlOverview } from '../../../src/ops/overview.ts';
import type * as Reports from '../../../src/ops/reports.ts';
import { inFolder } from '../../support/command-line.ts';
import { bareFlags, startCrawl, until } from '../../support/crawl/run-crawl.ts';
import { type Answer, links, response, ScriptedWeb } from '../../support/crawl/scripted-web.ts';

/** A host whose pages never end. */
const endless: Answer = (socket, request) => {
  const number = Number(/\d+/.exec(request.path)?.[0] ?? 0);
  // With its name in it: links of a page seen elsewhere are not followed twice.
  // And with words of its own: a host of pages that read alike would soon be looked at no more.
  const words = Array.from({ length: 80 }, (_, at) => ((number + 7) * (at + 11) ** 3) % 9_973);
  const body =
    request.host + words.join(' ') + links(`/page-${2 * number + 1}`, `/page-${2 * number + 2}`);
  const answer = response('200 OK', 'Content-Type: text/html\r\n', body);
  if (typeof answer === 'function') answer(socket, request);
};
const HOSTS = ['one.test', 'two.test', 'three.test'];

interface Operated {
  readonly client: DebugClient;
  /** Asks, and fails the test when it is refused. */
  readonly ask: <Value>(...words: string[]) => Promise<Value>;
}

/** Runs a body beside a crawl of three endless hosts. */
async function operated(flags: readonly string[], body: (on: Operated) => Promise<void>) {
  const answers = HOSTS.flatMap((host) => [
    [host, endless],
    [`${host}/robots.txt`, response('404 Not Found')],
  ]);
  const web = await ScriptedWeb.listen(() => Object.fromEntries(answers));
  await inFolder({}, async (folder) => {
    const seeds = HOSTS.map((host) => web.url(host));
    const crawl = startCrawl([...bareFlags(web.dnsPort, folder), ...flags, ...seeds]);
    ok(await until(crawl, () => web.requests.length > 12), crawl.stderr);
    const client = await DebugClient.connect(join(folder, 'debug.sock'));
    const ask = async <Value>(...words: string[]): Promise<Value> => {
      const answer: FinalLine = await client.ask(words);
      if (!answer.ok) throw new Error(`${words.join(' ')}: ${answer.error}`);
      return answer.value as Value;
    };
    try {
      await body({ client, ask });
      crawl.signal('SIGTERM');
      const { status, stderr } = await crawl.ended;
      strictEqual(status, 0, stderr);
    } finally {
      client.close();
      await crawl.kill();
      await web.close();
    }
  });
}

test('inspect trace tells the messages of a host as it handles them, and ends at its number', () =>
  operated(['--threads', '2', '--continuous'], async ({ client }) => {
    const kinds: string[] = [];
    const answer = await client.ask(['trace', 'host:one.test', '--max', '6'], (event) =>
      kinds.push((event as { kind: string }).kind),
    );
    deepStrictEqual(answer.ok && answer.value, { events: 6 });
    strictEqual(kinds.length, 6);
    ok(kinds.includes('fetch-ended'), kinds.join());
    const unknown = await client.ask(['trace', 'nobody', '--for', '1']);
    strictEqual(unknown.ok === false && unknown.code, 'not-found');
  }));

test('inspect slowlog, cpu, front, leases and overview answer for a crawl on one machine', () =>
  operated(['--threads', '2', '--continuous'], async ({ ask, client }) => {
    const slow = await ask<Reports.SlowTurn[]>('slowlog');
    ok(slow.every(({ turnMs, actor }) => turnMs >= 4 && actor !== ''));
    const cpu = await ask<Reports.CpuReport>('cpu', '--for', '1');
    deepStrictEqual([...new Set(cpu.hottest.map(({ thread }) => thread))].sort(), [
      'main',
      'shard-0',
      'shard-1',
    ]);
    const front = await ask<Reports.FrontReport>('front');
    ok(front.hostsAtHand <= 3 && front.hostsNeeded > 3, JSON.stringify(front));
    ok(front.limitedBy.length > 0);
    ok(
      front.next.every(({ host }) => HOSTS.includes(host)),
      JSON.stringify(front.next),
    );
    const leases = await ask<Reports.LeaseLine[]>('leases');
    ok(leases.length > 0 && leases.every(({ node }) => node === 'local'));
    const overview = await ask<CrawlOverview>('overview');
    const measured = overview.responseMs?.counts.reduce((sum, count) => sum + count, 0) ?? 0;
    ok(measured > 0 && measured <= overview.fetched + overview.inFlight + 20, `${measured}`);
    for (const words of [['move', '1', 'elsewhere'], ['drain']]) {
      const refusal = await client.ask(words);
      strictEqual(refusal.ok === false && refusal.code, 'unsupported');
    }
  }));
