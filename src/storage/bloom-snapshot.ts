// Saves and loads the Bloom filter's bits as one file (step 4, DESIGN.md §6), so that a start need not read every seen run. The filter stays in
// use while it is saved: each portion is copied before its checksum is taken, and a bit set meanwhile is either in the copy or comes again
// from the memtables and the log, so the caller notes in `meta` what the snapshot covers before it begins. A torn, foreign or missing
// file is simply no snapshot: the caller rebuilds from the runs.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncDirectory } from './files.ts';

/** The filter's bytes with whatever the filter needs to use them again. */
export interface BloomSnapshot {
  /** May be a view of a SharedArrayBuffer. */
  readonly bytes: Uint8Array;
  /** JSON-encodable; at most 1 MiB encoded. */
  readonly meta: object;
}

const MAGIC = 'HSTBLOOM';
/** magic 8, bytes u64, meta length u32, CRC-32 of meta and of the bytes u32 each, CRC-32 of this head u32; little-endian. */
const HEAD_BYTES = 32;
const META_BYTES_MAX = 1 << 20;
const PORTION_BYTES = 4 << 20;

/**
 * Writes a snapshot beside its final name, then renames it: the old one stays until the new one is whole and durable.
 * @throws system errors
 */
export async function saveBloomSnapshot(path: string, snapshot: BloomSnapshot): Promise<void> {
  const draft = `${path}.tmp`;
  const meta = Buffer.from(JSON.stringify(snapshot.meta), 'utf8');
  const file = await open(draft, 'w');
  try {
    await file.write(meta, 0, meta.length, HEAD_BYTES);
    const portion = Buffer.allocUnsafe(PORTION_BYTES);
    let checksum = 0;
    for (let at = 0; at < snapshot.bytes.length; at += PORTION_BYTES) {
      const part = snapshot.bytes.subarray(at, at + PORTION_BYTES);
      portion.set(part);
      const copy = portion.subarray(0, part.length);
      checksum = crc32(copy, checksum);
      await file.write(copy, 0, copy.length, HEAD_BYTES + meta.length + at);
    }
    const head = encodeHead(snapshot.bytes.length, meta, checksum);
    await file.write(head, 0, head.length, 0);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(draft, { force: true });
    throw error;
  }
  await file.close();
  await rename(draft, path);
  syncDirectory(dirname(path));
}

/**
 * Loads a snapshot.
 * @param place gives the memory to read into, of exactly `bytes` bytes, or undefined to refuse this snapshot (other parameters)
 * @returns undefined when there is none, it is torn, or it was refused; the memory may then hold anything
 */
export function loadBloomSnapshot(
  path: string,
  place: (bytes: number, meta: object) => Uint8Array | undefined,
): BloomSnapshot | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return readSnapshot(file, statSync(path).size, place);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

function encodeHead(bytes: number, meta: Buffer, checksum: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(MAGIC, 'latin1');
  head.writeBigUInt64LE(BigInt(bytes), 8);
  head.writeUInt32LE(meta.length, 16);
  head.writeUInt32LE(crc32(meta), 20);
  head.writeUInt32LE(checksum, 24);
  head.writeUInt32LE(crc32(head.subarray(0, 28)), 28);
  return head;
}

function readSnapshot(
  file: number,
  size: number,
  place: (bytes: number, meta: object) => Uint8Array | undefined,
): BloomSnapshot | undefined {
  const head = Buffer.alloc(HEAD_BYTES);
  if (readSync(file, head, 0, HEAD_BYTES, 0) < HEAD_BYTES) return undefined;
  if (head.toString('latin1', 0, 8) !== MAGIC) return undefined;
  if (crc32(head.subarray(0, 28)) !== head.readUInt32LE(28)) return undefined;
  const bytes = Number(head.readBigUInt64LE(8));
  const metaBytes = head.readUInt32LE(16);
  if (metaBytes > META_BYTES_MAX || size !== HEAD_BYTES + metaBytes + bytes) return undefined;
  const metaBuffer = Buffer.alloc(metaBytes);
  readSync(file, metaBuffer, 0, metaBytes, HEAD_BYTES);
  if (crc32(metaBuffer) !== head.readUInt32LE(20)) return undefined;
  const meta: unknown = JSON.parse(metaBuffer.toString('utf8'));
  if (typeof meta !== 'object' || meta === null) return undefined;
  const target = place(bytes, meta);
  if (target === undefined || target.length !== bytes) return undefined;
  const portion = Buffer.allocUnsafe(PORTION_BYTES);
  let checksum = 0;
  for (let at = 0; at < bytes; at += PORTION_BYTES) {
    const wanted = Math.min(PORTION_BYTES, bytes - at);
    const count = readSync(file, portion, 0, wanted, HEAD_BYTES + metaBytes + at);
    if (count < wanted) return undefined;
    checksum = crc32(portion.subarray(0, count), checksum);
    target.set(portion.subarray(0, count), at);
  }
  return checksum === head.readUInt32LE(24) ? { bytes: target, meta } : undefined;
}
