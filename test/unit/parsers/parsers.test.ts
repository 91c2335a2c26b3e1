import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { feedParser } from '../../../src/parsers/feed-parser.ts';
import { pageParser } from '../../../src/parsers/page-parser.ts';
import { parse5Links } from '../../../src/parsers/parse5-links.ts';
import { chooseParser } from '../../../src/parsers/parser.ts';
import { unpackSitemap } from '../../../src/parsers/sitemap-bytes.ts';

const page = {
  url: 'http://h.example/sitemap.xml.gz',
  contentType: 'application/gzip',
  body: gzipSync('<urlset><url><loc>http://h.example/1</loc></url></urlset>'),
  userAgent: 'hostler',
};

test('chooseParser takes the first parser that accepts the page', () => {
  const parsers = [feedParser, pageParser];
  assert.equal(chooseParser(parsers, 'application/rss+xml', page)?.name, 'feed');
  assert.equal(chooseParser(parsers, 'text/html', page)?.name, 'page');
  assert.equal(chooseParser([feedParser], 'text/html', page), undefined);
});

test('feedParser turns the entries of a feed into links', () => {
  const body = Buffer.from('<feed><entry><link href="/1"/></entry></feed>');
  const parsed = feedParser.parse({ ...page, contentType: 'application/atom+xml', body });
  assert.deepEqual(parsed.links, [{ url: 'http://h.example/1' }]);
});

test('pageParser unpacks a sitemap by its first bytes, not by its name', () => {
  const plain = Buffer.from('<urlset><url><loc>http://h.example/2</loc></url></urlset>');
  assert.deepEqual(pageParser.parse(page).sitemap, [{ loc: 'http://h.example/1' }]);
  assert.deepEqual(pageParser.parse({ ...page, body: plain }).sitemap, [
    { loc: 'http://h.example/2' },
  ]);
});

test('unpackSitemap joins members, keeps what a cut file holds, and bounds its output', () => {
  const joined = unpackSitemap(Buffer.concat([gzipSync('ab'), gzipSync('cd')]));
  assert.equal(joined.kind === 'ok' && Buffer.from(joined.bytes).toString(), 'abcd');
  const packed = gzipSync('x'.repeat(10_000), { level: 0 });
  const cut = unpackSitemap(packed.subarray(0, 5_000));
  assert.ok(cut.kind === 'ok' && cut.bytes.length > 1_000);
  assert.equal(unpackSitemap(gzipSync(Buffer.alloc(100_000)), 50_000).kind, 'too-large');
  assert.equal(unpackSitemap(Buffer.alloc(100), 50).kind, 'too-large');
  assert.equal(unpackSitemap(Buffer.from([0x1f, 0x8b, 9, 9, 9])).kind, 'damaged');
});

test('parse5Links leaves out templates and reads noscript as markup', () => {
  const { links, base } = parse5Links(
    '<base href=b><template><a href=x></template><noscript><a href=1></a></noscript>',
  );
  assert.deepEqual(links, [{ kind: 'a', reference: '1' }]);
  assert.equal(base, 'b');
});
