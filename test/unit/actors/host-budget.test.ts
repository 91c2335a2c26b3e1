// One host's budget over real queues and a real stage: what is parked, what is released, what the row keeps.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { HostBudget } from '../../../src/actors/host-budget.ts';
import type { PageSeen } from '../../../src/actors/host-known.ts';
import { HostQueues } from '../../../src/actors/host-queues.ts';
import { newHostRow } from '../../../src/actors/queue-recovery.ts';
import type { QueueEntry } from '../../../src/actors/rows.ts';
import type { HostServices } from '../../../src/actors/services.ts';
import { urlKey, wallMs } from '../../../src/base/units.ts';
import { URL_BUDGET } from '../../../src/domain/url-budget.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import { lendServices } from '../../support/actors/host-services.ts';

const hasher = createHasher(await xxhash(), 3n);
const HOUR_MS = 3_600_000;

/** A host that may have `urlsPerHost` URLs to begin with. */
function budgetOf(urlsPerHost: number) {
  const { services, id, checkpoint } = lendServices(hasher);
  const policy = { ...services.policy, budget: { ...URL_BUDGET, urlsPerHost } };
  const limited: HostServices = { ...services, policy, urlsOf: () => urlsPerHost };
  const queues = new HostQueues(limited, id, undefined);
  const budget = new HostBudget(limited, id, queues, undefined);
  return { services: limited, id, checkpoint, queues, budget };
}

let keys = 0n;
function entry(path: string, depth = 1): Omit<QueueEntry, 'sequence'> {
  keys += 1n;
  const url = `http://site.test${path}`;
  return { url, urlKey: urlKey(keys), depth, attempts: 0, hops: 0, purpose: 'page' };
}

function seen(url: string, isNew: boolean, form: number, repeats = ''): PageSeen {
  return { url, isNew, form, repeats, isShort: false };
}

test('HostBudget.place parks what is over the budget, but never a seed or a sitemap', () => {
  const { budget, queues, services, checkpoint } = budgetOf(2);
  for (const path of ['/a', '/b', '/c', '/d']) budget.place(1, entry(path), false);
  deepStrictEqual([queues.length, queues.parked], [2, 2]);
  budget.place(0, entry('/seed', 0), false);
  budget.place(1, { ...entry('/sitemap.xml'), purpose: 'sitemap' }, false);
  deepStrictEqual([queues.length, queues.parked], [4, 2]);
  services.stage.flush();
  const { counters } = checkpoint.batches[0] ?? {};
  deepStrictEqual([counters?.['skipped.budget'], counters?.['parked.urls']], [2, 2]);
});

test('HostBudget.pageSeen releases the oldest parked URLs when a new page has earned them', () => {
  const { budget, queues } = budgetOf(1);
  for (let at = 0; at < 10; at += 1) budget.place(1, entry(`/p${at}/x`), false);
  deepStrictEqual([queues.length, queues.parked], [1, 9]);
  strictEqual(budget.pageSeen(seen('http://site.test/p0/x', false, 0)), false);
  strictEqual(queues.parked, 9);
  strictEqual(budget.pageSeen(seen('http://site.test/p0/x', true, 9)), true);
  deepStrictEqual([queues.length, queues.parked], [5, 5]);
  queues.advance(1);
  strictEqual(queues.peek()?.entry.url, 'http://site.test/p1/x');
});

test('HostBudget.isSpent parks a waiting URL whose shape has shown known content only', () => {
  const { budget, queues } = budgetOf(10_000);
  const pages = URL_BUDGET.ordinaryPagesMin;
  for (let at = 0; at < pages + 12; at += 1) budget.place(1, entry(`/s/${at}`), false);
  for (let at = 0; at < pages; at += 1) {
    const head = queues.peek();
    ok(head !== undefined && !budget.isSpent(head.entry));
    budget.pageSeen(seen(head.entry.url, true, 5));
    queues.advance(1);
  }
  const head = queues.peek();
  ok(head !== undefined && budget.isSpent(head.entry));
  queues.advance(1);
  strictEqual(queues.parked, 1);
  strictEqual(budget.isSpent({ ...entry('/other'), sequence: 0 }), false);
});

test('HostBudget.review comes at growing intervals, tries some, and keeps the order of the others', () => {
  const { budget, queues } = budgetOf(1);
  for (let at = 0; at < 100; at += 1) budget.place(1, entry(`/q${at}/x`), false);
  const start = wallMs(1_700_000_000_000);
  strictEqual(budget.reviewAt(start), start + HOUR_MS);
  strictEqual(budget.review(wallMs(start + HOUR_MS - 1)), false);
  strictEqual(queues.parked, 99);
  const first = wallMs(start + HOUR_MS);
  strictEqual(budget.review(first), true);
  strictEqual(queues.parked, 99 - 16, 'a review grants sixteen');
  strictEqual(budget.reviewAt(first), first + 2 * HOUR_MS);
  strictEqual(budget.review(wallMs(first + 2 * HOUR_MS)), true);
  strictEqual(budget.row().reviews, 2);
  // A clock that was put back does not put reviews off.
  strictEqual(budget.reviewAt(start), start + 4 * HOUR_MS);
});

test('HostBudget goes on from its row, and enters the account of its domain once a process', () => {
  const { budget, queues, services, id } = budgetOf(2);
  for (const path of ['/a', '/b', '/c']) budget.place(1, entry(path), false);
  const account = services.domains.accountOf('www.site.test');
  strictEqual(services.domains.tallyOf(account).hosts, 1);
  const row = { ...newHostRow(id.host, id.partition), worth: budget.row() };
  strictEqual(row.worth.tally.urls, 2);
  new HostBudget(services, id, queues, row);
  strictEqual(services.domains.tallyOf(account).urls, 2);
  const later = lendServices(hasher).services;
  const restarted: HostServices = { ...later, startedAt: wallMs(1_700_000_500_000) };
  new HostBudget(restarted, id, queues, row);
  const { hosts, urls } = restarted.domains.tallyOf(restarted.domains.accountOf(id.host));
  deepStrictEqual([hosts, urls], [1, 2]);
});

test('HostBudget.place parks the least valuable discovery while the frontier is above its high-water mark', () => {
  const { services, id } = lendServices(hasher);
  const policy = { ...services.policy, waitingHigh: 3 };
  const crowded: HostServices = { ...services, policy };
  const queues = new HostQueues(crowded, id, undefined);
  const budget = new HostBudget(crowded, id, queues, undefined);
  for (let at = 0; at < 5; at += 1) budget.place(2, entry(`/last-${at}`), false);
  deepStrictEqual([queues.length, queues.parked], [3, 2]);
  for (let at = 0; at < 5; at += 1) budget.place(1, entry(`/middle-${at}`), false);
  deepStrictEqual([queues.length, queues.parked], [6, 4]);
  budget.place(0, entry('/first'), false);
  deepStrictEqual([queues.length, services.residency.waiting], [7, 7]);
  budget.pageSeen(seen('http://site.test/x', true, 1));
  strictEqual(queues.parked, 4, 'nothing comes back while it is full');
  for (let at = 0; at < 5; at += 1) queues.advance(queues.peek()?.band ?? 0);
  budget.pageSeen(seen('http://site.test/y', true, 2));
  deepStrictEqual([queues.length, queues.parked], [3, 3], 'one as soon as there is room');
});

/** A host whose pages are those of its twin under https, as far as the first six tell. */
function twinHost() {
  const host = budgetOf(10_000);
  for (let at = 0; at < 6; at += 1) {
    const path = `site.test/known-${at}`;
    host.budget.pageSeen(seen(`http://${path}`, false, 0, `https://${path}`));
  }
  return host;
}

test('HostBudget.place parks what the twin of an origin has, and queues last what it lacks', () => {
  const { budget, queues, services } = twinHost();
  services.seen.addIfNew(services.keyOf('https://site.test/both'));
  budget.place(0, entry('/both'), false);
  deepStrictEqual([queues.length, queues.parked], [0, 1]);
  budget.place(0, entry('/only-here'), false);
  strictEqual(queues.peek()?.band, 2);
  budget.place(0, entry('/both', 0), false);
  deepStrictEqual([queues.lengths(), queues.parked], [[1, 0, 1, 0], 1], 'a seed is a seed');
});

test('HostBudget parks URLs that waited before their twin was known, and tries parked ones at reviews only', () => {
  const { budget, queues, services } = twinHost();
  services.seen.addIfNew(services.keyOf('https://site.test/both'));
  const waiting = { ...entry('/both'), sequence: 0 };
  ok(budget.isSpent(waiting));
  strictEqual(queues.parked, 1);
  budget.pageSeen(seen('http://site.test/fresh', true, 5));
  strictEqual(queues.parked, 1, 'a new page releases none');
  const start = wallMs(1_700_000_000_000);
  const dueAt = budget.reviewAt(start);
  ok(budget.review(wallMs(dueAt ?? 0)));
  const tried = queues.peek();
  deepStrictEqual([queues.parked, tried?.band], [0, 2]);
  ok(tried !== undefined && !budget.isSpent(tried.entry), 'it is fetched this time');
});

test('HostBudget.pageSeen takes a text without marks of its own for known once four paths have shown it', () => {
  const { budget, services, checkpoint } = budgetOf(10_000);
  const short = (path: string): PageSeen => ({
    ...seen(`http://site.test${path}`, true, 99),
    isShort: true,
  });
  const worth = ['/a', '/b/c', '/d.html', '/e', '/f'].map((path) => budget.pageSeen(short(path)));
  deepStrictEqual(worth, [true, true, true, false, false]);
  services.stage.flush();
  strictEqual(checkpoint.batches[0]?.counters['pages.soft-404'], 2);
  strictEqual(budget.row().repeats?.soft404.length, 5);
});
