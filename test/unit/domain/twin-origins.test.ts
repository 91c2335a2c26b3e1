// Origins that show what another one shows: when one yields, which of the two, and that a part in common is not enough.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import {
  AGREEMENTS_MIN,
  areTwins,
  TwinOrigins,
  type TwinRow,
  twinUrl,
} from '../../../src/domain/twin-origins.ts';

const pathOf = (n: number): string => `/page-${n}?x=${n}`;

/** `own` after `count` pages of which every `each`-th had been on `other` before, while all paths of `other` are known. */
function afterCopies(own: string, other: string, count: number, each = 1): TwinOrigins {
  const twins = new TwinOrigins(undefined);
  for (let page = 0; page < count; page += 1) {
    const repeats = page % each === 0 ? other + pathOf(page) : '';
    twins.pageSeen({ url: own + pathOf(page), repeats }, () => true);
  }
  return twins;
}

test('TwinOrigins.yieldsTo names the origin that five pages in a row were copies of', () => {
  const [own, other] = ['http://site.test', 'https://site.test'];
  strictEqual(afterCopies(own, other, AGREEMENTS_MIN - 1).yieldsTo(`${own}/new`), undefined);
  const pair = afterCopies(own, other, AGREEMENTS_MIN).yieldsTo(`${own}/new?a=b`);
  deepStrictEqual(pair, { own, other, agreements: 5, compared: 5 });
  strictEqual(twinUrl(`${own}/new?a=b`, pair), 'https://site.test/new?a=b');
  strictEqual(afterCopies(own, other, 9).yieldsTo('http://site.test:8080/new'), undefined);
});

test('TwinOrigins.yieldsTo lets one of two yield that are crawled at once: the one that is not preferred', () => {
  const yielding = ([own, other]: readonly [string, string]): boolean =>
    afterCopies(own, other, 40, 2).yieldsTo(`${own}/x`) !== undefined;
  const pairs = [
    ['http://site.test', 'https://site.test'],
    ['https://www.site.test', 'https://site.test'],
    ['http://site.test', 'https://www.site.test'],
    ['http://b.test', 'http://a.test'],
  ] as const;
  for (const [own, other] of pairs) {
    ok(yielding([own, other]), own);
    ok(!yielding([other, own]), other);
  }
  ok(
    afterCopies('https://site.test', 'http://site.test', 20).yieldsTo('https://site.test/x'),
    'a copy through and through yields even so',
  );
});

test('TwinOrigins.yieldsTo is not misled by a few pages in common, nor by equal pages under other paths', () => {
  const [own, other] = ['http://b.test', 'http://a.test'];
  strictEqual(afterCopies(own, other, 100, 5).yieldsTo(`${own}/x`), undefined);
  const moved = new TwinOrigins(undefined);
  for (let page = 0; page < 50; page += 1) {
    moved.pageSeen({ url: own + pathOf(page), repeats: `${other}/old${pathOf(page)}` }, () => true);
  }
  ok(moved.isEmpty);
});

test('TwinOrigins compares only what both have: pages that the other lacks do not count', () => {
  const [own, other] = ['http://b.test', 'http://a.test'];
  const twins = afterCopies(own, other, 6);
  for (let page = 0; page < 500; page += 1) {
    twins.pageSeen({ url: `${own}/own-${page}`, repeats: '' }, () => false);
  }
  ok(twins.yieldsTo(`${own}/x`));
  const [row] = new TwinOrigins(twins.stored()).stored();
  deepStrictEqual(row, { own, other, agreements: 6, compared: 6 });
});

test('TwinOrigins remembers four pairs, the ones that agree most', () => {
  const twins = afterCopies('http://b.test', 'http://a.test', 6);
  for (let host = 0; host < 50; host += 1) {
    twins.pageSeen({ url: 'http://b.test/x', repeats: `http://other-${host}.test/x` }, () => false);
  }
  strictEqual(twins.stored().length, 4);
  ok(twins.yieldsTo('http://b.test/x'));
});

test('areTwins: scheme and www apart the names are equal', () => {
  const pair = (own: string, other: string): TwinRow => ({
    own,
    other,
    agreements: 5,
    compared: 5,
  });
  ok(areTwins(pair('http://www.site.test', 'https://site.test')));
  ok(!areTwins(pair('http://site.test', 'http://site.test:8080')));
  ok(!areTwins(pair('http://a.site.test', 'http://site.test')));
});
