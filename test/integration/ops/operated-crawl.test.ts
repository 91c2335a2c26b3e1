// An operator at a whole crawl that runs: what each verb of the debug socket says of it and does to it, seen from the web's side where it
// shows there.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import type { CrawlOverview } from '../../../src/ops/overview.ts';
import type * as Reports from '../../../src/ops/reports.ts';
import { until } from '../../support/crawl/run-crawl.ts';
import { HOSTS, type Operated, operated } from '../../support/ops/operated-crawl.ts';

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

/** Milliseconds at which a host was asked, since the web began. */
function askedAt({ web }: Operated, host: string): readonly number[] {
  return web.requests.filter((request) => request.host === host).map(({ atMs }) => atMs);
}

/** What the web saw of a host while another one was asked a dozen times more: a measure of time that a busy machine stretches too. */
async function askedMeanwhile(on: Operated, host: string, other: string): Promise<number> {
  const [before, mark] = [askedAt(on, host).length, askedAt(on, other).length];
  ok(await until(on.crawl, () => askedAt(on, other).length >= mark + 12), on.crawl.stderr);
  return askedAt(on, host).length - before;
}

test('inspect pause ip ends all requests to an address until resume ip, and nobody else waits', () =>
  operated(['--continuous'], async (on) => {
    const { addresses } = await on.ask<Reports.HostReport>('host', 'one.test');
    const [address = ''] = addresses;
    await on.ask('pause', 'ip', address);
    // What was in flight or on its way when the word came ends.
    await askedMeanwhile(on, 'one.test', 'two.test');
    strictEqual(await askedMeanwhile(on, 'one.test', 'two.test'), 0);
    const { whyNotReady } = await on.ask<Reports.HostReport>('host', 'one.test');
    ok(whyNotReady.length > 0);
    await on.ask('resume', 'ip', address);
    const paused = askedAt(on, 'one.test').length;
    ok(await until(on.crawl, () => askedAt(on, 'one.test').length > paused + 3));
  }));

test('inspect delay sets the gap of a host at once, and auto gives it back to the rule', () =>
  operated(['--continuous'], async (on) => {
    await on.ask('delay', 'one.test', '600');
    // The request that was in flight or started meanwhile is the last one by the old gap.
    const before = askedAt(on, 'one.test').length + 1;
    ok(await until(on.crawl, () => askedAt(on, 'one.test').length >= before + 4));
    const times = askedAt(on, 'one.test').slice(before);
    for (const [index, atMs] of times.entries()) {
      const previous = times[index - 1];
      if (previous !== undefined) ok(atMs - previous >= 595, `${atMs - previous} ms apart`);
    }
    await on.ask('delay', 'one.test', 'auto');
    // The answer may be read before the host has had its turn.
    const isBack = async () => {
      const { gap } = await on.ask<Reports.HostReport>('host', 'one.test');
      return (gap.gapMs ?? 600) < 600;
    };
    ok(await until(on.crawl, isBack));
  }));

test('a crawl whose last hosts are paused by their address does not end before they are resumed', () =>
  operated([], async (on) => {
    const { ask, crawl, web } = on;
    for (const host of HOSTS) {
      const { addresses } = await ask<Reports.HostReport>('host', host);
      await ask('pause', 'ip', addresses[0] ?? '');
    }
    // Its linger is 3 s; the operator looks for longer, and finds it there and doing nothing.
    await ask('cpu', '--for', '5');
    const asked = web.requests.length;
    const { inFlight } = await ask<CrawlOverview>('overview');
    strictEqual(inFlight, 0);
    ok(!crawl.hasEnded);
    const { addresses } = await ask<Reports.HostReport>('host', 'two.test');
    await ask('resume', 'ip', addresses[0] ?? '');
    ok(await until(crawl, () => web.requests.length > asked + 3), crawl.stderr);
  }));
