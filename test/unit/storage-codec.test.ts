import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import type { PageRow, RobotsRow } from '../../src/actors/rows.ts';
import { hostKey, partitionIndex, urlKey, wallMs } from '../../src/base/units.ts';
import { readBatch } from '../../src/storage/batch-codec.ts';
import { packBatch } from '../../src/storage/batch-packer.ts';
import { ByteDamage, ByteReader } from '../../src/storage/byte-reader.ts';
import { ByteWriter } from '../../src/storage/byte-writer.ts';
import {
  decodeChunk,
  decodeDenied,
  encodeChunk,
  encodeDenied,
} from '../../src/storage/entry-codec.ts';
import {
  endOfPrefix,
  hostOfKey,
  idKey,
  idOfKey,
  urlOfKey,
  urlRowKey,
} from '../../src/storage/keys.ts';
import { decodePageRow, placePage, writePageRow } from '../../src/storage/page-codec.ts';
import {
  decodeDigestRow,
  decodeHostRow,
  decodeRobotsRow,
  decodeUnparsed,
  encodeDigestRow,
  encodeHostRow,
  encodeRobotsRow,
  encodeUnparsed,
  hostRowHasWork,
} from '../../src/storage/row-codec.ts';
import {
  answer,
  auditOf,
  batchOf,
  discoveredAt,
  entryOf,
  fetched,
  hostRowOf,
} from '../fixtures/checkpoint-batches.ts';
import { RECRAWL } from '../support/recrawl-policy.ts';

const ROBOTS: RobotsRow = {
  origin: 'https://host-3.test:8443',
  rules: { groups: [{ agents: ['*'], table: new Uint16Array([1, 2]) }] },
  decision: 'disallow-all',
  fetchedAt: wallMs(1.5),
  expiresAt: wallMs(2 ** 41),
  status: 503,
  failures: 3,
  failingSince: wallMs(9),
  processAt: wallMs(2.5),
};

test('ByteReader reads what ByteWriter wrote, at the ends of every range', () => {
  const writer = new ByteWriter(1);
  const numbers = [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 32, 2 ** 53 - 1];
  for (const number of numbers) writer.varint(number);
  const texts = ['', 'a', 'é'.repeat(42), '𝒳'.repeat(30), 'x'.repeat(5_000)];
  for (const text of texts) writer.text(text);
  writer.u64(2n ** 64n - 1n);
  writer.f64(-0.5);
  writer.optionalText(undefined);
  const reader = new ByteReader(writer.take());
  for (const number of numbers) strictEqual(reader.varint(), number);
  for (const text of texts) strictEqual(reader.text(), text);
  strictEqual(reader.u64(), 2n ** 64n - 1n);
  strictEqual(reader.f64(), -0.5);
  strictEqual(reader.optionalText(), undefined);
  reader.end();
});

test('ByteReader throws ByteDamage for lengths beyond the end and endless varints', () => {
  throws(() => new ByteReader(Buffer.from([200, 200, 200, 3, 1])).text(), ByteDamage);
  throws(() => new ByteReader(Buffer.alloc(20, 255)).varint(), ByteDamage);
  throws(() => new ByteReader(Buffer.alloc(3)).u32(), ByteDamage);
  throws(() => new ByteReader(Buffer.alloc(1)).end(), ByteDamage);
});

test('keys give back what they were made of and sort by number', () => {
  const key = urlRowKey(partitionIndex(300), hostKey(2n ** 63n), urlKey(7n));
  deepStrictEqual(hostOfKey(key), { partition: 300, hostKey: 2n ** 63n });
  strictEqual(urlOfKey(key), 7n);
  strictEqual(idOfKey(idKey(2 ** 40)), 2 ** 40);
  ok(Buffer.compare(idKey(255), idKey(256)) < 0);
  deepStrictEqual(endOfPrefix(Buffer.from([1, 255])), Buffer.from([2]));
  strictEqual(endOfPrefix(Buffer.from([255])).length, 2);
});

test('host, robots, unparsed, digest, chunk and denied rows survive a round trip', () => {
  const row = hostRowOf(3, { head: 1, chunkEnd: 2, tail: 9 });
  deepStrictEqual(decodeHostRow(encodeHostRow(row), row.partition), row);
  ok(hostRowHasWork(encodeHostRow(row)));
  const parked = { head: 3, chunkEnd: 3, tail: 4 };
  const tally = {
    urls: 70_000,
    pages: 9,
    freshPages: 2,
    granted: 16,
    shapes: [-1, 9, 300, 7, 1, 2, 1, -5, 2 ** 31 - 1, 1, 2 ** 31 - 1, 0, 0, 0, 0, -(2 ** 31)],
  };
  const votes = [7, 2 ** 31] as const;
  const due = { head: 1, chunkEnd: 3, tail: 4 };
  const pair = { own: 'http://a.test', other: 'https://a.test', agreements: 5, compared: 300 };
  const repeats = { soft404: [-7, 4, 1, 2, -(2 ** 31)], twins: [pair] };
  const times = { enteredAt: wallMs(5), reviews: 2, reviewAt: wallMs(9.5) };
  const worth = { tally, votes, ...times, repeats };
  const done = { ...hostRowOf(3, { head: 9, chunkEnd: 9, tail: 9 }), parked, due, worth };
  deepStrictEqual(decodeHostRow(encodeHostRow(done), done.partition), done);
  const plain = { ...done, worth: { ...worth, repeats: undefined } };
  deepStrictEqual(decodeHostRow(encodeHostRow(plain), plain.partition), plain);
  const rendered = { ...done, renders: { tried: 40, gained: 3, passed: 24 } };
  deepStrictEqual(decodeHostRow(encodeHostRow(rendered), done.partition), rendered);
  const silent = { ...plain, renders: rendered.renders };
  const read = decodeHostRow(encodeHostRow(silent), done.partition);
  deepStrictEqual(read.renders, rendered.renders, 'behind a worth without repeats');
  deepStrictEqual(read.worth?.repeats, { soft404: [], twins: [] });
  ok(hostRowHasWork(encodeHostRow(done)), 'parked URLs are work');
  ok(!hostRowHasWork(encodeHostRow(hostRowOf(3, { head: 9, chunkEnd: 9, tail: 9 }))));
  for (const processAt of [ROBOTS.processAt, undefined]) {
    const robots = { ...ROBOTS, processAt };
    deepStrictEqual(decodeRobotsRow(encodeRobotsRow(robots)), robots);
  }
  const page = { hostKey: hostKey(1n), urlKey: urlKey(2n), url: 'http://ü', depth: 3 };
  const kind = { hops: 2, purpose: 'sitemap' as const };
  const pointer = { file: 70_000, record: 2 ** 33 };
  deepStrictEqual(decodeUnparsed(encodeUnparsed({ ...page, ...kind, pointer }, 5), 8), {
    ...page,
    ...kind,
    pointer,
    unparsedId: 8,
    partition: 5,
  });
  const digest = {
    pointer,
    url: 'u',
    fetchedAt: 4,
    recordId: '<x>',
    payloadDigest: 'sha1:A',
    parsed: true,
  };
  deepStrictEqual(decodeDigestRow(encodeDigestRow(digest)), digest);
  const entries = [entryOf(1, 7, 4), entryOf(1, 8, 5)];
  deepStrictEqual(decodeChunk(encodeChunk(entries), 4), entries);
  deepStrictEqual(decodeDenied(encodeDenied(2, entryOf(1, 7, 4))), {
    band: 2,
    entry: entryOf(1, 7, 4),
  });
});

test('placePage fills in pointer and duplicate without touching the rest', () => {
  const row: PageRow = {
    url: 'http://host-1.test/',
    fetchedAt: wallMs(12),
    status: 200,
    failure: 'status-5xx',
    depth: 4,
    contentDigest: 'ab'.repeat(20),
    contentType: 'text/html',
    bodyBytes: 2 ** 40,
    pointer: undefined,
    duplicateOf: undefined,
    truncated: 'length',
    redirectTo: 'http://x/',
    etag: undefined,
    lastModified: 'yesterday',
    visit: {
      dueAt: wallMs(99),
      intervalMs: 50.5,
      changed: 2,
      unchanged: 9,
      missed: 1,
      changedAt: wallMs(7),
      sitemap: true,
    },
    simhash: undefined,
    nearDuplicateOf: undefined,
    render: {
      ...{ reason: 'notice', outcome: 'cut-time', plainWords: 3, words: 700, links: 40 },
      ...{ newLinks: 38, requests: 12, elapsedMs: 9_000 },
    },
  };
  const pack = () => {
    const writer = new ByteWriter();
    writePageRow(writer, row);
    return writer.take();
  };
  deepStrictEqual(decodePageRow(pack()), row);
  const pointer = { file: 3, record: 2 ** 32 - 1 };
  deepStrictEqual(decodePageRow(placePage(pack(), pointer, undefined)), { ...row, pointer });
  deepStrictEqual(decodePageRow(placePage(pack(), pointer, 'http://ö/')), {
    ...row,
    pointer,
    duplicateOf: 'http://ö/',
  });
});

test('every decoder answers damaged rows with ByteDamage or a row, never otherwise', () => {
  const rows: [Buffer, (value: Buffer) => unknown][] = [
    [
      encodeHostRow(hostRowOf(1, { head: 0, chunkEnd: 0, tail: 1 })),
      (b) => decodeHostRow(b, partitionIndex(0)),
    ],
    [encodeChunk([entryOf(1, 7, 0)]), (b) => decodeChunk(b, 0)],
    [encodeDenied(1, entryOf(1, 7, 0)), decodeDenied],
    [encodeRobotsRow(ROBOTS), decodeRobotsRow],
  ];
  for (const [value, decode] of rows) {
    for (let at = 0; at < value.length; at++) {
      for (const flip of [1, 128, 255]) {
        const damaged = Buffer.from(value);
        damaged[at] = (damaged[at] as number) ^ flip;
        for (const bytes of [damaged, damaged.subarray(0, at)]) {
          try {
            decode(bytes);
          } catch (error) {
            ok(error instanceof ByteDamage, String(error));
          }
        }
      }
    }
  }
});

test('readBatch finds what packBatch packed', () => {
  const page = fetched(1, 11, answer('body'));
  const failed = fetched(1, 12, undefined);
  const batch = batchOf(1, {
    pages: [page, failed],
    discovered: [discoveredAt(1, 5, { sequence: 0 })],
    parsedIds: [3, 2 ** 40],
    counters: { 'skipped.scope': 2 },
    sweptThroughSegment: 0,
    audit: [auditOf(1, 1)],
  });
  const { bytes, rows } = packBatch(batch, RECRAWL, () => undefined);
  const packed = readBatch(bytes);
  deepStrictEqual(
    packed.pages.map((one) => [one.url, one.members.length, one.parse]),
    [
      [page.url, 2, true],
      [failed.url, 0, false],
    ],
  );
  deepStrictEqual(
    rows.map((row) => row?.status),
    [200, 0],
  );
  deepStrictEqual(packed.parsedIds, [3, 2 ** 40]);
  deepStrictEqual(packed.counters, [['skipped.scope', 2]]);
  strictEqual(packed.sweptThroughSegment, 0);
  ok(packed.frontierBlock.length > 0 && packed.auditBlock.length > 0);
});
