// Section 1 of field-bugs.md and the letter of RFC 9309 §2.2.2 and §2.2.3, as questions to the matcher.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { matchRobots } from '../../../src/domain/robots-matcher.ts';
import { parseRobots } from '../../../src/domain/robots-parser.ts';
import {
  ALLOW_ALL,
  DISALLOW_ALL,
  type RobotsRules,
  selectRules,
} from '../../../src/domain/robots-rules.ts';

const rulesOf = (...lines: string[]): RobotsRules =>
  selectRules(
    parseRobots(Buffer.from(['User-agent: *', ...lines].join('\n')), { bytesMax: 4_000_000 }),
    'hostler',
  );
const allowed = (rule: string | string[], path: string): boolean =>
  matchRobots(rulesOf(...[rule].flat()), `https://a.test${path}`).allowed;

test('matchRobots equates characters that may not stand in a URI with their escapes', () => {
  for (const path of ['/s?f[]=1', '/s?f%5B%5D=1', '/s?f%5b%5d=1']) {
    strictEqual(allowed('Disallow: /*?f[]=', path), false, path);
    strictEqual(allowed('Disallow: /*?f%5B%5D=', path), false, path);
  }
  for (const character of ['|', '^', '`', '{', '"', '<', "'", ' ', '\\']) {
    strictEqual(allowed(`Disallow: /a${character}b`, `/a${encodeURIComponent(character)}b`), false);
    strictEqual(allowed(`Disallow: /a${encodeURIComponent(character)}b`, `/a${character}b`), false);
  }
  strictEqual(allowed('Disallow: /a[1]', '/a[1]'), false);
});

test('matchRobots decodes unreserved escapes and keeps reserved ones apart', () => {
  strictEqual(allowed('Disallow: /foo/%62%61%7A', '/foo/baz'), false);
  strictEqual(allowed('Disallow: /foo/baz', '/foo/%62%61%7a'), false);
  strictEqual(allowed('Disallow: /~joe', '/%7Ejoe'), false);
  strictEqual(allowed('Disallow: /a%2Fb', '/a/b'), true);
  strictEqual(allowed('Disallow: /a%2fb', '/a%2Fb'), false);
  strictEqual(allowed('Disallow: /a%2Bb', '/a+b'), true);
});

test('matchRobots takes %2A and %24 for literal characters', () => {
  strictEqual(allowed('Disallow: /a%2Ab', '/a*b'), false);
  strictEqual(allowed('Disallow: /a%2Ab', '/a-x-b'), true);
  strictEqual(allowed('Disallow: /a%24', '/a$'), false);
  strictEqual(allowed('Disallow: /a%24', '/a'), true);
  strictEqual(allowed('Disallow: /a$b', '/a%24b'), false);
});

test('matchRobots equates the data characters of a query with their escapes (table of RFC 9309 §2.2.2)', () => {
  strictEqual(
    allowed('Disallow: /foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'),
    false,
  );
  strictEqual(
    allowed('Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https://foo.bar'),
    false,
  );
  strictEqual(allowed('Disallow: /*u=http%3A%2F%2F', '/x?u=http%3A%2F%2Fb'), false);
  strictEqual(allowed('Disallow: /*?u=a%26b', '/x?u=a&b'), true);
});

test('matchRobots compares characters beyond ASCII by their UTF-8 octets', () => {
  strictEqual(allowed('Disallow: /foo/ツ', '/foo/%E3%83%84'), false);
  strictEqual(allowed('Disallow: /foo/%e3%83%84', '/foo/ツ'), false);
  strictEqual(allowed('Disallow: /x', '/\ud800'), true);
});

test('matchRobots reads a percent sign that begins no escape literally', () => {
  strictEqual(allowed('Disallow: /100%', '/100%'), false);
  strictEqual(allowed('Disallow: /%zz', '/%zz'), false);
  strictEqual(allowed('Disallow: /*%', '/a%20b'), false);
});

test('matchRobots lets the longest rule decide and allow win a tie', () => {
  strictEqual(allowed(['Allow: /p', 'Disallow: /'], '/page'), true);
  strictEqual(allowed(['Disallow: /folder', 'Allow: /folder'], '/folder/page'), true);
  strictEqual(allowed(['Allow: /page', 'Disallow: /*.htm'], '/page.htm'), false);
  strictEqual(allowed(['Allow: /$', 'Disallow: /'], '/'), true);
  strictEqual(allowed(['Allow: /$', 'Disallow: /'], '/x'), false);
});

test('matchRobots reads $ as the end only at the end of a rule, also behind a slash (scrapy/protego #51)', () => {
  const rules = ['Disallow: /', 'Allow: /*/filter/page=*/$'];
  strictEqual(allowed(rules, '/a/filter/page=2/'), true);
  strictEqual(allowed(rules, '/a/filter/page=2/x'), false);
  strictEqual(allowed('Disallow: /a*$', '/abc'), false);
  strictEqual(allowed('Disallow: /*.php$', '/a.php.php'), false);
  strictEqual(allowed('Disallow: /ab*ab$', '/ab'), true);
});

test('matchRobots looks at path and query only: no host, fragment or missing path matter', () => {
  strictEqual(matchRobots(rulesOf('Disallow: /x'), 'https://a.com./x').allowed, false);
  strictEqual(matchRobots(rulesOf('Disallow: /x'), 'https://a.com/#/x').allowed, true);
  strictEqual(matchRobots(rulesOf('Disallow: /?q'), 'https://a.com?q=1').allowed, false);
  strictEqual(matchRobots(rulesOf('Disallow: /$'), 'https://a.com').allowed, false);
});

test('matchRobots always allows /robots.txt and nothing but it', () => {
  strictEqual(matchRobots(DISALLOW_ALL, 'https://a.test/robots.txt').allowed, true);
  strictEqual(matchRobots(DISALLOW_ALL, 'https://a.test/robots.txt?x').allowed, false);
  strictEqual(matchRobots(DISALLOW_ALL, 'https://a.test/').allowed, false);
  strictEqual(matchRobots(ALLOW_ALL, 'https://a.test/').allowed, true);
});

test('matchRobots names the deciding line', () => {
  const rules = rulesOf('Disallow: /a', '', 'Allow: /a/b');
  deepStrictEqual(matchRobots(rules, 'http://x/a/b/c'), {
    allowed: true,
    line: 4,
    rule: 'Allow: /a/b',
  });
  deepStrictEqual(matchRobots(rules, 'http://x/c'), { allowed: true });
});

test('matchRobots finds the strongest of many rules, whatever table each is in', () => {
  const fill = Array.from({ length: 40 }, (_, at) => `Disallow: /fill-${at}`);
  const rules = rulesOf(
    ...fill,
    'Disallow: /',
    'Allow: /ab',
    'Disallow: /abcd?x=http%3A',
    'Allow: /*z$',
    'Disallow: /abcdefghijklmnopq',
  );
  const verdict = (path: string): string | undefined => matchRobots(rules, `http://h${path}`).rule;
  strictEqual(verdict('/a'), 'Disallow: /');
  strictEqual(verdict('/abc'), 'Allow: /ab');
  strictEqual(verdict('/abcd?x=http://y'), 'Disallow: /abcd?x=http%3A');
  strictEqual(verdict('/abcdefghijklmnopqz'), 'Disallow: /abcdefghijklmnopq');
  strictEqual(verdict('/cz'), 'Allow: /*z$');
  strictEqual(verdict('/fill-7x'), 'Disallow: /fill-7');
});

test('matchRobots answers the patterns that hang others at once (Protego, robots-txt-parser #16)', () => {
  const before = process.cpuUsage();
  strictEqual(allowed('Disallow: /*a*a*a*a*a*a$', `/${'a'.repeat(60)}b`), true);
  strictEqual(allowed(`Disallow: /${'*a'.repeat(2_000)}$`, `/${'a'.repeat(2_100)}b`), true);
  strictEqual(
    allowed(
      ['Disallow: /*elysium.search***', 'Allow: *******/*IFP=true*'],
      `/${'elysium.'.repeat(250)}`,
    ),
    true,
  );
  strictEqual(allowed(`Disallow: /*${'a'.repeat(9_000)}b`, `/${'a'.repeat(20_000)}`), true);
  const { user } = process.cpuUsage(before);
  ok(user < 500_000, `${user} µs`);
});

test('matchRobots decides 20,000 wildcard rules on a path of 2,000 characters in milliseconds', () => {
  const rules = rulesOf(...Array.from({ length: 20_000 }, (_, at) => `Disallow: /*a*b${at}*c`));
  const url = `https://a.test/${'a'.repeat(1_000)}b19999${'c'.repeat(994)}`;
  strictEqual(matchRobots(rules, url).rule, 'Disallow: /*a*b19999*c');
  const before = process.cpuUsage();
  for (let turn = 0; turn < 10; turn++) strictEqual(matchRobots(rules, `${url}x`).allowed, false);
  const { user } = process.cpuUsage(before);
  ok(user < 500_000, `${user} µs for ten questions`);
});

test('matchRobots forbids what a hostile file makes too costly to decide', () => {
  const word = (at: number): string => at.toString(2).replaceAll('0', 'a').replaceAll('1', 'b');
  const rules = rulesOf(
    ...Array.from({ length: 9_000 }, (_, at) => `Disallow: /*aaa${word(at)}bb`),
  );
  const verdict = matchRobots(rules, `https://a.test/aabbbabaabb${'a'.repeat(1_990)}`);
  deepStrictEqual(verdict, {
    allowed: false,
    line: 0,
    rule: 'Disallow: (rules too costly to match)',
  });
  strictEqual(matchRobots(rules, 'https://a.test/page').allowed, true);
});
