// Uploads one closed WARC file so that a crash or a broken connection costs at most one part: the upload's id is noted durably beside the file,
// the store is asked which parts it has, only the others are sent. What was sent is confirmed by the store before it counts: length and
// SHA-256 as it gives them back. A file that is there already, from a run that died before its note, is not sent again.

import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { assert } from '../base/assert.ts';
import { describeFile } from './backup-copy.ts';
import { readFully, replaceDurably } from './files.ts';
import type { ObjectStore, StoredPart } from './object-store.ts';
import type { RemoteWarc } from './remote-warc.ts';
import type { WarcPaths } from './warc-names.ts';

/** Least size of a part; S3 wants at least 5 MiB of all but the last. */
export const PART_BYTES = 8 * 1024 * 1024;
/** S3 takes at most 10,000 parts of an object. */
const PARTS_MAX = 9_000;

/** `warc/<name>.upload`: an upload that is under way. */
interface UploadNote {
  readonly uploadId: string;
  readonly key: string;
  readonly sha256: string;
  readonly partBytes: number;
}

/**
 * Uploads a file, or finishes doing so.
 * @returns where it is now, confirmed
 * @throws whatever the client says; system errors. The local file is untouched, and the next call goes on
 */
export async function uploadWarc(store: ObjectStore, paths: WarcPaths): Promise<RemoteWarc> {
  const { bucket, prefix, endpoint, region } = store.address;
  const key = prefix + basename(paths.closed);
  const { bytes, sha256 } = describeFile(paths.closed);
  const remote = { bucket, key, endpoint, region, bytes, sha256 };
  if (!(await isStored(store, remote))) {
    if (bytes <= PART_BYTES) {
      const body = readFileSync(paths.closed);
      await store.put(key, body, { md5: md5Of(body, 'base64'), sha256 });
    } else {
      await uploadParts(store, paths, remote);
    }
    if (!(await isStored(store, remote))) {
      throw new Error(`the store does not confirm ${key}: it holds something else`);
    }
  }
  rmSync(paths.upload, { force: true });
  return remote;
}

async function isStored(store: ObjectStore, { key, bytes, sha256 }: RemoteWarc): Promise<boolean> {
  const state = await store.stat(key);
  return state !== undefined && state.bytes === bytes && state.sha256 === sha256;
}

async function uploadParts(
  store: ObjectStore,
  paths: WarcPaths,
  remote: RemoteWarc,
): Promise<void> {
  const { key, bytes, sha256 } = remote;
  const { note, stored } = await resumeOrBegin(store, paths, remote);
  assert(note.sha256 === sha256, () => `${key} changed while it was uploaded`);
  const fd = openSync(paths.closed, 'r');
  try {
    const etags: string[] = [];
    const buffer = Buffer.allocUnsafe(note.partBytes);
    for (let at = 0; at < bytes; at += note.partBytes) {
      const number = etags.length + 1;
      const part = buffer.subarray(0, readFully(fd, buffer, at));
      const there = stored.get(number);
      if (there !== undefined && isSame(there, part)) {
        etags.push(there.etag);
        continue;
      }
      const upload = { key, uploadId: note.uploadId, number };
      etags.push(await store.putPart(upload, part, md5Of(part, 'base64')));
    }
    await store.complete(key, note.uploadId, etags);
  } finally {
    closeSync(fd);
  }
}

/** A part's entity tag is its MD5; where a store makes it otherwise, the part is sent again, which is right and only slower. */
function isSame(stored: StoredPart, part: Buffer): boolean {
  const etag = stored.etag.replaceAll('"', '').toLowerCase();
  return stored.bytes === part.length && etag === md5Of(part, 'hex');
}

async function resumeOrBegin(
  store: ObjectStore,
  paths: WarcPaths,
  { key, bytes, sha256 }: RemoteWarc,
): Promise<{ note: UploadNote; stored: ReadonlyMap<number, StoredPart> }> {
  const noted = readNote(paths.upload);
  if (noted !== undefined && noted.key === key && noted.sha256 === sha256) {
    const parts = await store.parts(key, noted.uploadId);
    if (parts !== undefined) {
      return { note: noted, stored: new Map(parts.map((part) => [part.number, part])) };
    }
  }
  const partBytes = Math.max(PART_BYTES, Math.ceil(bytes / PARTS_MAX));
  const note = { uploadId: await store.begin(key, sha256), key, sha256, partBytes };
  replaceDurably(paths.upload, Buffer.from(`${JSON.stringify(note)}\n`));
  return { note, stored: new Map() };
}

/** A note that cannot be read is no note: the upload begins anew. */
function readNote(path: string): UploadNote | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const note = JSON.parse(readFileSync(path, 'utf8')) as Partial<UploadNote> | null;
    const { uploadId, key, sha256, partBytes } = note ?? {};
    if (typeof uploadId !== 'string' || typeof key !== 'string') return undefined;
    if (typeof sha256 !== 'string' || !Number.isSafeInteger(partBytes)) return undefined;
    const bytes = partBytes as number;
    return bytes >= PART_BYTES ? { uploadId, key, sha256, partBytes: bytes } : undefined;
  } catch {
    return undefined;
  }
}

function md5Of(bytes: Buffer, encoding: 'base64' | 'hex'): string {
  return createHash('md5').update(bytes).digest(encoding);
}
