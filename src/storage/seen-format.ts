// The file format of a seen run, `frontier/seen-<n>.run`: an immutable sorted set of 64-bit URL keys (DESIGN.md §6, step 4).
//   page 0   header: magic with version, number of keys, sizes and checksums, checksum of the header itself
//   keys     unsigned 64-bit little-endian, ascending, without repeats, 512 to a page of 4 KiB
//   index    the first key of each page (fences), then the filter
// Keys are kept whole: uniform keys of a run of n differ by about 2^64 / n, so delta packing would save two or three of eight bytes and
// cost every look-up a decoding of half a page.
// The filter is a Bloom filter whose bits for one key lie in one 32-bit word: ten bits a key, three probes, one cache line; about one false
// answer in twenty, which costs one page read and nothing else.

import { crc32 } from 'node:zlib';

/** Bytes of a page, the unit of reading. */
export const PAGE_BYTES = 4096;
/** Keys on a page. */
export const PAGE_KEYS = PAGE_BYTES / 8;
/** Runs of more keys have no filter, so that building one stays in bounded memory (40 MiB). */
export const FILTER_KEYS_MAX = 32 * 1024 * 1024;

const FILTER_BITS_PER_KEY = 10;
const MAGIC = Buffer.from('HSTSEEN1', 'latin1');
const HEADER_BYTES = 64;

/** What the header says. */
export interface RunHeader {
  readonly keys: number;
  /** CRC-32 over all key bytes. */
  readonly keysChecksum: number;
  /** CRC-32 over fences and filter. */
  readonly indexChecksum: number;
  /** 32-bit words of the filter; 0 when there is none. */
  readonly filterWords: number;
}

/** File name of run `file`. */
export function runName(file: number): string {
  return `seen-${String(file).padStart(6, '0')}.run`;
}

/** Number of pages that hold `keys` keys. */
export function pageCount(keys: number): number {
  return Math.ceil(keys / PAGE_KEYS);
}

/** Where the index begins: after the header page and the key pages, the last of which may be shorter. */
export function indexPosition(keys: number): number {
  return PAGE_BYTES + keys * 8;
}

/** Words of the filter for a run of at most `keys` keys. */
export function filterWordsFor(keys: number): number {
  return keys > FILTER_KEYS_MAX ? 0 : Math.max(1, Math.ceil((keys * FILTER_BITS_PER_KEY) / 32));
}

/** Index of the word that holds a key's bits. */
export function filterWord(low: number, words: number): number {
  return Math.floor((low * words) / 2 ** 32);
}

/** A key's bits in its word; the top half of the key is independent of the bottom half, which chose the word. */
export function filterBits(high: number): number {
  return (1 << (high & 31)) | (1 << ((high >>> 5) & 31)) | (1 << ((high >>> 10) & 31));
}

/** The header page's used part. */
export function encodeRunHeader(header: RunHeader): Buffer {
  const bytes = Buffer.alloc(PAGE_BYTES);
  MAGIC.copy(bytes);
  bytes.writeBigUInt64LE(BigInt(header.keys), 8);
  bytes.writeUInt32LE(header.keysChecksum, 16);
  bytes.writeUInt32LE(header.indexChecksum, 20);
  bytes.writeUInt32LE(header.filterWords, 24);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4);
  return bytes;
}

/** The header of a run, or why the bytes are none. */
export function decodeRunHeader(bytes: Buffer): RunHeader | string {
  if (bytes.length < PAGE_BYTES) return 'shorter than its header';
  if (!bytes.subarray(0, 7).equals(MAGIC.subarray(0, 7))) return 'not a seen run';
  if (bytes[7] !== MAGIC[7]) return `of another version (${String.fromCharCode(bytes[7]!)})`;
  if (crc32(bytes.subarray(0, HEADER_BYTES - 4)) !== bytes.readUInt32LE(HEADER_BYTES - 4)) {
    return 'damaged in its header';
  }
  const keys = Number(bytes.readBigUInt64LE(8));
  return {
    keys,
    keysChecksum: bytes.readUInt32LE(16),
    indexChecksum: bytes.readUInt32LE(20),
    filterWords: bytes.readUInt32LE(24),
  };
}
