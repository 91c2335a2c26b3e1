// LMDB keys of the crawl's tables. All begin with the partition and the host key, big-endian, so that a partition is one contiguous range
// (DESIGN.md §5) and may be read, counted or handed over as such. Keys are plain bytes: 2 + 8 (+ 8 | + 1 + 8 | + text).

import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import { hostKey, partitionIndex, urlKey } from '../base/units.ts';
import { ByteDamage } from './byte-reader.ts';

const HOST_BYTES = 10;
const URL_BYTES = 18;
const CHUNK_BYTES = 19;
/** Longest text in a robots key: LMDB keys end at 1,978 bytes, an origin at some 270. */
const ORIGIN_BYTES_MAX = 1024;

function startKey(length: number, partition: PartitionIndex, host: HostKey): Buffer {
  const key = Buffer.allocUnsafe(length);
  key.writeUInt16BE(partition, 0);
  key.writeBigUInt64BE(host, 2);
  return key;
}

/** Key of table hosts, and the prefix of all the host's other rows. */
export function hostRowKey(partition: PartitionIndex, host: HostKey): Buffer {
  return startKey(HOST_BYTES, partition, host);
}

/** Key of tables pages and denied. */
export function urlRowKey(partition: PartitionIndex, host: HostKey, url: UrlKey): Buffer {
  const key = startKey(URL_BYTES, partition, host);
  key.writeBigUInt64BE(url, HOST_BYTES);
  return key;
}

/** Key of table chunks: a chunk is named by the sequence of its first entry. */
export function chunkRowKey(at: {
  readonly partition: PartitionIndex;
  readonly hostKey: HostKey;
  readonly band: number;
  readonly firstSequence: number;
}): Buffer {
  const key = startKey(CHUNK_BYTES, at.partition, at.hostKey);
  key[HOST_BYTES] = at.band;
  key.writeBigUInt64BE(BigInt(at.firstSequence), HOST_BYTES + 1);
  return key;
}

/** The first sequence in a key of table chunks. */
export function sequenceOfKey(key: Uint8Array): number {
  if (key.length !== CHUNK_BYTES) throw new ByteDamage(`chunk key of ${key.length} bytes`);
  return Number(asBuffer(key).readBigUInt64BE(HOST_BYTES + 1));
}

/** Key of table robots: one row per origin of the host. */
export function robotsRowKey(partition: PartitionIndex, host: HostKey, origin: string): Buffer {
  const text = Buffer.from(origin, 'utf8').subarray(0, ORIGIN_BYTES_MAX);
  const key = startKey(HOST_BYTES + text.length, partition, host);
  key.set(text, HOST_BYTES);
  return key;
}

/** Key of table outbox: the batches of a partition are one range. */
export function outboxRowKey(partition: PartitionIndex, id: number): Buffer {
  const key = startKey(HOST_BYTES, partition, hostKey(0n));
  key.writeBigUInt64BE(BigInt(id), 2);
  return key;
}

/** The id in a key of table outbox. */
export function outboxIdOfKey(key: Uint8Array): { partition: PartitionIndex; id: number } {
  const { partition, hostKey: id } = hostOfKey(key);
  return { partition, id: Number(id) };
}

/** Key of table unparsed: ids grow, so rows are in the order of their commits. */
export function idKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeBigUInt64BE(BigInt(id), 0);
  return key;
}

/** The id in a key of table unparsed. */
export function idOfKey(key: Uint8Array): number {
  if (key.length !== 8) throw new ByteDamage(`id key of ${key.length} bytes`);
  return Number(asBuffer(key).readBigUInt64BE(0));
}

/** The first key after all keys that begin with `prefix`; for the end of a range. */
export function endOfPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let index = end.length - 1; index >= 0; index--) {
    const byte = end[index] as number;
    if (byte < 255) {
      end[index] = byte + 1;
      return end.subarray(0, index + 1);
    }
  }
  return Buffer.alloc(prefix.length + 1, 255);
}

/** Range of all rows of one partition. */
export function partitionRange(partition: PartitionIndex): { start: Buffer; end: Buffer } {
  const start = Buffer.allocUnsafe(2);
  start.writeUInt16BE(partition, 0);
  return { start, end: endOfPrefix(start) };
}

/** Range of all rows of one host. */
export function hostRange(
  partition: PartitionIndex,
  host: HostKey,
): { start: Buffer; end: Buffer } {
  const start = hostRowKey(partition, host);
  return { start, end: endOfPrefix(start) };
}

/** Partition and host key at the start of a key. */
export function hostOfKey(key: Uint8Array): { partition: PartitionIndex; hostKey: HostKey } {
  if (key.length < HOST_BYTES) throw new ByteDamage(`host key of ${key.length} bytes`);
  const bytes = asBuffer(key);
  return {
    partition: partitionIndex(bytes.readUInt16BE(0)),
    hostKey: hostKey(bytes.readBigUInt64BE(2)),
  };
}

/** The URL key at the end of a key of tables pages and denied. */
export function urlOfKey(key: Uint8Array): UrlKey {
  if (key.length !== URL_BYTES) throw new ByteDamage(`URL key of ${key.length} bytes`);
  return urlKey(asBuffer(key).readBigUInt64BE(HOST_BYTES));
}

function asBuffer(key: Uint8Array): Buffer {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength);
}
