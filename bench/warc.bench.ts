// What archiving a page costs the shard (step 10): building the response and request members for pages as they come compressed and as they
// come plain, and reading a body back by pointer (step 11). Fixed pages; a checksum proves that runs did the same work.
// Usage: node dist/bench/warc.bench.js [--full]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FetchResponse } from '../src/actors/ports.ts';
import { monotonicMs, wallMs } from '../src/base/units.ts';
import { BodyReader } from '../src/storage/body-reader.ts';
import { buildResponseMembers } from '../src/storage/warc-record.ts';
import { WarcWriter } from '../src/storage/warc-writer.ts';

const ROUNDS = process.argv.includes('--full') ? 20_000 : 2_000;

/** About `bytes` of text that gzip shrinks to a fifth, as it does a page. */
function page(bytes: number): Buffer {
  let seed = 7;
  let text = '';
  while (text.length < bytes) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    text += `<li><a href="/p/${seed % 9_973}">word${seed % 331}</a> and more text of a page</li>\n`;
  }
  return Buffer.from(text.slice(0, bytes));
}

function answer(body: Buffer, compressed: boolean): FetchResponse {
  const headers = ['Content-Type', 'text/html; charset=utf-8', 'Server', 'x', 'ETag', '"1"'];
  for (let index = 0; index < 8; index += 1) headers.push(`X-Header-${index}`, 'some value');
  if (compressed) headers.push('Content-Encoding', 'gzip');
  return {
    kind: 'response',
    status: 200,
    reason: 'OK',
    headers,
    payload: compressed ? gzipSync(body) : body,
    body,
    truncated: undefined,
    requestHead: 'GET / HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nUser-Agent: x\r\n\r\n',
    address: '192.0.2.1',
    startedMs: monotonicMs(0),
    responseMs: 1,
    endedMs: monotonicMs(0),
  };
}

const directory = mkdtempSync(join(tmpdir(), 'warc-bench-'));
try {
  for (const kilobytes of [2, 10, 40, 100]) {
    for (const compressed of [true, false]) {
      const response = answer(page(kilobytes * 1_000), compressed);
      let checksum = 0;
      const build = process.cpuUsage();
      for (let round = 0; round < ROUNDS; round += 1) {
        const members = buildResponseMembers({
          url: 'http://a.test/some/page.html',
          fetchedAt: wallMs(1_800_000_000_000),
          response,
          warcinfoId: undefined,
        });
        checksum += members.response.byteLength + members.request.byteLength;
      }
      const built = process.cpuUsage(build);
      const own = mkdtempSync(join(directory, 'warc-'));
      const writer = new WarcWriter(own, { software: 'x', userAgent: 'x', prefix: 'x' });
      writer.open([]);
      const { response: member } = buildResponseMembers({
        url: 'http://a.test/',
        fetchedAt: wallMs(1_800_000_000_000),
        response,
        warcinfoId: undefined,
      });
      for (let record = 0; record < 100; record += 1) writer.append(member);
      writer.sync();
      const reader = new BodyReader(own, { prefix: 'x' });
      const read = process.cpuUsage();
      for (let round = 0; round < ROUNDS; round += 1) {
        checksum += reader.read({ file: 0, record: 1 + (round % 100) })!.body.byteLength;
      }
      const done = process.cpuUsage(read);
      reader.close();
      const each = (usage: NodeJS.CpuUsage): string =>
        ((usage.user + usage.system) / ROUNDS).toFixed(1);
      const kind = compressed ? 'gzip ' : 'plain';
      console.log(
        `${kilobytes} KB ${kind}: build ${each(built)} us, read ${each(done)} us CPU, checksum ${checksum}`,
      );
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
