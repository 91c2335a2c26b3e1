// Entry of a shard thread: a shard with the real network, sockets by undici and names by our own resolver (steps 8 and 9).

import { DnsResolver } from '../net/resolver.ts';
import { UndiciFetcher } from '../net/undici-fetcher.ts';
import { runShard } from './run-shard.ts';
import { fetchLimitsOf } from './shard-plan.ts';

await runShard(({ plan, guard, clock, watch, settings, mayRequest }) => ({
  fetcher: new UndiciFetcher({
    guard,
    now: () => clock.now(),
    blindMs: (now) => watch.blindMs(now),
    userAgent: plan.userAgent,
    from: plan.config.from,
    trustedCertificates: plan.trustedCertificates,
    settingsOf: (host) => settings.requestOf(host),
    limits: fetchLimitsOf(plan),
    ...(mayRequest === undefined ? {} : { mayRequest }),
  }),
  resolver: new DnsResolver({
    guard,
    ...(plan.config.dnsServers.length === 0 ? {} : { servers: plan.config.dnsServers }),
    families: plan.config.addressFamilies,
  }),
}));
