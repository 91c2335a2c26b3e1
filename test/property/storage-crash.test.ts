import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CheckpointBatch } from '../../src/actors/ports.ts';
import type { QueueCursors } from '../../src/actors/rows.ts';
import { hostKey, urlKey } from '../../src/base/units.ts';
import { readAuditLog } from '../../src/storage/audit-log.ts';
import type { CommitBoundary } from '../../src/storage/checkpoint-service.ts';
import { iterateRecords } from '../../src/storage/warc-reader.ts';
import {
  answer,
  auditOf,
  batchOf,
  discoveredAt,
  entryOf,
  fetched,
  hostRowOf,
  partitionOf,
} from '../fixtures/checkpoint-batches.ts';
import {
  removeFolder,
  StoreSession,
  storeOptions,
  temporaryFolder,
} from '../fixtures/store-session.ts';

const BOUNDARIES: readonly CommitBoundary[] = [
  'placed',
  'bodies-synced',
  'frontier-synced',
  'audit-synced',
  'in-transaction',
  'committed',
  'acknowledged',
];
const HOSTS = [1, 2, 3];

/** What a crawl of three hosts does in one batch: how many URLs it finds, sweeps and fetches for each. */
interface Turn {
  readonly found: readonly number[];
  readonly sweep: boolean;
  readonly done: readonly number[];
  readonly body: number;
}

const turnOf: fc.Arbitrary<Turn> = fc.record({
  found: fc.tuple(fc.nat(5), fc.nat(5), fc.nat(90)),
  sweep: fc.boolean(),
  done: fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)),
  body: fc.nat(3),
});

/** A model of one shard that keeps its queues as the host actors do, and remembers all it submitted. */
class Model {
  sequence = 0;
  /** Per host: cursors of band 0 and the URL of every entry. */
  readonly queues = new Map<number, QueueCursors>(
    HOSTS.map((host) => [host, { head: 0, chunkEnd: 0, tail: 0 }]),
  );
  readonly fetchedUrls: number[] = [];
  audits = 0;

  turn({ found, sweep, done, body }: Turn): CheckpointBatch {
    this.sequence += 1;
    const discovered = [];
    const chunks = [];
    const hosts = [];
    const pages = [];
    for (const [index, host] of HOSTS.entries()) {
      const before = this.queues.get(host) as QueueCursors;
      let { head, chunkEnd, tail } = before;
      for (let count = 0; count < (found[index] ?? 0); count++) {
        discovered.push(discoveredAt(host, urlOf(host, tail), { sequence: tail }));
        tail += 1;
      }
      const from = Math.max(head, chunkEnd);
      if (sweep && before.tail > from) {
        // Only entries of earlier batches are swept, as an actor does that sweeps what has been committed.
        const entries = range(from, before.tail).map((at) => entryOf(host, urlOf(host, at), at));
        chunks.push({
          hostKey: hostKey(BigInt(host)),
          partition: partitionOf(host),
          band: 0 as const,
          entries,
        });
        chunkEnd = before.tail;
      }
      for (let count = 0; count < (done[index] ?? 0) && head < before.tail; count++) {
        const url = urlOf(host, head);
        pages.push(fetched(host, url, answer(body === 0 ? 'the same everywhere' : `page ${url}`)));
        this.fetchedUrls.push(url);
        head += 1;
      }
      this.queues.set(host, { head, chunkEnd, tail });
      hosts.push({
        hostKey: hostKey(BigInt(host)),
        row: hostRowOf(host, { head, chunkEnd, tail }),
      });
    }
    this.audits += 1;
    return batchOf(this.sequence, {
      discovered,
      chunks,
      hosts,
      pages,
      audit: [auditOf(1, this.audits)],
    });
  }
}

const urlOf = (host: number, sequence: number) => host * 1_000_000 + sequence;
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** The state after a number of batches, to compare a recovered store with. */
interface Snapshot {
  readonly queues: ReadonlyMap<number, QueueCursors>;
  readonly fetched: readonly number[];
  readonly audits: number;
}

const snapshotOf = (model: Model): Snapshot => ({
  queues: new Map(model.queues),
  fetched: [...model.fetchedUrls],
  audits: model.audits,
});

/** Opens what a crash left and checks that it is the state after exactly `expected`, with whole bodies and whole queues. */
async function checkRecovered(dir: string, expected: Snapshot): Promise<void> {
  const session = new StoreSession(storeOptions(dir));
  try {
    for (const [host, cursors] of expected.queues) {
      const key = hostKey(BigInt(host));
      const partition = partitionOf(host);
      const row = session.reader.host(key, partition);
      const [found] = row?.queues ?? [];
      strictEqual(found?.head ?? 0, cursors.head);
      strictEqual(found?.tail ?? 0, cursors.tail);
      // Nothing is left to the log alone: what is not done lies in chunk rows.
      strictEqual(Math.max(found?.chunkEnd ?? 0, found?.head ?? 0), cursors.tail);
      deepStrictEqual(
        waitingUrls(session, host, { head: cursors.head, tail: cursors.tail }),
        range(cursors.head, cursors.tail).map((at) => urlOf(host, at)),
      );
    }
    for (const url of expected.fetched) {
      const host = Math.floor(url / 1_000_000);
      const row = session.reader.page(
        hostKey(BigInt(host)),
        partitionOf(host),
        urlKey(BigInt(url)),
      );
      ok(row?.pointer, `page ${url} is stored`);
      const body = session.bodies.read(row.pointer);
      ok(body, `body of ${url} is whole`);
    }
    const pages = [...session.store.tables.pages.getKeys()].length;
    strictEqual(pages, new Set(expected.fetched).size, 'no row of an unacknowledged page');
    const audits = [...readAuditLog(dir, session.store.committed.audit)];
    strictEqual(audits.length, expected.audits);
    const ends = session.store.archive.ends()[0];
    const open = readdirSync(join(dir, 'warc')).find((name) => name.endsWith('.open'));
    const records = open === undefined ? 0 : [...iterateRecords(join(dir, 'warc', open))].length;
    strictEqual(records, ends?.records ?? 0, 'the WARC file ends with its last committed record');
  } finally {
    await session.close();
  }
}

/** URLs in the chunk rows of a host from `head` to `tail`. */
function waitingUrls(
  session: StoreSession,
  host: number,
  { head, tail }: { head: number; tail: number },
): number[] {
  const at = { hostKey: hostKey(BigInt(host)), partition: partitionOf(host), band: 0 as const };
  const found = new Map<number, number>();
  for (let first = 0; first < tail; first++) {
    for (const entry of session.reader.chunk({ ...at, sequence: first }) ?? []) {
      found.set(entry.sequence, Number(entry.urlKey));
    }
  }
  return range(head, tail).map((sequence) => found.get(sequence) ?? -1);
}

/** Leaves behind what a torn write may leave: bytes after the committed ends. */
function tear(dir: string, tail: Uint8Array): void {
  for (const [folder, pattern] of [
    ['warc', /\.open$/],
    ['frontier', /^urls-/],
    ['audit', /^audit-/],
  ] as const) {
    const last = readdirSync(join(dir, folder))
      .filter((name) => pattern.test(name))
      .at(-1);
    if (last !== undefined) appendFileSync(join(dir, folder, last), tail);
  }
}

test('openStore after a crash at any boundary of a commit finds exactly what was committed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turnOf, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...BOUNDARIES),
      fc.uint8Array({ maxLength: 64 }),
      async (turns, boundary, torn) => {
        const dir = temporaryFolder();
        const session = new StoreSession(storeOptions(dir, { logRollBytes: 4_096 }));
        session.service.attach(0);
        const model = new Model();
        let copy: string | undefined;
        for (const [index, turn] of turns.entries()) {
          const before = snapshotOf(model);
          session.submit(0, model.turn(turn));
          if (index < turns.length - 1) {
            session.commit();
            continue;
          }
          session.onBoundary = (reached) => {
            if (reached === boundary) copy = session.copy();
          };
          session.commit();
          session.onBoundary = () => undefined;
          ok(copy !== undefined);
          tear(copy, torn);
          const durable = boundary === 'committed' || boundary === 'acknowledged';
          await checkRecovered(copy, durable ? snapshotOf(model) : before);
        }
        await session.close();
        await checkRecovered(dir, snapshotOf(model));
        removeFolder(dir);
        if (copy !== undefined) removeFolder(copy);
      },
    ),
    { numRuns: 15 },
  );
});

test('CheckpointService after a failed write acknowledges nothing and leaves the last commit', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turnOf, { minLength: 2, maxLength: 4 }),
      fc.constantFrom<CommitBoundary>(...BOUNDARIES.slice(0, 5)),
      async (turns, boundary) => {
        const dir = temporaryFolder();
        const session = new StoreSession(storeOptions(dir));
        session.service.attach(0);
        const model = new Model();
        for (const turn of turns.slice(1)) session.submit(0, model.turn(turn));
        session.commit();
        const acknowledged = snapshotOf(model);
        const receipts = session.delivered.length;
        session.onBoundary = (reached) => {
          if (reached !== boundary) return;
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        };
        session.submit(0, model.turn(turns[0] as Turn));
        session.commit();
        deepStrictEqual(
          session.delivered.slice(receipts).map(({ message }) => message.kind),
          ['storage-failed'],
        );
        strictEqual(session.service.failure?.code, 'disk-full');
        session.onBoundary = () => undefined;
        await session.close();
        await checkRecovered(dir, acknowledged);
        removeFolder(dir);
      },
    ),
    { numRuns: 15 },
  );
});
