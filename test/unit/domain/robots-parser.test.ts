import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import {
  PATTERN_CHARS_MAX,
  parseRobots,
  type RobotsFile,
  SITEMAPS_MAX,
} from '../../../src/domain/robots-parser.ts';
import {
  absoluteSitemaps,
  type RobotsRules,
  selectRules,
} from '../../../src/domain/robots-rules.ts';
import { ROBOTS_BYTES_LEAST } from '../../../src/domain/robots-text.ts';

const parse = (text: string | Uint8Array): RobotsFile =>
  parseRobots(typeof text === 'string' ? Buffer.from(text) : text, { bytesMax: 0 });
const rulesFor = (text: string | Uint8Array, agent = 'hostler'): RobotsRules =>
  selectRules(parse(text), agent);
const shown = (rules: RobotsRules): string[] =>
  rules.patterns.map(
    (pattern, at) => `${rules.allows[at] ? '+' : '-'}${pattern}:${rules.lines[at]}`,
  );

test('parseRobots counts lines over LF, CR and CRLF', () => {
  const rules = rulesFor('User-agent: *\r\nDisallow: /a\r\rDisallow: /b\n\nAllow: /c');
  deepStrictEqual(shown(rules), ['-/a:2', '-/b:4', '+/c:6']);
});

test('parseRobots strips a byte order mark before the first line (scrapy #6195)', () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, ...Buffer.from('User-agent: *\nDisallow: /')]);
  deepStrictEqual(shown(rulesFor(bytes)), ['-/:2']);
});

test('parseRobots keeps the valid lines of a Latin-1 file and escapes its octets (scrapy #6292)', () => {
  const bytes = Buffer.from('User-agent: *\n# caf\xe9\nDisallow: /caf\xe9\nDisallow: /b', 'latin1');
  deepStrictEqual(shown(rulesFor(bytes)), ['-/caf%E9:3', '-/b:4']);
});

test('parseRobots ends a line at a NUL, so that an agent with one is still everybody', () => {
  deepStrictEqual(shown(rulesFor('User-agent: *\0\nDisallow: /\0/x')), ['-/:2']);
});

test('parseRobots cuts a long file after the last whole line', () => {
  const head = 'User-agent: *\nDisallow: /a\n';
  const fill = `#${'x'.repeat(ROBOTS_BYTES_LEAST - head.length - 20)}\n`;
  const file = parse(`${head}${fill}Disallow: /whole-or-nothing\nDisallow: /late\n`);
  deepStrictEqual(shown(selectRules(file, 'hostler')), ['-/a:2']);
  strictEqual(file.truncated, true);
});

test('parseRobots keeps a line whose end is right at the limit', () => {
  const head = 'User-agent: *\n';
  const last = 'Disallow: /edge';
  const fill = `#${'x'.repeat(ROBOTS_BYTES_LEAST - head.length - last.length - 2)}\n`;
  deepStrictEqual(shown(rulesFor(`${head}${fill}${last}\nDisallow: /late`)), ['-/edge:3']);
});

test('parseRobots drops the unfinished line of a body that the fetcher cut', () => {
  const bytes = Buffer.from('User-agent: *\nDisallow: /a\nDisallow: /');
  const file = parseRobots(bytes, { bytesMax: ROBOTS_BYTES_LEAST, truncated: true });
  deepStrictEqual(shown(selectRules(file, 'hostler')), ['-/a:2']);
});

test('parseRobots keeps an agent list open over lines that are no rules', () => {
  const text = 'User-agent: other\nSitemap: http://a/s\nX: y\nUser-agent: hostler\nDisallow: /a';
  deepStrictEqual(shown(rulesFor(text)), ['-/a:5']);
  deepStrictEqual(shown(rulesFor(text, 'other')), ['-/a:5']);
});

test('parseRobots keeps the first of two agents that share a group (Norconex)', () => {
  deepStrictEqual(shown(rulesFor('User-agent: mybot\nUser-agent: other\nDisallow: /', 'mybot')), [
    '-/:3',
  ]);
});

test('parseRobots gives a rule before any agent to nobody (seomoz/reppy #47)', () => {
  const rules = rulesFor('Crawl-delay: 1\nDisallow: /\nUser-agent: *\nDisallow: /a');
  deepStrictEqual(shown(rules), ['-/a:4']);
  strictEqual(rules.crawlDelaySeconds, undefined);
});

test('parseRobots obeys a Crawl-delay in a file without any agent', () => {
  strictEqual(rulesFor('Crawl-delay: 7').crawlDelaySeconds, 7);
});

test('parseRobots gives the delay of everybody no rules of the next group (google/robotstxt #51)', () => {
  const text = 'User-agent: *\nCrawl-delay: 5\n\nUser-agent: badbot\nDisallow: /';
  strictEqual(rulesFor(text).crawlDelaySeconds, 5);
  strictEqual(rulesFor(text, 'badbot').crawlDelaySeconds, undefined);
});

test('parseRobots lets * and badbot share rules when only a delay stands between, by the letter of the RFC', () => {
  const text = 'User-agent: *\nCrawl-delay: 5\nUser-agent: badbot\nDisallow: /x\n';
  deepStrictEqual(shown(rulesFor(text)), ['-/x:4']);
});

test('parseRobots ignores a Crawl-delay that is negative, empty, infinite or no number', () => {
  for (const value of ['-5', '', '1e999', '9'.repeat(400), 'NaN', 'ten', '1,5', '0x10']) {
    strictEqual(
      rulesFor(`User-agent: *\nCrawl-delay: ${value}`).crawlDelaySeconds,
      undefined,
      value,
    );
  }
  for (const [value, seconds] of [
    ['0', 0],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['3.', 3],
  ] as const) {
    strictEqual(rulesFor(`User-agent: *\nCrawl-delay: ${value}`).crawlDelaySeconds, seconds);
  }
});

test('parseRobots reads Request-rate with its unit and ignores what is none', () => {
  const rate = (value: string): unknown =>
    rulesFor(`User-agent: *\nRequest-rate: ${value}`).requestRate;
  deepStrictEqual(rate('1/10m'), { requests: 1, seconds: 600 });
  deepStrictEqual(rate('2/5 0600-0845'), { requests: 2, seconds: 5 });
  for (const value of ['9/banana', 'whale/banana', '0/5', '1/0', '1/5x'])
    strictEqual(rate(value), undefined);
});

test('parseRobots reads a rule without a colon only when it is two words', () => {
  deepStrictEqual(shown(rulesFor('User-agent *\nDisallow /a\nDisallow all of it\nAllow')), [
    '-/a:2',
  ]);
});

test('parseRobots takes a run of stars for one', () => {
  deepStrictEqual(shown(rulesFor('User-agent: *\nDisallow: /a***b**$')), ['-/a*b*$:2']);
});

test('parseRobots cuts a too long path where that forbids more and drops it where that allows more', () => {
  const long = `/${'x'.repeat(PATTERN_CHARS_MAX)}`;
  const rules = rulesFor(`User-agent: *\nDisallow: ${long}\nAllow: ${long}`);
  deepStrictEqual(
    rules.patterns.map((pattern) => pattern.length),
    [PATTERN_CHARS_MAX],
  );
  deepStrictEqual(rules.allows, [false]);
});

test('parseRobots bounds the sitemaps of a file', () => {
  const lines = Array.from({ length: SITEMAPS_MAX + 5 }, (_, at) => `Sitemap: http://a.test/${at}`);
  strictEqual(parse(lines.join('\n')).sitemaps.length, SITEMAPS_MAX);
  strictEqual(parse(`Sitemap: http://a.test/${'x'.repeat(3_000)}`).sitemaps.length, 0);
});

test('selectRules merges the groups of one agent and drops repeated rules', () => {
  const text =
    'User-agent: A\nDisallow: /a\nUser-agent: *\nDisallow: /\nUser-agent: a\nDisallow: /a\nAllow: /b';
  deepStrictEqual(shown(rulesFor(text, 'a')), ['-/a:2', '+/b:7']);
});

test('selectRules compares names in full and without regard to case', () => {
  const text = 'User-agent: HOSTLER/2.0\nDisallow: /a\nUser-agent: *\nDisallow: /b';
  strictEqual(rulesFor(text, 'Hostler').group, 'hostler');
  strictEqual(rulesFor(text, 'hostler-news').group, '*');
  strictEqual(rulesFor(text, 'host').group, '*');
});

test('selectRules finds the longest name of a whole User-Agent that has a group', () => {
  const text =
    'User-agent: mozilla\nDisallow: /m\nUser-agent: hostler\nDisallow: /h\nUser-agent: bot\nDisallow: /b';
  const agent = 'Mozilla/5.0 (compatible; hostler/0.1; +https://bot.example/bot)';
  deepStrictEqual(shown(rulesFor(text, agent)), ['-/h:4']);
});

test('selectRules has no trouble with names of object properties (samclarke)', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    deepStrictEqual(shown(rulesFor('User-agent: *\nDisallow: /fish', name)), ['-/fish:2']);
    deepStrictEqual(shown(rulesFor(`User-agent: ${name}\nDisallow: /x`, name)), ['-/x:2']);
    strictEqual(rulesFor(`User-agent: ${name}\nDisallow: /x`).group, '');
  }
});

test('selectRules gives an agent with an empty group no rules of everybody', () => {
  const rules = rulesFor('User-agent: *\nDisallow: /\n\nUser-agent: hostler\n');
  deepStrictEqual([rules.group, rules.patterns], ['hostler', []]);
});

test('selectRules keeps the largest delay and the slowest rate of merged groups', () => {
  const text = ['9', '4'].map(
    (delay, at) => `User-agent: a\nCrawl-delay: ${delay}\nRequest-rate: 1/${at + 1}`,
  );
  const rules = rulesFor(text.join('\n'), 'a');
  deepStrictEqual([rules.crawlDelaySeconds, rules.requestRate], [9, { requests: 1, seconds: 2 }]);
});

test('selectRules returns plain data that survives a structured clone', () => {
  const rules = rulesFor('User-agent: *\nDisallow: /a\nCrawl-delay: 2\nSitemap: http://a/s');
  deepStrictEqual(structuredClone(rules), rules);
  ok(Object.values(rules).every((value) => typeof value !== 'function'));
});

test('absoluteSitemaps resolves, drops what is not http and repeats nothing', () => {
  const sitemaps = [
    '/s.xml',
    'http://a.test/s.xml',
    'ftp://a.test/x',
    'https://b.test/ü',
    'http://[',
  ];
  deepStrictEqual(absoluteSitemaps(sitemaps, 'http://a.test/robots.txt'), [
    'http://a.test/s.xml',
    'https://b.test/%C3%BC',
  ]);
  deepStrictEqual(absoluteSitemaps(['/s.xml'], undefined), []);
});
