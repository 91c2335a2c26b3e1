// One writer per data directory: the file `lock` names the process that holds it (DESIGN.md §9). The file appears complete, by link(2) of
// a finished one, and only where none is. The lock of a dead process is taken over: whoever creates the claim named after that one dead
// holder may replace the lock, so of two that try at once one loses. A claimer that died on the way is itself a dead holder, whose claim is
// claimed the same way. After claiming, the lock is read again, since a finished take-over removes its claim.

import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../base/errors.ts';
import { diskError } from './disk-error.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { isAlive, isSameProcess, ownIdentity } from './process-identity.ts';

/** A held lock. */
export interface DirectoryLock {
  /** Gives the lock back; harmless when it is no longer ours. */
  release(): void;
}

/** Dead claimers followed, and attempts made when others are quicker. */
const ATTEMPTS_MAX = 32;
let locksTaken = 0;

/**
 * Takes the lock of a data directory.
 * @throws CrawlError data-locked naming the holder; disk or disk-full
 */
export function takeLock(dir: string): DirectoryLock {
  const own = ownIdentity();
  const path = join(dir, 'lock');
  // Two threads of one process may try at once; their files must differ.
  const draft = join(dir, `lock.${own.pid}.${process.hrtime.bigint()}.${locksTaken++}`);
  try {
    writeWhole(draft, `${JSON.stringify(own)}\n`);
    try {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        if (tryLink(draft, path)) return { release: () => releaseLock(path, own) };
        const holder = readHolder(path);
        if (holder === undefined) continue;
        if (isAlive(holder)) throw lockedBy(path, holder);
        if (takeOver(dir, draft, holder)) return { release: () => releaseLock(path, own) };
      }
    } finally {
      tryUnlink(draft);
    }
  } catch (error) {
    throw diskError(error, dir, `lock ${dir}`);
  }
  throw new CrawlError('data-locked', `${path} changes hands too fast`, { retriable: true });
}

/**
 * Replaces the lock of a dead holder.
 * @returns false when another process was quicker: look again
 */
function takeOver(dir: string, draft: string, dead: ProcessIdentity): boolean {
  const path = join(dir, 'lock');
  const chain: string[] = [];
  let last = dead;
  for (let depth = 0; depth < ATTEMPTS_MAX; depth++) {
    const claim = join(dir, `lock.after.${nameOf(last)}`);
    chain.push(claim);
    if (tryLink(draft, claim)) break;
    const claimer = readHolder(claim);
    if (claimer === undefined) return false;
    if (isAlive(claimer)) throw lockedBy(path, claimer);
    last = claimer;
    if (depth === ATTEMPTS_MAX - 1) return false;
  }
  const own = chain.at(-1) as string;
  const holder = readHolder(path);
  if (holder === undefined || !isSameProcess(holder, dead)) {
    tryUnlink(own);
    return false;
  }
  // The lock first, then the claims from the first on: whoever gets a freed claim now finds our lock when it looks again.
  const moved = `${draft}.moved`;
  linkSync(draft, moved);
  renameSync(moved, path);
  for (const claim of chain) tryUnlink(claim);
  return true;
}

function releaseLock(path: string, own: ProcessIdentity): void {
  const holder = readHolder(path);
  if (holder !== undefined && isSameProcess(holder, own)) tryUnlink(path);
}

function nameOf(identity: ProcessIdentity): string {
  return `${identity.pid}-${identity.startTime}-${identity.bootId}`;
}

function lockedBy(path: string, holder: ProcessIdentity): CrawlError {
  const where = `process ${holder.pid} on ${holder.host}`;
  return new CrawlError('data-locked', `${path} is held by ${where}`, {
    remedy: `Stop that crawl or choose another directory with --data. If ${where} surely no longer runs, delete the file.`,
    retriable: true,
  });
}

/**
 * @returns undefined when the file is gone
 * @throws CrawlError data-locked when it cannot be understood
 */
function readHolder(path: string): ProcessIdentity | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { pid, startTime, bootId, host } = JSON.parse(text) as Record<string, unknown>;
    const known =
      Number.isInteger(pid) &&
      typeof startTime === 'string' &&
      typeof bootId === 'string' &&
      typeof host === 'string';
    if (known) return { pid: pid as number, startTime, bootId, host };
  } catch {
    // Falls through to the same answer as a well-formed file that says something else.
  }
  throw new CrawlError('data-locked', `${path} is not a lock file this version understands`, {
    remedy: 'If no crawl uses this directory, delete the file.',
  });
}

function writeWhole(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o644);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function tryUnlink(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
