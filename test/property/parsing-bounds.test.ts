// Nothing a server sends may throw, hang, or take more than linear time (DESIGN.md §5): arbitrary bytes through every parser of step 11,
// and the inputs known to make parsers quadratic, at one size and at its double.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanLinks } from '../../src/domain/link-scanner.ts';
import { extractLinks } from '../../src/domain/page-links.ts';
import { parseSitemap } from '../../src/domain/sitemap.ts';
import { parsePage } from '../../src/parsers/page-parser.ts';

const MARKUP = [
  '<a href=',
  '"',
  "'",
  '>',
  '<',
  '</',
  '<!--',
  '-->',
  '<script',
  '</script',
  '<svg>',
  '<math>',
  '<template>',
  '</template>',
  '<select>',
  '<![CDATA[',
  ']]>',
  '<meta charset=',
  'utf-16',
  'gb18030',
  'iso-2022-jp',
  '&#x',
  '&amp',
  ';',
  '<title>',
  '<base href=',
  '<?xml',
  '<loc>',
  '<urlset>',
  '<url>',
  '<rss>',
  '<item>',
  '<link>',
  '\0',
  '\x1b$B',
  '\u20ac',
  '<meta http-equiv=refresh content="',
  '0;url=',
  '<xmp>',
];
const CHARSETS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'gbk',
  'big5',
  'shift_jis',
  'iso-2022-jp',
  'euc-kr',
  'x-user-defined',
  'iso-8859-16',
  'hz-gb-2312',
  'nonsense',
];

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc
    .array(fc.oneof(fc.constantFrom(...MARKUP), fc.string({ maxLength: 8 })), { maxLength: 60 })
    .map((parts) => new Uint8Array(Buffer.from(parts.join(''), 'utf8'))),
);

test('extractLinks and parsePage answer absolute links for any bytes, type and charset', () => {
  const types = [
    'text/html',
    'application/xhtml+xml',
    'text/xml',
    'text/plain',
    'application/rss+xml',
    'image/png',
    '',
  ];
  fc.assert(
    fc.property(
      anyBytes,
      fc.constantFrom(...types),
      fc.constantFrom(...CHARSETS),
      (body, type, charset) => {
        const contentType = `${type}; charset=${charset}`;
        const page = {
          url: 'http://example.com/sitemap.txt',
          contentType,
          body,
          userAgent: 'hostler',
        };
        for (const { url } of [...extractLinks(page).links, ...parsePage(page).links]) {
          assert.match(url, /^https?:\/\/[^#]+$/);
        }
      },
    ),
    { numRuns: 400 },
  );
});

test('parseSitemap answers for any bytes', () => {
  fc.assert(
    fc.property(anyBytes, (body) => {
      for (const { loc } of parseSitemap(body, { url: 'http://example.com/s.xml' }).entries) {
        assert.match(loc, /^https?:/);
      }
    }),
    { numRuns: 300 },
  );
});

test('scanLinks reads a page the same whether it is a Buffer slice or its own array', () => {
  fc.assert(
    fc.property(anyBytes, (body) => {
      const padded = Buffer.concat([
        Buffer.from('<a href=/before>'),
        body,
        Buffer.from('<a href=/after>'),
      ]);
      const slice = padded.subarray(16, 16 + body.length);
      assert.deepEqual(scanLinks(slice), scanLinks(body));
    }),
    { numRuns: 200 },
  );
});

/** Pieces that, repeated, have made parsers quadratic. */
const HOSTILE = [
  '<',
  '</',
  '<a',
  '<a href="',
  "<a href='x",
  '<!--',
  '<!-',
  '--',
  '<!--->',
  '<script>',
  '<script><!--<script>',
  '</script',
  '<svg>',
  '<svg><title>',
  '<math><mi>',
  '<svg><style>',
  '<svg><![CDATA[',
  '<svg></p><xmp><!--',
  '<select><style><!--',
  '<select><xmp>',
  '<frameset><style>',
  '<template>',
  '<template><svg>',
  '</template>',
  '&',
  '&#',
  '&amp',
  '&#x1',
  '<title>',
  '<title>&',
  '<textarea></textare',
  '<a href=&amp>',
  '<meta charset=x>',
  '<meta name=robots content=noindex>',
  '<link rel=canonical href=x>',
  '<base href=x>',
  ' href=x',
  '=',
  '<a =',
  '<a a',
  '"',
  '\0',
  '\xff',
  '<div><svg><g></div>',
  '<p a=">',
  '<loc>',
  '<url><loc>http://a/',
  '<![CDATA[',
  '<item><link>',
  '<?',
  '<!x',
];

/** CPU time of one run, in milliseconds. */
function cost(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test('extractLinks and parseSitemap take linear time on hostile pages', () => {
  const starts = ['', '<svg>', '<svg></div>', '<urlset>', '<rss>', '<!doctype x ['];
  for (const start of starts) {
    for (const piece of HOSTILE) {
      const bytesOf = (size: number) =>
        Buffer.from(start + piece.repeat(Math.ceil(size / piece.length)), 'latin1');
      const run = (body: Uint8Array) => {
        extractLinks({ url: 'http://a/', contentType: 'text/html', body, userAgent: 'x' });
        if (start !== '<svg>') parseSitemap(body, { url: 'http://a/' });
      };
      const small = bytesOf(20_000);
      const large = bytesOf(160_000);
      run(large);
      const slow = cost(() => run(large));
      // Eight times the bytes; a quadratic parser takes sixty-four times the time. Fast runs are too short to compare.
      if (slow < 25) continue;
      const quick = Math.max(
        2,
        cost(() => run(small)),
      );
      assert.ok(
        slow < quick * 30,
        `${JSON.stringify(start + piece)}: ${quick} ms, then ${slow} ms`,
      );
    }
  }
});
