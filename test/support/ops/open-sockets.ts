// A debug socket before a sample crawl, in a directory of its own, closed and
// removed when the test ends. Each test has its own, so tests neither wait for nor
// see each other.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DebugSocket, type DebugSocketLimits } from '../../../src/ops/debug-socket.ts';
import type { OperationEntry } from '../../../src/ops/operation.ts';
import { SampleCrawl } from './sample-crawl.ts';

export interface OpenedSocket {
  readonly crawl: SampleCrawl;
  readonly audit: OperationEntry[];
  readonly server: DebugSocket;
  readonly path: string;
}

/** A directory that is removed when the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ops-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a socket. */
export async function openSocket(
  t: TestContext,
  limits: Partial<DebugSocketLimits> = {},
): Promise<OpenedSocket> {
  const path = join(temporaryFolder(t), 'debug.sock');
  const crawl = new SampleCrawl();
  const audit: OperationEntry[] = [];
  const server = await DebugSocket.open({
    path,
    limits,
    operator: crawl,
    audited: (entry) => audit.push(entry),
  });
  t.after(() => server.close());
  return { crawl, audit, server, path };
}
