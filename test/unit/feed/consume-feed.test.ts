import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { type FeedPlace, placeText, readPlace } from '../../../src/actors/change-event.ts';
import { CrawlError } from '../../../src/base/errors.ts';
import { type ConsumeOptions, consumeFeed } from '../../../src/feed/consume-feed.ts';
import type { FeedDocument } from '../../../src/feed/feed-document.ts';
import { type Sink, SinkBusy } from '../../../src/feed/sink.ts';

const place = (index: number): FeedPlace => ({ segment: 1, offset: 0, index });

function document(index: number): FeedDocument {
  const record = { kind: 'new' as const, url: `http://a.test/${index}`, contentType: '' };
  const facts = { fetchedAt: '', status: 200, digest: '', bytes: 0 };
  return { record: { ...record, ...facts, cursor: placeText(place(index + 1)) }, text: undefined };
}

/** A feed of ten events, consumed three at a time; what happens is written down in order. */
function consumer(
  deliver: (urls: readonly string[]) => void,
  more: Partial<ConsumeOptions> = {},
): { readonly options: ConsumeOptions; readonly log: string[] } {
  const log: string[] = [];
  const sink: Sink = {
    name: 'test',
    portionMax: 3,
    deliver: (documents) => {
      const urls = documents.map(({ record }) => record.url.slice(-1));
      log.push(`deliver ${urls.join('')}`);
      return new Promise((resolve) => {
        deliver(urls);
        resolve();
      });
    },
    close: () => Promise.resolve(),
  };
  const options: ConsumeOptions = {
    read: (from, max) => {
      const count = Math.min(10 - from.index, max);
      const documents = Array.from({ length: count }, (_, at) => document(from.index + at));
      return Promise.resolve({ documents, next: place(from.index + count) });
    },
    sink,
    from: place(0),
    keep: (next) => log.push(`keep ${next.index}`),
    limit: Number.POSITIVE_INFINITY,
    followMs: undefined,
    wait: (ms) => {
      log.push(`wait ${ms}`);
      return Promise.resolve();
    },
    isEnding: () => false,
    retrying: () => undefined,
    ...more,
  };
  return { options, log };
}

test('consumeFeed keeps a place only after the portion before it was taken', async () => {
  const { options, log } = consumer(() => undefined);
  strictEqual(await consumeFeed(options), 10);
  deepStrictEqual(log, [
    'deliver 012',
    'keep 3',
    'deliver 345',
    'keep 6',
    'deliver 678',
    'keep 9',
    'deliver 9',
    'keep 10',
  ]);
});

test('consumeFeed delivers a portion again after growing waits while the sink is busy', async () => {
  let tries = 0;
  const { options, log } = consumer(
    () => {
      tries += 1;
      if (tries === 2) throw new SinkBusy('busy', 7_000);
      if (tries < 5) throw new SinkBusy('busy');
    },
    { limit: 3 },
  );
  strictEqual(await consumeFeed(options), 3);
  deepStrictEqual(
    log.filter((line) => line.startsWith('wait')),
    ['wait 500', 'wait 7000', 'wait 2000', 'wait 4000'],
  );
  deepStrictEqual(log.at(-1), 'keep 3');
  strictEqual(log.filter((line) => line === 'deliver 012').length, 5);
});

test('consumeFeed ends at what a sink will never take, the place before it kept', async () => {
  const { options, log } = consumer((urls) => {
    if (urls.includes('4')) throw new CrawlError('config', 'refused');
  });
  await rejects(consumeFeed(options), /refused/);
  deepStrictEqual(log, ['deliver 012', 'keep 3', 'deliver 345']);
});

test('consumeFeed that is told to end while a sink is busy does not move on', async () => {
  let isEnding = false;
  const busy = (): void => {
    throw new SinkBusy('busy');
  };
  const { options, log } = consumer(busy, {
    isEnding: () => isEnding,
    retrying: () => {
      isEnding = true;
    },
  });
  strictEqual(await consumeFeed(options), 0);
  deepStrictEqual(log, ['deliver 012', 'wait 500']);
});

test('readPlace takes what placeText wrote and nothing else', () => {
  const written = { segment: 12, offset: 3_456_789, index: 4 };
  deepStrictEqual(readPlace(placeText(written)), written);
  for (const text of ['', '1-2', '1-2-3-4', 'a-b-c', '-1-2-3', '1-2-3x']) {
    strictEqual(readPlace(text), undefined, text);
  }
});
