// robots.txt as servers damage it and as an enemy would write it: read and matched in linear time, kept in bounded memory.
import { deepStrictEqual, ok } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchRobots } from '../../src/domain/robots-matcher.ts';
import { parseRobots } from '../../src/domain/robots-parser.ts';
import { absoluteSitemaps, type RobotsRules, selectRules } from '../../src/domain/robots-rules.ts';
import { damaged, fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, keptBytes, shapes, textOf } from '../support/fuzz/linear.ts';

const OPTIONS = { bytesMax: 512_000 };
const PIECES = [
  ...['User-agent: *\n', 'User-agent: hostler\n', 'user-agent:', 'Disallow: /', 'Disallow:'],
  ...['Allow: /', 'Crawl-delay: 9\n', 'Request-rate: 1/5\n', 'Sitemap: http://a/\n', 'sitemap:'],
  ...[
    '*',
    '$',
    '/',
    'a',
    '%2F',
    '%',
    '?',
    '=',
    '&',
    '#',
    ' ',
    '\t',
    '\r',
    '\n',
    '\0',
    '\xef\xbb\xbf',
  ],
  ...['/*a', '*/*', '.', '\xe9', ':', '*a*b'],
];
const PATHS = ['/', `/${'a'.repeat(2_000)}`, `/${'a/'.repeat(1_000)}`, '/a?a=%2F&b=*$', '/*$'];

function rulesOf(text: string): RobotsRules {
  return selectRules(parseRobots(Buffer.from(text, 'latin1'), OPTIONS), 'hostler');
}

fuzz(
  'parseRobots and matchRobots take linear time on any repeated lines',
  shapes(PIECES),
  (shape) => {
    checkLinear(shape, rulesOf);
  },
);

fuzz('matchRobots takes linear time on any repeated URL', shapes(PIECES), (shape) => {
  const rules = rulesOf('User-agent: *\nDisallow: /*a*a*a$\nDisallow: /a*/\nAllow: *a?*=\n');
  checkLinear(shape, (text) => matchRobots(rules, `http://site.test/${text}`));
});

const FILE = [
  '# comment',
  'User-agent: hostler/1.0',
  'User-agent: *',
  'Disallow: /private/*.html$',
  'Allow: /private/open%20page',
  'Crawl-delay: 2.5',
  '',
  'Sitemap: https://site.test/sitemap.xml',
].join('\r\n');

fuzz(
  'selectRules gives plain, matching rules for any damaged file',
  damaged(fc.constant(Buffer.from(FILE)), ':\n\r #*$%/\0'),
  (bytes) => {
    const rules = selectRules(parseRobots(bytes, OPTIONS), 'hostler');
    deepStrictEqual(structuredClone(rules), rules);
    for (const path of PATHS) matchRobots(rules, `http://site.test${path}`);
    for (const url of absoluteSitemaps(rules.sitemaps, 'http://site.test/robots.txt')) {
      ok(/^https?:/.test(url), url);
    }
    ok((rules.crawlDelaySeconds ?? 0) >= 0);
  },
);

test('parseRobots keeps rules in memory of a small multiple of what it read', () => {
  const units = [
    'Disallow: /a\n',
    'User-agent: *\nDisallow: /*a\n',
    'Sitemap: http://a/\n',
    'a:\n',
  ];
  for (const unit of units) {
    const text = textOf({ start: 'User-agent: *\n', unit, end: '' }, 4_000_000);
    const kept = keptBytes(() => rulesOf(text));
    // 512,000 bytes are read; the shortest rule of 13 bytes may cost an object or two.
    ok(kept < 40 * OPTIONS.bytesMax, `${JSON.stringify(unit)}: ${kept} bytes`);
  }
});
