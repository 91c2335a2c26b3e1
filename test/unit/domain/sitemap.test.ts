import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOCATIONS_MAX, parseSitemap } from '../../../src/domain/sitemap.ts';
import { feedTimestamp, w3cTimestamp } from '../../../src/domain/timestamps.ts';
import { decodeXml, xmlAttribute } from '../../../src/domain/xml-text.ts';

const parse = (text: string, contentType?: string) =>
  parseSitemap(Buffer.from(text), { url: 'http://h.example/sitemap.xml', contentType });
const locations = (text: string) => parse(text).entries.map((entry) => entry.loc);

test('parseSitemap reads entries whose elements are not closed', () => {
  assert.deepEqual(
    locations(
      '<urlset><url><loc>http://a/1<lastmod>2020<url><loc>http://a/2</url><url><loc>http://a/3',
    ),
    ['http://a/1', 'http://a/2', 'http://a/3'],
  );
});

test('parseSitemap takes only locations that stand directly in an entry', () => {
  const image = '<image:image><image:loc>http://a/i</image:loc></image:image>';
  const plain = '<image><loc>http://a/j</loc><url><loc>http://a/k</loc></url></image>';
  assert.deepEqual(
    locations(
      `<urlset><loc>http://a/x</loc><url>${image}${plain}<loc>http://a/1</loc></url></urlset>`,
    ),
    ['http://a/1'],
  );
});

test('parseSitemap never expands entities a document declares', () => {
  assert.deepEqual(
    locations(
      '<!DOCTYPE u [<!ENTITY x "http://a/e">]><urlset><url><loc>&x;</loc></url><url><loc>http://a/?a&b&amp;c&#38;</loc></url>',
    ),
    ['http://a/?a&b&c&'],
  );
});

test('parseSitemap mends hosts without scheme and paths, and drops other schemes', () => {
  const xml = (loc: string) => locations(`<urlset><url><loc>${loc}</loc></url></urlset>`);
  assert.deepEqual(xml('www.a.example/x'), ['http://www.a.example/x']);
  assert.deepEqual(xml('h.example/x'), ['http://h.example/x']);
  assert.deepEqual(xml('/x#y'), ['http://h.example/x']);
  assert.deepEqual(xml('ftp://a/x'), []);
});

test('parseSitemap stops at 50,000 locations and says so', () => {
  const sitemap = parse('http://a/x\n'.repeat(LOCATIONS_MAX + 10));
  assert.deepEqual([sitemap.entries.length, sitemap.truncated], [LOCATIONS_MAX, true]);
});

test('parseSitemap reads the encoding of an XML declaration', () => {
  const bytes = Buffer.from(
    '<?xml version="1.0" encoding="iso-8859-1"?><urlset><url><loc>http://a/\xe9</loc></url></urlset>',
    'latin1',
  );
  assert.equal(parseSitemap(bytes, { url: 'http://a/' }).entries[0]?.loc, 'http://a/%C3%A9');
});

test('parseSitemap takes the alternate link and the latest date of an Atom entry', () => {
  const atom =
    '<feed><link href="/f"/><entry><link rel="self" href="/s"/><link href="/1?a=1&amp;b=2"/><published>2020-01-01</published>' +
    '<updated>2021-01-01</updated></entry></feed>';
  assert.deepEqual(parse(atom).entries, [
    { loc: 'http://h.example/1?a=1&b=2', lastmod: '2021-01-01' },
  ]);
});

test('w3cTimestamp and feedTimestamp refuse what is no date', () => {
  assert.equal(w3cTimestamp(' 2005-01-01T20:00:00.5+02:00 '), '2005-01-01T20:00:00.5+02:00');
  for (const text of [
    '',
    '2005-13-01',
    '2005-01-32',
    '01/02/2005',
    '20050101',
    '2005-01-01T25:00Z',
  ]) {
    assert.equal(w3cTimestamp(text), undefined, text);
  }
  assert.equal(feedTimestamp('Sun, 6 Sep 09 16:20 EST'), '2009-09-06T16:20:00-05:00');
  assert.equal(feedTimestamp('6 Foo 2009 16:20:00 GMT'), undefined);
});

test('decodeXml and xmlAttribute read entities and both kinds of quotes', () => {
  assert.equal(decodeXml('a &lt; &nope; &#x41;&#65 & b &eacute;'), 'a <  AA & b é');
  assert.equal(xmlAttribute(` x='1' atom:href = "a&amp;b"`, 'href'), 'a&b');
  assert.equal(xmlAttribute(' data="href=x"', 'href'), undefined);
});
