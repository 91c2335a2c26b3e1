// Sitemaps and feeds, packed or not, whole or damaged: bounded in what they unpack to, linear in what they cost.
import { ok } from 'node:assert';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { extractLinks } from '../../src/domain/page-links.ts';
import { simhashOfText } from '../../src/domain/simhash.ts';
import { parseSitemap } from '../../src/domain/sitemap.ts';
import { parsePage } from '../../src/parsers/page-parser.ts';
import { unpackSitemap } from '../../src/parsers/sitemap-bytes.ts';
import { damaged, fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, keptBytes, shapes, textOf } from '../support/fuzz/linear.ts';

const URL = 'http://site.test/feed.xml';
const PIECES = [
  ...['<?xml version="1.0"?>', '<rss>', '<channel>', '<item>', '</item>', '<link>', '</link>'],
  ...['<feed xmlns="http://www.w3.org/2005/Atom">', '<entry>', '<link href="', '"/>', '<updated>'],
  ...['<urlset>', '<sitemapindex>', '<sitemap>', '<url>', '</url>', '<loc>', '</loc>', '<lastmod>'],
  ...[
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '<!DOCTYPE x [',
    '<!ENTITY a "aaaa">',
    ']>',
    '&a;',
    '&amp;',
  ],
  ...['&#x41;', '&', ';', '<', '>', '/', '"', "'", '=', ' ', '\n', 'http://a/', 'a', '\xe9', '\0'],
  ...['xmlns:x="', 'x:loc', '<x:', '<image:loc>', 'rel="alternate" ', 'xml:base="http://b/" '],
];

function page(text: string, contentType: string) {
  return { url: URL, contentType, body: Buffer.from(text, 'latin1'), userAgent: 'hostler' };
}

fuzz('extractLinks reads any feed in linear time', shapes(PIECES), (shape) => {
  const start = shape.start === '' ? '<rss>' : shape.start;
  checkLinear({ ...shape, start }, (text) => extractLinks(page(text, 'application/rss+xml')));
});

fuzz('parseSitemap reads any file in linear time', shapes(PIECES), (shape) => {
  checkLinear(shape, (text) => parseSitemap(Buffer.from(text, 'latin1'), { url: URL }));
});

fuzz(
  'simhashOfText reads any text in linear time',
  shapes([...PIECES, 'word ', '\u4e00']),
  (shape) => {
    checkLinear(shape, (text) => simhashOfText(Buffer.from(text, 'utf8')));
  },
);

const SITEMAP = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://site.test/a?b=1&amp;c=2</loc><lastmod>2024-05-01</lastmod></url>
<url><loc><![CDATA[http://site.test/b]]></loc></url></urlset>`;
const FEED = `<?xml version="1.0"?><rss version="2.0"><channel><link>http://site.test/</link>
<item><link>http://site.test/1</link><guid isPermaLink="true">http://site.test/1</guid></item></channel></rss>`;
const whole = fc.constantFrom(
  Buffer.from(SITEMAP),
  Buffer.from(FEED),
  gzipSync(SITEMAP),
  Buffer.from(SITEMAP, 'utf16le'),
);

fuzz(
  'parsePage and parseSitemap answer http(s) URLs for any damaged feed or sitemap, packed or not',
  damaged(whole, '<>&;"\'/=![]-\0\xff'),
  (body) => {
    for (const contentType of ['application/xml', 'application/rss+xml', 'application/gzip', '']) {
      for (const { url } of parsePage({ url: URL, contentType, body, userAgent: 'hostler' })
        .links) {
        ok(/^https?:\/\/[^#]+$/.test(url), url);
      }
    }
    const unpacked = unpackSitemap(body, 100_000);
    if (unpacked.kind !== 'ok') return;
    ok(unpacked.bytes.length <= 100_000);
    for (const { loc } of parseSitemap(unpacked.bytes, { url: URL }).entries) {
      ok(/^https?:/.test(loc), loc);
    }
  },
);

test('unpackSitemap gives a bomb up at its limit', () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const kept = keptBytes(() => unpackSitemap(bomb, 1_000_000));
  ok(unpackSitemap(bomb, 1_000_000).kind === 'too-large');
  ok(kept < 2_000_000, `${kept} bytes kept`);
});

test('parseSitemap and extractLinks keep memory in proportion to what they read', () => {
  for (const unit of [
    '<url><loc>http://a/',
    '<loc>http://a/</loc>',
    '<item><link>http://a/</link>',
  ]) {
    const text = textOf({ start: '<urlset>', unit, end: '' }, 2_000_000);
    const sitemap = keptBytes(() => parseSitemap(Buffer.from(text), { url: URL }));
    ok(sitemap < 30 * text.length, `${unit}: ${sitemap} bytes`);
    const links = keptBytes(() => extractLinks(page(text, 'application/xml')));
    ok(links < 30 * text.length, `${unit}: ${links} bytes`);
  }
});
