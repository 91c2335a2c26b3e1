import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostKey, urlKey } from '../../src/base/units.ts';
import { readCounters } from '../../src/storage/counters.ts';
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

async function withSession(
  work: (session: StoreSession, dir: string) => void | Promise<void>,
  options: { fsync?: 'always' | 'interval'; logRollBytes?: number } = {},
): Promise<void> {
  const dir = temporaryFolder();
  const { logRollBytes = 1 << 20 } = options;
  const session = new StoreSession(storeOptions(dir, { logRollBytes }), options);
  try {
    session.service.attach(0);
    await work(session, dir);
  } finally {
    await session.close();
    removeFolder(dir);
  }
}

const receiptsOf = (session: StoreSession) =>
  session.delivered.flatMap(({ message }) =>
    message.kind === 'committed' ? message.receipts : [],
  );

test('CheckpointService.commit replaces the row of a committed page, pointer kept', () =>
  withSession((session) => {
    const page = fetched(3, 33, answer('<a href=x>hello</a>'));
    session.submit(0, batchOf(1, { pages: [page] }));
    session.commit();
    const { hostKey, partition, urlKey } = page;
    const row = session.reader.page(hostKey, partition, urlKey);
    ok(row?.pointer);
    const failed = { ...row, failure: 'parse-crashed' } as const;
    session.submit(0, batchOf(2, { pageRows: [{ hostKey, partition, urlKey, row: failed }] }));
    session.commit();
    deepStrictEqual(session.reader.page(hostKey, partition, urlKey), failed);
  }));

test('CheckpointService.commit stores a page so that its row leads back to its body', () =>
  withSession((session) => {
    const page = fetched(3, 33, answer('<a href=x>hello</a>'));
    session.submit(0, batchOf(1, { pages: [page], counters: { 'pages.stored': 1 } }));
    strictEqual(session.delivered.length, 0, 'no receipt before the commit');
    session.commit();
    deepStrictEqual(receiptsOf(session), [{ unparsedId: 1, duplicateOf: undefined }]);
    const row = session.reader.page(page.hostKey, page.partition, page.urlKey);
    ok(row?.pointer);
    strictEqual(row.etag, '"tag"');
    strictEqual(
      Buffer.from(session.bodies.read(row.pointer)?.body ?? []).toString(),
      '<a href=x>hello</a>',
    );
    deepStrictEqual(
      [...session.reader.unparsed(() => true)].map((one) => one.url),
      [page.url],
    );
    strictEqual(readCounters(session.store.tables).get('pages.stored'), 1);
    session.submit(0, batchOf(2, { parsedIds: [1], counters: { 'pages.stored': 2 } }));
    session.commit();
    deepStrictEqual([...session.reader.unparsed(() => true)], []);
    strictEqual(readCounters(session.store.tables).get('pages.stored'), 3);
  }));

test('CheckpointService.commit makes a repeated body a revisit, within a group and later', () =>
  withSession((session, dir) => {
    const first = fetched(1, 11, answer('same text'));
    const second = fetched(2, 22, answer('same text'));
    const third = fetched(3, 33, answer('same text'));
    const sameHost = fetched(1, 44, answer('same text'));
    const recrawled = fetched(1, 11, answer('same text'));
    session.submit(0, batchOf(1, { pages: [first, second] }));
    session.commit();
    session.submit(0, batchOf(2, { pages: [third, sameHost, recrawled] }));
    session.commit();
    // On another host all relative links lead to other pages: the stub at the root of one site may be the stub of many.
    deepStrictEqual(receiptsOf(session), [
      { unparsedId: 1, duplicateOf: undefined },
      { unparsedId: 2, duplicateOf: first.url },
      { unparsedId: 3, duplicateOf: first.url },
      { unparsedId: 0, duplicateOf: first.url },
      { unparsedId: 0, duplicateOf: first.url },
    ]);
    deepStrictEqual(
      [...session.reader.unparsed(() => true)].map(({ url, pointer }) => [url, pointer.record]),
      [first, second, third].map(({ url }) => [url, 1]),
    );
    const rows = [first, second, third].map((page) =>
      session.reader.page(page.hostKey, page.partition, page.urlKey),
    );
    deepStrictEqual(rows[1]?.pointer, rows[0]?.pointer);
    strictEqual(rows[2]?.duplicateOf, first.url);
    strictEqual(rows[0]?.duplicateOf, undefined, 'a page is no duplicate of itself');
    const [file] = readdirSync(join(dir, 'warc')).filter((name) => name.endsWith('.open'));
    const types = [...iterateRecords(join(dir, 'warc', file ?? ''))].map((one) => one.type);
    deepStrictEqual(types, [
      'warcinfo',
      'response',
      'request',
      'revisit',
      'request',
      'revisit',
      'request',
      'revisit',
      'request',
      'revisit',
      'request',
    ]);
  }));

test('CheckpointService.commit parses a page whose first copy was not to be parsed', () =>
  withSession((session) => {
    const silent = fetched(1, 11, answer('text'), { parse: false });
    const wanted = fetched(2, 22, answer('text'));
    session.submit(0, batchOf(1, { pages: [silent, wanted] }));
    session.commit();
    deepStrictEqual(receiptsOf(session), [
      { unparsedId: 0, duplicateOf: undefined },
      { unparsedId: 1, duplicateOf: undefined },
    ]);
  }));

test('CheckpointService.commit archives the same text in another compression whole', () =>
  withSession((session) => {
    const plain = answer('the text');
    const other = { ...plain, payload: Buffer.from('packed differently') };
    const pages = [fetched(1, 11, plain), fetched(2, 22, other)];
    session.submit(0, batchOf(1, { pages }));
    session.commit();
    strictEqual(receiptsOf(session)[1]?.duplicateOf, pages[0]?.url);
    const { file, records } = session.store.archive.ends()[0] ?? { file: -1, records: 0 };
    strictEqual(records, 5);
    strictEqual(session.bodies.readRecord({ file, record: 3 })?.type, 'response');
  }));

test('CheckpointService.commit keeps the stored copy of a page that answers 304', () =>
  withSession((session) => {
    const page = fetched(1, 11, answer('kept'));
    session.submit(0, batchOf(1, { pages: [page] }));
    session.commit();
    const before = session.reader.page(page.hostKey, page.partition, page.urlKey);
    const { fetchedAt } = page;
    const again = fetched(1, 11, answer('', 304), { fetchedAt, prior: before });
    session.submit(0, batchOf(2, { pages: [again] }));
    session.commit();
    const after = session.reader.page(page.hostKey, page.partition, page.urlKey);
    deepStrictEqual({ ...after, visit: before?.visit }, before);
    strictEqual(after?.visit?.unchanged, 1);
    const revisit = session.bodies.readRecord({ file: 0, record: 3 });
    strictEqual(revisit?.type, 'revisit');
    ok(revisit.warcHeaders.some((text) => text.endsWith('server-not-modified')));
  }));

test('CheckpointService.commit archives robots.txt without a page row', () =>
  withSession((session) => {
    const page = fetched(1, 11, answer('User-agent: *'), { purpose: 'robots', parse: false });
    session.submit(0, batchOf(1, { pages: [page] }));
    session.commit();
    strictEqual(session.reader.page(page.hostKey, page.partition, page.urlKey), undefined);
    strictEqual(session.bodies.readRecord({ file: 0, record: 1 })?.httpStatus, 200);
  }));

test('CheckpointService.commit puts and removes every kind of row', () =>
  withSession((session) => {
    const at = { hostKey: hostKey(1n), partition: partitionOf(1), band: 0 as const };
    const robots = {
      origin: 'http://host-1.test',
      rules: { groups: [['*', ['/x']]] },
      decision: 'rules' as const,
      fetchedAt: fetched(1, 1, undefined).fetchedAt,
      expiresAt: fetched(1, 2, undefined).fetchedAt,
      status: 200,
      failures: 0,
      failingSince: fetched(1, 3, undefined).fetchedAt,
      processAt: undefined,
    };
    const row = hostRowOf(1, { head: 0, chunkEnd: 2, tail: 2 });
    const entries = [entryOf(1, 7, 0), entryOf(1, 8, 1)];
    session.submit(
      0,
      batchOf(1, {
        hosts: [{ hostKey: at.hostKey, row }],
        robots: [{ ...at, row: robots }],
        chunks: [{ ...at, entries }],
        denied: [{ ...at, entry: entryOf(1, 9, 2) }],
        audit: [auditOf(1, 100)],
      }),
    );
    session.commit();
    deepStrictEqual(session.reader.host(at.hostKey, at.partition), row);
    deepStrictEqual(session.reader.robots(at.hostKey, at.partition), [robots]);
    deepStrictEqual(session.reader.chunk({ ...at, sequence: 1 }), entries);
    ok(session.reader.isDenied(at.hostKey, at.partition, urlKey(9n)));
    deepStrictEqual([...session.reader.hostsWithWork(() => true)].length, 1);
    session.submit(
      0,
      batchOf(2, {
        chunkRemovals: [{ ...at, firstSequence: 0 }],
        deniedRemovals: [{ ...at, urlKey: urlKey(9n) }],
        hosts: [{ hostKey: at.hostKey, row: hostRowOf(1, { head: 2, chunkEnd: 2, tail: 2 }) }],
      }),
    );
    session.commit();
    strictEqual(session.reader.chunk({ ...at, sequence: 1 }), undefined);
    deepStrictEqual([...session.reader.denied(at.hostKey, at.partition)], []);
    deepStrictEqual([...session.reader.hostsWithWork(() => true)], []);
  }));

test('CheckpointService in interval mode acknowledges readable bodies before the commit', () =>
  withSession(
    (session) => {
      const page = fetched(1, 11, answer('soon'));
      session.submit(0, batchOf(1, { pages: [page] }));
      session.service.endWindow();
      deepStrictEqual(
        session.delivered.map(({ message }) => message.kind),
        ['committed'],
      );
      strictEqual(session.bodies.read({ file: 0, record: 1 })?.status, 200);
      session.reader.refresh();
      strictEqual(session.reader.page(page.hostKey, page.partition, page.urlKey), undefined);
      session.commit();
      ok(session.reader.page(page.hostKey, page.partition, page.urlKey)?.pointer);
      deepStrictEqual(session.delivered.at(-1)?.message, { kind: 'durable', sequence: 1 });
    },
    { fsync: 'interval' },
  ));

test('CheckpointService deletes a log segment once it is swept and its keys are in a run', () =>
  withSession(
    (session, dir) => {
      session.submit(0, batchOf(1, { discovered: [discoveredAt(1, 7, { sequence: 0 })] }));
      session.commit();
      const rolled = session.delivered.find(({ message }) => message.kind === 'log-rolled');
      deepStrictEqual(rolled?.message, { kind: 'log-rolled', segment: 2 });
      session.submit(0, batchOf(2, { sweptThroughSegment: 1 }));
      session.commit();
      ok(existsSync(join(dir, 'frontier', 'urls-1.log')), 'its keys are in no run yet');
      session.service.receiveSeenKeys(0, 5, new BigUint64Array([7n]));
      session.commit();
      ok(!existsSync(join(dir, 'frontier', 'urls-1.log')));
      const change = session.delivered.find(({ message }) => message.kind === 'seen-runs');
      deepStrictEqual(change?.message, {
        kind: 'seen-runs',
        added: [{ file: 0, keys: 1 }],
        removed: [],
        frozenIds: [5],
      });
    },
    { logRollBytes: 1 },
  ));

test('CheckpointService.endFull commits what is there, then refuses more', () =>
  withSession((session) => {
    session.submit(0, batchOf(1, { pages: [fetched(1, 11, answer('last'))] }));
    session.service.endFull('the quota is used up');
    deepStrictEqual(
      session.delivered.map(({ message }) => message.kind),
      ['committed', 'storage-failed'],
    );
    deepStrictEqual(session.service.failure, {
      ...{ kind: 'storage-failed', code: 'disk-full', detail: 'the quota is used up' },
    });
  }));
