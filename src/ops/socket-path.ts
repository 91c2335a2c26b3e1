// Where the debug socket lies in the file system: the length the system allows, what may be
// replaced, and how it gets its mode without a moment in which others could connect. It is bound
// inside a new directory of mode 0700, made 0600 there, and renamed into place; a rename also
// replaces the socket of a dead process at once.

import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { CrawlError } from '../base/errors.ts';

/** `sun_path` of Linux's unix(7) holds 108 bytes, one of them the final zero; a longer path would be cut silently. */
export const PATH_BYTES_MAX = 107;
/** Length of `/.XXXXXX/s`, the name under which the socket is bound first. */
const FIRST_NAME_BYTES = 10;

/** A socket file of ours, by which it is told from one that replaced it. */
export interface SocketFile {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * Binds a server to a Unix socket of mode 0600.
 * @throws CrawlError config: the path is too long, taken by a live process or by something that is no socket, or not writable
 */
export async function listenPrivately(server: Server, path: string): Promise<SocketFile> {
  checkLength(path);
  await checkReplaceable(path);
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(dirname(path), '.'));
    const first = join(folder, 's');
    await listening(server, first);
    chmodSync(first, 0o600);
    renameSync(first, path);
    const { dev: device, ino: inode } = lstatSync(path);
    return { path, device, inode };
  } catch (thrown) {
    server.close();
    throw unusable(path, thrown);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes the socket file, unless another process has put its own in its place. */
export function removeSocketFile({ path, device, inode }: SocketFile): void {
  const found = statusOf(path);
  if (found !== undefined && found.dev === device && found.ino === inode) unlinkSync(path);
}

/** Refuses a path that the system would cut. @throws CrawlError config */
export function checkLength(path: string): void {
  const bytes = Math.max(
    Buffer.byteLength(path),
    Buffer.byteLength(dirname(path)) + FIRST_NAME_BYTES,
  );
  if (bytes <= PATH_BYTES_MAX) return;
  throw new CrawlError(
    'config',
    `the path of the debug socket takes ${bytes} bytes, and the system allows ${PATH_BYTES_MAX}: ${path}`,
    { remedy: 'Name a shorter path with --debug-socket, for example below /tmp or /run.' },
  );
}

function statusOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

async function checkReplaceable(path: string): Promise<void> {
  let found: Stats | undefined;
  try {
    found = statusOf(path);
  } catch (thrown) {
    throw unusable(path, thrown);
  }
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new CrawlError('config', `${path} exists and is no socket`, {
      remedy: 'Name another path with --debug-socket, or remove the file.',
    });
  }
  const state = await stateOf(path);
  if (state === 'stale') return;
  const who = state === 'live' ? 'another process listens there' : 'it belongs to another user';
  throw new CrawlError('config', `the debug socket ${path} is taken: ${who}`, {
    remedy: 'Stop the other process, or name another path with --debug-socket.',
  });
}

function stateOf(path: string): Promise<'live' | 'stale' | 'forbidden'> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      socket.destroy();
      resolve('live');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // EAGAIN: the backlog of a live process is full.
      if (error.code === 'EACCES' || error.code === 'EPERM') resolve('forbidden');
      else resolve(error.code === 'EAGAIN' ? 'live' : 'stale');
    });
  });
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function unusable(path: string, thrown: unknown): CrawlError {
  const { code, message } = thrown as NodeJS.ErrnoException;
  const isForbidden = code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
  const why = isForbidden ? 'no permission to write there' : message;
  return new CrawlError('config', `cannot make the debug socket ${path}: ${why}`, {
    remedy:
      'Name a path in a directory that exists and that you may write to, with --debug-socket.',
    cause: thrown,
  });
}
