// Step 11 on the shard: which pages go behind guards, what becomes of those that fail there, and that portions of links keep a page unparsed
// until the last has left. The ports are simulated: a pool that answers when the test says so, a checkpoint port that keeps its batches.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { GUARDED_TRIES_MAX, IN_HAND_MAX } from '../../../src/actors/guarded-parsing.ts';
import type { PageSeen } from '../../../src/actors/host-known.ts';
import { LinkExchange } from '../../../src/actors/link-exchange.ts';
import type { LinkRouter } from '../../../src/actors/link-router.ts';
import type { HostMessage } from '../../../src/actors/messages.ts';
import { NearDuplicates } from '../../../src/actors/near-duplicates.ts';
import { PORTION_MAX } from '../../../src/actors/page-departure.ts';
import { outlinksOf } from '../../../src/actors/page-outlinks.ts';
import { CRASHES_MAX, PageParsing } from '../../../src/actors/page-parsing.ts';
import {
  guardReasonOf,
  INLINE_BYTES_MAX,
  INLINE_XML_BYTES_MAX,
} from '../../../src/actors/parse-choice.ts';
import { type PageToParse, ParseStage } from '../../../src/actors/parse-stage.ts';
import type { CheckpointBatch, GuardedParseOutcome } from '../../../src/actors/ports.ts';
import { RenderDesk } from '../../../src/actors/render-desk.ts';
import type { PageRow } from '../../../src/actors/rows.ts';
import { hostKey, partitionIndex, urlKey } from '../../../src/base/units.ts';
import { type BaseUrl, parseBase } from '../../../src/domain/base-url.ts';
import { SimhashIndex } from '../../../src/domain/simhash-index.ts';

const PLACE = { hostKey: hostKey(1n), partition: partitionIndex(0), shard: 0 };
const POINTER = { file: 0, record: 1 };
const ROW = { url: 'http://h.test/', status: 200, failure: undefined, pointer: POINTER } as PageRow;

/** A shard's parsing on simulated ports; links go to one host actor that stages them when the test says so. */
class Bench {
  readonly batches: CheckpointBatch[] = [];
  readonly marks: bigint[] = [];
  readonly offered: string[] = [];
  readonly seen: PageSeen[] = [];
  /** For each routed link, whether it comes last. */
  readonly late: boolean[] = [];
  /** Pages in the pool's hands, oldest first. */
  readonly pool: PageToParse[] = [];
  readonly stage: CheckpointStage;
  readonly waiting: ParseStage;
  readonly parsing: PageParsing;
  #tokens: { applied(): void }[] = [];
  #nextId = 1;

  constructor(crashes: ReadonlyMap<bigint, number> = new Map()) {
    this.stage = new CheckpointStage(
      { submit: (batch) => this.batches.push(batch), pendingBytes: () => 0 },
      { pageCommitted: () => {}, opened: () => {}, full: () => {} },
    );
    const router: Pick<LinkRouter, 'placeOf' | 'route'> = {
      placeOf: () => PLACE,
      route: (url, source) => {
        this.late.push(source.isKnown === true);
        return { link: { url, host: 'h.test', ...PLACE } as never, shard: 0 };
      },
    };
    const exchange = new LinkExchange({
      shard: 0,
      shards: 1,
      router: router as LinkRouter,
      stage: this.stage,
      offerHost: (_host, message) => this.#offer(message),
      sendPeer: () => true,
      toSelf: () => {},
      remote: undefined,
      stalled: () => {},
    });
    this.waiting = new ParseStage(this.stage, () => exchange.committedMarks());
    this.parsing = new PageParsing({
      stage: this.stage,
      waiting: this.waiting,
      exchange,
      near: new NearDuplicates({
        index: new SimhashIndex(SimhashIndex.createMemory(100)),
        stage: this.stage,
        reader: { page: (_host, _partition, key) => ({ ...ROW, url: `http://h.test/${key}` }) },
        partitionOf: () => PLACE.partition,
      }),
      desk: new RenderDesk({
        ...{ shard: 0, shards: 1, productToken: 'hostler', port: undefined, stage: this.stage },
        ...{ waiting: this.waiting, exchange, router: router as LinkRouter },
        reader: { page: () => ROW, host: () => undefined, rendered: () => undefined },
        toSelf: () => {},
      }),
      productToken: 'hostler',
      ports: {
        reader: { page: () => ROW, body: () => undefined, rendered: () => undefined },
        router,
        markParsing: (key) => this.marks.push(key),
        crashesOf: (key) => crashes.get(key) ?? 0,
        parseGuarded: (page) => this.pool.push(page),
      },
    });
  }

  add(body: string | Uint8Array, changes: Partial<PageToParse> = {}): PageToParse {
    const page: PageToParse = {
      unparsedId: this.#nextId++,
      hostKey: PLACE.hostKey,
      urlKey: urlKey(7n),
      url: 'http://h.test/',
      depth: 0,
      hops: 0,
      purpose: 'page',
      status: 200,
      headers: ['content-type', 'text/html'],
      body: typeof body === 'string' ? Buffer.from(body) : body,
      ...changes,
    };
    this.waiting.add(page);
    return page;
  }

  /** Steps while there is something to do, at most a hundred times. @returns how often */
  run(): number {
    let steps = 0;
    for (; this.parsing.canStep && steps < 100; steps += 1) this.parsing.step();
    return steps;
  }

  /** The pool answers its oldest page. */
  answer(outcome?: GuardedParseOutcome): void {
    const page = this.pool.shift();
    ok(page !== undefined, 'the pool has a page');
    const base = parseBase(page.url) as BaseUrl;
    const parsed = { kind: 'parsed', outlinks: outlinksOf(page, base, 'hostler') } as const;
    this.parsing.pageParsed(page.unparsedId, outcome ?? parsed);
  }

  /** The host actor stages all it was offered; everything becomes durable. @returns what the batch holds */
  commit(): CheckpointBatch {
    for (const token of this.#tokens.splice(0)) token.applied();
    this.stage.count('tick');
    this.stage.flush();
    const { sequence } = this.batches.at(-1) as CheckpointBatch;
    this.stage.committed(sequence, []);
    this.waiting.settle();
    this.stage.count('tick');
    this.stage.flush();
    this.stage.committed(sequence + 1, []);
    const [first, second] = this.batches.slice(-2) as [CheckpointBatch, CheckpointBatch];
    return { ...first, parsedIds: [...first.parsedIds, ...second.parsedIds] };
  }

  #offer(message: HostMessage): boolean {
    if (message.kind === 'page-seen') {
      this.seen.push(message.page);
      return true;
    }
    if (message.kind !== 'offer-urls') return false;
    this.offered.push(...message.links.map(({ url }) => url));
    this.#tokens.push(message.token);
    return true;
  }
}

const LARGE = Buffer.concat([
  Buffer.from('<a href=/last></a>'),
  Buffer.alloc(INLINE_BYTES_MAX, 32),
]);
const GZIP = Uint8Array.of(0x1f, 0x8b, 8, 0);

test('PageParsing parses a usual page inline and notes it while it does', () => {
  const bench = new Bench();
  bench.add('<a href=/x></a>');
  bench.run();
  deepStrictEqual(bench.offered, ['/x']);
  deepStrictEqual(bench.marks, [7n, 0n, 7n, 0n]);
  deepStrictEqual(bench.pool, []);
  deepStrictEqual(bench.commit().parsedIds, [1]);
});

test('PageParsing has large, packed and suspect pages parsed behind guards, and follows their links', () => {
  const cases: readonly (readonly [string, string | Uint8Array, number])[] = [
    ['large', LARGE, 0],
    ['packed', GZIP, 0],
    ['suspect', '<a href=/last></a>', 1],
  ];
  for (const [reason, body, crashes] of cases) {
    const bench = new Bench(new Map([[7n, crashes]]));
    const page = bench.add(body);
    bench.run();
    deepStrictEqual(bench.pool, [page], reason);
    strictEqual(bench.parsing.backlogBytes, page.body.byteLength, 'it counts while it is away');
    strictEqual(bench.parsing.isIdle, false);
    deepStrictEqual(bench.marks, [], 'this thread is in no danger');
    bench.answer({
      kind: 'parsed',
      outlinks: {
        base: parseBase(page.url) as BaseUrl,
        references: ['/last'],
        purpose: 'page',
        counts: {},
      },
    });
    bench.run();
    deepStrictEqual(bench.offered, ['/last'], reason);
    strictEqual(bench.parsing.backlogBytes, 0);
    const batch = bench.commit();
    deepStrictEqual(batch.parsedIds, [1]);
    strictEqual(batch.counters[`parse.guarded.${reason}`], 1);
    strictEqual(bench.parsing.isIdle, true);
  }
});

test('PageParsing takes a page without links or counts out of the unparsed log, with no other commit to wait for', () => {
  const bench = new Bench();
  bench.add('%!', { headers: ['content-type', 'image/svg+xml'] });
  strictEqual(bench.stage.hasOpen, false);
  bench.run();
  strictEqual(bench.stage.hasOpen, true, 'its removal is staged');
  bench.stage.flush();
  deepStrictEqual(bench.batches.at(-1)?.parsedIds, [1]);
  strictEqual(bench.parsing.isIdle, true);
});

test('guardReasonOf counts XML as large sooner, and knows packed and rich bodies by bytes and type', () => {
  const bench = new Bench();
  const reason = (type: string, body: Uint8Array, changes: Partial<PageToParse> = {}) =>
    guardReasonOf(bench.add(body, { headers: ['Content-Type', type], ...changes }), 0);
  const atBound = Buffer.alloc(INLINE_XML_BYTES_MAX, 32);
  const above = Buffer.alloc(INLINE_XML_BYTES_MAX + 1, 32);
  strictEqual(reason('application/xml; charset=utf-8', atBound), undefined);
  for (const type of [
    'text/xml',
    'application/xml',
    'application/rss+xml',
    'application/rdf+xml',
  ]) {
    strictEqual(reason(type, above), 'large', type);
  }
  for (const type of ['text/html', 'application/xhtml+xml', '']) {
    strictEqual(reason(type, above), undefined, type);
  }
  strictEqual(reason('text/plain', above, { purpose: 'sitemap' }), 'large');
  strictEqual(reason('Application/PDF', Buffer.from('%PDF-1.7')), 'rich');
  strictEqual(reason('application/xml', GZIP), 'packed');
});

test('PageParsing looks behind guards at a page that makes the scanner throw', () => {
  const bench = new Bench();
  const body = Buffer.from('<p>');
  body.subarray = () => {
    throw new RangeError('a bug of ours');
  };
  const page = bench.add(body);
  bench.run();
  deepStrictEqual(bench.pool, [page]);
  deepStrictEqual(bench.marks, [7n, 0n]);
});

test('PageParsing tells the host of each page what it was worth', () => {
  const bench = new Bench();
  bench.add('<p>Day 1 of 31 days</p>');
  bench.add('<p>Day 2 of 31 days</p>', { urlKey: urlKey(8n) });
  bench.run();
  bench.run();
  const [first, second] = bench.seen;
  deepStrictEqual([bench.seen.length, first?.isNew], [2, true]);
  strictEqual(first?.form, second?.form, 'they differ in numbers only');
});

const TEXT = Array.from({ length: 200 }, (_, n) => `word${(n * n * 7_919) % 9_973}`).join(' ');

test('PageParsing marks a page with nearly the text of an earlier one, and follows its links last', () => {
  const bench = new Bench();
  bench.add(`<p>${TEXT}</p><a href=/x></a>`);
  bench.run();
  bench.add(`<p>${TEXT} today</p><a href=/y></a>`, { urlKey: urlKey(8n) });
  bench.run();
  bench.add(`<p>${TEXT.replaceAll('word', 'other')}</p>`, { urlKey: urlKey(9n) });
  bench.run();
  deepStrictEqual(
    bench.seen.map(({ isNew }) => isNew),
    [true, false, true],
  );
  deepStrictEqual(bench.offered, ['/x', '/y']);
  deepStrictEqual(bench.late, [false, true]);
  const batch = bench.commit();
  strictEqual(batch.counters['duplicates.near'], 1);
  const rows = new Map(batch.pageRows.map(({ urlKey: key, row }) => [key as bigint, row]));
  strictEqual(rows.get(8n)?.nearDuplicateOf, 'http://h.test/7');
  strictEqual(rows.get(7n)?.nearDuplicateOf, undefined);
  match(rows.get(9n)?.simhash ?? '', /^[0-9a-f]{16}$/);
});

test('PageParsing takes a copy of another page for known content and follows its links last', () => {
  const bench = new Bench();
  bench.add(`<p>${TEXT}</p><a href=/x></a>`, { isCopy: true });
  bench.run();
  deepStrictEqual(bench.late, [true]);
  deepStrictEqual(bench.seen, [], 'the commit has told of it');
});

test('PageParsing reads only the head of a large redirect, inline', () => {
  const bench = new Bench();
  bench.add(LARGE, { status: 301, headers: ['location', '/there'] });
  bench.run();
  deepStrictEqual(bench.offered, ['http://h.test/there']);
});

test('PageParsing gives a page up after its tries, with the reason in its row, and goes on with others', () => {
  for (const kind of ['timeout', 'out-of-memory', 'failed'] as const) {
    const bench = new Bench(new Map([[7n, 1]]));
    bench.add('<a href=/x></a>');
    bench.add('<a href=/y></a>', { urlKey: urlKey(8n) });
    bench.run();
    deepStrictEqual(bench.offered, ['/y'], 'nobody waits for the suspect');
    const outcome: GuardedParseOutcome = kind === 'failed' ? { kind, detail: 'bad' } : { kind };
    for (let tries = 0; tries < GUARDED_TRIES_MAX; tries += 1) {
      deepStrictEqual(bench.run(), 0, 'nothing to do meanwhile');
      bench.answer(outcome);
    }
    bench.run();
    const batch = bench.commit();
    deepStrictEqual([...batch.parsedIds].sort(), [1, 2]);
    strictEqual(batch.counters['failures.parse-crashed'], 1);
    strictEqual(batch.counters[`parse.${kind}`], 1);
    deepStrictEqual(
      batch.pageRows.map((one) => [one.urlKey, one.row.failure]),
      [[7n, 'parse-crashed']],
    );
    strictEqual(bench.parsing.isIdle, true);
  }
});

test('PageParsing does not touch a page that ended too many crawl threads', () => {
  const bench = new Bench(new Map([[7n, CRASHES_MAX]]));
  bench.add('<a href=/x></a>');
  bench.run();
  deepStrictEqual([bench.pool, bench.offered, bench.marks], [[], [], []]);
  strictEqual(bench.commit().counters['failures.parse-crashed'], 1);
});

test('PageParsing keeps few pages with the pool, and no page of an earlier run in memory while it is busy', () => {
  const bench = new Bench(new Map([[7n, 1]]));
  const unparsed = { hostKey: PLACE.hostKey, url: 'http://h.test/', depth: 0, hops: 0 };
  const pointer = { file: 1, record: 1 };
  bench.waiting.recover([
    { ...unparsed, unparsedId: 90, urlKey: urlKey(9n), purpose: 'page', pointer },
  ]);
  for (let page = 0; page < IN_HAND_MAX + 3; page += 1) bench.add('<p>');
  bench.run();
  strictEqual(bench.pool.length, IN_HAND_MAX);
  strictEqual(bench.parsing.backlog, IN_HAND_MAX + 3);
  strictEqual(bench.parsing.canStep, false, 'the earlier page waits on the disk');
  for (let page = 0; page < IN_HAND_MAX + 3; page += 1) {
    bench.answer();
    bench.run();
  }
  strictEqual(bench.commit().counters['failures.unparsed-body-missing'], 1);
  strictEqual(bench.parsing.isIdle, true);
});

test('PageParsing sends very many links in portions, and the page stays unparsed until the last is durable', () => {
  const bench = new Bench();
  const count = 2 * PORTION_MAX + 1;
  bench.add(Array.from({ length: count }, (_, link) => `<a href=/${link}></a>`).join(''));
  strictEqual(bench.run(), 3);
  strictEqual(bench.offered.length, count);
  strictEqual(new Set(bench.offered).size, count);
  deepStrictEqual(bench.commit().parsedIds, [1]);
  const other = new Bench();
  other.add(Array.from({ length: count }, (_, link) => `<a href=/${link}></a>`).join(''));
  other.parsing.step();
  deepStrictEqual(other.commit().parsedIds, [], 'one portion has left');
  other.run();
  deepStrictEqual(other.commit().parsedIds, [1]);
});
