// What becomes of the requests of a page in the browser, and which answers several pages share.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import type { ResourceAnswer } from '../../../src/actors/render-port.ts';
import {
  type AskedRequest,
  documentUrl,
  isShown,
  verdictOf,
} from '../../../src/render/request-policy.ts';
import { ResourceCache } from '../../../src/render/resource-cache.ts';

const asked = (changes: Partial<AskedRequest>): AskedRequest => ({
  ...{ url: 'https://h.test/a', method: 'GET', type: 'xhr' },
  ...{ isNavigation: false, isMainFrame: false, hasDocument: true },
  ...changes,
});

test('verdictOf fetches scripts and data by GET, and nothing else', () => {
  for (const type of ['script', 'xhr', 'fetch']) strictEqual(verdictOf(asked({ type })), 'fetch');
  for (const type of ['image', 'font', 'media', 'websocket', 'ping', 'manifest', 'other']) {
    strictEqual(verdictOf(asked({ type })), 'refuse', type);
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) {
    strictEqual(verdictOf(asked({ method })), 'refuse', method);
  }
  strictEqual(verdictOf(asked({ type: 'stylesheet' })), 'empty-style');
});

test('verdictOf refuses URLs that are not of the web, or too long', () => {
  for (const url of ['file:///etc/passwd', 'ftp://h.test/', 'chrome://version', 'ws://h.test/']) {
    strictEqual(verdictOf(asked({ url })), 'refuse', url);
  }
  strictEqual(verdictOf(asked({ url: `https://h.test/${'a'.repeat(8_192)}` })), 'refuse');
});

test('verdictOf serves the document once; what a script navigates to is noted, and frames are not loaded', () => {
  const navigation = { type: 'document', isNavigation: true };
  const main = asked({ ...navigation, isMainFrame: true, hasDocument: false });
  strictEqual(verdictOf(main), 'document');
  strictEqual(verdictOf({ ...main, hasDocument: true }), 'moved');
  strictEqual(verdictOf(asked(navigation)), 'refuse');
});

test('documentUrl drops the fragment', () => {
  deepStrictEqual(['https://h.test/a#b', 'https://h.test/a'].map(documentUrl), [
    'https://h.test/a',
    'https://h.test/a',
  ]);
});

test("isShown lets scripts read what their own site gives, and another site's only if it says so", () => {
  const read = (url: string, headers: readonly string[] = [], type = 'fetch') =>
    isShown({ pageUrl: 'https://www.h.test/a', url, type, headers });
  strictEqual(read('https://www.h.test/data.json'), true);
  strictEqual(read('https://api.h.test/data.json'), true);
  strictEqual(read('https://other.test/data.json'), false);
  strictEqual(read('http://10.0.0.1/'), false);
  const allowing = (origin: string) => ['Access-Control-Allow-Origin', origin];
  strictEqual(read('https://other.test/data.json', allowing('*')), true);
  strictEqual(read('https://other.test/data.json', allowing('https://www.h.test')), true);
  strictEqual(read('https://other.test/data.json', allowing('https://h.test')), false);
  strictEqual(read('https://other.test/app.js', [], 'script'), true);
});

function answer(headers: readonly string[] = [], status = 200): ResourceAnswer {
  return { kind: 'response', status, headers, body: new Uint8Array(8) };
}

const wanted = (name: string, type: string, isForeign = false) => {
  return { url: `https://h.test/${name}`, type, isForeign };
};

/** Asks a cache for one URL at these times; counts how often it was asked for in turn. */
async function asksOf(type: string, given: ResourceAnswer, times: readonly number[]) {
  const cache = new ResourceCache();
  let asks = 0;
  for (const now of times) {
    await cache.get(wanted('a', type), now, async () => {
      asks += 1;
      return given;
    });
  }
  return asks;
}

test('ResourceCache keeps scripts for a while, and data as long as its host says', async () => {
  const times = [0, 1_000, 61_000];
  strictEqual(await asksOf('script', answer(), times), 1);
  strictEqual(await asksOf('script', answer(['cache-control', 'no-store']), times), 3);
  strictEqual(await asksOf('xhr', answer(), times), 3);
  strictEqual(await asksOf('xhr', answer(['cache-control', 'max-age=60']), times), 2);
});

test('ResourceCache does not ask again at once for what was refused, but does for what came too late', async () => {
  const times = [0, 1_000, 31_000];
  strictEqual(await asksOf('script', { kind: 'refused', reason: 'robots' }, times), 2);
  strictEqual(await asksOf('xhr', answer([], 404), times), 2);
  strictEqual(await asksOf('script', { kind: 'refused', reason: 'late' }, times), 3);
});

test('ResourceCache.get lets all who ask for what is on its way wait for one answer', async () => {
  const cache = new ResourceCache();
  let arrive: (answer: ResourceAnswer) => void = () => undefined;
  let asks = 0;
  const ask = () => {
    asks += 1;
    return new Promise<ResourceAnswer>((resolve) => {
      arrive = resolve;
    });
  };
  const waiting = [1, 2, 3].map(() => cache.get(wanted('a', 'xhr'), 0, ask));
  arrive(answer());
  deepStrictEqual(
    (await Promise.all(waiting)).map(({ kind }) => kind),
    ['response', 'response', 'response'],
  );
  strictEqual(asks, 1);
});

test('ResourceCache holds no more bytes than its bound', async () => {
  const cache = new ResourceCache();
  const big: ResourceAnswer = { ...answer(), body: new Uint8Array(8 * 1024 * 1024) } as never;
  let asks = 0;
  const get = (name: string) =>
    cache.get(wanted(name, 'script'), 0, async () => {
      asks += 1;
      return big;
    });
  for (let index = 0; index < 12; index += 1) await get(String(index));
  await get('11');
  strictEqual(asks, 12);
  await get('0');
  strictEqual(asks, 13);
});

test("ResourceCache keeps what a host gives its own pages from others'", async () => {
  const cache = new ResourceCache();
  let asks = 0;
  const ask = async () => {
    asks += 1;
    return answer(['Cache-Control', 'max-age=60']);
  };
  await cache.get(wanted('a', 'fetch'), 0, ask);
  await cache.get(wanted('a', 'fetch', true), 0, ask);
  strictEqual(asks, 2);
  await cache.get(wanted('a', 'fetch', true), 0, ask);
  await cache.get(wanted('a', 'fetch'), 0, ask);
  strictEqual(asks, 2);
});
