import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { type TestContext, test } from 'node:test';
import type { Answer } from 'dns-packet';
import type { ResolveOutcome } from '../../../src/actors/ports.ts';
import { CrawlError } from '../../../src/base/errors.ts';
import { AddressGuard } from '../../../src/net/address-guard.ts';
import { DnsResolver, type DnsResolverOptions } from '../../../src/net/resolver.ts';
import { DnsStub, type StubReply, type StubScript } from '../../support/dns-stub.ts';

const A = (name: string, data: string, ttl = 120): Answer => ({ type: 'A', name, data, ttl });
const AAAA = (name: string, data: string, ttl = 120): Answer => ({ type: 'AAAA', name, data, ttl });
const NX: StubReply = { code: 3 };
const EMPTY: StubReply = { code: 0 };
const SERVFAIL: StubReply = { code: 2 };

async function resolving(
  context: TestContext,
  scripts: StubScript | readonly StubScript[],
  options: Partial<DnsResolverOptions> = {},
) {
  const list = typeof scripts === 'function' ? [scripts] : scripts;
  const stubs = await Promise.all(list.map((script) => DnsStub.listen(script)));
  const resolver = new DnsResolver({
    guard: new AddressGuard([]),
    servers: stubs.map((stub) => stub.server),
    timeoutsMs: [150, 300],
    ...options,
  });
  context.after(async () => {
    resolver.close();
    await Promise.all(stubs.map((stub) => stub.close()));
  });
  const ask = (host: string): Promise<ResolveOutcome> =>
    new Promise((resolve, reject) => {
      let answers = 0;
      let isSynchronous = true;
      resolver.resolve(host, (outcome) => {
        answers += 1;
        if (answers > 1 || isSynchronous) reject(new Error(`answer ${answers}`));
        resolve(outcome);
      });
      isSynchronous = false;
    });
  return { resolver, stubs, ask };
}

test('DnsResolver.resolve gives both families in order of preference with the shortest time to live', async (t) => {
  const script: StubScript = (name, type) =>
    type === 'A'
      ? { answers: [A(name, '8.8.8.8', 300), A(name, '8.8.4.4', 200)] }
      : { answers: [AAAA(name, '2001:4860::8888', 400)] };
  const first = await resolving(t, script);
  deepStrictEqual(await first.ask('a.test'), {
    kind: 'resolved',
    addresses: ['8.8.8.8', '8.8.4.4', '2001:4860::8888'],
    ttlMs: 200_000,
  });
  const second = await resolving(t, script, { families: 'ipv6-first' });
  const outcome = await second.ask('a.test');
  deepStrictEqual(outcome.kind === 'resolved' && outcome.addresses[0], '2001:4860::8888');
  const third = await resolving(t, script, { families: 'ipv4-only' });
  strictEqual((await third.ask('a.test')).kind, 'resolved');
  deepStrictEqual(third.stubs[0]?.questions, [{ name: 'a.test', type: 'A' }]);
});

test('DnsResolver.resolve keeps times to live within floor and ceiling', async (t) => {
  const script: StubScript = (name, type) => {
    if (type !== 'A') return EMPTY;
    return { answers: [A(name, '8.8.8.8', name.startsWith('short') ? 0 : 2_000_000_000)] };
  };
  const { ask } = await resolving(t, script, { ttlMsMin: 5_000, ttlMsMax: 9_000_000 });
  const ttlOf = async (host: string) => {
    const outcome = await ask(host);
    return outcome.kind === 'resolved' ? outcome.ttlMs : outcome.kind;
  };
  strictEqual(await ttlOf('short.test'), 5_000);
  strictEqual(await ttlOf('long.test'), 9_000_000);
});

test('DnsResolver.resolve follows a CNAME chain', async (t) => {
  const { ask } = await resolving(t, (name, type) => {
    if (type !== 'A') return EMPTY;
    const answers: Answer[] = [
      { type: 'CNAME', name, data: 'b.test', ttl: 500 },
      { type: 'CNAME', name: 'b.test', data: 'c.test', ttl: 500 },
      A('c.test', '8.8.8.8', 500),
    ];
    return { answers };
  });
  const outcome = await ask('a.test');
  deepStrictEqual(outcome, { kind: 'resolved', addresses: ['8.8.8.8'], ttlMs: 500_000 });
});

test('DnsResolver.resolve tells an absent name from a failure, with the negative time to live [http-331]', async (t) => {
  const script: StubScript = (name, type) => {
    if (name === 'nx.test') return NX;
    if (name === 'empty.test') return EMPTY;
    if (name === 'half.test') return type === 'A' ? SERVFAIL : EMPTY;
    return { code: name === 'refused.test' ? 5 : 2 };
  };
  const { ask } = await resolving(t, script, { negativeTtlMs: 77_000 });
  const absent = { kind: 'no-such-host', ttlMs: 77_000 };
  deepStrictEqual(await ask('nx.test'), absent);
  deepStrictEqual(await ask('empty.test'), absent);
  for (const host of ['servfail.test', 'refused.test', 'half.test']) {
    strictEqual((await ask(host)).kind, 'failed', host);
  }
});

test('DnsResolver.resolve takes an IPv4 answer although AAAA is NXDOMAIN or silent (RFC 4074)', async (t) => {
  const { ask } = await resolving(
    t,
    (name, type) => {
      if (type === 'A') return { answers: [A(name, '8.8.8.8')], delayMs: 20 };
      return name === 'nx.test' ? NX : undefined;
    },
    { otherFamilyWaitMs: 30, timeoutsMs: [5_000] },
  );
  const startedMs = performance.now();
  for (const host of ['nx.test', 'mute.test'])
    strictEqual((await ask(host)).kind, 'resolved', host);
  ok(performance.now() - startedMs < 2_000, 'did not wait for the silent family');
});

test('DnsResolver.resolve goes on to the next server, and asks a silent one last from then on', async (t) => {
  const good: StubScript = (name, type) =>
    type === 'A' ? { answers: [A(name, '8.8.8.8')] } : EMPTY;
  const { ask, stubs } = await resolving(t, [() => undefined, () => SERVFAIL, good]);
  strictEqual((await ask('a.test')).kind, 'resolved');
  const silent = stubs[0]?.questions.length;
  strictEqual((await ask('b.test')).kind, 'resolved');
  strictEqual(stubs[0]?.questions.length, silent);
});

test('DnsResolver.resolve retries in rounds with longer timeouts and then fails', async (t) => {
  let asked = 0;
  const { ask, stubs } = await resolving(t, (name, type) => {
    if (type !== 'A') return EMPTY;
    asked += 1;
    // Slower than the first round waits, within the second.
    return asked === 1 ? undefined : { answers: [A(name, '8.8.8.8')], delayMs: 200 };
  });
  strictEqual((await ask('slow.test')).kind, 'resolved');
  strictEqual(stubs[0]?.questions.filter(({ type }) => type === 'A').length, 2);
  const mute = await resolving(t, () => undefined, { timeoutsMs: [50, 50] });
  const outcome = await mute.ask('mute.test');
  ok(outcome.kind === 'failed' && outcome.detail.includes('ETIMEOUT'), JSON.stringify(outcome));
});

test('DnsResolver.resolve takes forbidden addresses out, and says forbidden when none is left', async (t) => {
  const { ask } = await resolving(t, (name, type) => {
    if (type !== 'A') return { answers: [AAAA(name, '::ffff:127.0.0.1')] };
    const own = { 'zero.test': '0.0.0.0', 'meta.test': '169.254.169.254' }[name] ?? '10.0.0.5';
    return { answers: name === 'mixed.test' ? [A(name, own), A(name, '8.8.8.8')] : [A(name, own)] };
  });
  const mixed = await ask('mixed.test');
  deepStrictEqual(mixed.kind === 'resolved' && mixed.addresses, ['8.8.8.8']);
  for (const host of ['zero.test', 'meta.test', 'internal.test']) {
    strictEqual((await ask(host)).kind, 'forbidden', host);
  }
});

test('DnsResolver.resolve answers addresses and localhost without asking anybody', async (t) => {
  const strict = await resolving(t, () => NX);
  for (const host of [
    '127.0.0.1',
    '[::1]',
    '::1',
    '10.0.0.1',
    'localhost',
    'a.LOCALHOST.',
    '0.0.0.0',
  ]) {
    strictEqual((await strict.ask(host)).kind, 'forbidden', host);
  }
  strictEqual((await strict.ask('8.8.8.8')).kind, 'resolved');
  const open = await resolving(t, () => NX, { guard: new AddressGuard(['127.0.0.0/8', '::1']) });
  const outcome = await open.ask('localhost');
  deepStrictEqual(outcome.kind === 'resolved' && outcome.addresses, ['127.0.0.1', '::1']);
  strictEqual(strict.stubs[0]?.questions.length, 0);
  strictEqual(open.stubs[0]?.questions.length, 0);
});

test('DnsResolver.resolve asks for hosts with underscores and trailing dots, and survives names that are none', async (t) => {
  const { ask, stubs } = await resolving(t, (name, type) =>
    type === 'A' ? { answers: [A(name, '8.8.8.8')] } : EMPTY,
  );
  for (const host of ['does_not_a_b.example.test', 'a.test.', 'xn--bcher-kva.test']) {
    strictEqual((await ask(host)).kind, 'resolved', host);
  }
  const asked = stubs[0]?.questions.map(({ name }) => name) ?? [];
  ok(
    asked.every((name) => name.endsWith('.test')),
    asked.join(),
  );
  for (const host of [
    '',
    '.',
    'a..b',
    `${'x'.repeat(64)}.test`,
    'y'.repeat(300),
    'a\0b.test',
    'ü.test',
  ]) {
    ok(
      ['no-such-host', 'failed', 'resolved'].includes((await ask(host)).kind),
      JSON.stringify(host),
    );
  }
});

test('DnsResolver keeps to its number of questions at one server', async (t) => {
  const { ask, stubs } = await resolving(
    t,
    (name, type) => (type === 'A' ? { answers: [A(name, '8.8.8.8')], delayMs: 5 } : EMPTY),
    { concurrencyMax: 4, families: 'ipv4-only', timeoutsMs: [5_000] },
  );
  const hosts = Array.from({ length: 60 }, (_, index) => `h${index}.test`);
  const outcomes = await Promise.all(hosts.map(ask));
  ok(outcomes.every(({ kind }) => kind === 'resolved'));
  ok((stubs[0]?.openMax ?? 99) <= 4, `${stubs[0]?.openMax} open`);
  const full = await resolving(t, () => undefined, {
    concurrencyMax: 1,
    queueMax: 1,
    families: 'ipv4-only',
  });
  const three = ['a.test', 'b.test', 'c.test'].map(full.ask);
  const third = await three[2];
  ok(third?.kind === 'failed' && third.detail.includes('waiting'));
  full.resolver.close();
  await Promise.all(three);
});

test('DnsResolver.close answers every open question once, as failed', async (t) => {
  const { ask, resolver } = await resolving(t, () => undefined, {
    concurrencyMax: 1,
    timeoutsMs: [60_000],
  });
  const open = ['a.test', 'b.test', 'c.test'].map(ask);
  resolver.close();
  for (const outcome of await Promise.all(open)) strictEqual(outcome.kind, 'failed');
  strictEqual((await ask('d.test')).kind, 'failed');
});

test('DnsResolver refuses servers it cannot read as an error of configuration', () => {
  const guard = new AddressGuard([]);
  for (const server of [
    '',
    'localhost',
    'dns.example.org:53',
    '127.0.0.1:0',
    '127.0.0.1:99999',
    '1.2.3:53',
    '[x]:53',
  ]) {
    throws(
      () => new DnsResolver({ guard, servers: [server] }),
      (error) => error instanceof CrawlError && error.code === 'config',
      server,
    );
  }
  throws(() => new DnsResolver({ guard, servers: [] }), CrawlError);
  for (const server of ['127.0.0.1', '::1', '[::1]:53', '127.0.0.1:5353']) {
    new DnsResolver({ guard, servers: [server] }).close();
  }
});
