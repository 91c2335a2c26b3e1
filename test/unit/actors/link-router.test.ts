import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { DomainAccounts } from '../../../src/actors/domain-accounts.ts';
import { LinkRouter } from '../../../src/actors/link-router.ts';
import { SeenCheck } from '../../../src/actors/seen-check.ts';
import { parseBase } from '../../../src/domain/base-url.ts';
import { CRAWL_RULES } from '../../../src/domain/canonical-url.ts';
import { partitionOf } from '../../../src/domain/ring.ts';
import { Scope } from '../../../src/domain/scope.ts';
import { trapOptions } from '../../../src/domain/traps.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import { BloomGenerations } from '../../../src/runtime/bloom-generations.ts';
import { RecentKeys } from '../../../src/runtime/recent-keys.ts';
import { SharedTallies } from '../../../src/runtime/shared-tallies.ts';

const hasher = createHasher(await xxhash(), 1n);
const base = parseBase('http://h.test/dir/page');

function routerOf() {
  const counts: string[] = [];
  const filter = BloomGenerations.create({ expectedKeys: 100, falsePositiveRate: 0.01 });
  const exact = { has: () => false, add: () => {} };
  const seen = new SeenCheck(filter, RecentKeys.create(64), exact);
  const router = new LinkRouter({
    ...{ rules: CRAWL_RULES, traps: trapOptions(2026), depthMax: 3, hasher, seen },
    scope: new Scope({ mode: 'host', seeds: ['http://h.test/'] }),
    domains: new DomainAccounts(new SharedTallies(SharedTallies.createMemory(64)), (name) =>
      hasher.hostKey(name),
    ),
    isOptedOut: (host) => host === 'out.test',
    partitionOf: (hostKey) => partitionOf(hostKey, 16),
    shardOf: (partition) => partition % 2,
    count: (name) => counts.push(name),
  });
  const route = (reference: string, depth = 1) => {
    ok(base !== undefined);
    const source = { base, host: 'h.test', depth, hops: 0, purpose: 'page' as const };
    return router.route(reference, source);
  };
  return { router, seen, counts, route };
}

test('LinkRouter.route gives the spelling to send, the identity and the owner', () => {
  const { route, router } = routerOf();
  const routed = route('../a?utm_source=x#part');
  strictEqual(routed?.link.url, 'http://h.test/a?utm_source=x');
  strictEqual(routed?.link.urlKey, hasher.urlKey('http://h.test/a'));
  deepStrictEqual([routed?.link.isRespelled, routed?.link.fromOtherHost], [true, false]);
  strictEqual(routed?.shard, router.placeOf('h.test').shard);
});

test('LinkRouter.route ends links out of bounds and says why', () => {
  const { route, counts } = routerOf();
  strictEqual(route('http://elsewhere.test/'), undefined);
  strictEqual(route('/deep', 4), undefined);
  strictEqual(route('/a/a/a/a/a'), undefined);
  strictEqual(route('mailto:a@h.test'), undefined);
  const reasons = counts.filter((name) => name !== 'links');
  deepStrictEqual(reasons, ['skipped.scope', 'skipped.depth', 'skipped.trap', 'skipped.not-http']);
});

test('LinkRouter.route lets a known link die, but never another spelling of it', () => {
  const { route, seen, counts } = routerOf();
  seen.addIfNew(hasher.urlKey('http://h.test/a'));
  strictEqual(route('/a'), undefined);
  deepStrictEqual(counts, ['links', 'links.known']);
  ok(route('/a?utm_source=x'), 'another spelling may be the one that robots.txt admits');
});
