// One gzip member per WARC record (WARC 1.1 Annex D), written as STORED deflate blocks (RFC 1951 §3.2.4): a valid .gz that costs a
// copy and a CRC instead of a compression (124 against 1,448 µs per 100 KB, PERFORMANCE.md). Step 10 of a URL's life; the builders run
// on shard threads, the readers anywhere.
// Reading takes whatever member another tool wrote, checks CRC and length, is bounded, and never throws: bytes from a disk are judged,
// not trusted. Stored members are read without zlib, since creating an inflater costs more than copying a page.

import { constants, crc32, inflateRawSync } from 'node:zlib';
import { assert } from '../base/assert.ts';

/** Most bytes one stored deflate block holds (RFC 1951 §3.2.4: a 16-bit length). */
export const STORED_BLOCK_MAX = 65_535;

const HEADER_BYTES = 10;
const BLOCK_HEADER_BYTES = 5;
const TRAILER_BYTES = 8;
/** RFC 1952 §2.3: magic, deflate, no flags, no time, no extra flags, unknown system. */
const MEMBER_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const FLAG_HEADER_CRC = 2;
const FLAG_EXTRA = 4;
const FLAG_NAME = 8;
const FLAG_COMMENT = 16;

/** What `readMember` found. `short`: the bytes end before the member does. */
export type MemberResult =
  | { readonly kind: 'member'; readonly record: Buffer; readonly end: number }
  | { readonly kind: 'short' | 'damaged' | 'too-large' };

/**
 * Bytes of the gzip member that `gzipStored` makes of `recordBytes` bytes.
 * @param recordBytes 0 or more
 */
export function storedMemberBytes(recordBytes: number): number {
  const blocks = Math.max(1, Math.ceil(recordBytes / STORED_BLOCK_MAX));
  return HEADER_BYTES + blocks * BLOCK_HEADER_BYTES + recordBytes + TRAILER_BYTES;
}

/**
 * Packs the parts, one after the other, into one whole gzip member of stored blocks (RFC 1952 §2.3). The time stamp is zero and the
 * system unknown, so equal records give equal bytes.
 * @returns a member in an ArrayBuffer of its own, so that it can be transferred to another thread
 */
export function gzipStored(parts: readonly Uint8Array[]): Uint8Array {
  const total = bytesOf(parts);
  const out = Buffer.allocUnsafeSlow(storedMemberBytes(total));
  writeStored(out, parts, total);
  return out;
}

/** Bytes of all parts together. */
export function bytesOf(parts: readonly Uint8Array[]): number {
  let total = 0;
  for (const part of parts) total += part.byteLength;
  return total;
}

/**
 * As `gzipStored`, into memory that is there already: a page's body is then copied once on its way to the storage thread.
 * @param out exactly `storedMemberBytes(total)` long
 * @param total `bytesOf(parts)`
 */
export function writeStored(out: Buffer, parts: readonly Uint8Array[], total: number): void {
  out.set(MEMBER_HEADER, 0);
  let at = HEADER_BYTES;
  let left = total;
  let blockLeft = 0;
  const beginBlock = (): void => {
    blockLeft = Math.min(left, STORED_BLOCK_MAX);
    left -= blockLeft;
    out[at] = left === 0 ? 1 : 0;
    out.writeUInt16LE(blockLeft, at + 1);
    out.writeUInt16LE(blockLeft ^ 0xffff, at + 3);
    at += BLOCK_HEADER_BYTES;
  };
  beginBlock();
  for (const part of parts) {
    let from = 0;
    while (from < part.byteLength) {
      if (blockLeft === 0) beginBlock();
      const count = Math.min(blockLeft, part.byteLength - from);
      out.set(
        from === 0 && count === part.byteLength ? part : part.subarray(from, from + count),
        at,
      );
      at += count;
      from += count;
      blockLeft -= count;
    }
  }
  out.writeUInt32LE(storedChecksum(out, total), at);
  out.writeUInt32LE(total % 2 ** 32, at + 4);
  assert(at + TRAILER_BYTES === out.byteLength, () => `gzip member of ${at} bytes miscounted`);
}

/** CRC-32 over the data of the blocks just written: one call a block, not one for each small part, as a call costs half a microsecond. */
function storedChecksum(member: Buffer, total: number): number {
  let checksum = 0;
  let at = HEADER_BYTES + BLOCK_HEADER_BYTES;
  for (let left = total; left > 0; ) {
    const length = Math.min(left, STORED_BLOCK_MAX);
    checksum = crc32(member.subarray(at, at + length), checksum);
    at += length + BLOCK_HEADER_BYTES;
    left -= length;
  }
  return checksum;
}

/**
 * Reads the one gzip member that begins at `offset`. Never throws.
 * @param bytes the member's bytes and whatever follows
 * @param recordBytesMax bound of the unpacked record, more answers `too-large`
 * @returns the unpacked record and the offset just after the member
 */
export function readMember(bytes: Buffer, offset: number, recordBytesMax: number): MemberResult {
  const start = memberHeaderEnd(bytes, offset);
  if (typeof start !== 'number') return start;
  return readStored(bytes, start, recordBytesMax) ?? readCompressed(bytes, start, recordBytesMax);
}

/** Offset of the first deflate byte (RFC 1952 §2.3.1), or why there is none. */
function memberHeaderEnd(bytes: Buffer, offset: number): number | MemberResult {
  if (bytes.length - offset < HEADER_BYTES) {
    const magicHolds =
      bytes.length === offset || (bytes[offset] === 0x1f && (bytes[offset + 1] ?? 0x8b) === 0x8b);
    return { kind: magicHolds ? 'short' : 'damaged' };
  }
  if (bytes[offset] !== 0x1f || bytes[offset + 1] !== 0x8b || bytes[offset + 2] !== 8) {
    return { kind: 'damaged' };
  }
  const flags = bytes[offset + 3]!;
  let at = offset + HEADER_BYTES;
  if ((flags & FLAG_EXTRA) !== 0) {
    if (bytes.length < at + 2) return { kind: 'short' };
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const flag of [FLAG_NAME, FLAG_COMMENT]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.indexOf(0, at);
    if (zero < 0) return { kind: 'short' };
    at = zero + 1;
  }
  if ((flags & FLAG_HEADER_CRC) !== 0) at += 2;
  return at < bytes.length ? at : { kind: 'short' };
}

/** The member when all its blocks are stored ones; undefined when zlib is needed. */
function readStored(
  bytes: Buffer,
  start: number,
  recordBytesMax: number,
): MemberResult | undefined {
  const blocks: Buffer[] = [];
  let total = 0;
  let at = start;
  for (let last = false; !last; ) {
    if (at >= bytes.length) return { kind: 'short' };
    const lead = bytes[at]!;
    if ((lead & 6) !== 0) return undefined;
    if (bytes.length < at + BLOCK_HEADER_BYTES) return { kind: 'short' };
    const length = bytes.readUInt16LE(at + 1);
    if ((length ^ 0xffff) !== bytes.readUInt16LE(at + 3)) return { kind: 'damaged' };
    total += length;
    if (total > recordBytesMax) return { kind: 'too-large' };
    at += BLOCK_HEADER_BYTES + length;
    if (at > bytes.length) return { kind: 'short' };
    blocks.push(bytes.subarray(at - length, at));
    last = (lead & 1) === 1;
  }
  return checkTrailer(bytes, at, blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks, total));
}

function readCompressed(bytes: Buffer, start: number, recordBytesMax: number): MemberResult {
  try {
    const result = inflateRawSync(bytes.subarray(start), {
      info: true,
      maxOutputLength: Math.max(1, recordBytesMax),
      finishFlush: constants.Z_FINISH,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    return checkTrailer(bytes, start + result.engine.bytesWritten, result.buffer);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'Z_BUF_ERROR') return { kind: 'short' };
    return { kind: code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'damaged' };
  }
}

function checkTrailer(bytes: Buffer, at: number, record: Buffer): MemberResult {
  if (bytes.length < at + TRAILER_BYTES) return { kind: 'short' };
  const checksum = bytes.readUInt32LE(at);
  const length = bytes.readUInt32LE(at + 4);
  if (length !== record.length % 2 ** 32) return { kind: 'damaged' };
  if (crc32(record) !== checksum) return { kind: 'damaged' };
  return { kind: 'member', record, end: at + TRAILER_BYTES };
}
