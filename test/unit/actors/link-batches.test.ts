import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { CheckpointStage } from '../../../src/actors/checkpoint-stage.ts';
import { DomainAccounts } from '../../../src/actors/domain-accounts.ts';
import { Inbox } from '../../../src/actors/inbox.ts';
import { LinkExchange } from '../../../src/actors/link-exchange.ts';
import { LinkRouter } from '../../../src/actors/link-router.ts';
import type { HostMessage, RoutedLink, ShardPeerMessage } from '../../../src/actors/messages.ts';
import { Outbox } from '../../../src/actors/outbox.ts';
import { SeenCheck } from '../../../src/actors/seen-check.ts';
import { partitionIndex, urlKey } from '../../../src/base/units.ts';
import { CRAWL_RULES } from '../../../src/domain/canonical-url.ts';
import { Scope } from '../../../src/domain/scope.ts';
import { trapOptions } from '../../../src/domain/traps.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import { BloomGenerations } from '../../../src/runtime/bloom-generations.ts';
import { RecentKeys } from '../../../src/runtime/recent-keys.ts';
import { SharedTallies } from '../../../src/runtime/shared-tallies.ts';
import { RecordingCheckpoint } from '../../support/actors/recording-ports.ts';

const hasher = createHasher(await xxhash(), 5n);

function linkTo(path: string): RoutedLink {
  const url = `http://host.test${path}`;
  return {
    url,
    urlKey: hasher.urlKey(url),
    host: 'host.test',
    hostKey: hasher.hostKey('host.test'),
    partition: partitionIndex(0),
    depth: 1,
    hops: 0,
    isHome: false,
    isRespelled: false,
    isSuspect: false,
    fromOtherHost: false,
    purpose: 'page',
  };
}

test('Inbox.through covers no batch before all below it are committed', () => {
  const inbox = new Inbox();
  strictEqual(inbox.committed(2), false);
  strictEqual(inbox.committed(4), false);
  strictEqual(inbox.through, 0);
  strictEqual(inbox.isCommitted(2), true);
  strictEqual(inbox.isCommitted(1), false);
  strictEqual(inbox.committed(1), true);
  strictEqual(inbox.through, 2);
  strictEqual(inbox.committed(3), true);
  strictEqual(inbox.through, 4);
});

test('Outbox.mark names the batch of the newest link, sealed or not', () => {
  const outbox = new Outbox(() => true);
  strictEqual(outbox.mark, 0);
  outbox.add(linkTo('/1'));
  strictEqual(outbox.mark, 1);
  outbox.seal();
  strictEqual(outbox.mark, 1);
  outbox.add(linkTo('/2'));
  strictEqual(outbox.mark, 2);
});

test('Outbox keeps what finds no credit and sends it once, in order', () => {
  const sent: number[] = [];
  let credits = 0;
  const outbox = new Outbox((batch) => {
    if (credits === 0) return false;
    credits -= 1;
    sent.push(batch);
    return true;
  });
  for (const path of ['/1', '/2', '/3']) {
    outbox.add(linkTo(path));
    outbox.seal();
  }
  strictEqual(outbox.waiting, 3);
  credits = 2;
  outbox.pump();
  deepStrictEqual(sent, [1, 2]);
  credits = 9;
  outbox.pump();
  outbox.pump();
  deepStrictEqual(sent, [1, 2, 3]);
});

test('Outbox.isFull holds while 64 batches are open, so that what waits for receipts is bounded', () => {
  const outbox = new Outbox(() => true);
  for (let batch = 1; batch <= 64; batch += 1) {
    strictEqual(outbox.isFull, false, `at batch ${batch}`);
    outbox.add(linkTo(`/${batch}`));
    outbox.seal();
  }
  strictEqual(outbox.isFull, true);
  outbox.committed(1);
  strictEqual(outbox.isFull, false);
  strictEqual(outbox.isIdle, false);
});

/** A shard's exchange whose host actors and links are lists; `commit` makes what is staged durable. */
function exchangeAt() {
  const offered: HostMessage[] = [];
  const sent: ShardPeerMessage[] = [];
  const port = new RecordingCheckpoint();
  const told = { pageCommitted: () => {}, opened: () => {}, full: () => {} };
  const stage = new CheckpointStage(port, told);
  const bloom = BloomGenerations.create({ expectedKeys: 100, falsePositiveRate: 0.01 });
  const router = new LinkRouter({
    rules: CRAWL_RULES,
    scope: new Scope({ mode: 'all', seeds: [] }),
    traps: trapOptions(2026),
    depthMax: 10,
    hasher,
    domains: new DomainAccounts(new SharedTallies(SharedTallies.createMemory(64)), (name) =>
      hasher.hostKey(name),
    ),
    partitionOf: () => partitionIndex(0),
    shardOf: () => 0,
    seen: new SeenCheck(bloom, RecentKeys.create(64), undefined),
    isOptedOut: () => false,
    count: () => {},
  });
  const exchange = new LinkExchange({
    shard: 0,
    shards: 2,
    router,
    stage,
    offerHost: (_host, message) => {
      offered.push(message);
      return true;
    },
    sendPeer: (_shard, message) => {
      sent.push(message);
      return true;
    },
    toSelf: (message) => sent.push(message),
    remote: undefined,
    stalled: () => {},
  });
  const applyAll = (): void => {
    for (const message of offered) if (message.kind === 'offer-urls') message.token.applied();
  };
  const commit = (): void => {
    stage.flush();
    stage.committed(port.batches.at(-1)?.sequence ?? 0, []);
  };
  return { exchange, offered, sent, applyAll, commit };
}

test('LinkExchange.take sends its receipt after the commit of what the hosts have staged, not before', () => {
  const { exchange, offered, sent, applyAll, commit } = exchangeAt();
  exchange.take(1, 1, [linkTo('/a')]);
  strictEqual(offered.length, 1);
  strictEqual(sent.length, 0);
  applyAll();
  strictEqual(sent.length, 0);
  commit();
  deepStrictEqual(sent, [{ kind: 'links-committed', from: 0, through: 1 }]);
});

test('LinkExchange.take answers a repeated batch with its receipt and deals nothing out', () => {
  const { exchange, offered, sent, applyAll, commit } = exchangeAt();
  exchange.take(1, 1, [linkTo('/a')]);
  applyAll();
  commit();
  exchange.take(1, 1, [linkTo('/a')]);
  strictEqual(offered.length, 1);
  deepStrictEqual(sent.at(-1), { kind: 'links-committed', from: 0, through: 1 });
  strictEqual(sent.length, 2);
});

test('LinkExchange.take deals out one message to a host, with all its links of the batch', () => {
  const { exchange, offered } = exchangeAt();
  exchange.take(1, 1, [linkTo('/a'), linkTo('/b')]);
  const [message] = offered;
  ok(message?.kind === 'offer-urls');
  deepStrictEqual(
    message.links.map((link) => link.urlKey),
    [urlKey(hasher.urlKey('http://host.test/a')), urlKey(hasher.urlKey('http://host.test/b'))],
  );
});
