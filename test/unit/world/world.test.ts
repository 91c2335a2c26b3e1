// The shipped web's own tests: the same options give the same bytes, and what it says about itself (reachable pages, copies, redirects,
// robots) is what an independent crawl of its bytes finds.
import { deepStrictEqual, notDeepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { judge } from '../../support/world/judge.ts';
import { robotsPlan, robotsText } from '../../support/world/robots-model.ts';
import { smallCrawl } from '../../support/world/small-crawl.ts';
import { createWorld } from '../../support/world/world.ts';
import { hostProfile } from '../../support/world/world-host.ts';
import { VARIED_FEATURES } from '../../support/world/world-options.ts';
import { canonicalPath, pagePath } from '../../support/world/world-path.ts';
import { parseRobotsText } from './robots-text.ts';

const USER_AGENT = 'hostler/0.1 (+mailto:test@example.invalid)';

function variedWorld(seed: number, hosts = 20) {
  return createWorld({
    seed,
    hosts,
    pagesPerHost: 12,
    linksPerPage: 8,
    pageBytes: 800,
    features: VARIED_FEATURES,
    port: 8080,
  });
}

test('createWorld with the same options serves the same bytes, with another seed others', () => {
  const pages = (seed: number) => {
    const world = variedWorld(seed);
    return [0, 1, 2, 3].map((host) => {
      const path = pagePath(world.options, hostProfile(world.options, host).source, 2);
      return world.respond({ host: world.hostName(host), path, atMs: 9, userAgent: USER_AGENT });
    });
  };
  deepStrictEqual(pages(7), pages(7));
  notDeepStrictEqual(pages(7), pages(8));
});

test('createWorld refuses a fraction above 1 and a size of 0', () => {
  throws(() => createWorld({ features: { robots: 1.5 } }), RangeError);
  throws(() => createWorld({ hosts: 0 }), RangeError);
});

for (const seed of [1, 2]) {
  test(`World.reachable is what a crawl of the served bytes finds, seed ${seed}`, () => {
    const world = variedWorld(seed);
    for (const userAgent of [USER_AGENT, 'otherbot/2']) {
      const walk = { userAgent, seeds: world.seeds(10) };
      const next = (frontier: string[]) => frontier.shift()!;
      const { pages } = smallCrawl(world, { ...walk, skipCopies: false, next });
      const reachable = [...world.reachable({ userAgent, fromSeeds: world.seeds(10) })];
      strictEqual(new Set(reachable).size, reachable.length);
      deepStrictEqual([...pages].sort(), reachable.sort());
      ok(reachable.length > 50, `only ${reachable.length} pages`);
    }
  });

  test(`judge accepts a well-mannered crawl that skips copies in any order, seed ${seed}`, () => {
    const world = variedWorld(seed);
    let state = seed;
    const next = (frontier: string[]) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const last = frontier.pop()!;
      if (frontier.length === 0) return last;
      const at = state % frontier.length;
      const chosen = frontier[at]!;
      frontier[at] = last;
      return chosen;
    };
    const crawl = { userAgent: USER_AGENT, seeds: world.seeds(), skipCopies: true, next };
    const { log } = smallCrawl(world, crawl);
    const verdict = judge(world, log, {
      minGapMs: 1000,
      addressBudget: 1,
      coverage: { userAgent: USER_AGENT, fromSeeds: world.seeds() },
      requireLate: true,
    });
    deepStrictEqual(verdict.violations, []);
    ok(verdict.ok);
    ok(verdict.coverage.required > 80);
    ok((verdict.tightestGapMs ?? -1) >= 0);
  });
}

test('World.truth knows copies, redirects, traps and what is missing', () => {
  const world = variedWorld(4, 60);
  const found = { duplicate: 0, redirect: 0, trap: 0, disallowed: 0, missing: 0 };
  for (let host = 0; host < 60; host++) {
    const profile = hostProfile(world.options, host);
    const origin = `http://${profile.name}:8080`;
    const fetched = (path: string) =>
      world.respond({ host: profile.name, path, atMs: 0, userAgent: USER_AGENT });
    for (let page = 0; page < profile.pages; page++) {
      const path = pagePath(world.options, profile.source, page);
      const truth = world.truth(origin + path);
      strictEqual(truth.status, fetched(path).status);
      if (!truth.allowed) found.disallowed++;
      if (truth.duplicateOf === null || truth.status === 0) continue;
      const original = new URL(truth.duplicateOf);
      const health = world.healthOf(world.hostIndex(original.hostname));
      if (health !== 'ok' && health !== 'slow') continue;
      const copied = { host: original.hostname, path: original.pathname + original.search };
      deepStrictEqual(
        world.respond({ ...copied, atMs: 0, userAgent: USER_AGENT }).body,
        fetched(path).body,
      );
      found.duplicate++;
    }
    for (const path of ['/go/1', '/missing/3', '/calendar/2026/01', '/deep/a', '/nothing']) {
      const truth = world.truth(origin + path);
      strictEqual(truth.status, fetched(path).status);
      if (truth.redirectTo !== null) found.redirect++;
      if (truth.trap) found.trap++;
      if (truth.status === 404) found.missing++;
    }
  }
  for (const [kind, count] of Object.entries(found)) ok(count > 0, `no ${kind} in this web`);
  strictEqual(world.truth('http://elsewhere.invalid/').exists, false);
  strictEqual(world.truth('not a URL').status, 0);
});

test('robotsText says what the structured rules say, whatever its style', () => {
  const world = createWorld({ hosts: 300, features: { robots: 1, crawlDelays: 0.5 } });
  for (let host = 0; host < 300; host++) {
    const profile = hostProfile(world.options, host);
    const plan = robotsPlan(world.options, profile, 0);
    ok(plan.kind === 'rules');
    const text = robotsText(world.options, profile, plan.groups);
    deepStrictEqual(parseRobotsText(text), plan.groups);
  }
});

test('World.robotsTxt changes with time only on hosts with changing rules', () => {
  const day = 24 * 3600_000;
  const steady = createWorld({ hosts: 50, features: { robots: 1 } });
  const moving = createWorld({ hosts: 50, features: { robots: 1, robotsChanges: 1 } });
  for (let host = 0; host < 50; host++) {
    strictEqual(steady.robotsTxt(host, 0), steady.robotsTxt(host, day));
    ok(moving.robotsTxt(host, 0) !== moving.robotsTxt(host, day));
  }
});

test('World.respond changes robots, errors, pages and accidents with the time', () => {
  const world = createWorld({
    hosts: 400,
    features: { robotsTrouble: 1, errorsByTime: 0.3, changingPages: 1, flaky: 0.2 },
  });
  const ask = (host: number, path: string, atMs: number, extra = {}) =>
    world.respond({ host: world.hostName(host), path, atMs, userAgent: USER_AGENT, ...extra });
  const hosts = Array.from({ length: 400 }, (_, host) => host);
  ok(
    hosts.some(
      (h) => ask(h, '/robots.txt', 0).status === 503 && ask(h, '/robots.txt', 3000).status === 200,
    ),
  );
  const statuses = new Set(hosts.map((h) => ask(h, '/', 5000).status));
  for (const status of [200, 429, 503]) ok(statuses.has(status), `no ${status}`);
  const overloaded = hosts.find((h) => ask(h, '/', 5000).status === 503)!;
  ok([1, 2, 3, 4, 5, 6].some((n) => ask(overloaded, '/', n * 10_000).status === 200));
  const flaky = hosts.find((h) => ask(h, '/', 5000).behaviour === 'reset-in-body')!;
  ok([1, 2, 3, 4].some((attempt) => ask(flaky, '/', 5000, { attempt }).behaviour === 'normal'));
  const whole = hosts.find((h) => [1, 2].every((n) => ask(h, '/', n * 5_000_000).status === 200))!;
  notDeepStrictEqual(ask(whole, '/', 5_000_000).body, ask(whole, '/', 50_000_000).body);
});

test('World.respond answers 304 to the ETag it gave', () => {
  const world = createWorld({ hosts: 1 });
  const request = { host: world.hostName(0), path: '/', atMs: 0, userAgent: USER_AGENT };
  const etag = world.respond(request).headers.find(([name]) => name === 'ETag')![1];
  strictEqual(world.respond({ ...request, ifNoneMatch: etag }).status, 304);
});

test('World.addressOf shares addresses as asked and stays in 127.0.0.0/8', () => {
  const world = createWorld({ hosts: 1_000_000, hostsPerAddress: 4 });
  strictEqual(world.addressOf(0), world.addressOf(3));
  ok(world.addressOf(3) !== world.addressOf(4));
  ok(world.addressOf(999_999).startsWith('127.'));
  strictEqual(createWorld({ hosts: 1_000_000 }).addressOf(999_999), '127.16.66.64');
});

test('canonicalPath undoes every spelling and is idempotent', () => {
  const cases = [
    ['/list?view=w&id=3&utm_source=feed', '/list?id=3&view=w'],
    ['/%64ocs/a-1.html?utm_medium=x#part', '/docs/a-1.html'],
    ['/caf%c3%a9/w/2', '/caf%C3%A9/w/2'],
  ] as const;
  for (const [sent, canonical] of cases) {
    strictEqual(canonicalPath(sent), canonical);
    strictEqual(canonicalPath(canonical), canonical);
  }
});

test('World.respond never throws on strange requests', () => {
  const world = variedWorld(5);
  const paths = ['', '*', '/%', '/%zz?%', `/${'a/'.repeat(5000)}`, '/go/999999999', '/?#&&=', '//'];
  for (const host of ['', 'host-000001.test', 'HOST-000001.TEST', 'host-.test', 'host-1.test']) {
    for (const path of paths) {
      const { status } = world.respond({ host, path, atMs: 0, userAgent: '' });
      ok(status === 0 || status >= 200);
    }
  }
});

test('WorldOptions.pagesPerHost is the mean, with and without the power law', () => {
  for (const powerLaw of [false, true]) {
    const world = createWorld({ hosts: 20_000, pagesPerHost: 100, powerLaw });
    let pages = 0;
    let most = 0;
    for (let host = 0; host < 20_000; host++) {
      const count = hostProfile(world.options, host).pages;
      pages += count;
      most = Math.max(most, count);
    }
    ok(Math.abs(pages / 20_000 - 100) < 15, `mean ${pages / 20_000}`);
    ok(powerLaw ? most > 5000 : most <= 150, `most ${most}`);
  }
});

test('judge accepts a mirror whose robots.txt leads to a file named for its original, on the original', () => {
  const features = { robots: 0.6, robotsTrouble: 0.3, crawlDelays: 0.2, mirrors: 0.4 };
  const world = createWorld({ seed: -1_073_741_821, hosts: 2, pagesPerHost: 1, features });
  const { log } = smallCrawl(world, {
    userAgent: USER_AGENT,
    skipCopies: true,
    seeds: world.seeds(),
    next: (frontier) => frontier.shift() as string,
  });
  ok(log.some(({ host, path }) => host === 'host-000000.test' && path.startsWith('/robots-for-')));
  deepStrictEqual(judge(world, log, { minGapMs: 1000 }).violations, []);
});
