// The change feed as the storage writes it: one event for each page of a commit, in order, with the row that the commit wrote; none of a commit
// that failed; old segments gone when there is enough; and places that are no longer good told from those that are.
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { FEED_START, type FeedPlace } from '../../src/actors/change-event.ts';
import type { PageCheckpoint } from '../../src/actors/ports.ts';
import { readCommitted } from '../../src/storage/committed-state.ts';
import { readFeed } from '../../src/storage/feed-log.ts';
import type { StoreOptions } from '../../src/storage/open-store.ts';
import { answer, batchOf, fetched } from '../fixtures/checkpoint-batches.ts';
import {
  removeFolder,
  StoreSession,
  storeOptions,
  temporaryFolder,
} from '../fixtures/store-session.ts';

async function withFolder(
  work: (
    open: () => StoreSession,
    feed: (session: StoreSession, from?: FeedPlace) => [string, FeedPlace][],
  ) => Promise<void>,
  changes: Partial<StoreOptions> = {},
): Promise<void> {
  const dir = temporaryFolder();
  try {
    const open = (): StoreSession => {
      const session = new StoreSession(storeOptions(dir, changes));
      session.service.attach(0);
      return session;
    };
    await work(open, (session, from = FEED_START) => {
      const events = readFeed(dir, readCommitted(session.store.tables).feed, from);
      return [...events].map(({ event, next }) => [`${event.kind} ${event.row.url}`, next]);
    });
  } finally {
    removeFolder(dir);
  }
}

const rowOf = (session: StoreSession, { hostKey, partition, urlKey }: PageCheckpoint) =>
  session.reader.page(hostKey, partition, urlKey);

test('the feed tells of every committed page in the order of the commits', () =>
  withFolder(async (open, feed) => {
    const session = open();
    const [one, two] = [fetched(1, 11, answer('one')), fetched(2, 22, answer('two'))];
    const copy = fetched(2, 23, answer('one'));
    const missing = fetched(1, 12, answer('', 404));
    session.submit(0, batchOf(1, { pages: [one, missing, two] }));
    session.commit();
    session.submit(0, batchOf(2, { pages: [copy] }));
    session.commit();
    const [first, second] = [one, two].map((page) => rowOf(session, page));
    const changed = { ...fetched(1, 11, answer('one more')), prior: first };
    const gone = { ...fetched(2, 22, answer('', 410)), prior: second };
    const same = { ...fetched(2, 23, answer('one')), prior: rowOf(session, copy) };
    session.submit(0, batchOf(3, { pages: [changed, gone, same] }));
    session.commit();
    const told = feed(session);
    deepStrictEqual(
      told.map(([text]) => text),
      [
        'new http://host-1.test/11',
        'new http://host-2.test/22',
        'duplicate http://host-2.test/23',
        'changed http://host-1.test/11',
        'gone http://host-2.test/22',
        'unchanged http://host-2.test/23',
      ],
    );
    // From the place after any event on, exactly what follows it.
    for (const [index, [, next]] of told.entries()) {
      deepStrictEqual(feed(session, next), told.slice(index + 1));
    }
    const state = readCommitted(session.store.tables);
    const rows = [...readFeed(session.store.directory.dir, state.feed, FEED_START)];
    deepStrictEqual(rows[3]?.event.row, rowOf(session, one));
    await session.close();
  }));

test('the feed tells nothing of a commit that failed, nor after the next start', () =>
  withFolder(async (open, feed) => {
    const session = open();
    session.submit(0, batchOf(1, { pages: [fetched(1, 11, answer('kept'))] }));
    session.commit();
    session.onBoundary = (boundary) => {
      if (boundary === 'in-transaction') throw new Error('the disk failed');
    };
    session.submit(0, batchOf(2, { pages: [fetched(1, 12, answer('lost'))] }));
    session.commit();
    ok(session.service.failure !== undefined);
    deepStrictEqual(feed(session).length, 1);
    await session.close();
    const again = open();
    again.submit(0, batchOf(1, { pages: [fetched(1, 13, answer('next'))] }));
    again.commit();
    deepStrictEqual(
      feed(again).map(([text]) => text),
      ['new http://host-1.test/11', 'new http://host-1.test/13'],
    );
    await again.close();
  }));

test('the feed keeps what it must and says of a place that is gone', () =>
  withFolder(
    async (open, feed) => {
      const session = open();
      session.submit(0, batchOf(1, { pages: [fetched(1, 11, answer('one'))] }));
      session.commit();
      const [, early] = feed(session)[0] as [string, FeedPlace];
      for (let at = 2; at < 60; at += 1) {
        session.submit(0, batchOf(at, { pages: [fetched(1, 20 + at, answer(`page ${at}`))] }));
        session.commit();
      }
      const kept = feed(session);
      ok(kept.length >= 4, `${kept.length} events kept`);
      ok(kept.length < 40, `${kept.length} events kept`);
      strictEqual(kept.at(-1)?.[0], 'new http://host-1.test/79');
      throws(() => feed(session, early), /no longer holds/);
      throws(() => feed(session, { segment: 9_999, offset: 1, index: 0 }), /no place/);
      await session.close();
    },
    { feedKeptBytes: 2_000 },
  ));
