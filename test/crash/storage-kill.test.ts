import { ok, strictEqual } from 'node:assert';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hostKey, urlKey } from '../../src/base/units.ts';
import { iterateRecords } from '../../src/storage/warc-reader.ts';
import { partitionOf } from '../fixtures/checkpoint-batches.ts';
import { childBody, URLS_PER_HOST } from '../fixtures/storage-child-content.ts';
import {
  removeFolder,
  StoreSession,
  storeOptions,
  temporaryFolder,
} from '../fixtures/store-session.ts';

const CHILD = fileURLToPath(new URL('../fixtures/storage-child.js', import.meta.url));
const KILLS = 6;

/** What a child has acknowledged: the last receipt of each host. */
type Acknowledged = Map<number, { readonly fetched: number; readonly found: number }>;

/** Reads a child's receipts until it ends. */
async function follow(child: ChildProcess, onLine: (line: string) => void): Promise<number | null> {
  ok(child.stdout);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) onLine(line);
  return ended;
}

function note(acknowledged: Acknowledged, line: string): void {
  const [word, host, fetched, found] = line.split(' ');
  if (word !== 'ack' || found === undefined) return;
  acknowledged.set(Number(host), { fetched: Number(fetched), found: Number(found) });
}

/** Opens the store after a crash and looks for everything that was acknowledged. */
async function check(dir: string, acknowledged: Acknowledged): Promise<number> {
  const session = new StoreSession(storeOptions(dir));
  let pages = 0;
  for (const [host, { fetched, found }] of acknowledged) {
    const at = { hostKey: hostKey(BigInt(host)), partition: partitionOf(host), band: 0 as const };
    const row = session.reader.host(at.hostKey, at.partition);
    ok(row, `row of host ${host}`);
    const { head, tail } = row.queues[0];
    ok(head >= fetched && tail >= found, `host ${host}: ${head}/${tail} after ${fetched}/${found}`);
    pages += head;
    for (let index = 0; index < head; index++) checkBody(session, host, index);
    const waiting = new Set<number>();
    for (let first = 0; first < tail; first++) {
      const chunk = session.reader.chunk({ ...at, sequence: first }) ?? [];
      for (const { sequence } of chunk) waiting.add(sequence);
    }
    for (let at = head; at < tail; at++) ok(waiting.has(at), `host ${host} lost entry ${at}`);
  }
  strictEqual([...session.store.tables.pages.getKeys()].length, pages, 'rows and cursors agree');
  strictEqual([...session.reader.unparsed(() => true)].length, pages, 'all wait to be parsed');
  checkArchive(session, dir);
  await session.close();
  return pages;
}

function checkBody(session: StoreSession, host: number, index: number): void {
  const url = host * URLS_PER_HOST + index;
  const row = session.reader.page(hostKey(BigInt(host)), partitionOf(host), urlKey(BigInt(url)));
  ok(row?.pointer, `page ${url}`);
  const body = session.bodies.read(row.pointer)?.body;
  ok(body !== undefined && Buffer.compare(body, childBody(url)) === 0, `body of page ${url}`);
}

/** The growing file holds whole records up to its committed end and nothing after it. */
function checkArchive(session: StoreSession, dir: string): void {
  const open = readdirSync(join(dir, 'warc')).find((name) => name.endsWith('.open'));
  const end = session.store.archive.ends()[0];
  const records = open === undefined ? 0 : [...iterateRecords(join(dir, 'warc', open))].length;
  strictEqual(records, end?.records ?? 0);
}

test('StorageThread killed again and again loses nothing it acknowledged', async () => {
  const dir = temporaryFolder();
  const acknowledged: Acknowledged = new Map();
  let before = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [CHILD, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const linesMax = 15 + kill * 12;
    let lines = 0;
    await follow(child, (line) => {
      note(acknowledged, line);
      lines += 1;
      if (lines === linesMax) child.kill('SIGKILL');
    });
    ok(lines >= linesMax, `the child ended by itself after ${lines} receipts`);
    const pages = await check(dir, acknowledged);
    ok(pages > before, 'the crawl went on after the last crash');
    before = pages;
  }
  removeFolder(dir);
});

test('StorageThread at its file size limit fails in order and continues afterwards', async () => {
  const dir = temporaryFolder();
  const acknowledged: Acknowledged = new Map();
  // 4,000 blocks of 512 bytes or 1 KiB; the WARC file reaches that first. Node ignores SIGXFSZ, so a write gets EFBIG.
  const limited = spawn(
    'sh',
    ['-c', 'ulimit -f 4000 && exec "$@"', 'sh', process.execPath, CHILD, dir, '0', '100000000'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines: string[] = [];
  const status = await follow(limited, (line) => {
    lines.push(line);
    note(acknowledged, line);
  });
  ok(lines.includes('failed disk-full'), lines.slice(-3).join(' | '));
  strictEqual(lines.at(-1), 'closed', 'it closed in order');
  strictEqual(status, 3);
  const before = await check(dir, acknowledged);
  const freed = spawn(process.execPath, [CHILD, dir, '5'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await follow(freed, (line) => note(acknowledged, line));
  ok((await check(dir, acknowledged)) > before);
  removeFolder(dir);
});
