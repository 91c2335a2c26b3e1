// Pages that need a browser, on the shard: which are taken, how long they stay in the unparsed log, what is staged of them, and how what they
// want finds its way. The pool is the test; storage and the other shards write down what they are given.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { LinkExchange } from '../../../src/actors/link-exchange.ts';
import type { LinkRouter } from '../../../src/actors/link-router.ts';
import type { HostMessage, ShardPeerMessage } from '../../../src/actors/messages.ts';
import { outlinksOf } from '../../../src/actors/page-outlinks.ts';
import { type PageToParse, ParseStage } from '../../../src/actors/parse-stage.ts';
import type { CheckpointBatch } from '../../../src/actors/ports.ts';
import {
  RenderDesk,
  type RenderMessage,
  type RenderMode,
} from '../../../src/actors/render-desk.ts';
import type { RenderJob, RenderOutcome, ResourceAnswer } from '../../../src/actors/render-port.ts';
import type { HostRow, PageRow } from '../../../src/actors/rows.ts';
import { hostKey, monotonicMs, partitionIndex, urlKey, wallMs } from '../../../src/base/units.ts';
import { type BaseUrl, parseBase } from '../../../src/domain/base-url.ts';

const SHELL = '<body><div id="root"></div><script src="/app.js"></script></body>';
const PLAIN = `<body><p>${'word '.repeat(200)}</p><a href="/a">a</a></body>`;
const DOM = '<body><div id="root"><a href="/new">new</a></div></body>';
const NOW = wallMs(1_800_000_000_000);
const IN_HAND = 3;

class Bench {
  readonly batches: CheckpointBatch[] = [];
  readonly jobs: RenderJob[] = [];
  readonly supplied: [number, ResourceAnswer][] = [];
  readonly toHosts: HostMessage[] = [];
  readonly toPeers: [number, ShardPeerMessage][] = [];
  readonly stage: CheckpointStage;
  readonly waiting: ParseStage;
  readonly desk: RenderDesk;
  row: Partial<HostRow> | undefined;
  rendered: PageRow | undefined;
  #nextId = 1;
  #ended: ((outcome: RenderOutcome) => void)[] = [];
  #messages: RenderMessage[] = [];

  constructor(mode: RenderMode | 'off' = 'auto') {
    this.stage = new CheckpointStage(
      { submit: (batch) => this.batches.push(batch), pendingBytes: () => 0 },
      { pageCommitted: () => {}, opened: () => {}, full: () => {} },
    );
    // Hosts whose names begin with x are another machine's.
    const placeOf = (host: string) => ({
      hostKey: hostKey(BigInt(host.length)),
      partition: partitionIndex(0),
      shard: host.startsWith('x') ? 2 : host.startsWith('peer') ? 1 : 0,
    });
    const router = { placeOf } as unknown as LinkRouter;
    const exchange = new LinkExchange({
      ...{ shard: 0, shards: 2, router, stage: this.stage, remote: undefined },
      offerHost: (_host, message) => {
        this.toHosts.push(message);
        return true;
      },
      sendPeer: (shard, message) => {
        this.toPeers.push([shard, message]);
        return true;
      },
      toSelf: (message) => this.#messages.push(message as RenderMessage),
      stalled: () => {},
    });
    this.waiting = new ParseStage(this.stage, () => exchange.committedMarks());
    this.desk = new RenderDesk({
      ...(mode === 'off' ? {} : { render: { mode, inHandMax: IN_HAND } }),
      ...{ shard: 0, shards: 2, productToken: 'hostler', router, exchange },
      ...{ stage: this.stage, waiting: this.waiting },
      reader: {
        host: () => this.row as HostRow | undefined,
        page: () => ({ fetchedAt: NOW }) as PageRow,
        rendered: () => this.rendered,
      },
      port: {
        render: (job, told) => {
          this.jobs.push(job);
          this.#ended.push(told.ended);
        },
        supply: (id, answer) => this.supplied.push([id, answer]),
      },
      toSelf: (message) => this.#messages.push(message as RenderMessage),
    });
  }

  page(html: string, host = 'h.test', changes: Partial<PageToParse> = {}): PageToParse {
    const id = this.#nextId++;
    return {
      ...{ unparsedId: id, hostKey: hostKey(BigInt(host.length)), urlKey: urlKey(BigInt(id)) },
      ...{ url: `http://${host}/${id}`, depth: 1, hops: 0, purpose: 'page', status: 200 },
      headers: ['Content-Type', 'text/html'],
      body: Buffer.from(html),
      ...changes,
    };
  }

  need(page: PageToParse) {
    return this.desk.needOf(page, outlinksOf(page, parseBase(page.url) as BaseUrl, 'hostler'));
  }

  /** Takes a shell whose own links are durable. */
  take(page: PageToParse): boolean {
    return this.desk.take(page, 'empty-root', true);
  }

  /** The pool is done with a page, and the shard hears of it. */
  end(job: number, outcome: Partial<RenderOutcome> = {}): void {
    const rendered = {
      kind: 'rendered',
      dom: Buffer.from(DOM),
      cut: undefined,
      movedTo: undefined,
    };
    this.#ended[job]?.({ ...rendered, requests: 2, elapsedMs: 900, ...outcome } as RenderOutcome);
    this.hear();
  }

  hear(): void {
    for (const message of this.#messages.splice(0)) this.desk.receive(message, NOW);
  }

  flush(): CheckpointBatch | undefined {
    this.stage.flush();
    return this.batches.at(-1);
  }
}

test('RenderDesk.needOf names the reason of a page that needs a browser, when there is one', () => {
  const bench = new Bench();
  strictEqual(bench.need(bench.page(SHELL)), 'empty-root');
  strictEqual(bench.need(bench.page(PLAIN)), undefined);
  strictEqual(bench.need(bench.page(SHELL, 'h.test', { status: 404 })), undefined);
  strictEqual(bench.need(bench.page(SHELL, 'h.test', { purpose: 'rendered' })), undefined);
  strictEqual(new Bench('always').need(bench.page(PLAIN)), 'always');
  strictEqual(new Bench('off').need(bench.page(SHELL)), undefined);
});

test('RenderDesk.needOf passes over a page whose document a run before this one has staged', () => {
  const bench = new Bench();
  bench.rendered = { fetchedAt: wallMs(NOW + 1) } as PageRow;
  strictEqual(bench.need(bench.page(SHELL)), undefined);
  bench.rendered = { fetchedAt: wallMs(NOW - 1) } as PageRow;
  strictEqual(bench.need(bench.page(SHELL)), 'empty-root', 'of an earlier visit');
});

test('RenderDesk.needOfCopy answers for a copy what was found for its original', () => {
  const bench = new Bench();
  const original = bench.page(SHELL);
  bench.need(original);
  strictEqual(bench.desk.needOfCopy(bench.page(SHELL), original.url), 'empty-root');
  strictEqual(bench.desk.needOfCopy(bench.page(SHELL), 'http://h.test/unknown'), 'empty-root');
  strictEqual(bench.desk.needOfCopy(bench.page(PLAIN), 'http://h.test/plain'), undefined);
});

test('a rendered page stays in the unparsed log until its document is staged, and leaves it in the same commit', () => {
  const bench = new Bench();
  const page = bench.page(SHELL);
  bench.take(page);
  deepStrictEqual(bench.flush()?.parsedIds, []);
  bench.end(0);
  const batch = bench.flush();
  deepStrictEqual(batch?.parsedIds, [page.unparsedId]);
  const [staged] = batch?.pages ?? [];
  deepStrictEqual(staged?.purpose, 'rendered');
  deepStrictEqual(staged?.parse, true);
  deepStrictEqual(Buffer.from(staged?.response?.body ?? []).toString(), DOM);
  deepStrictEqual(staged?.render, {
    ...{ reason: 'empty-root', outcome: 'whole', plainWords: 0, words: 1 },
    ...{ links: 1, newLinks: 1, requests: 2, elapsedMs: 900 },
  });
  deepStrictEqual(bench.toHosts.at(-1), { kind: 'render-ended', result: 'gained' });
});

test('a page whose rendering failed leaves the unparsed log with a row that says why, and no document', () => {
  const bench = new Bench();
  const page = bench.page(SHELL);
  bench.take(page);
  bench.end(0, { kind: 'failed', failure: 'out-of-memory', detail: '' });
  const batch = bench.flush();
  deepStrictEqual(batch?.parsedIds, [page.unparsedId]);
  strictEqual(batch?.pages[0]?.response, undefined);
  strictEqual(batch?.pages[0]?.parse, false);
  strictEqual(batch?.pages[0]?.render?.outcome, 'out-of-memory');
  deepStrictEqual(bench.toHosts.at(-1), { kind: 'render-ended', result: 'nothing' });
});

test('RenderDesk.take passes over a host whose pages gain nothing', () => {
  const bench = new Bench();
  bench.row = { renders: { tried: 20, gained: 0, passed: 0 } };
  strictEqual(bench.take(bench.page(SHELL)), false);
  deepStrictEqual(bench.toHosts.at(-1), { kind: 'render-ended', result: 'passed' });
  strictEqual(bench.jobs.length, 0);
});

test('RenderDesk lets hosts take turns, two pages of a host at once', () => {
  const bench = new Bench();
  for (let page = 0; page < 5; page += 1) bench.take(bench.page(SHELL, 'busy.test'));
  bench.take(bench.page(SHELL, 'rare.example'));
  const hosts = () => bench.jobs.map(({ url }) => new URL(url).hostname);
  deepStrictEqual(hosts(), ['busy.test', 'busy.test', 'rare.example']);
  bench.end(0);
  deepStrictEqual(hosts().slice(3), ['busy.test']);
});

test('RenderDesk.take is bounded by bytes: what comes beyond is counted and not rendered', () => {
  const bench = new Bench();
  const megabyte = SHELL + ' '.repeat(1_048_576);
  let taken = 0;
  while (bench.take(bench.page(megabyte)) && taken < 100) taken += 1;
  ok(taken >= 16, String(taken));
  ok(taken < 20, String(taken));
  strictEqual(bench.flush()?.counters['render.passed.full'], 1);
});

test('RenderDesk gives up when there is no browser, and lets all pages go', () => {
  const bench = new Bench();
  const pages = [1, 2, 3, 4].map(() => bench.page(SHELL));
  for (const page of pages) bench.take(page);
  for (const job of [0, 1, 2])
    bench.end(job, { kind: 'failed', failure: 'unavailable', detail: '' });
  const batch = bench.flush();
  deepStrictEqual(
    [...(batch?.parsedIds ?? [])].sort(),
    pages.map(({ unparsedId }) => unparsedId),
  );
  strictEqual(bench.desk.size, 0);
  strictEqual(bench.need(bench.page(SHELL)), undefined);
});

test('RenderDesk.stop leaves what waits in the unparsed log for the next run', () => {
  const bench = new Bench();
  for (let page = 0; page < 5; page += 1) bench.take(bench.page(SHELL));
  bench.desk.stop();
  bench.end(0);
  deepStrictEqual(bench.flush()?.parsedIds, []);
  strictEqual(bench.jobs.length, 2);
});

test('what a page wants is asked of the owner of its host, and the answer finds the page', () => {
  const bench = new Bench();
  const untilMs = monotonicMs(5_000);
  const wants = (resourceId: number, url: string) => {
    const resource = { resourceId, renderId: 1, url, isForeign: false, untilMs };
    bench.desk.receive({ kind: 'render-wants', resource }, NOW);
    bench.hear();
  };
  wants(1, 'http://h.test/app.js');
  const [own] = bench.toHosts;
  deepStrictEqual(own, {
    kind: 'ask-resource',
    ask: { from: 0, askId: 1, url: 'http://h.test/app.js', isForeign: false, untilMs },
  });
  wants(2, 'http://peer.test/data.json');
  strictEqual(bench.toPeers[0]?.[0], 1);
  strictEqual(bench.toPeers[0]?.[1].kind, 'ask-resource');
  wants(3, 'http://x.test/elsewhere.js');
  deepStrictEqual(bench.supplied, [[3, { kind: 'refused', reason: 'elsewhere' }]]);
  const answer: ResourceAnswer = { kind: 'refused', reason: 'robots' };
  bench.desk.answer({ from: 0, askId: 1, url: '', isForeign: false, untilMs }, answer);
  bench.hear();
  deepStrictEqual(bench.supplied.at(-1), [1, answer]);
  bench.desk.answer({ from: 1, askId: 9, url: '', isForeign: false, untilMs }, answer);
  deepStrictEqual(bench.toPeers.at(-1), [1, { kind: 'resource-answered', askId: 9, answer }]);
});

test('ParseStage.release lets a page go at once when its own links are durable, and else when they are', () => {
  const bench = new Bench();
  bench.waiting.hold(7, false);
  const staged = bench.waiting.departed(7, []);
  bench.waiting.release(7);
  deepStrictEqual(bench.flush()?.parsedIds ?? [], []);
  staged();
  bench.waiting.settle();
  deepStrictEqual(bench.flush()?.parsedIds, [7]);
});
