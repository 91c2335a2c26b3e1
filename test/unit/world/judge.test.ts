// The judge's own tests: a polite log passes, and each kind of violation, planted alone, is found alone.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { judge } from '../../support/world/judge.ts';
import type { JudgeOptions, RequestEntry, ViolationKind } from '../../support/world/judge-types.ts';
import {
  groupsCrawlDelay,
  type RobotsGroup,
  robotsPlan,
} from '../../support/world/robots-model.ts';
import { createWorld, type World } from '../../support/world/world.ts';
import { hostProfile } from '../../support/world/world-host.ts';

const USER_AGENT = 'hostler/0.1';
const OPTIONS: JudgeOptions = { minGapMs: 1000 };

/** A crawl of a plain world by the book: robots first, a request every two seconds on each host, one address each. */
function politeLog(world: World): RequestEntry[] {
  const log: RequestEntry[] = [];
  const clock = new Map<string, number>();
  const fetchOne = (host: string, path: string) => {
    const startMs = clock.get(host) ?? 0;
    const { status, body } = world.respond({ host, path, atMs: startMs, userAgent: USER_AGENT });
    clock.set(host, startMs + 2000);
    const address = world.addressOf(world.hostIndex(host));
    const bytes = body.length;
    const times = { startMs, endMs: startMs + 10 };
    log.push({
      host,
      path,
      address,
      ...times,
      userAgent: USER_AGENT,
      status,
      bytes,
      complete: true,
    });
  };
  for (let host = 0; host < world.options.hosts; host++) {
    fetchOne(world.hostName(host), '/robots.txt');
  }
  for (const url of world.reachable({ userAgent: USER_AGENT, fromSeeds: world.seeds() })) {
    const { hostname, pathname, search } = new URL(url);
    fetchOne(hostname, pathname + search);
  }
  return log;
}

function plainWorld(): World {
  return createWorld({ hosts: 4, pagesPerHost: 10, pageBytes: 0, features: { robots: 1 } });
}

const coverageOf = (world: World) => ({ userAgent: USER_AGENT, fromSeeds: world.seeds() });

/** Judges a polite log with one planted change and returns the kinds of what was found. */
function planted(
  change: (log: RequestEntry[], world: World) => RequestEntry[],
  options: Partial<JudgeOptions> = {},
  world = plainWorld(),
): ViolationKind[] {
  const log = change(politeLog(world), world);
  const verdict = judge(world, log, { ...OPTIONS, coverage: coverageOf(world), ...options });
  strictEqual(verdict.ok, verdict.violations.length === 0);
  return [...new Set(verdict.violations.map(({ kind }) => kind))].sort();
}

const hasDelay = (group: RobotsGroup): boolean => groupsCrawlDelay([group], USER_AGENT) !== null;

const replace = (
  log: readonly RequestEntry[],
  at: number,
  change: (entry: RequestEntry) => Partial<RequestEntry>,
) => log.map((entry, index) => (index === at ? { ...entry, ...change(entry) } : entry));

/** The index of the last page request of host 1: nothing follows it. */
const lastOf = (log: readonly RequestEntry[]) =>
  log.findLastIndex(({ host }) => host === 'host-000001.test');

test('judge finds nothing in a polite, complete log', () => {
  deepStrictEqual(
    planted((log) => log),
    [],
  );
  deepStrictEqual(
    planted((log) => log.toReversed()),
    [],
  );
});

test('judge finds a gap that is too short, and forgives the tolerance', () => {
  const shift = (byMs: number) => (log: RequestEntry[]) =>
    replace(log, lastOf(log), ({ startMs }) => ({ startMs: startMs - byMs }));
  deepStrictEqual(planted(shift(1010)), ['gap']);
  deepStrictEqual(planted(shift(990.5)), []);
});

test('judge finds a second request in flight', () => {
  deepStrictEqual(
    planted((log) => replace(log, lastOf(log), ({ startMs }) => ({ startMs: startMs - 1995 }))),
    ['overlap'],
  );
});

test('judge holds a host to its Crawl-delay, up to the cap', () => {
  const world = createWorld({
    hosts: 4,
    pagesPerHost: 10,
    features: { robots: 1, crawlDelays: 1 },
    crawlDelaySeconds: [3, 3],
  });
  deepStrictEqual(
    planted((log) => log, {}, world),
    ['gap'],
  );
  deepStrictEqual(
    planted((log) => log, { maxCrawlDelayMs: 1500 }, world),
    [],
  );
});

test('judge does not take the rules that the mirror of a host was told for its own', () => {
  const web = { pagesPerHost: 4, crawlDelaySeconds: [3, 3] as const };
  const features = { robotsTrouble: 1, mirrors: 1, crawlDelays: 1 };
  const plans = Array.from({ length: 64 }, (_, seed) =>
    createWorld({ ...web, hosts: 4, seed, features }),
  );
  const leadsHome = (world: World): boolean => {
    const plan = robotsPlan(world.options, hostProfile(world.options, 0), 0);
    return plan.kind === 'redirect' && plan.host === 0 && plan.groups.some(hasDelay);
  };
  const world = plans.find(leadsHome);
  ok(world !== undefined, 'no such web among the seeds');
  const [mine, other] = [world.hostName(0), world.hostName(1)];
  const plain = { bytes: 0, complete: true, userAgent: USER_AGENT };
  const request = (host: string, path: string, startMs: number, status: number): RequestEntry => ({
    ...{ ...plain, host, path, startMs, endMs: startMs + 10, status },
    address: world.addressOf(world.hostIndex(host)),
  });
  const log = (secondMs: number) => [
    request(mine, '/robots.txt', 0, 301),
    request(other, '/robots.txt', 0, 301),
    request(other, '/robots-rules.txt', 1_100, 200),
    request(mine, '/robots-rules.txt', 1_500, 200),
    request(mine, '/', secondMs, 200),
  ];
  const kinds = (secondMs: number) =>
    judge(world, log(secondMs), OPTIONS).violations.map(({ kind, host }) => [kind, host]);
  deepStrictEqual(kinds(4_600), []);
  deepStrictEqual(kinds(4_000), [['gap', mine]]);
});

test('judge finds too many in flight to one address', () => {
  const shared = createWorld({ hosts: 3, pagesPerHost: 4, hostsPerAddress: 3 });
  deepStrictEqual(
    planted((log) => log, { addressBudget: 3 }, shared),
    [],
  );
  deepStrictEqual(
    planted((log) => log, { addressBudget: 2 }, shared),
    ['address-budget'],
  );
});

test('judge finds starts too close at one address', () => {
  const shared = createWorld({ hosts: 2, pagesPerHost: 4, hostsPerAddress: 2 });
  deepStrictEqual(
    planted((log) => log, { addressGapMs: 250 }, shared),
    ['address-gap'],
  );
});

test('judge finds a disallowed path by the true rules', () => {
  const world = plainWorld();
  const host = [0, 1, 2, 3].find((index) => {
    const plan = robotsPlan(world.options, hostProfile(world.options, index), 0);
    return plan.kind === 'rules' && plan.groups.some(({ lines }) => lines.length > 0);
  });
  ok(host !== undefined);
  const name = world.hostName(host);
  const closed = ['/private/secret-1.html', '/~amber/1/'].find(
    (path) => !world.truth(`http://${name}${path}`).allowed,
  );
  ok(closed !== undefined);
  const plant = (log: RequestEntry[]) => {
    const last = log.findLast((entry) => entry.host === name)!;
    const times = { startMs: last.endMs + 5000, endMs: last.endMs + 5001 };
    return [...log, { ...last, path: closed, status: 404, ...times }];
  };
  deepStrictEqual(planted(plant, {}, world), ['disallowed']);
});

test('judge finds pages fetched before robots.txt and with rules too old', () => {
  const without = (log: RequestEntry[]) =>
    log.filter(({ host, path }) => host !== 'host-000001.test' || path !== '/robots.txt');
  deepStrictEqual(planted(without), ['before-robots']);
  deepStrictEqual(
    planted((log) =>
      replace(log, lastOf(log), () => ({ startMs: 25 * 3600_000, endMs: 25 * 3600_000 + 1 })),
    ),
    ['stale-robots'],
  );
});

test('judge takes a failed robots.txt answer as a closed host', () => {
  const broken = (log: RequestEntry[]) => replace(log, 1, () => ({ status: 500 }));
  deepStrictEqual(planted(broken), ['disallowed']);
});

test('judge finds a repeated canonical URL in whatever spelling, unless it is allowed for', () => {
  const again = (log: RequestEntry[]) => {
    const entry = log[lastOf(log)]!;
    const times = { startMs: entry.endMs + 5000, endMs: entry.endMs + 5001 };
    const path = `${entry.path}${entry.path.includes('?') ? '&' : '?'}gclid=1`;
    return [...log, { ...entry, path, ...times }];
  };
  deepStrictEqual(planted(again), ['repeat']);
  deepStrictEqual(planted(again, { revisits: true }), []);
  const world = plainWorld();
  ok(judge(world, again(politeLog(world)), { ...OPTIONS, repeatsAllowed: 1 }).ok);
  const cut = (log: RequestEntry[]) =>
    replace(again(log), lastOf(log), () => ({ complete: false }));
  deepStrictEqual(planted(cut), []);
});

test('judge finds what is missing, what is unexpected and hosts of no web', () => {
  deepStrictEqual(
    planted((log) => log.toSpliced(lastOf(log), 1)),
    ['missing'],
  );
  const narrow = { userAgent: USER_AGENT, fromSeeds: ['http://host-000000.test/'] };
  deepStrictEqual(
    planted((log) => log, { coverage: { ...narrow, scope: 'hosts' } }),
    ['unexpected'],
  );
  deepStrictEqual(
    planted((log) => [...log, { ...log[0]!, host: 'elsewhere.test', address: '127.9.9.9' }]),
    ['unknown-host'],
  );
});

test('judge finds a Retry-After that was not kept', () => {
  const world = createWorld({ hosts: 60, features: { errorsByTime: 1 } });
  const overloaded = Array.from({ length: 60 }, (_, host) => host).find((host) => {
    const request = { host: world.hostName(host), path: '/', atMs: 2000, userAgent: USER_AGENT };
    return world
      .respond(request)
      .headers.some(([name, value]) => name === 'Retry-After' && value === '8');
  });
  ok(overloaded !== undefined);
  const host = world.hostName(overloaded);
  const entry = (path: string, startMs: number, status: number): RequestEntry => {
    const times = { startMs, endMs: startMs + 1 };
    const rest = { address: world.addressOf(overloaded), userAgent: USER_AGENT, bytes: 0 };
    return { host, path, ...times, ...rest, status, complete: true };
  };
  const status = world.respond({ host, path: '/', atMs: 2000, userAgent: USER_AGENT }).status;
  const start = [entry('/robots.txt', 0, 200), entry('/', 2000, status)];
  const early = judge(world, [...start, entry('/', 8000, status)], OPTIONS);
  deepStrictEqual(
    early.violations.map(({ kind }) => kind),
    ['retry-after'],
  );
  ok(judge(world, [...start, entry('/', 10_001, 200)], OPTIONS).ok);
});

test('judge lists a bounded number of violations and counts them all', () => {
  const world = plainWorld();
  const log = politeLog(world).filter(({ path }) => path !== '/robots.txt');
  const verdict = judge(world, log, { ...OPTIONS, listedMax: 3 });
  strictEqual(verdict.violations.length, 3);
  strictEqual(verdict.counts['before-robots'], log.length);
});
