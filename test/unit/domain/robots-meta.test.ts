import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import {
  parseRobotsDirectives,
  type RobotsDirectives,
  robotsHeaderSources,
} from '../../../src/domain/robots-meta.ts';

const header = (...values: string[]): RobotsDirectives =>
  parseRobotsDirectives(robotsHeaderSources(values), 'foobot');
const index = ({ noindex, nofollow }: RobotsDirectives): boolean[] => [noindex, nofollow];

test('parseRobotsDirectives adds up what is said to everybody and to this crawler', () => {
  const sources = [
    { agent: 'ROBOTS', content: 'NoIndex' },
    { agent: 'FooBot', content: 'nofollow,noarchive' },
    { agent: 'otherbot', content: 'nosnippet' },
  ];
  deepStrictEqual(parseRobotsDirectives(sources, 'foobot'), {
    noindex: true,
    nofollow: true,
    noarchive: true,
    nosnippet: false,
    noimageindex: false,
  });
});

test('parseRobotsDirectives reads none and all, and lets the stricter of two win', () => {
  deepStrictEqual(index(parseRobotsDirectives([{ content: 'none' }], 'foobot')), [true, true]);
  deepStrictEqual(index(parseRobotsDirectives([{ content: 'all' }], 'foobot')), [false, false]);
  deepStrictEqual(index(parseRobotsDirectives([{ content: 'index, noindex follow' }], 'foobot')), [
    true,
    false,
  ]);
});

test('robotsHeaderSources gives directives behind an agent to that agent only', () => {
  deepStrictEqual(index(header('otherbot: noindex, nofollow')), [false, false]);
  deepStrictEqual(index(header('foobot: nofollow')), [false, true]);
  deepStrictEqual(index(header('googlebot: nofollow', 'noindex')), [true, false]);
  deepStrictEqual(index(header('noindex, otherbot: nofollow, foobot: noarchive')), [true, false]);
  strictEqual(header('otherbot: none, FooBot: noarchive').noarchive, true);
});

test('robotsHeaderSources takes no valued directive for an agent', () => {
  deepStrictEqual(header('unavailable_after: 25 Jun 2010 15:00:00 PST, noindex'), {
    noindex: true,
    nofollow: false,
    noarchive: false,
    nosnippet: false,
    noimageindex: false,
    unavailableAfter: '25 Jun 2010 15:00:00 PST',
  });
  strictEqual(header('max-snippet:20, nosnippet').nosnippet, true);
  strictEqual(
    header('foobot: unavailable_after: Wednesday, 03-Sep-07 14:00 GMT').unavailableAfter,
    'Wednesday, 03-Sep-07 14:00 GMT',
  );
});

test('robotsHeaderSources leaves out empty parts', () => {
  deepStrictEqual(robotsHeaderSources(['', ' , ', 'a:', 'b: x']), [{ agent: 'b', content: 'x' }]);
});
