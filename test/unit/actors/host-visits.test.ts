// Visits of one host's pages: which due pages enter the queue, which are visited at their turn, and what a sitemap's word does.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { HostQueues } from '../../../src/actors/host-queues.ts';
import { HostVisits } from '../../../src/actors/host-visits.ts';
import { outlinksOf } from '../../../src/actors/page-outlinks.ts';
import { FRESHNESS, type PageRow, type QueueEntry } from '../../../src/actors/rows.ts';
import { urlKey, wallMs } from '../../../src/base/units.ts';
import { parseBase } from '../../../src/domain/base-url.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import { lendServices } from '../../support/actors/host-services.ts';
import { RECRAWL } from '../../support/recrawl-policy.ts';

const hasher = createHasher(await xxhash(), 7n);
const NOW = wallMs(1_800_000_000_000);
const HOUR_MS = 3_600_000;
const at = (hours: number) => wallMs(NOW + hours * HOUR_MS);

function rowDueAt(url: string, dueAt: number, fetchedAt: number): PageRow {
  const state = { intervalMs: RECRAWL.firstMs, changed: 0, unchanged: 0, missed: 0 };
  return {
    url,
    fetchedAt: wallMs(fetchedAt),
    status: 200,
    failure: undefined,
    depth: 2,
    contentDigest: '',
    contentType: 'text/html',
    bodyBytes: 5,
    pointer: { file: 0, record: 1 },
    duplicateOf: undefined,
    truncated: undefined,
    redirectTo: undefined,
    etag: undefined,
    lastModified: undefined,
    visit: { dueAt: wallMs(dueAt), ...state, changedAt: wallMs(1), sitemap: false },
    simhash: undefined,
    nearDuplicateOf: undefined,
  };
}

/** A host with these stored pages. */
function host(...rows: readonly PageRow[]) {
  const lent = lendServices(hasher, []);
  const { id } = lent;
  const byKey = new Map(rows.map((row) => [lent.services.keyOf(row.url), row]));
  const page = (_host: unknown, _partition: unknown, key: QueueEntry['urlKey']) => byKey.get(key);
  const reader = Object.assign(Object.create(lent.services.reader), { page });
  const services = { ...lent.services, reader };
  const queues = new HostQueues(services, id, undefined);
  const visits = new HostVisits({ services, id, queues });
  const flush = () => {
    services.stage.flush();
    return lent.checkpoint.batches.at(-1);
  };
  return { services, queues, visits, flush, keyOf: services.keyOf };
}

const URL_A = 'http://h.test/a';

test('HostVisits.take queues a page that is due at the very time, and no other', () => {
  const { visits, queues, keyOf } = host(
    rowDueAt(URL_A, at(0), at(-24)),
    rowDueAt('http://h.test/visited', at(5), at(-1)),
  );
  let refused = 0;
  let applied = 0;
  const token = {
    applied: () => {
      applied += 1;
    },
    refused: () => {
      refused += 1;
    },
  };
  const urlKeys = [keyOf(URL_A), keyOf('http://h.test/visited')];
  visits.take({ kind: 'visit-pages', dueAt: at(0), urlKeys, token });
  deepStrictEqual([queues.length, refused, applied], [1, 0, 1]);
  const head = queues.peek();
  deepStrictEqual([head?.band, head?.entry.url, head?.entry.depth], [FRESHNESS, URL_A, 2]);
  visits.take({ kind: 'visit-pages', dueAt: at(0), urlKeys: [urlKey(99n)], token });
  deepStrictEqual([queues.length, refused, applied], [1, 1, 2], 'its row is not to be had yet');
});

test('HostVisits.priorOf lets a page be visited once for each time it is due', () => {
  const { visits, keyOf } = host(rowDueAt(URL_A, at(0), at(-24)));
  const entry = {
    ...{ sequence: 0, url: URL_A, urlKey: keyOf(URL_A), depth: 0, attempts: 0, hops: 0 },
    purpose: 'page' as const,
  };
  strictEqual(visits.priorOf(FRESHNESS, entry, at(-1)), undefined);
  strictEqual(visits.priorOf(FRESHNESS, entry, at(1))?.url, URL_A);
  strictEqual(visits.priorOf(0, entry, at(1)), undefined, 'a first visit has no row before it');
});

test('HostVisits.putOff moves a visit that is forbidden, without a request', () => {
  const { visits, flush, keyOf } = host(rowDueAt(URL_A, at(-1), at(-25)));
  const entry = {
    ...{ sequence: 0, url: URL_A, urlKey: keyOf(URL_A), depth: 0, attempts: 0, hops: 0 },
    purpose: 'page' as const,
  };
  visits.putOff(entry, NOW);
  const batch = flush();
  const visit = batch?.pageRows[0]?.row.visit;
  strictEqual(visit?.missed, 1);
  strictEqual(visit.dueAt > at(24), true);
  strictEqual(batch?.due[0]?.dueAt, visit.dueAt);
});

test('HostVisits.hasten makes due what changed since its visit, but not sooner than may be', () => {
  const { visits, flush } = host(
    rowDueAt('http://h.test/changed', at(20), at(-4)),
    rowDueAt('http://h.test/as-before', at(20), at(-4)),
    rowDueAt('http://h.test/just-now', at(24), at(-0.5)),
    rowDueAt('http://h.test/retired', 0, at(-4)),
  );
  const told = (name: string, changedAt: number) => ({ url: `http://h.test/${name}`, changedAt });
  visits.hasten(
    [
      told('changed', at(-2)),
      told('as-before', at(-5)),
      told('just-now', at(0)),
      told('retired', at(-1)),
      told('unknown', at(-1)),
    ],
    wallMs(NOW + 0.25),
  );
  const batch = flush();
  deepStrictEqual(
    batch?.pageRows.map(({ row }) => [row.url, row.visit?.dueAt]),
    [['http://h.test/changed', NOW + 1]],
  );
  strictEqual(batch?.due[0]?.dueAt, NOW + 1);
});

test('outlinksOf hears of a sitemap visited once more which pages of its host have changed', () => {
  const entry = (loc: string, lastmod: string) =>
    `<url><loc>${loc}</loc><lastmod>${lastmod}</lastmod></url>`;
  const stated = (hours: number): string => new Date(at(hours)).toISOString();
  const body = Buffer.from(
    `<?xml version="1.0"?><urlset>${entry('http://h.test/new', stated(-1))}` +
      `${entry('http://h.test/old', stated(-9))}${entry('http://other.test/new', stated(-1))}` +
      `${entry('http://h.test/today', stated(-5).slice(0, 10))}` +
      '<url><loc>http://h.test/unstated</loc></url></urlset>',
  );
  const page = {
    ...{ unparsedId: 1, hostKey: lendServices(hasher, []).id.hostKey, urlKey: urlKey(1n) },
    ...{ url: 'http://h.test/map.xml', depth: 0, hops: 0, purpose: 'sitemap' as const },
    ...{ status: 200, headers: ['Content-Type', 'application/xml'], body },
  };
  const base = parseBase(page.url);
  if (base === undefined) throw new Error('no URL');
  const changed = outlinksOf({ ...page, previousAt: at(-5) }, base, 'hostler').changed;
  deepStrictEqual(
    changed?.map(({ url }) => url),
    ['http://h.test/new', 'http://h.test/today'],
  );
  deepStrictEqual(outlinksOf(page, base, 'hostler').changed, [], 'nothing on a first visit');
});
