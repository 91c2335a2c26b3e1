import { ok, strictEqual, throws } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { takeLock } from '../../src/storage/lock.ts';
import { isAlive, ownIdentity } from '../../src/storage/process-identity.ts';
import { removeFolder, temporaryFolder } from '../fixtures/store-session.ts';

/** A process that has surely ended. */
function deadIdentity() {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return { ...ownIdentity(), pid, startTime: '1' };
}

function withFolder(work: (dir: string) => void): void {
  const dir = temporaryFolder();
  try {
    work(dir);
  } finally {
    removeFolder(dir);
  }
}

const put = (dir: string, name: string, holder: object) =>
  writeFileSync(join(dir, name), JSON.stringify(holder));
const claimName = (holder: { pid: number; startTime: string; bootId: string }) =>
  `lock.after.${holder.pid}-${holder.startTime}-${holder.bootId}`;

test('takeLock refuses while the lock is held and names the holder', () =>
  withFolder((dir) => {
    const lock = takeLock(dir);
    throws(() => takeLock(dir), { code: 'data-locked', message: new RegExp(`${process.pid}`) });
    lock.release();
    ok(!existsSync(join(dir, 'lock')));
    takeLock(dir).release();
  }));

test('takeLock takes over from a dead process and leaves nothing else behind', () =>
  withFolder((dir) => {
    put(dir, 'lock', deadIdentity());
    const lock = takeLock(dir);
    strictEqual(JSON.parse(readFileSync(join(dir, 'lock'), 'utf8')).pid, process.pid);
    strictEqual(readdirSync(dir).join(), 'lock');
    lock.release();
  }));

test('takeLock takes over from a reused process id and from another boot', () =>
  withFolder((dir) => {
    put(dir, 'lock', { ...ownIdentity(), startTime: '1' });
    takeLock(dir).release();
    put(dir, 'lock', { ...ownIdentity(), bootId: 'another boot' });
    takeLock(dir).release();
  }));

test('takeLock follows claims of processes that died while taking over', () =>
  withFolder((dir) => {
    const holder = deadIdentity();
    const claimer = deadIdentity();
    put(dir, 'lock', holder);
    put(dir, claimName(holder), claimer);
    const lock = takeLock(dir);
    strictEqual(readdirSync(dir).join(), 'lock');
    lock.release();
  }));

test('takeLock yields to a living claimer of a dead lock', () =>
  withFolder((dir) => {
    const holder = deadIdentity();
    put(dir, 'lock', holder);
    put(dir, claimName(holder), ownIdentity());
    throws(() => takeLock(dir), { code: 'data-locked' });
  }));

test('takeLock does not guess about other machines or unreadable locks', () =>
  withFolder((dir) => {
    put(dir, 'lock', { ...deadIdentity(), host: 'another machine' });
    throws(() => takeLock(dir), { code: 'data-locked', message: /another machine/ });
    writeFileSync(join(dir, 'lock'), 'scribble');
    throws(() => takeLock(dir), { code: 'data-locked' });
  }));

test('DirectoryLock.release leaves the lock of another process alone', () =>
  withFolder((dir) => {
    const lock = takeLock(dir);
    const other = { ...ownIdentity(), pid: 1 };
    put(dir, 'lock', other);
    lock.release();
    ok(existsSync(join(dir, 'lock')));
  }));

test('isAlive knows this process', () => {
  ok(isAlive(ownIdentity()));
  ok(!isAlive(deadIdentity()));
});
