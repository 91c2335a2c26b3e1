import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { parseSitemap } from '../../../src/domain/sitemap.ts';
import { inSiteOrder } from '../../../src/domain/sitemap-order.ts';

const url = 'https://a.test/sitemap.xml';

function orderOf(...entries: readonly string[]): string {
  const locs = entries.map((more, at) => `<url><loc>https://a.test/${at}</loc>${more}</url>`);
  const bytes = new TextEncoder().encode(`<urlset>${locs.join('')}</urlset>`);
  return inSiteOrder(parseSitemap(bytes, { url }).entries)
    .map(({ loc }) => loc.slice('https://a.test/'.length))
    .join('');
}

test('inSiteOrder puts first what the site thinks of first, and of equals what changed last', () => {
  const low = '<priority>0.1</priority>';
  const high = '<priority>0.9</priority>';
  strictEqual(orderOf(low, '', high, '<priority>0.5</priority>'), '2130');
  const old = '<lastmod>2019-05-01</lastmod>';
  const recent = '<lastmod>2026-05-01T10:00:00Z</lastmod>';
  strictEqual(orderOf('', old, recent), '210');
  strictEqual(orderOf(low + recent, old), '10');
});

test('inSiteOrder leaves a sitemap without hints, or with equal ones, in its order', () => {
  strictEqual(orderOf('', '', '', ''), '0123');
  strictEqual(orderOf(...Array.from({ length: 8 }, () => '<priority>1.0</priority>')), '01234567');
  deepStrictEqual(inSiteOrder([]), []);
});
