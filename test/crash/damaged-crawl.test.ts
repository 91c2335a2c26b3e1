// A data directory that was damaged between two runs: each kind of damage with its one outcome – repaired and crawled on, losing nothing, or
// refused with what to do. One crawl is killed half-way; each case works on a copy of what it left.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import {
  appendFileSync,
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { wallMs } from '../../src/base/units.ts';
import { hostOfKey } from '../../src/storage/keys.ts';
import { decodeHostRow, encodeHostRow } from '../../src/storage/row-codec.ts';
import { openTables } from '../../src/storage/tables.ts';
import { runCrawl, startCrawl, until, webFlags } from '../support/crawl/run-crawl.ts';
import { archiveFaults, storedPages } from '../support/crawl/stored-crawl.ts';
import { once } from '../support/once.ts';
import { type StartedWeb, startWeb } from '../support/server/start-web.ts';

const DAY_MS = 24 * 3_600_000;
const GARBAGE = Buffer.alloc(100_000, 0xa5);

let web: StartedWeb;
let folder: string;
/** Left by kill -9, and left by SIGTERM. */
let killed: string;
let stopped: string;
let reachable: readonly string[];

const prepared = once(async () => {
  web = await startWeb({ seed: 41, hosts: 6, pagesPerHost: 15, linksPerPage: 8 });
  const fromSeeds = [...web.world.seeds()];
  const walk = { userAgent: 'hostler', fromSeeds, scope: 'hosts' } as const;
  reachable = [...web.world.reachable(walk)].sort();
  folder = mkdtempSync(join(tmpdir(), 'hostler-damage-'));
  killed = await leftBy('SIGKILL', 'killed');
  stopped = await leftBy('SIGTERM', 'stopped');
});
after(async () => {
  await web?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** The directory of a crawl that was ended half-way. */
async function leftBy(signal: NodeJS.Signals, name: string): Promise<string> {
  const dataDir = join(folder, name);
  const seen = (await web.log()).length;
  const crawl = startCrawl(webFlags(web, dataDir, ['--min-gap', '100']));
  ok(await until(crawl, async () => (await web.log()).length > seen + 40), crawl.stderr);
  crawl.signal(signal);
  await crawl.ended;
  return dataDir;
}

/** Damages a copy and crawls on: nothing lost, nothing twice, archive sound. */
async function survives(from: () => string, damage: (dir: string) => void | Promise<void>) {
  await prepared();
  const dir = mkdtempSync(join(folder, 'copy-'));
  copyCrawl(from(), dir);
  const had = await storedPages(dir);
  await damage(dir);
  const ended = await runCrawl(webFlags(web, dir));
  strictEqual(ended.status, 0, ended.stderr);
  deepStrictEqual(await storedPages(dir), reachable);
  deepStrictEqual(await archiveFaults(dir), []);
  // At most one commit window comes again: far less than what was there.
  const refetched = had.length + (ended.report?.run.pages ?? 0) - reachable.length;
  strictEqual(refetched, 0, 'what had a row was not fetched again');
  return ended;
}

/** Damages a copy and tries to crawl on: refused, with the directory named, and nothing fetched. */
async function refused(from: () => string, damage: (dir: string) => void): Promise<string> {
  await prepared();
  const dir = mkdtempSync(join(folder, 'copy-'));
  copyCrawl(from(), dir);
  damage(dir);
  const requests = (await web.log()).length;
  const { status, stderr, stdout } = await runCrawl(webFlags(web, dir));
  strictEqual(status, 4, stderr);
  ok(stderr.includes(dir), stderr);
  strictEqual(stdout, '');
  strictEqual((await web.log()).length, requests);
  return stderr;
}

/** All but the socket that a killed crawl leaves. */
function copyCrawl(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.sock') });
}

function only(dir: string, pattern: RegExp): string {
  const name = readdirSync(dir).find((entry) => pattern.test(entry));
  ok(name, `no ${pattern} in ${dir}: ${readdirSync(dir)}`);
  return join(dir, name);
}

function overwrite(path: string, from: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
}

test('a torn tail of the growing WARC file is cut off', async () => {
  await survives(
    () => killed,
    (dir) => appendFileSync(only(join(dir, 'warc'), /\.open$/), GARBAGE.subarray(0, 777)),
  );
});

test('a torn tail of the frontier log is cut off', async () => {
  await survives(
    () => killed,
    (dir) => appendFileSync(only(join(dir, 'frontier'), /^urls-/), GARBAGE.subarray(0, 333)),
  );
});

test('a frontier segment shorter than what was committed is refused', async () => {
  const stderr = await refused(
    () => killed,
    (dir) => {
      const path = only(join(dir, 'frontier'), /^urls-/);
      truncateSync(path, statSync(path).size >> 1);
    },
  );
  match(stderr, /frontier/);
});

test('a WARC file shorter than what was committed is refused', async () => {
  const stderr = await refused(
    () => killed,
    (dir) => {
      const path = only(join(dir, 'warc'), /\.open$/);
      truncateSync(path, statSync(path).size >> 1);
    },
  );
  match(stderr, /warc/);
});

test('a deleted Bloom snapshot is made anew', async () => {
  await survives(
    () => stopped,
    (dir) => rmSync(join(dir, 'frontier', 'bloom.snapshot')),
  );
});

test('a damaged Bloom snapshot is made anew', async () => {
  await survives(
    () => stopped,
    (dir) => overwrite(join(dir, 'frontier', 'bloom.snapshot'), 5_000, GARBAGE),
  );
});

test('a seen set that was lost is made anew from the tables', async () => {
  await survives(
    () => stopped,
    (dir) => {
      const runs = readdirSync(join(dir, 'frontier')).filter((name) => !/^urls-/.test(name));
      for (const name of runs) rmSync(join(dir, 'frontier', name));
    },
  );
});

test('damaged LMDB root pages are refused', async () => {
  const stderr = await refused(
    () => killed,
    (dir) => overwrite(join(dir, 'lmdb', 'data.mdb'), 0, GARBAGE.subarray(0, 8_192)),
  );
  match(stderr, /lmdb/);
});

test('damaged LMDB pages are refused, whatever they held', async () => {
  const stderr = await refused(
    () => killed,
    (dir) => {
      const path = join(dir, 'lmdb', 'data.mdb');
      overwrite(path, 8_192, Buffer.alloc(statSync(path).size - 8_192, 0xa5));
    },
  );
  match(stderr, /lmdb/);
});

for (const [days, when] of [
  [1, 'in the future, as after a clock set back by a day'],
  [-1, 'a day ago'],
] as const) {
  test(`hosts last asked ${when} are crawled on without delay`, async () => {
    const ended = await survives(
      () => stopped,
      (dir) => shiftClock(dir, days * DAY_MS),
    );
    ok((ended.report?.seconds ?? Number.POSITIVE_INFINITY) < 60);
  });
}

/** Shifts the time at which each host's last request ended. */
async function shiftClock(dir: string, byMs: number): Promise<void> {
  const tables = openTables(dir, { readOnly: false });
  let rows = 0;
  for (const { key, value } of [...tables.hosts.getRange({})]) {
    const row = decodeHostRow(value, hostOfKey(key).partition);
    const lastEndedAt = wallMs(row.lastEndedAt + byMs);
    await tables.hosts.put(key, encodeHostRow({ ...row, lastEndedAt }));
    rows += 1;
  }
  ok(rows > 0);
  await tables.root.close();
}
