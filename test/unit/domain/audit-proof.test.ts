// The proof of politeness against logs with planted faults: each is found and nothing else is said.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import {
  type AuditedRequest,
  type AuditOptions,
  AuditProof,
  type AuditRule,
  type AuditVerdict,
} from '../../../src/domain/audit-proof.ts';

const RUN = 1_000_000;
const DAY = 24 * 3_600_000;
const { h64 } = await xxhash();

function line(overrides: Partial<AuditedRequest>): AuditedRequest {
  const host = overrides.host ?? 'a.test';
  const startedAt = overrides.startedAt ?? RUN;
  return {
    host,
    address: `address of ${host}`,
    url: `http://${host}/page`,
    purpose: 'page',
    startedAt,
    endedAt: startedAt + 10,
    gapMs: 1_000,
    robotsAt: RUN + 10,
    status: 200,
    failure: undefined,
    retryAfterMs: 0,
    runStartedAt: RUN,
    ...overrides,
  };
}

/** The first request to a host: its robots.txt, with no gap in force. */
function robots(overrides: Partial<AuditedRequest> = {}): AuditedRequest {
  const host = overrides.host ?? 'a.test';
  return line({
    purpose: 'robots',
    url: `http://${host}/robots.txt`,
    robotsAt: 0,
    gapMs: 0,
    ...overrides,
  });
}

function replay(lines: readonly AuditedRequest[], options: Partial<AuditOptions> = {}) {
  const proof = new AuditProof({
    keyOf: (text) => h64(text, 7n),
    addressOpenMax: 2,
    horizonMs: 120_000,
    ...options,
  });
  for (const one of lines) proof.add(one);
  return proof.finish();
}

/** Names of the broken rules with their counts. */
function broken(verdict: AuditVerdict): Partial<Record<AuditRule, number>> {
  return Object.fromEntries(Object.entries(verdict.broken).filter(([, count]) => count > 0));
}

const CLEAN = [
  robots(),
  robots({ host: 'b.test', startedAt: RUN + 3 }),
  line({ startedAt: RUN + 1_010 }),
  line({ host: 'b.test', startedAt: RUN + 1_500, robotsAt: RUN + 13 }),
  line({ startedAt: RUN + 2_020 }),
];

test('AuditProof proves a clean log and tells its figures', () => {
  const verdict = replay(CLEAN);
  strictEqual(verdict.proven, true);
  deepStrictEqual(verdict.requests, { page: 3, robots: 2, sitemap: 0, resource: 0 });
  deepStrictEqual([verdict.hosts, verdict.runs, verdict.cleanShare], [2, 1, 1]);
  deepStrictEqual(verdict.tightest, { gapMs: 1_000, host: 'a.test', ordinal: 2 });
  strictEqual(verdict.leastSurplusMs, 0);
  deepStrictEqual([verdict.firstAt, verdict.lastAt], [RUN, RUN + 2_030]);
});

test('AuditProof proves the empty log', () => {
  const verdict = replay([]);
  deepStrictEqual([verdict.proven, verdict.firstAt, verdict.cleanShare], [true, 0, 1]);
});

/** Each fault, as lines that follow the clean ones of host a.test, and what it breaks. */
const PLANTED: readonly (readonly [name: string, line: AuditedRequest, rule: AuditRule])[] = [
  ['a second request in flight', line({ startedAt: RUN + 2_025 }), 'one-in-flight'],
  ['a gap 2 ms short', line({ startedAt: RUN + 2_030 + 998 }), 'gap'],
  ['a redirect hop or retry without its gap', line({ startedAt: RUN + 2_200, status: 301 }), 'gap'],
  ['a robots.txt fetched early', robots({ startedAt: RUN + 2_500, gapMs: 1_000 }), 'gap'],
  ['a host forgotten: no gap in force', line({ startedAt: RUN + 2_100, gapMs: 0 }), 'gap'],
  ['a crawl delay longer than the gap', line({ startedAt: RUN + 4_000, gapMs: 5_000 }), 'gap'],
  ['a page without robots rules', line({ startedAt: RUN + 9_000, robotsAt: 0 }), 'robots-unknown'],
  [
    'rules read after the page',
    line({ startedAt: RUN + 9_000, robotsAt: RUN + 9_500 }),
    'robots-unknown',
  ],
  [
    'rules from before the file was read',
    line({ startedAt: RUN + 9_000, robotsAt: RUN + 2 }),
    'robots-unknown',
  ],
  [
    'another origin of the host, its file never read',
    line({ startedAt: RUN + 9_000, url: 'https://a.test/page' }),
    'robots-unknown',
  ],
  ['rules a day old', line({ startedAt: RUN + DAY + 100_000 }), 'robots-stale'],
  [
    'a restart that does not wait',
    line({ startedAt: RUN + 90_100, runStartedAt: RUN + 90_000 }),
    'restart-gap',
  ],
];

for (const [name, fault, rule] of PLANTED) {
  test(`AuditProof finds ${name}`, () => {
    const verdict = replay([...CLEAN, fault]);
    deepStrictEqual(broken(verdict), { [rule]: 1 });
    strictEqual(verdict.proven, false);
    strictEqual(verdict.offences[0]?.ordinal, CLEAN.length);
    ok(verdict.cleanShare < 1);
  });
}

test('AuditProof names the earlier request of an offending pair', () => {
  const other = line({ host: 'b.test', startedAt: RUN + 2_900, robotsAt: RUN + 13 });
  const verdict = replay([...CLEAN, other, line({ startedAt: RUN + 2_100 })]);
  deepStrictEqual(
    verdict.offences.map(({ rule, ordinal, otherOrdinal }) => [rule, ordinal, otherOrdinal]),
    [['gap', 6, 4]],
  );
});

test('AuditProof holds gaps against a stricter one when asked', () => {
  deepStrictEqual(broken(replay(CLEAN, { minGapMs: 1_000 })), {});
  deepStrictEqual(broken(replay(CLEAN, { minGapMs: 1_100 })), { 'min-gap': 2 });
});

test('AuditProof finds a Retry-After that was not obeyed, also by a robots request and a later run', () => {
  const busy = line({ startedAt: RUN + 3_100, status: 503, retryAfterMs: 60_000 });
  const early = { startedAt: RUN + 40_000 };
  for (const next of [
    line(early),
    robots({ ...early, gapMs: 1_000 }),
    line({ ...early, runStartedAt: RUN + 20_000 }),
  ]) {
    deepStrictEqual(broken(replay([...CLEAN, busy, next])), { 'retry-after': 1 });
  }
  deepStrictEqual(broken(replay([...CLEAN, busy, line({ startedAt: RUN + 63_110 })])), {});
});

test('AuditProof accepts old rules while robots.txt is unreachable, and only for a day without asking', () => {
  const late = RUN + DAY + 200_000;
  const unreachable = robots({ startedAt: late - 10_000, status: 503, gapMs: 1_000 });
  deepStrictEqual(broken(replay([...CLEAN, unreachable, line({ startedAt: late })])), {});
  const muchLater = line({ startedAt: late + DAY });
  deepStrictEqual(broken(replay([...CLEAN, unreachable, muchLater])), { 'robots-stale': 1 });
  const answered = { ...unreachable, status: 404 };
  deepStrictEqual(broken(replay([...CLEAN, answered, line({ startedAt: late })])), {
    'robots-stale': 1,
  });
});

test('AuditProof holds pages against stored rules and counts those whose rules are gone', () => {
  const verdicts = { 'http://a.test/page': 'denied', 'http://b.test/page': 'unknown' } as const;
  const verdict = replay(CLEAN, {
    verdictOf: ({ url }) => verdicts[url as keyof typeof verdicts],
  });
  deepStrictEqual(broken(verdict), { 'robots-denied': 2 });
  deepStrictEqual([verdict.robotsMatched, verdict.robotsOlder], [2, 1]);
});

test('AuditProof finds one request too many at an address, whatever the order of the lines', () => {
  const hosts = ['a.test', 'b.test', 'c.test'];
  const address = '192.0.2.1';
  const open = hosts.map((host, at) =>
    robots({ host, address, startedAt: RUN + at, endedAt: RUN + 100 - at * 10 }),
  );
  for (const lines of [open, [...open].reverse()]) {
    const verdict = replay(lines);
    deepStrictEqual(broken(verdict), { 'address-in-flight': 1 });
    strictEqual(verdict.addressMostOpen, 3);
  }
  deepStrictEqual(broken(replay(open, { addressOpenMax: 3 })), {});
  // One after the other is no offence, and a request without an address went nowhere.
  const apart = hosts.map((host, at) => robots({ host, address, startedAt: RUN + at * 10 }));
  deepStrictEqual(broken(replay(apart, { addressOpenMax: 1 })), {});
  deepStrictEqual(broken(replay(open.map((one) => ({ ...one, address: '' })))), {});
});

test('AuditProof says so when a line comes too late to be put in order', () => {
  const late = robots({ host: 'z.test', startedAt: RUN });
  const verdict = replay([
    robots({ startedAt: RUN + 10 }),
    robots({ host: 'b.test', startedAt: RUN + 500_000 }),
    late,
  ]);
  deepStrictEqual([broken(verdict), verdict.addressUnordered, verdict.proven], [{}, 1, false]);
});

test('AuditProof does not compare times across a clock that was set back, but holds the restart rule', () => {
  const run = RUN - 50_000;
  const patient = line({ startedAt: run + 1_000, runStartedAt: run, robotsAt: RUN + 10 });
  const verdict = replay([...CLEAN, { ...patient, robotsAt: run, purpose: 'robots' }]);
  deepStrictEqual([broken(verdict), verdict.clockSteps, verdict.runs], [{}, 1, 2]);
  const hasty = { ...patient, startedAt: run + 100, purpose: 'robots' as const };
  deepStrictEqual(broken(replay([...CLEAN, hasty])), { 'restart-gap': 1 });
});

test('AuditProof counts every offence and keeps as many as asked', () => {
  const hasty = Array.from({ length: 10 }, (_, at) => line({ startedAt: RUN + 3_100 + at * 20 }));
  const verdict = replay([...CLEAN, ...hasty], { keptMax: 3 });
  deepStrictEqual([broken(verdict), verdict.offences.length], [{ gap: 9 }, 3]);
});

test('AuditProof remembers a host in a bounded number of bytes', () => {
  const proof = new AuditProof({
    keyOf: (text) => h64(text, 7n),
    addressOpenMax: 2,
    horizonMs: 1_000,
  });
  const count = 50_000;
  for (let at = 0; at < count; at += 1) {
    proof.add(robots({ host: `h${at}.test`, startedAt: RUN + at }));
  }
  const verdict = proof.finish();
  strictEqual(verdict.hosts, count);
  ok(verdict.stateBytes / count < 250, `${verdict.stateBytes / count} bytes a host`);
});
