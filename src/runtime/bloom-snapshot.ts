// Turns a Bloom filter into bytes and back, so that a restart need not rebuild the seen set (DESIGN.md §6); saving them is storage's
// job. A snapshot is the filter's header, then chunks, each behind its length and checksum. It is taken while other threads go on adding:
// a bit set meanwhile is in it or not, and the log of new URLs, replayed from where it stood when the snapshot began, covers both. A torn
// or damaged snapshot is refused whole; the filter is then rebuilt from the frontier segments.
import { assert } from '../base/assert.ts';
import {
  BLOOM_HEADER_BYTES,
  BloomFilter,
  bloomBytesByHeader,
  bloomHeaderProblem,
} from './bloom.ts';

const CHUNK_HEAD_BYTES = 8;

/** A filter out of a snapshot, or what is wrong with the snapshot. */
export type BloomRestore =
  | { readonly kind: 'ok'; readonly filter: BloomFilter }
  | { readonly kind: 'damaged'; readonly reason: string };

/**
 * The snapshot of a filter, piece by piece; each piece is a copy of its own.
 * @param chunkBytes size of a piece, a multiple of 64; 1 MiB keeps a thread busy for under a millisecond
 */
export function* snapshotBloom(filter: BloomFilter, chunkBytes = 2 ** 20): Generator<Uint8Array> {
  assert(chunkBytes >= 64, () => 'a chunk holds at least a block');
  assert(chunkBytes % 64 === 0, () => 'a chunk holds whole blocks');
  const source = new Uint8Array(filter.buffer);
  for (let start = 0; start < source.length; ) {
    const end = Math.min(source.length, start === 0 ? BLOOM_HEADER_BYTES : start + chunkBytes);
    const piece = new Uint8Array(CHUNK_HEAD_BYTES + end - start);
    piece.set(source.subarray(start, end), CHUNK_HEAD_BYTES);
    const head = new DataView(piece.buffer, 0, CHUNK_HEAD_BYTES);
    head.setUint32(0, end - start, true);
    head.setUint32(4, checksum(piece, CHUNK_HEAD_BYTES, end - start), true);
    yield piece;
    start = end;
  }
}

/**
 * Reads a snapshot back. Never throws for what the bytes are.
 * @param read gives up to `length` bytes at an offset of the snapshot, fewer at its end
 */
export function restoreBloom(read: (offset: number, length: number) => Uint8Array): BloomRestore {
  const first = readChunk(read, 0);
  if (typeof first === 'string') return { kind: 'damaged', reason: first };
  if (first.length !== BLOOM_HEADER_BYTES) return { kind: 'damaged', reason: 'no header' };
  const bytes = bloomBytesByHeader(new Uint8Array(first).buffer);
  const target = bytes === undefined ? undefined : newShared(bytes);
  if (bytes === undefined || target === undefined) return { kind: 'damaged', reason: 'bad header' };
  let offset = 0;
  for (let filled = 0; filled < bytes; ) {
    const chunk = readChunk(read, offset);
    if (typeof chunk === 'string') return { kind: 'damaged', reason: chunk };
    if (filled + chunk.length > bytes) return { kind: 'damaged', reason: 'longer than it says' };
    target.set(chunk, filled);
    filled += chunk.length;
    offset += CHUNK_HEAD_BYTES + chunk.length;
  }
  const problem = bloomHeaderProblem(target.buffer);
  if (problem !== undefined) return { kind: 'damaged', reason: problem };
  return { kind: 'ok', filter: BloomFilter.attach(target.buffer) };
}

/** Undefined when there is not that much memory: the size is what the header claims. */
function newShared(bytes: number): Uint8Array<SharedArrayBuffer> | undefined {
  try {
    return new Uint8Array(new SharedArrayBuffer(bytes));
  } catch {
    return undefined;
  }
}

function readChunk(
  read: (offset: number, length: number) => Uint8Array,
  offset: number,
): Uint8Array | string {
  const head = read(offset, CHUNK_HEAD_BYTES);
  if (head.length < CHUNK_HEAD_BYTES) return 'ends early';
  const view = new DataView(head.buffer, head.byteOffset, CHUNK_HEAD_BYTES);
  const length = view.getUint32(0, true);
  if (length === 0) return 'empty chunk';
  const chunk = read(offset + CHUNK_HEAD_BYTES, length);
  if (chunk.length < length) return 'ends early';
  return checksum(chunk, 0, length) === view.getUint32(4, true) ? chunk : 'checksum differs';
}

/** A multiplicative checksum over 32-bit little-endian words: against torn writes, not against malice. */
function checksum(bytes: Uint8Array, start: number, length: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, length);
  let sum = 0x811c9dc5 ^ length;
  for (let index = 0; index + 4 <= length; index += 4) {
    sum = Math.imul(sum ^ view.getUint32(index, true), 0x01000193);
    sum ^= sum >>> 15;
  }
  return sum >>> 0;
}
