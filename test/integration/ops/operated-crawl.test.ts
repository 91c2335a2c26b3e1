// An operator at a whole crawl that runs: what each verb of the debug socket says of it and does to it, seen from the web's side where it
// shows there.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import type { CrawlOverview } from '../../../src/ops/overview.ts';
import type * as Reports from '../../../src/ops/reports.ts';
import { HOSTS, operated } from '../../support/ops/operated-crawl.ts';

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
