import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import xxhash from 'xxhash-wasm';
import { DomainAccounts } from '../../../src/actors/domain-accounts.ts';
import { LinkRouter } from '../../../src/actors/link-router.ts';
import type { HostMessage } from '../../../src/actors/messages.ts';
import { OperatorSettings } from '../../../src/actors/operator-settings.ts';
import type { UnparsedPage } from '../../../src/actors/ports.ts';
import { SeenCheck } from '../../../src/actors/seen-check.ts';
import { ShardActor } from '../../../src/actors/shard-actor.ts';
import type { ShardOptions } from '../../../src/actors/shard-ports.ts';
import { SeededRandom } from '../../../src/base/random.ts';
import { type HostKey, hostKey, monotonicMs, partitionIndex } from '../../../src/base/units.ts';
import { CRAWL_RULES } from '../../../src/domain/canonical-url.ts';
import { Scope } from '../../../src/domain/scope.ts';
import { SimhashIndex } from '../../../src/domain/simhash-index.ts';
import { trapOptions } from '../../../src/domain/traps.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import { BloomGenerations } from '../../../src/runtime/bloom-generations.ts';
import { RecentKeys } from '../../../src/runtime/recent-keys.ts';
import { SharedTallies } from '../../../src/runtime/shared-tallies.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';
import { answer, fetched } from '../../fixtures/checkpoint-batches.ts';
import {
  RecordingCheckpoint,
  RecordingFetch,
  readerOf,
} from '../../support/actors/recording-ports.ts';

const hasher = createHasher(await xxhash(), 5n);
const OPTIONS: ShardOptions = {
  shard: 0,
  shards: 1,
  productToken: 'hostler',
  slotsMax: 4,
  bandWeights: [6, 3, 1],
  freshnessShare: 20,
  recrawls: false,
  flushMs: 100,
  pendingBytesMax: 1_000,
  backlogBytesMax: 1_000,
  residentEntriesMax: 1_000,
  sitemaps: false,
  wellKnownSitemaps: false,
};

function newRouter(): LinkRouter {
  const bloom = BloomGenerations.create({ expectedKeys: 100, falsePositiveRate: 0.01 });
  return new LinkRouter({
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
}

/** A shard whose hosts are a list; those in `refusing` have full mailboxes. */
function runningShard(unparsed: readonly UnparsedPage[] = []) {
  const clock = new VirtualClock();
  const driver = new VirtualDispatcher({ clock, random: new SeededRandom(1) });
  const checkpoint = new RecordingCheckpoint();
  const offered: { readonly host: HostKey; readonly message: HostMessage }[] = [];
  const active = new Set<HostKey>();
  const refusing = new Set<HostKey>();
  let shard: ShardActor | undefined;
  const ref = driver.dispatcher.spawn('shard', (context) => {
    const ports = {
      fetch: new RecordingFetch(),
      checkpoint,
      reader: { ...readerOf(), unparsed: () => unparsed },
      router: newRouter(),
      offerHost: (host: HostKey | { readonly hostKey: HostKey }, message: HostMessage) => {
        const key = typeof host === 'bigint' ? host : host.hostKey;
        if (refusing.has(key)) return false;
        offered.push({ host: key, message });
        return true;
      },
      settings: new OperatorSettings(),
      resolvesPending: () => 0,
      restHosts: () => {},
      remote: undefined,
      partitionOf: () => partitionIndex(0),
      activeHosts: () => active,
      sendPeer: () => true,
      storageFailed: () => {},
      markParsing: () => {},
      crashesOf: () => 0,
      parseGuarded: () => {},
      fingerprints: new SimhashIndex(SimhashIndex.createMemory(10)),
    };
    shard = new ShardActor(OPTIONS, ports, context);
    return shard;
  });
  const tell = (message: Parameters<ShardActor['receive']>[0]): void => {
    driver.dispatcher.tell(ref, message);
    driver.runDue();
  };
  const ready = (host: number): void => {
    const key = hostKey(BigInt(host));
    const place = { hostKey: key, partition: partitionIndex(0), host: `host-${host}.test` };
    tell({ kind: 'host-ready', ...place, atMs: monotonicMs(0), band: 0, reason: 'gap' });
  };
  const slots = (): number => offered.filter(({ message }) => message.kind === 'take-slot').length;
  return {
    driver,
    checkpoint,
    offered,
    active,
    refusing,
    shard: shard as ShardActor,
    tell,
    ready,
    slots,
  };
}

const ROLLED = { kind: 'storage', event: { kind: 'log-rolled', segment: 4 } } as const;

/** What the shard said of swept segments, batch by batch. */
function sweptOf(checkpoint: RecordingCheckpoint): (number | undefined)[] {
  return checkpoint.batches.map((batch) => batch.sweptThroughSegment);
}

test('ShardActor gives a log segment up when every host awake has moved its entries, not before', () => {
  const { driver, checkpoint, offered, active, tell } = runningShard();
  active.add(hostKey(1n)).add(hostKey(2n));
  tell(ROLLED);
  const sweeps = offered.map(({ message }) => message).filter(({ kind }) => kind === 'sweep');
  strictEqual(sweeps.length, 2);
  driver.advanceTo(500);
  deepStrictEqual(sweptOf(checkpoint), []);
  for (const message of sweeps) if (message.kind === 'sweep') message.token.applied();
  tell({ kind: 'flush' });
  deepStrictEqual(sweptOf(checkpoint), [3]);
});

test('ShardActor keeps a log segment while a host with a full mailbox was not swept', () => {
  const { driver, checkpoint, offered, active, refusing, tell } = runningShard();
  active.add(hostKey(1n)).add(hostKey(2n));
  refusing.add(hostKey(2n));
  tell(ROLLED);
  for (const { message } of offered) if (message.kind === 'sweep') message.token.applied();
  tell({ kind: 'flush' });
  driver.advanceTo(500);
  deepStrictEqual(sweptOf(checkpoint), []);
});

test('ShardActor starts no request while more bytes await their commit than it may hold', () => {
  const { checkpoint, ready, slots } = runningShard();
  checkpoint.pending = 1_000;
  ready(1);
  strictEqual(slots(), 0);
  checkpoint.pending = 999;
  ready(2);
  strictEqual(slots(), 2);
});

test('ShardActor starts no request while more bytes await their parse than it may hold', () => {
  const { shard, checkpoint, tell, ready, slots, refusing } = runningShard();
  const page = fetched(1, 7, answer('x'.repeat(1_000)));
  // Links that cannot leave keep the parser waiting.
  refusing.add(hasher.hostKey('full.test'));
  tell({ kind: 'inject-urls', urls: [{ url: 'http://full.test/', depth: 0 }] });
  shard.stage.page(page);
  tell({ kind: 'flush' });
  const event = {
    kind: 'checkpoint-committed',
    sequence: checkpoint.batches.at(-1)?.sequence ?? 0,
    receipts: [{ unparsedId: 1, duplicateOf: undefined }],
  } as const;
  tell({ kind: 'storage', event });
  ready(1);
  strictEqual(shard.status(monotonicMs(0)).parseBacklog, 1);
  strictEqual(slots(), 0);
});

test('ShardActor reserves no more slots than it has', () => {
  const { ready, slots } = runningShard();
  for (let host = 1; host <= 9; host += 1) ready(host);
  strictEqual(slots(), OPTIONS.slotsMax);
});

test('ShardActor parses pages that an earlier run left unparsed, or takes those whose body is gone out of the log', () => {
  const lost: UnparsedPage = {
    unparsedId: 77,
    hostKey: hostKey(1n),
    urlKey: hasher.urlKey('http://host-1.test/lost'),
    url: 'http://host-1.test/lost',
    depth: 1,
    hops: 0,
    purpose: 'page',
    pointer: { file: 0, record: 3 },
  };
  const { shard, driver, checkpoint, tell } = runningShard([lost]);
  shard.recover(() => true);
  driver.runDue();
  tell({ kind: 'flush' });
  deepStrictEqual(
    checkpoint.batches.flatMap((batch) => batch.parsedIds),
    [77],
  );
});
