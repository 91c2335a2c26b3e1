import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { SHAPE_COLUMNS } from '../../../src/domain/shape-table.ts';
import { trapOptions } from '../../../src/domain/traps.ts';
import {
  EMPTY_DOMAIN,
  earnedBudget,
  URL_BUDGET,
  UrlBudget,
} from '../../../src/domain/url-budget.ts';
import { ordinaryShape, shapeOf } from '../../../src/domain/url-shape.ts';

const TRAPS = trapOptions(2026);
const NOTHING = { pages: 0, freshPages: 0, inLinkDomains: 0 };

test('earnedBudget grows with links from other domains and new pages, and shrinks with known content', () => {
  const base = 10_000;
  strictEqual(earnedBudget(base, NOTHING), base);
  strictEqual(earnedBudget(base, { ...NOTHING, inLinkDomains: 100 }), 11 * base);
  const quarter = { ...NOTHING, pages: 10_000, freshPages: 2_500 };
  strictEqual(earnedBudget(base, quarter), (base + 2_500 * URL_BUDGET.urlsPerFreshPage) / 2);
  strictEqual(earnedBudget(base, { ...NOTHING, pages: 10_000 }), base / 20);
});

test('UrlBudget.judge lets a site of any size through as long as its pages are new', () => {
  const budget = new UrlBudget(undefined, { ...URL_BUDGET, urlsPerHost: 20, urlsPerDomain: 1_000 });
  let parked = 0;
  for (let at = 0; at < 500; at += 1) {
    const shape = ordinaryShape(`http://h.test/item/${at}`);
    if (budget.judge(shape, EMPTY_DOMAIN) !== undefined) parked += 1;
    else budget.admitted(shape);
    budget.pageSeen(shape, { isNew: true, form: at + 1 });
  }
  strictEqual(parked, 0);
  strictEqual(budget.urls, 500);
});

test('UrlBudget.judge names the budget that is used up: the host, its domain, the hosts of the domain', () => {
  const options = { ...URL_BUDGET, urlsPerHost: 2, urlsPerDomain: 5 };
  const budget = new UrlBudget(undefined, options);
  const shape = ordinaryShape('http://h.test/a');
  const domain = { ...EMPTY_DOMAIN, urls: 5 };
  strictEqual(budget.judge(shape, domain), 'domain-budget');
  strictEqual(budget.judge(shape, { ...domain, inLinkDomains: 1 }), undefined);
  strictEqual(budget.judge(shape, { ...EMPTY_DOMAIN, hosts: 500 }), 'domain-hosts');
  budget.admitted(shape);
  budget.admitted(shape);
  strictEqual(budget.judge(shape, EMPTY_DOMAIN), 'host-budget');
  strictEqual(budget.judge(shape, { ...EMPTY_DOMAIN, inLinkDomains: 1 }), undefined);
  budget.withdrawn(shape);
  strictEqual(budget.judge(shape, EMPTY_DOMAIN), undefined);
});

test('UrlBudget.judge gives up a shape of copies and errors soon', () => {
  const budget = new UrlBudget(undefined);
  let admitted = 0;
  for (let at = 0; at < 200; at += 1) {
    const shape = ordinaryShape(`http://h.test/cart?sid=${at}`);
    if (budget.judge(shape, EMPTY_DOMAIN) !== undefined) continue;
    admitted += 1;
    budget.admitted(shape);
    budget.pageSeen(shape, { isNew: at === 0, form: at === 0 ? 77 : 0 });
  }
  strictEqual(admitted, URL_BUDGET.pagesMin);
});

test('UrlBudget.judge gives up a shape whose pages differ in numbers only after many, whatever their digest', () => {
  const budget = new UrlBudget(undefined);
  let admitted = 0;
  for (let at = 0; at < 2_000; at += 1) {
    const shape = ordinaryShape(`http://h.test/cart?sid=${at}`);
    if (budget.judge(shape, EMPTY_DOMAIN) !== undefined) continue;
    admitted += 1;
    budget.admitted(shape);
    budget.pageSeen(shape, { isNew: true, form: 77 });
  }
  strictEqual(admitted, URL_BUDGET.ordinaryPagesMin);
  const shape = ordinaryShape('http://h.test/cart?sid=1');
  strictEqual(budget.judge(shape, EMPTY_DOMAIN), 'yield');
  ok(budget.isSpent(shape), 'those that wait for their turn are parked as well');
  strictEqual(budget.judge(ordinaryShape('http://h.test/about'), EMPTY_DOMAIN), undefined);
  budget.grant(1);
  strictEqual(budget.isSpent(shape), false, 'a review gives it a further trial');
});

test('UrlBudget.judge admits suspects up to an allowance, and further ones for new pages only', () => {
  const budget = new UrlBudget(undefined);
  const admitted = { fresh: 0, known: 0 };
  for (let at = 0; at < 200; at += 1) {
    const shape = shapeOf(`http://h.test/${'abcdefghij'[at % 10]}${at}?sort=s`, TRAPS);
    ok(shape.isSuspect);
    if (budget.judge(shape, EMPTY_DOMAIN) !== undefined) continue;
    budget.admitted(shape);
    // The first 100 URLs show new pages for every second one, later ones none.
    const isFresh = at < 100 && admitted.fresh % 2 === 0;
    admitted[at < 100 ? 'fresh' : 'known'] += 1;
    budget.pageSeen(shape, { isNew: isFresh, form: at + 1 });
  }
  deepStrictEqual(admitted, { fresh: 2 * (URL_BUDGET.urlsPerSuspect - 1), known: 0 });
});

test('UrlBudget remembers a bounded number of shapes, and one with many URLs among any number of others', () => {
  const budget = new UrlBudget(undefined);
  const large = ordinaryShape('http://h.test/list?page=1');
  for (let at = 0; at < 2_000; at += 1) {
    budget.admitted(ordinaryShape(`http://h.test/${'x'.repeat(1 + (at % 400))}`));
    if (at % 8 === 0) {
      budget.admitted(large);
      budget.pageSeen(large, { isNew: false, form: 0 });
    }
  }
  const { shapes, urls } = budget.stored();
  strictEqual(shapes.length, URL_BUDGET.shapesMax * SHAPE_COLUMNS);
  strictEqual(urls, 2_250);
  ok(budget.isSpent(large));
});

test('UrlBudget goes on from what it stored', () => {
  const budget = new UrlBudget(undefined);
  const shape = ordinaryShape('http://h.test/p/1');
  budget.admitted(shape);
  budget.pageSeen(shape, { isNew: true, form: 5 });
  budget.grant(3);
  const again = new UrlBudget(budget.stored());
  deepStrictEqual(again.stored(), budget.stored());
  strictEqual(again.pageSeen(shape, { isNew: true, form: 5 }), false);
});

test('shapeOf reads ids as one and words as themselves, and all suspects of a rule as one', () => {
  const same = (left: string, right: string): boolean =>
    shapeOf(left, TRAPS).shape === shapeOf(right, TRAPS).shape;
  ok(same('http://h/p;jsessionid=A0', 'https://g/p;jsessionid=B17'));
  ok(same('http://h/no-such-1', 'http://h/no-such-22'));
  ok(!same('http://h/list?page=2', 'http://h/list?side=2'));
  ok(!same('http://h/a', 'http://h/b'));
  ok(same('http://h/calendar/2026/01', 'http://h/agenda/2026/01/02'));
});
