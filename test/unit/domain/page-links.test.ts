import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLinkHeader } from '../../../src/domain/link-header.ts';
import { parseRefresh } from '../../../src/domain/meta-refresh.ts';
import { extractLinks, type PageInput } from '../../../src/domain/page-links.ts';
import { resolveReference } from '../../../src/domain/resolve-reference.ts';

const parse = (html: string, more: Partial<PageInput> = {}) =>
  extractLinks({
    url: 'http://h.example/d/p',
    contentType: 'text/html; charset=utf-8',
    body: Buffer.from(html),
    userAgent: 'hostler/1.0 (+x)',
    ...more,
  });
const urls = (html: string, more?: Partial<PageInput>) =>
  parse(html, more).links.map((link) => link.url);

test('extractLinks resolves, drops fragments and other schemes, and keeps each URL once', () => {
  const html =
    '<a href=a#x><a href=a#y><a href=#top><a href=mailto:a@b><a href="http://[bad"><a href=HTTP://H2.example>';
  assert.deepEqual(urls(html), ['http://h.example/d/a', 'http://h2.example/']);
});

test('extractLinks resolves the same with and without a fragment', () => {
  assert.deepEqual(urls('<a href="a #x"><a href="?q#x"><a href="//o.example#x"><a href=" \n#x">'), [
    'http://h.example/d/a%20',
    'http://h.example/d/p?q',
    'http://o.example/',
  ]);
});

test('extractLinks follows a URL that is nofollow in one place and not in another', () => {
  const { links } = parse('<a rel=nofollow href=a><a href=a><a rel=nofollow href=b>');
  assert.deepEqual(links, [
    { url: 'http://h.example/d/a' },
    { url: 'http://h.example/d/b', rel: 'nofollow', nofollow: true },
  ]);
});

test('extractLinks honours base elements, ignoring data: ones and failing with invalid ones', () => {
  assert.deepEqual(urls('<base href=//o.example/x/><a href=a>'), ['http://o.example/x/a']);
  assert.deepEqual(urls('<base href=data:,x><a href=a>'), ['http://h.example/d/a']);
  assert.deepEqual(urls('<base href="http://[bad"><a href=a><a href=http://c.example/>'), [
    'http://c.example/',
  ]);
});

test('extractLinks encodes queries in the page encoding and paths in UTF-8', () => {
  const body = Buffer.from('<a href="/\xe9?\xe9#\xe9">', 'latin1');
  assert.deepEqual(urls('', { body, contentType: 'text/html; charset=latin1' }), [
    'http://h.example/%C3%A9?%E9',
  ]);
});

test('extractLinks reads links, canonical, robots and refresh from headers of any type', () => {
  const page = parse('%PDF', {
    contentType: 'application/pdf',
    headers: [
      ['LINK', '</c>; rel=canonical, </n>; rel="next x"; title="a,b", </s>; rel=stylesheet'],
      ['x-robots-tag', 'noindex'],
      ['Refresh', '3; url=/r'],
    ],
  });
  assert.equal(page.canonical, 'http://h.example/c');
  assert.deepEqual(
    page.links.map((link) => link.url),
    ['http://h.example/c', 'http://h.example/n'],
  );
  assert.deepEqual([page.noindex, page.nofollow], [true, false]);
  assert.deepEqual(page.refresh, { delaySeconds: 3, url: 'http://h.example/r' });
});

test('extractLinks reports sitemaps by content, text ones by name too', () => {
  const xml = '<?xml version="1.0"?><urlset><url><loc>http://h.example/1</loc></url></urlset>';
  assert.deepEqual(parse(xml).sitemap, [{ loc: 'http://h.example/1' }]);
  const text = { contentType: 'text/plain', url: 'http://h.example/sitemap.txt' };
  assert.deepEqual(parse('http://h.example/2\n', text).sitemap, [{ loc: 'http://h.example/2' }]);
  assert.equal(parse('http://h.example/2\n', { contentType: 'text/plain' }).sitemap, undefined);
  const feed = '<rss><channel><item><link>http://h.example/3</link></item></channel></rss>';
  assert.deepEqual(urls(feed, { contentType: 'application/rss+xml' }), ['http://h.example/3']);
});

test('parseRefresh follows the shared declarative refresh steps', () => {
  const of = (content: string) => parseRefresh(content)?.reference;
  assert.equal(of(' 0 ; URL = "/a" x'), '/a');
  assert.equal(of("0,url='/a"), '/a');
  assert.equal(of('5'), '');
  assert.equal(of('1 /plain'), '/plain');
  assert.equal(of('0;urls'), 'urls');
  for (const content of ['', 'x', ';url=/a', '-1;url=/a', '0x;url=/a'])
    assert.equal(of(content), undefined);
  assert.equal(parseRefresh(`${'9'.repeat(400)};url=/a`)?.delaySeconds, 31_536_000);
});

test('parseLinkHeader passes over what is malformed and links with an anchor', () => {
  assert.deepEqual(
    parseLinkHeader('x, <a>, <b>; rel=Next; rel=z, <c>; anchor="#x"; rel=next, <d'),
    [
      { reference: 'a', rel: '' },
      { reference: 'b', rel: 'next' },
    ],
  );
});

test('extractLinks joins all robots directives that address us, by header and meta', () => {
  const of = (header: string, meta = '') => {
    const { noindex, nofollow } = extractLinks({
      url: 'https://h.example/',
      contentType: 'text/html',
      headers: [['X-Robots-Tag', header]],
      body: new TextEncoder().encode(`<meta name="hostler" content="${meta}">`),
      userAgent: 'Hostler/1.0',
    });
    return { noindex, nofollow };
  };
  assert.deepEqual(of('other: noindex, nofollow'), { noindex: false, nofollow: false });
  assert.deepEqual(of('other: noindex, hostler: nofollow'), { noindex: false, nofollow: true });
  assert.deepEqual(of('unavailable_after: 25 Jun 2010 15:00:00 PST, NoIndex'), {
    noindex: true,
    nofollow: false,
  });
  assert.deepEqual(of('max-snippet:20', 'none'), { noindex: true, nofollow: true });
  assert.deepEqual(of(''), { noindex: false, nofollow: false });
});

test('resolveReference answers http and https URLs only', () => {
  assert.equal(resolveReference('../x?y#z', 'https://h.example/a/b/c'), 'https://h.example/a/x?y');
  assert.equal(resolveReference('x', 'nonsense'), undefined);
  assert.equal(resolveReference('javascript:1', 'https://h.example/'), undefined);
});
