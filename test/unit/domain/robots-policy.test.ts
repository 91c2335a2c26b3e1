import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import {
  decideRobots,
  ROBOTS_FRESH_MS_MAX,
  ROBOTS_FRESH_MS_MIN,
  ROBOTS_RETRY_MS_FIRST,
  ROBOTS_RETRY_MS_MAX,
  ROBOTS_UNREACHABLE_MS_MAX,
  type RobotsFetchOutcome,
  type RobotsPolicyOptions,
  robotsFreshMs,
} from '../../../src/domain/robots-policy.ts';
import { ALLOW_ALL, DISALLOW_ALL, type RobotsRules } from '../../../src/domain/robots-rules.ts';

const OPTIONS: RobotsPolicyOptions = {
  productToken: 'hostler',
  bytesMax: 512_000,
  failures: 0,
  unreachableMs: 0,
};
const PREVIOUS: RobotsRules = {
  ...ALLOW_ALL,
  group: '*',
  patterns: ['/a'],
  allows: [false],
  lines: [2],
};
const answer = (status: number, text = 'User-agent: *\nDisallow: /x'): RobotsFetchOutcome => ({
  kind: 'response',
  status,
  body: Buffer.from(text),
});

test('decideRobots obeys the file of any 2xx answer for 24 hours', () => {
  const decision = decideRobots(answer(200), OPTIONS);
  deepStrictEqual([decision.kind, decision.rules.patterns], ['rules', ['/x']]);
  deepStrictEqual([decision.expiresInMs, decision.retryInMs], [ROBOTS_FRESH_MS_MAX, undefined]);
  deepStrictEqual(decideRobots({ kind: 'response', status: 204 }, OPTIONS).rules.patterns, []);
});

test('decideRobots allows everything on a 4xx and never reads its body (Scrapy 2.8)', () => {
  for (const status of [400, 401, 403, 404, 410, 451, 499]) {
    const decision = decideRobots(answer(status, 'User-agent: *\nDisallow: /'), OPTIONS);
    deepStrictEqual([decision.kind, decision.rules], ['allow-all', ALLOW_ALL], `${status}`);
  }
});

test('decideRobots allows everything after too many or unusable redirects', () => {
  for (const kind of ['redirect-limit', 'redirect-invalid'] as const) {
    strictEqual(decideRobots({ kind }, OPTIONS).kind, 'allow-all');
  }
});

test('decideRobots forbids everything while the file is unreachable, and asks again', () => {
  const outcomes: RobotsFetchOutcome[] = [429, 500, 503, 599, 304, 600, 0].map((status) =>
    answer(status),
  );
  for (const reason of [
    'dns',
    'connect-timeout',
    'read-timeout',
    'reset',
    'tls',
    'protocol',
  ] as const) {
    outcomes.push({ kind: 'unreachable', reason });
  }
  for (const outcome of outcomes) {
    const decision = decideRobots(outcome, OPTIONS);
    deepStrictEqual([decision.kind, decision.rules], ['disallow-all', DISALLOW_ALL]);
    deepStrictEqual(
      [decision.retryInMs, decision.expiresInMs],
      [ROBOTS_RETRY_MS_FIRST, ROBOTS_RETRY_MS_FIRST],
    );
  }
});

test('decideRobots uses the copy at hand while the file is unreachable, however long', () => {
  for (const unreachableMs of [0, 2 * ROBOTS_UNREACHABLE_MS_MAX]) {
    const decision = decideRobots(answer(503), { ...OPTIONS, previous: PREVIOUS, unreachableMs });
    deepStrictEqual([decision.kind, decision.stale, decision.rules], ['rules', true, PREVIOUS]);
  }
});

test('decideRobots takes the file as unavailable after 30 days without a copy', () => {
  const after = (unreachableMs: number): string =>
    decideRobots(answer(503), { ...OPTIONS, unreachableMs, failures: 200 }).kind;
  strictEqual(after(ROBOTS_UNREACHABLE_MS_MAX - 1), 'disallow-all');
  strictEqual(after(ROBOTS_UNREACHABLE_MS_MAX), 'allow-all');
});

test('decideRobots doubles the wait with each failure up to its bound, and Retry-After lengthens it', () => {
  const wait = (failures: number, retryAfterSeconds = 0): number | undefined =>
    decideRobots({ kind: 'response', status: 503, retryAfterSeconds }, { ...OPTIONS, failures })
      .retryInMs;
  deepStrictEqual(
    [0, 1, 2].map((failures) => wait(failures)),
    [4_000, 8_000, 16_000],
  );
  strictEqual(wait(1_000), ROBOTS_RETRY_MS_MAX);
  strictEqual(wait(0, 60), 60_000);
  strictEqual(wait(3, 1), 32_000);
  strictEqual(wait(0, 1e9), ROBOTS_FRESH_MS_MAX);
});

test('decideRobots renews the copy at hand on a 304', () => {
  const decision = decideRobots(answer(304), { ...OPTIONS, previous: PREVIOUS });
  deepStrictEqual([decision.kind, decision.stale, decision.rules], ['rules', false, PREVIOUS]);
  strictEqual(decision.expiresInMs, ROBOTS_FRESH_MS_MAX);
});

test('robotsFreshMs shortens 24 hours by max-age less Age, and not under ten minutes', () => {
  strictEqual(robotsFreshMs(undefined, 0), ROBOTS_FRESH_MS_MAX);
  strictEqual(robotsFreshMs('public, max-age=3600', 0), 3_600_000);
  strictEqual(robotsFreshMs('Max-Age="3600"', 600), 3_000_000);
  strictEqual(robotsFreshMs('max-age=3600', Number.NaN), 3_600_000);
  strictEqual(robotsFreshMs('s-maxage=5, max-age=99999999', 0), ROBOTS_FRESH_MS_MAX);
  for (const value of ['max-age=0', 'no-store', 'no-cache', 'private, no-cache="x"']) {
    strictEqual(robotsFreshMs(value, 0), ROBOTS_FRESH_MS_MIN, value);
  }
});
