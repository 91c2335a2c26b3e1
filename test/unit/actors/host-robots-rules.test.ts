import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { HostRobots } from '../../../src/actors/host-robots.ts';
import type { RobotsAnswer } from '../../../src/actors/messages.ts';
import { robotsAnswerOf } from '../../../src/actors/page-outcome.ts';
import type { FetchResponse } from '../../../src/actors/ports.ts';
import { wallMs } from '../../../src/base/units.ts';
import { answer } from '../../fixtures/checkpoint-batches.ts';

const NOW = wallMs(1_700_000_000_000);
const HOUR = 3_600_000;
const ORIGIN = 'http://site.test';

/** An answer to a robots request. */
function file(text: string, status = 200, location?: string): RobotsAnswer {
  return {
    kind: 'response',
    status,
    cacheControl: undefined,
    ageSeconds: 0,
    retryAfterSeconds: 0,
    location,
    body: Buffer.from(text),
    truncated: false,
  };
}

function robotsWith(text: string, origin = ORIGIN): HostRobots {
  const robots = new HostRobots({ productToken: 'hostler', robotsBytesMax: 512_000 }, []);
  robots.asked(origin);
  robots.answered(origin, `${origin}/robots.txt`, file(text), NOW);
  return robots;
}

test('HostRobots.admission asks again for rules that are a day old', () => {
  const robots = robotsWith('User-agent: *\nDisallow: /private');
  const kindAt = (ms: number): string => robots.admission(`${ORIGIN}/a`, wallMs(NOW + ms)).kind;
  strictEqual(kindAt(24 * HOUR - 1), 'allowed');
  strictEqual(kindAt(24 * HOUR), 'fetch-first');
});

test('HostRobots asks again for rules that another process fetched after the start of this one, whatever the time is by now', () => {
  const policy = { productToken: 'hostler', robotsBytesMax: 512_000 };
  const residency = { entries: 0, visits: 0, waiting: 0 };
  const rows = robotsWith('User-agent: *\nDisallow: /private').rows();
  const kindIn = (startedAt: number, ms: number): string => {
    const robots = new HostRobots(policy, rows, { residency, startedAt: wallMs(startedAt) });
    return robots.admission(`${ORIGIN}/a`, wallMs(NOW + ms)).kind;
  };
  strictEqual(kindIn(NOW - HOUR, -HOUR), 'fetch-first');
  strictEqual(kindIn(NOW - HOUR, HOUR), 'fetch-first');
  strictEqual(kindIn(NOW + 1, HOUR), 'allowed');
  // The process that fetched them, at the host's next life.
  strictEqual(kindIn(0, HOUR), 'allowed');
});

test('HostRobots.admission denies what the rules deny and asks for those of each origin', () => {
  const robots = robotsWith('User-agent: *\nDisallow: /private');
  strictEqual(robots.admission(`${ORIGIN}/private/x`, NOW).kind, 'denied');
  strictEqual(robots.admission(`${ORIGIN}/public`, NOW).kind, 'allowed');
  strictEqual(robots.admission('https://site.test/public', NOW).kind, 'fetch-first');
});

test('HostRobots keeps the copy at hand while the file is unreachable, and denies all without one', () => {
  const robots = robotsWith('User-agent: *\nDisallow: /private');
  const later = wallMs(NOW + 25 * HOUR);
  robots.asked(ORIGIN);
  robots.answered(ORIGIN, `${ORIGIN}/robots.txt`, file('', 503), later);
  strictEqual(robots.admission(`${ORIGIN}/public`, later).kind, 'allowed');
  strictEqual(robots.admission(`${ORIGIN}/private/x`, later).kind, 'denied');
  const fresh = new HostRobots({ productToken: 'hostler', robotsBytesMax: 512_000 }, []);
  fresh.asked(ORIGIN);
  fresh.answered(ORIGIN, `${ORIGIN}/robots.txt`, file('', 503), later);
  strictEqual(fresh.admission(`${ORIGIN}/public`, later).kind, 'wait');
});

test('HostRobots.crawlDelaySeconds is the largest of all origins of the host', () => {
  const robots = robotsWith('User-agent: *\nCrawl-delay: 7');
  const other = 'https://site.test';
  robots.asked(other);
  robots.answered(other, `${other}/robots.txt`, file('User-agent: *\nCrawl-delay: 2'), NOW);
  strictEqual(robots.crawlDelaySeconds(), 7);
});

test('HostRobots.answered follows five redirects of robots.txt and takes the sixth for no file', () => {
  const robots = new HostRobots({ productToken: 'hostler', robotsBytesMax: 512_000 }, []);
  robots.asked(ORIGIN);
  const moved = file('', 301, '/next');
  for (let hop = 0; hop < 5; hop += 1) {
    const step = robots.answered(ORIGIN, `${ORIGIN}/robots.txt`, moved, NOW);
    deepStrictEqual(step, { kind: 'redirected', url: `${ORIGIN}/next` });
    strictEqual(robots.admission(`${ORIGIN}/a`, NOW).kind, 'wait');
  }
  strictEqual(robots.answered(ORIGIN, `${ORIGIN}/robots.txt`, moved, NOW).kind, 'decided');
  strictEqual(robots.admission(`${ORIGIN}/a`, NOW).kind, 'allowed');
});

test('robotsAnswerOf takes a file that broke off for none, and one cut at our own bound as far as it goes', () => {
  const whole = answer('User-agent: *\nDisallow: /');
  const verdict = { failure: undefined, retryAfterMs: 0 };
  const kindOf = (truncated: FetchResponse['truncated']): string =>
    robotsAnswerOf({ ...whole, truncated }, verdict, 512_000).kind;
  strictEqual(kindOf(undefined), 'response');
  strictEqual(kindOf('length'), 'response');
  strictEqual(kindOf('disconnect'), 'unreachable');
  strictEqual(kindOf('time'), 'unreachable');
});
