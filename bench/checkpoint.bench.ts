// What a durable page costs (step 10): batches packed by a client, sent over a port, committed by the storage thread. The machine's disk sets
// the rate; the CPU time per page, of both threads together, is what the crawl pays for it. Every page has a body of its own (worst case:
// a page row, a digest row and an unparsed row each), twenty discovered URLs, an audit entry, and its host's row.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckpointBatch } from '../src/actors/ports.ts';
import { hostKey, urlKey } from '../src/base/units.ts';
import { packBatch } from '../src/storage/batch-packer.ts';
import { openCheckpointClient } from '../src/storage/open-client.ts';
import { DEFAULT_POLICY } from '../src/storage/storage-loop.ts';
import { StorageThread } from '../src/storage/storage-owner.ts';
import {
  answer,
  auditOf,
  batchOf,
  discoveredAt,
  fetched,
  hostRowOf,
  PARTITIONS,
} from '../test/fixtures/checkpoint-batches.ts';
import { storeOptions, WARC_PREFIX } from '../test/fixtures/store-session.ts';
import { RECRAWL } from '../test/support/recrawl-policy.ts';
import { parameter } from './measure.ts';

const PAGES_PER_BATCH = 50;
const FOUND_PER_PAGE = 20;
const HOSTS = 1_000;
/** What the shard lets wait before it stops fetching. */
const PENDING_BYTES_MAX = 16 * 1024 * 1024;
const MULTIPLIER = 0x9e3779b97f4a7c15n;

const bodies = new Map<number, Buffer>();

/** Text-like bytes with the page's number in front, so that no two are alike. */
function bodyOf(page: number, bytes: number): Buffer {
  let text = bodies.get(bytes);
  if (text === undefined) {
    text = Buffer.from(randomBytes(bytes).toString('base64').slice(0, bytes), 'latin1');
    bodies.set(bytes, text);
  }
  const body = Buffer.from(text);
  body.writeUInt32LE(page, 0);
  return body;
}

/** A key as a hash would give it: spread over 64 bits. */
const keyOf = (number: number) => urlKey(BigInt.asUintN(64, BigInt(number + 1) * MULTIPLIER));

function makeBatch(sequence: number, bodyBytes: number, tails: number[]): CheckpointBatch {
  const pages = [];
  const discovered = [];
  const audit = [];
  const hosts = [];
  for (let index = 0; index < PAGES_PER_BATCH; index++) {
    const number = sequence * PAGES_PER_BATCH + index;
    const host = number % HOSTS;
    const page = fetched(host, number, answer(bodyOf(number, bodyBytes)));
    pages.push({ ...page, urlKey: keyOf(number) });
    audit.push(auditOf(host, number));
    let tail = tails[host] ?? 0;
    for (let count = 0; count < FOUND_PER_PAGE; count++) {
      discovered.push(discoveredAt(host, number * 100 + count, { sequence: tail++ }));
    }
    tails[host] = tail;
    const row = hostRowOf(host, { head: 0, chunkEnd: 0, tail });
    hosts.push({ hostKey: hostKey(BigInt(host)), row });
  }
  const parsedIds = pages.map((_, index) => (sequence - 2) * PAGES_PER_BATCH + index + 1);
  return batchOf(sequence, {
    pages,
    discovered,
    audit,
    hosts,
    parsedIds: sequence < 2 ? [] : parsedIds,
    counters: { 'pages.stored': pages.length },
  });
}

async function run(bodyBytes: number, pages: number, fsync: 'always' | 'interval'): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'hostler-bench-'));
  const store = storeOptions(dir, { logRollBytes: 64 << 20 });
  const owner = await StorageThread.start(
    {
      store: { ...store, warc: { ...store.warc, rollBytes: 1 << 30 } },
      policy: { ...DEFAULT_POLICY, fsync },
      archive: { gzipLevel: 0, finishBytesMax: 0, objectStore: undefined, keepsLocal: false },
    },
    {
      onNews: () => undefined,
      onFailure: (error) => {
        throw error;
      },
      onCrash: (error) => {
        throw error;
      },
    },
  );
  let onReceipt: (sequence: number) => void = () => undefined;
  const storage = openCheckpointClient({
    port: owner.attach(0),
    dir,
    partitions: PARTITIONS,
    warcPrefix: WARC_PREFIX,
    recrawl: RECRAWL,
    onEvent: (event) => {
      if (event.kind === 'checkpoint-committed') onReceipt(event.sequence);
    },
    onSeenRuns: () => undefined,
    onSeenFlushWanted: () => undefined,
  });
  const batches = Math.ceil(pages / PAGES_PER_BATCH);
  const tails: number[] = [];
  const cpu = { total: 0, making: 0 };
  const startedCpu = process.cpuUsage();
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    let sent = 0;
    const fill = () => {
      while (sent < batches && storage.client.pendingBytes() < PENDING_BYTES_MAX) {
        sent += 1;
        const before = process.cpuUsage();
        const batch = makeBatch(sent, bodyBytes, tails);
        const made = process.cpuUsage(before);
        cpu.making += made.user;
        storage.client.submit(batch);
      }
    };
    onReceipt = (sequence) => {
      if (sequence === batches) resolve();
      else fill();
    };
    fill();
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = process.cpuUsage(startedCpu);
  cpu.total = used.user + used.system;
  const metrics = await owner.metrics();
  const stored = batches * PAGES_PER_BATCH;
  const columns = [
    `checkpoint ${fsync} ${bodyBytes} B`.padEnd(32),
    `${(stored / seconds).toFixed(0).padStart(6)} pages/s`,
    `${(cpu.total / stored).toFixed(0).padStart(5)} us CPU a page with making it`,
    `packing ${packingCost(bodyBytes).toFixed(0).padStart(4)} us`,
    `commit p50 ${metrics.commitP50Ms.toFixed(1)} max ${metrics.commitMaxMs.toFixed(0)} ms`,
    `sync p50 ${metrics.syncP50Ms.toFixed(1)} max ${metrics.syncMaxMs.toFixed(0)} ms`,
    `${metrics.groups} groups`,
    `${(cpu.total / 1e6).toFixed(2)} CPU s`,
    `checksum ${metrics.pages}`,
  ];
  process.stdout.write(`${columns.join('  ')}\n`);
  await storage.close();
  await owner.close();
  rmSync(dir, { recursive: true, force: true });
}

/** The shard's share: framing, digests and packing; microseconds of CPU a page. */
function packingCost(bodyBytes: number): number {
  const rounds = 10;
  const tails: number[] = [];
  const made = Array.from({ length: rounds }, (_, index) => makeBatch(index + 1, bodyBytes, tails));
  const before = process.cpuUsage();
  for (const batch of made) packBatch(batch, RECRAWL, () => undefined);
  const used = process.cpuUsage(before);
  return (used.user + used.system) / (rounds * PAGES_PER_BATCH);
}

const pages = parameter('pages', 500, 20_000);
await run(10_000, pages, 'always');
await run(100_000, Math.ceil(pages / 5), 'always');
await run(10_000, pages, 'interval');
