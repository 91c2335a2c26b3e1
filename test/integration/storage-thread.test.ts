import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CheckpointBatch, StorageEvent } from '../../src/actors/ports.ts';
import type { CrawlError } from '../../src/base/errors.ts';
import { hostKey, urlKey } from '../../src/base/units.ts';
import { loadBloomSnapshot } from '../../src/storage/bloom-snapshot.ts';
import { bloomPath } from '../../src/storage/directory.ts';
import type { ShardStorage } from '../../src/storage/open-client.ts';
import { openCheckpointClient } from '../../src/storage/open-client.ts';
import { ReadStore } from '../../src/storage/read-store.ts';
import { SeenStore } from '../../src/storage/seen-store.ts';
import { DEFAULT_POLICY, type StorageNews } from '../../src/storage/storage-loop.ts';
import { StorageThread } from '../../src/storage/storage-owner.ts';
import {
  answer,
  auditOf,
  batchOf,
  discoveredAt,
  entryOf,
  fetched,
  hostRowOf,
  PARTITIONS,
  partitionOf,
} from '../fixtures/checkpoint-batches.ts';
import {
  removeFolder,
  storeOptions,
  temporaryFolder,
  WARC_PREFIX,
} from '../fixtures/store-session.ts';
import { RECRAWL } from '../support/recrawl-policy.ts';

const archives: StorageNews[] = [];
const archive = {
  gzipLevel: 6,
  finishBytesMax: 1 << 20,
  objectStore: undefined,
  keepsLocal: false,
};
const events = {
  onNews: (news: StorageNews) => archives.push(news),
  onFailure: (error: CrawlError) => {
    throw error;
  },
  onCrash: (error: unknown) => {
    throw error;
  },
};

const start = (dir: string) =>
  StorageThread.start(
    { store: storeOptions(dir), policy: { ...DEFAULT_POLICY, commitWindowMs: 20 }, archive },
    events,
  );

/** A shard that remembers its events and lets a test wait for a receipt. */
class Shard {
  readonly storage: ShardStorage;
  readonly seen: SeenStore;
  readonly events: StorageEvent[] = [];
  readonly #waiting = new Map<number, () => void>();
  #onSeenRuns: () => void = () => undefined;

  constructor(owner: StorageThread, dir: string, shard: number) {
    this.storage = openCheckpointClient({
      recrawl: RECRAWL,
      port: owner.attach(shard),
      dir,
      partitions: PARTITIONS,
      warcPrefix: WARC_PREFIX,
      onEvent: (event) => this.#event(event),
      onSeenRuns: ({ added, removed, frozenIds }) => {
        this.seen.replaceRuns(removed, added);
        for (const id of frozenIds) this.seen.dropFrozen(id);
        this.#onSeenRuns();
      },
      onSeenFlushWanted: () => this.seen.freeze(),
    });
    this.seen = new SeenStore({
      directory: join(dir, 'frontier'),
      runs: owner.opened.seenRuns,
      onMemtableFull: (frozen) => this.storage.client.sendSeenKeys(frozen),
    });
  }

  /** Submits and resolves when the receipt is there. */
  commit(batch: CheckpointBatch): Promise<void> {
    const received = new Promise<void>((resolve) => this.#waiting.set(batch.sequence, resolve));
    this.storage.client.submit(batch);
    return received;
  }

  /** Resolves when the set of seen runs changes. */
  seenRunsChanged(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSeenRuns = resolve;
    });
  }

  async close(): Promise<void> {
    this.seen.close();
    await this.storage.close();
  }

  #event(event: StorageEvent): void {
    this.events.push(event);
    if (event.kind === 'checkpoint-committed') this.#waiting.get(event.sequence)?.();
  }
}

test('StorageThread serves two shards, which read what they wrote before and after the receipt', async () => {
  const dir = temporaryFolder();
  const owner = await start(dir);
  const shards = [new Shard(owner, dir, 0), new Shard(owner, dir, 1)];
  await Promise.all(
    shards.map(async (shard, index) => {
      const host = index + 1;
      const at = { hostKey: hostKey(BigInt(host)), partition: partitionOf(host), band: 0 as const };
      const page = fetched(host, 100 + host, answer(`body of ${host}`));
      const row = hostRowOf(host, { head: 0, chunkEnd: 1, tail: 2 });
      const { client } = shard.storage;
      const received = shard.commit(
        batchOf(1, {
          pages: [page],
          hosts: [{ hostKey: at.hostKey, row }],
          chunks: [{ ...at, entries: [entryOf(host, 7, 0)] }],
          denied: [{ ...at, entry: entryOf(host, 8, 9) }],
          discovered: [discoveredAt(host, 70 + host, { sequence: 1 })],
          audit: [auditOf(host, 1)],
        }),
      );
      const looks = () => {
        deepStrictEqual(client.host(at.hostKey, at.partition), row);
        deepStrictEqual(client.chunk(at.hostKey, at.partition, 0, 0), [entryOf(host, 7, 0)]);
        ok(client.isDenied(at.hostKey, at.partition, urlKey(8n)));
        strictEqual(client.page(at.hostKey, at.partition, page.urlKey)?.url, page.url);
        strictEqual([...client.hostsWithWork((one) => one === at.partition)].length, 1);
      };
      looks();
      ok(client.pendingBytes() > 0);
      await received;
      looks();
      strictEqual(client.pendingBytes(), 0);
      const pointer = client.page(at.hostKey, at.partition, page.urlKey)?.pointer;
      ok(pointer);
      strictEqual(Buffer.from(client.body(pointer)?.body ?? []).toString(), `body of ${host}`);
    }),
  );
  const metrics = await owner.metrics();
  strictEqual(metrics.batches, 2);
  ok(metrics.commitMaxMs > 0);
  for (const shard of shards) await shard.close();
  await owner.close();
  ok(!existsSync(join(dir, 'lock')));
  const [news, ...more] = archives.splice(0);
  deepStrictEqual([news?.kind, more], ['tended', []]);
  ok(existsSync(join(dir, 'warc', `${WARC_PREFIX}-000000.cdxj`)), 'the closed file has its index');

  const again = await start(dir);
  deepStrictEqual(again.opened.identity, owner.opened.identity);
  strictEqual(again.opened.recovery.recovered, 2, 'one entry of each host was only in the log');
  await again.close();
  removeFolder(dir);
});

test('CheckpointClient.sendSeenKeys turns a memtable into a run that every shard opens', async () => {
  const dir = temporaryFolder();
  const owner = await start(dir);
  const shards = [new Shard(owner, dir, 0), new Shard(owner, dir, 1)] as const;
  const changed = Promise.all(shards.map((shard) => shard.seenRunsChanged()));
  shards[0].seen.add(1, 2);
  shards[0].seen.freeze();
  ok(shards[0].seen.has(1, 2), 'known while frozen');
  await changed;
  strictEqual(shards[0].seen.counts().frozen, 0);
  for (const shard of shards) ok(shard.seen.has(1, 2));
  for (const shard of shards) await shard.close();
  await owner.close();
  const again = await start(dir);
  deepStrictEqual(again.opened.seenRuns, [{ file: 0, keys: 1 }]);
  await again.close();
  removeFolder(dir);
});

test('StorageThread merges seen runs in the background and goes on knowing every key', async () => {
  const dir = temporaryFolder();
  const owner = await start(dir);
  const shard = new Shard(owner, dir, 0);
  for (let key = 1; key <= 4; key++) {
    const changed = shard.seenRunsChanged();
    shard.seen.add(key, key);
    shard.seen.freeze();
    await changed;
  }
  if (shard.seen.counts().runs !== 1) await shard.seenRunsChanged();
  strictEqual(shard.seen.counts().runs, 1);
  for (let key = 1; key <= 4; key++) ok(shard.seen.has(key, key));
  await shard.close();
  await owner.close();
  deepStrictEqual(
    readdirSync(join(dir, 'frontier')).filter((name) => name.endsWith('.run')).length,
    1,
  );
  removeFolder(dir);
});

test('StorageThread.start refuses a directory that is locked, of another version, or damaged', async () => {
  const dir = temporaryFolder();
  const owner = await start(dir);
  await rejects(start(dir), (error: CrawlError) => {
    strictEqual(error.code, 'data-locked');
    ok(error.message.includes(`process ${process.pid}`));
    return true;
  });
  await owner.close();
  writeFileSync(join(dir, 'format'), '99\n');
  await rejects(start(dir), (error: CrawlError) => {
    strictEqual(error.code, 'data-version');
    ok(error.message.includes('99') && error.message.includes('format 1'));
    return true;
  });
  writeFileSync(join(dir, 'format'), '1\n');
  writeFileSync(join(dir, 'lmdb', 'data.mdb'), Buffer.alloc(65_536, 0x41));
  await rejects(start(dir), { name: 'CrawlError', code: 'data-damaged' });
  removeFolder(dir);
});

test('StorageThread.saveBloom writes a snapshot that loads again', async () => {
  const dir = temporaryFolder();
  const owner = await start(dir);
  const bytes = new Uint8Array(new SharedArrayBuffer(10_000)).fill(3);
  await owner.saveBloom({ bytes, meta: { generation: 1 } });
  await owner.close();
  const loaded = loadBloomSnapshot(bloomPath(dir), (length) => new Uint8Array(length));
  deepStrictEqual(loaded?.meta, { generation: 1 });
  deepStrictEqual(loaded.bytes, new Uint8Array(10_000).fill(3));
  removeFolder(dir);
});

test('ReadStore reads rows, counters, audit and bodies of a crawl', async () => {
  const dir = temporaryFolder();
  const owner = await start(dir);
  const shard = new Shard(owner, dir, 0);
  const page = fetched(1, 11, answer('read me'));
  await shard.commit(
    batchOf(1, { pages: [page], audit: [auditOf(1, 9)], counters: { 'skipped.robots': 4 } }),
  );
  const store = new ReadStore(dir, WARC_PREFIX);
  const [at] = [...store.pages()];
  strictEqual(at?.urlKey, page.urlKey);
  ok(at.row.pointer);
  strictEqual(Buffer.from((await store.body(at.row.pointer))?.body ?? []).toString(), 'read me');
  deepStrictEqual([...store.audit()], [auditOf(1, 9)]);
  deepStrictEqual([...store.counters()], [['skipped.robots', 4]]);
  await store.close();
  await shard.close();
  await owner.close();
  removeFolder(dir);
});
