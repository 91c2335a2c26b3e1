// The shipped web's name server, asked by Node's own resolver (c-ares).
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import { Resolver } from 'node:dns/promises';
import { after, test } from 'node:test';
import { type DnsOptions, DnsServer } from '../../support/server/dns-server.ts';
import { createWorld, type World } from '../../support/world/world.ts';

async function resolverFor(world: World, options: DnsOptions = {}) {
  const { server, port } = await DnsServer.listen(0, world, options);
  after(() => server.close());
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return { server, resolver };
}

test('DnsServer answers each host of the world with its address and counts queries', async () => {
  const world = createWorld({ hosts: 50, hostsPerAddress: 2 });
  const { server, resolver } = await resolverFor(world, { ttlSeconds: 7 });
  deepStrictEqual(await resolver.resolve4('host-000049.test', { ttl: true }), [
    { address: world.addressOf(49), ttl: 7 },
  ]);
  deepStrictEqual(await resolver.resolve4('HOST-000000.TEST'), ['127.1.0.1']);
  await rejects(resolver.resolve4('host-000050.test'), { code: 'ENOTFOUND' });
  await rejects(resolver.resolve6('host-000001.test'), { code: 'ENODATA' });
  deepStrictEqual(server.counts.byType, { A: 3, AAAA: 1 });
  strictEqual(server.counts.tcp, 0);
});

test('DnsServer gives NXDOMAIN, SERVFAIL and silence to hosts without an address', async () => {
  const world = createWorld({ hosts: 40, features: { dnsFailures: 1 } });
  const { resolver } = await resolverFor(world);
  const codes = { nxdomain: 'ENOTFOUND', servfail: 'ESERVFAIL', 'dns-mute': 'ETIMEOUT' };
  for (const [health, code] of Object.entries(codes)) {
    const host = Array.from({ length: 40 }, (_, index) => index).find(
      (index) => world.healthOf(index) === health,
    );
    ok(host !== undefined);
    await rejects(resolver.resolve4(world.hostName(host)), { code });
  }
});

test('DnsServer offers CNAME, AAAA, fixed addresses and TCP after truncation', async () => {
  const world = createWorld({ hosts: 2 });
  const alias = await resolverFor(world, { cname: true, aaaa: '::1' });
  deepStrictEqual(await alias.resolver.resolveCname('host-000001.test'), [
    'alias-host-000001.test',
  ]);
  deepStrictEqual(await alias.resolver.resolve4('host-000001.test'), ['127.1.0.2']);
  deepStrictEqual(await alias.resolver.resolve6('host-000001.test'), ['::1']);
  let queries = 0;
  const override = () => (queries++ === 0 ? ['127.1.0.1', '127.1.0.9'] : ['169.254.169.254']);
  const rebinding = await resolverFor(world, { override });
  deepStrictEqual(await rebinding.resolver.resolve4('host-000000.test'), [
    '127.1.0.1',
    '127.1.0.9',
  ]);
  deepStrictEqual(await rebinding.resolver.resolve4('host-000000.test'), ['169.254.169.254']);
  const truncating = await resolverFor(world, { truncate: true });
  deepStrictEqual(await truncating.resolver.resolve4('host-000000.test'), ['127.1.0.1']);
  deepStrictEqual([truncating.server.counts.udp, truncating.server.counts.tcp], [1, 1]);
});
