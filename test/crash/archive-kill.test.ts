import { deepStrictEqual, ok } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { urlOfKey } from '../../src/storage/keys.ts';
import { decodePageRow } from '../../src/storage/page-codec.ts';
import { rowsOf } from '../../src/storage/tables.ts';
import { checkWarc } from '../../src/storage/warc-check.ts';
import { childBody } from '../fixtures/storage-child-content.ts';
import {
  removeFolder,
  StoreSession,
  storeOptions,
  temporaryFolder,
} from '../fixtures/store-session.ts';

const CHILD = fileURLToPath(new URL('../fixtures/storage-child.js', import.meta.url));
/** Large enough that its compression can be caught in the act. */
const ROLL_BYTES = '2000000';
/** Files that exist only while a closed WARC file is worked on, in the order in which they appear. */
const SIGNS = [/\.warc\.gz\.tmp$/, /\.offsets\.next(?:\.tmp)?$/, /\.cdxj\.tmp$/];
const KILLS = 9;
const LOOKS_MAX = 2_000_000;

function start(dir: string, batches: number): ChildProcess {
  const args = [CHILD, dir, String(batches), ROLL_BYTES];
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Kills the child at the first sight of a file of such a name; any of them, when this one is too quick to be seen. */
async function killAtSight(child: ChildProcess, dir: string, sign: RegExp): Promise<boolean> {
  const closed = once(child, 'close');
  const patience = Date.now() + 4_000;
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const names = existsSync(join(dir, 'warc')) ? readdirSync(join(dir, 'warc')) : [];
    const isLate = Date.now() > patience;
    if (names.some((name) => (isLate ? SIGNS.some((any) => any.test(name)) : sign.test(name))))
      break;
    await turn();
  }
  child.kill('SIGKILL');
  await closed;
  return readdirSync(join(dir, 'warc')).some((name) => SIGNS.some((any) => any.test(name)));
}

/** Recovers, then reads every stored page and judges every file. */
async function check(dir: string): Promise<number> {
  const session = new StoreSession(storeOptions(dir));
  let pages = 0;
  for (const { key, value } of rowsOf(session.store.tables.pages)) {
    const { pointer } = decodePageRow(value);
    const url = Number(urlOfKey(key));
    const body = pointer === undefined ? undefined : session.bodies.read(pointer)?.body;
    ok(body !== undefined && Buffer.compare(body, childBody(url)) === 0, `body of page ${url}`);
    pages += 1;
  }
  await session.close();
  const ids = new Set<string>();
  for (const name of readdirSync(join(dir, 'warc'))) {
    ok(!/\.tmp$|\.next$/.test(name), `${name} after recovery`);
    if (name.includes('.warc.gz')) {
      deepStrictEqual(checkWarc(join(dir, 'warc', name), ids).problems, [], name);
    }
  }
  return pages;
}

test('tendWarc killed at any of its steps loses no page, and the next run completes every file', async () => {
  const dir = temporaryFolder();
  let caught = 0;
  let before = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const sign = SIGNS[kill % SIGNS.length] as RegExp;
    if (await killAtSight(start(dir, 0), dir, sign)) caught += 1;
    const pages = await check(dir);
    ok(pages >= before, `${pages} pages of ${before}`);
    before = pages;
  }
  ok(caught >= KILLS / 3, `${caught} kills left half-done work behind`);
  await once(start(dir, 1), 'close');
  ok((await check(dir)) > before, 'the crawl went on');
  const names = readdirSync(join(dir, 'warc'));
  const closed = names.filter((name) => name.endsWith('.warc.gz'));
  ok(closed.length > 2, `${closed.length}`);
  const without = closed.filter((name) => !names.includes(name.replace('.warc.gz', '.cdxj')));
  // The session that looked closed one more file, and it has nobody to work on closed files.
  ok(without.length <= 1, without.join(' '));
  removeFolder(dir);
});
