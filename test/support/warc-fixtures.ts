// Answers, archives and hand-made records for the WARC tests.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { FetchResponse } from '../../src/actors/ports.ts';
import { monotonicMs, type WallMs, wallMs } from '../../src/base/units.ts';
import { WarcWriter } from '../../src/storage/warc-writer.ts';

export const FETCHED_AT: WallMs = wallMs(Date.UTC(2026, 0, 2, 3, 4, 5, 678));

/** A temporary directory that goes when the test ends. */
export function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'hostler-warc-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** An answer; unless given, `body` is the payload. */
export function answer(overrides: Partial<FetchResponse> = {}): FetchResponse {
  const payload = overrides.payload ?? Buffer.from('<p>hello</p>');
  return {
    kind: 'response',
    status: 200,
    reason: 'OK',
    headers: ['Content-Type', 'text/html'],
    payload,
    body: payload,
    truncated: undefined,
    requestHead: 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n',
    address: '192.0.2.1',
    startedMs: monotonicMs(1),
    responseMs: 1,
    endedMs: monotonicMs(3),
    ...overrides,
  };
}

/** A writer that was not opened yet. */
export function newWriter(directory: string, rollBytes?: number): WarcWriter {
  return new WarcWriter(directory, {
    software: 'hostler/test',
    userAgent: 'hostler/test (+https://contact.test/)',
    prefix: 'hostler',
    now: () => FETCHED_AT,
    ...(rollBytes === undefined ? {} : { rollBytes }),
  });
}

/** A record written by hand, so that it can be wrong: header lines and block, ending as given. */
export function rawRecord(
  fields: readonly (readonly [string, string])[],
  block: Uint8Array | string,
  wrong: { readonly version?: string; readonly lineEnd?: string; readonly recordEnd?: string } = {},
): Buffer {
  const { version = 'WARC/1.1', lineEnd = '\r\n', recordEnd = '\r\n\r\n' } = wrong;
  const lines = [version, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.concat([
    Buffer.from(lines.join(lineEnd), 'utf8'),
    typeof block === 'string' ? Buffer.from(block, 'latin1') : block,
    Buffer.from(recordEnd, 'latin1'),
  ]);
}
