import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { Inbox } from '../../../src/actors/inbox.ts';
import { LinkExchange } from '../../../src/actors/link-exchange.ts';
import type { LinkRouter } from '../../../src/actors/link-router.ts';
import type { HostMessage, ShardPeerMessage } from '../../../src/actors/messages.ts';
import { Outbox } from '../../../src/actors/outbox.ts';
import { KeptBatches, linkOf } from '../../support/actors-fixtures.ts';

test('Outbox sends numbered batches in order, and again what found no credit', () => {
  const sent: number[] = [];
  let credit = false;
  const outbox = new Outbox((batch) => credit && sent.push(batch) > 0);
  for (let n = 0; n < 1_200; n += 1) outbox.add(linkOf(`p${n}`));
  strictEqual(outbox.mark, 3);
  outbox.seal();
  deepStrictEqual([sent, outbox.waiting], [[], 1_200]);
  credit = true;
  outbox.pump();
  deepStrictEqual([sent, outbox.waiting, outbox.isIdle], [[1, 2, 3], 0, false]);
  outbox.committed(3);
  outbox.committed(2);
  deepStrictEqual([outbox.committedThrough, outbox.isIdle], [3, true]);
  throws(() => outbox.committed(4), /receipt 4 beyond 3/);
});

test('Outbox.isFull stops the parser at its bound, until the receiver commits (I10)', () => {
  const outbox = new Outbox(() => true);
  for (let n = 0; n < 64; n += 1) {
    strictEqual(outbox.isFull, false);
    outbox.add(linkOf('a'));
    outbox.seal();
  }
  strictEqual(outbox.isFull, true);
  outbox.committed(1);
  strictEqual(outbox.isFull, false);
});

test('Inbox.committed raises the watermark only over batches without a hole (I7)', () => {
  const inbox = new Inbox();
  strictEqual(inbox.committed(2), false);
  strictEqual(inbox.through, 0);
  strictEqual(inbox.committed(1), true);
  strictEqual(inbox.through, 2);
  strictEqual(inbox.isCommitted(2), true);
  strictEqual(inbox.isCommitted(3), false);
  throws(() => inbox.committed(1), /committed twice/);
});

function exchangeOf() {
  const stage = new CheckpointStage(new KeptBatches(), {
    ...{ pageCommitted: () => {}, opened: () => {}, full: () => {} },
  });
  const world = { takesOffers: true, hasCredit: true };
  const offers: HostMessage[] = [];
  const sent: ShardPeerMessage[] = [];
  let stalls = 0;
  const exchange = new LinkExchange({
    ...{ shard: 0, shards: 2, stage, toSelf: () => {} },
    router: undefined as unknown as LinkRouter,
    offerHost: (_host, message) => world.takesOffers && offers.push(message) > 0,
    sendPeer: (_shard, message) => world.hasCredit && sent.push(message) > 0,
    remote: undefined,
    stalled: () => {
      stalls += 1;
    },
  });
  const applyAll = () => {
    for (const offer of offers.splice(0)) if (offer.kind === 'offer-urls') offer.token.applied();
  };
  return { stage, world, offers, sent, exchange, applyAll, stalls: () => stalls };
}

test('LinkExchange.take acknowledges a batch after the commit of all its parts, and again when repeated (I7)', () => {
  const { exchange, offers, sent, stage, applyAll } = exchangeOf();
  const links = [linkOf('a'), linkOf('b', 'other.test'), linkOf('c')];
  exchange.take(1, 1, links);
  deepStrictEqual(
    offers.map((offer) => offer.kind === 'offer-urls' && offer.links.length),
    [2, 1],
  );
  stage.flush();
  deepStrictEqual(sent, []);
  applyAll();
  stage.flush();
  stage.committed(1, []);
  const receipt = { kind: 'links-committed', from: 0, through: 1 };
  deepStrictEqual(sent, [receipt]);
  exchange.take(1, 1, links);
  deepStrictEqual([sent, offers], [[receipt, receipt], []]);
});

test('LinkExchange keeps what a host cannot take, in order, and blocks the parser meanwhile (I10)', () => {
  const { exchange, offers, world, stalls } = exchangeOf();
  world.takesOffers = false;
  exchange.deal([linkOf('a')], undefined);
  deepStrictEqual([exchange.isBlocked, exchange.isIdle, stalls()], [true, false, 1]);
  world.takesOffers = true;
  exchange.deal([linkOf('b')], undefined);
  strictEqual(offers.length, 0, 'nothing overtakes what waits');
  exchange.pump();
  const urls = offers.map((offer) => offer.kind === 'offer-urls' && offer.links[0]?.url);
  deepStrictEqual(urls, ['http://h.test/a', 'http://h.test/b']);
  strictEqual(exchange.isBlocked, false);
});

test('LinkExchange.toPeer keeps a message that finds no credit', () => {
  const { exchange, sent, world } = exchangeOf();
  world.hasCredit = false;
  exchange.toPeer(1, { kind: 'links-committed', from: 0, through: 1 });
  strictEqual(exchange.isIdle, false);
  world.hasCredit = true;
  exchange.pump();
  deepStrictEqual([sent.length, exchange.isIdle], [1, true]);
});
