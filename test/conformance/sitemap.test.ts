// parseSitemap, with its unpacking, against the sitemap cases; and the sitemaps that a parsed page reports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSitemap } from '../../src/domain/sitemap.ts';
import { parsePage } from '../../src/parsers/page-parser.ts';
import { unpackSitemap } from '../../src/parsers/sitemap-bytes.ts';
import { loadCases } from '../support/cases.ts';

interface SitemapCase {
  id: string;
  note?: string;
  test?: string;
  url: string;
  contentType: string | null;
  content?: string;
  contentBase64?: string;
  contentParts?: { text: string; times: number }[];
  kind: string;
  expected: { loc: string; lastmod?: string; priority?: number; changefreq?: string }[];
  optional?: string[];
  forbidden?: string[];
}

const suite = loadCases('sitemap.json') as { cases: SitemapCase[] } | undefined;

function bytesOf(given: SitemapCase): Uint8Array {
  const text =
    given.contentParts?.map((part) => part.text.repeat(part.times)).join('') ?? given.content;
  return text === undefined ? Buffer.from(given.contentBase64!, 'base64') : Buffer.from(text);
}

function locations(given: SitemapCase, entries: readonly { loc: string }[]): string[] {
  const optional = new Set(given.optional ?? []);
  return [...new Set(entries.map((entry) => entry.loc))].filter((loc) => !optional.has(loc)).sort();
}

for (const given of suite?.cases ?? []) {
  // sitemap-043 is contested (a list of URLs under an unknown type): content decides, so we read it.
  test(`parseSitemap conforms to ${given.id} ${given.note ?? given.test ?? ''}`, () => {
    const unpacked = unpackSitemap(bytesOf(given));
    assert.equal(unpacked.kind, 'ok');
    if (unpacked.kind !== 'ok') return;
    const contentType = given.contentType ?? undefined;
    const sitemap = parseSitemap(unpacked.bytes, { url: given.url, contentType });
    assert.equal(sitemap.kind, given.kind);
    assert.deepEqual(locations(given, sitemap.entries), locations(given, given.expected));
    for (const loc of given.forbidden ?? []) assert.ok(!sitemap.entries.some((e) => e.loc === loc));
    for (const expected of given.expected) {
      const found = sitemap.entries.find((entry) => entry.loc === expected.loc);
      if (expected.lastmod !== undefined) {
        assert.equal(Date.parse(found!.lastmod!), Date.parse(expected.lastmod));
      }
      if (expected.priority !== undefined) assert.equal(found?.priority, expected.priority);
      if (expected.changefreq !== undefined)
        assert.equal(found?.changefreq, expected.changefreq.toLowerCase());
    }
  });

  test(`parsePage reports the sitemap of ${given.id}`, () => {
    const page = parsePage({
      url: given.url,
      contentType: given.contentType ?? undefined,
      body: bytesOf(given),
      userAgent: 'hostler',
    });
    assert.deepEqual(locations(given, page.sitemap ?? []), locations(given, given.expected));
  });
}

test('the sitemap cases are present', { skip: suite === undefined && 'no folder of cases' }, () => {
  assert.ok((suite?.cases.length ?? 0) > 40);
});
