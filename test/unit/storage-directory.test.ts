import { ok, rejects, strictEqual, throws } from 'node:assert';
import { chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadBloomSnapshot, saveBloomSnapshot } from '../../src/storage/bloom-snapshot.ts';
import { RecentDurations } from '../../src/storage/commit-timings.ts';
import { checkReadable, openDirectory } from '../../src/storage/directory.ts';
import { SweepLedger } from '../../src/storage/sweep-ledger.ts';
import { removeFolder, temporaryFolder } from '../fixtures/store-session.ts';

/** User id of nobody on Linux. */
const NOBODY = 65_534;

async function withFolder(work: (dir: string) => void | Promise<void>): Promise<void> {
  const dir = temporaryFolder();
  try {
    await work(dir);
  } finally {
    removeFolder(dir);
  }
}

test('openDirectory creates the layout once and accepts it again', () =>
  withFolder((dir) => {
    const path = join(dir, 'a', 'crawl');
    openDirectory(path, 0).lock.release();
    strictEqual(readFileSync(join(path, 'format'), 'utf8'), '1\n');
    openDirectory(path, 0).lock.release();
    checkReadable(path);
  }));

test('openDirectory tells what is wrong with a place and how to mend it', () =>
  withFolder((dir) => {
    writeFileSync(join(dir, 'file'), '');
    throws(() => openDirectory(join(dir, 'file'), 0), { code: 'disk', remedy: /--data/ });
    throws(() => openDirectory(dir, 0), { code: 'usage', message: /not empty/ });
    throws(() => openDirectory(join(dir, 'new'), Number.MAX_VALUE), { code: 'disk-full' });
    throws(() => checkReadable(dir), { code: 'usage' });
  }));

test('openDirectory names a directory that may not be written', () =>
  withFolder((dir) => {
    const path = join(dir, 'crawl');
    openDirectory(path, 0).lock.release();
    chmodSync(dir, 0o755);
    chmodSync(path, 0o555);
    // The superuser may write anywhere: act as nobody for the attempt.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      throws(() => openDirectory(path, 0), {
        code: 'disk',
        message: /cannot be written \(EACCES\)/,
        remedy: /writable/,
      });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    checkReadable(path);
  }));

test('openDirectory refuses other formats by number and garbage as damage', () =>
  withFolder((dir) => {
    const path = join(dir, 'crawl');
    openDirectory(path, 0).lock.release();
    writeFileSync(join(path, 'format'), '2\n');
    throws(() => openDirectory(path, 0), { code: 'data-version', message: /format 2.*format 1/ });
    throws(() => checkReadable(path), { code: 'data-version' });
    writeFileSync(join(path, 'format'), 'x');
    throws(() => openDirectory(path, 0), { code: 'data-damaged' });
    writeFileSync(join(path, 'format'), '1');
    openDirectory(path, 0).lock.release();
  }));

test('loadBloomSnapshot refuses every torn or altered snapshot', () =>
  withFolder(async (dir) => {
    const path = join(dir, 'bloom');
    const load = () => loadBloomSnapshot(path, (bytes) => new Uint8Array(bytes));
    strictEqual(load(), undefined);
    await saveBloomSnapshot(path, { bytes: new Uint8Array(300).fill(9), meta: { hashes: 7 } });
    ok(load());
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length; at += 3) {
      const altered = Buffer.from(whole);
      altered[at] = (altered[at] as number) ^ 16;
      writeFileSync(path, altered);
      strictEqual(load(), undefined, `byte ${at}`);
    }
    writeFileSync(path, whole);
    strictEqual(
      loadBloomSnapshot(path, () => undefined),
      undefined,
    );
    truncateSync(path, whole.length - 1);
    strictEqual(load(), undefined);
    await rejects(saveBloomSnapshot(join(dir, 'no', 'folder'), { bytes: whole, meta: {} }));
  }));

test('SweepLedger.through waits for the slowest shard and for its keys', () => {
  const ledger = new SweepLedger();
  strictEqual(ledger.through(), 0);
  ledger.attach(0, 3);
  ledger.attach(1, 3);
  strictEqual(ledger.through(), 2);
  ledger.swept(0, 5);
  ledger.covered(0, 6);
  ledger.swept(1, 4);
  strictEqual(ledger.through(), 2, 'the keys of shard 1 are in no run');
  ledger.covered(1, 7);
  strictEqual(ledger.through(), 4);
  ledger.swept(1, 1);
  strictEqual(ledger.through(), 4, 'marks never go back');
  strictEqual(ledger.uncovered(9).join(), '0');
});

test('RecentDurations.summary is over the window', () => {
  const durations = new RecentDurations();
  strictEqual(durations.summary().max, 0);
  durations.add(900);
  for (let count = 0; count < 512; count++) durations.add(count % 3);
  strictEqual(durations.summary().max, 2);
  strictEqual(durations.summary().p50, 1);
});
