// Queue entries as bytes: one in the frontier log (with the host it belongs to), many in a chunk row, one in a denied row. Steps 6 and 7
// of a URL's life on disk. About 90 bytes a URL in the log; a chunk row leaves out what its key already says.

import type { DiscoveredCheckpoint } from '../actors/ports.ts';
import { type Band, FRESHNESS, type Lane, PARKED, type QueueEntry } from '../actors/rows.ts';
import { assert } from '../base/assert.ts';
import type { UrlKey } from '../base/units.ts';
import { hostKey, partitionIndex, urlKey } from '../base/units.ts';
import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';

/** Most entries in one chunk row: about 6 KB, the size at which a put costs 0.25 … 0.7 µs for each URL (PERFORMANCE.md). */
export const CHUNK_ENTRIES_MAX = 64;
/** A decoder's bound on entries in one chunk row; more is damage. */
const CHUNK_ENTRIES_DECODED_MAX = 65_536;
/** Bit of a purpose byte; the lane takes the two bits below. */
const SITEMAP_BIT = 4;
/** Stands for the lane of pages due for another visit, whose number would need the bit above. */
const DUE_BYTE = 8;

function writeEntry(writer: ByteWriter, entry: QueueEntry): void {
  writer.u64(entry.urlKey);
  writer.varint(entry.depth);
  writer.varint(entry.attempts);
  writer.varint(entry.hops);
  writer.text(entry.url);
}

function readEntry(reader: ByteReader, sequence: number, sitemap: boolean): QueueEntry {
  const key: UrlKey = urlKey(reader.u64());
  const depth = reader.varint();
  const attempts = reader.varint();
  const hops = reader.varint();
  const url = reader.text();
  const purpose = sitemap ? 'sitemap' : 'page';
  return { sequence, url, urlKey: key, depth, attempts, hops, purpose };
}

function laneByte(lane: Lane, entry: QueueEntry): number {
  const bits = lane === FRESHNESS ? DUE_BYTE : lane;
  return bits | (entry.purpose === 'sitemap' ? SITEMAP_BIT : 0);
}

function laneOf(byte: number): Lane {
  if (byte === DUE_BYTE || byte === (DUE_BYTE | SITEMAP_BIT)) return FRESHNESS;
  if (byte > (SITEMAP_BIT | 3)) throw new ByteDamage(`lane byte ${byte}`);
  return (byte & 3) as Lane;
}

/** Appends one discovered URL as the frontier log keeps it. */
export function writeDiscovered(writer: ByteWriter, discovered: DiscoveredCheckpoint): void {
  writer.u16(discovered.partition);
  writer.u64(discovered.hostKey);
  writer.u8(laneByte(discovered.band, discovered.entry));
  writer.varint(discovered.entry.sequence);
  writeEntry(writer, discovered.entry);
}

/** @throws ByteDamage when the bytes are not an entry */
export function readDiscovered(reader: ByteReader): DiscoveredCheckpoint {
  const partition = partitionIndex(reader.u16());
  const host = hostKey(reader.u64());
  const byte = reader.u8();
  const band = laneOf(byte);
  const entry = readEntry(reader, reader.varint(), (byte & SITEMAP_BIT) !== 0);
  return { hostKey: host, partition, band, entry };
}

/**
 * The value of a chunk row.
 * @param entries one or more, oldest first, sequences without holes; the key holds the first sequence
 */
export function encodeChunk(entries: readonly QueueEntry[]): Buffer {
  const writer = new ByteWriter(32 + entries.length * 128);
  writer.varint(entries.length);
  const first = entries[0]?.sequence ?? 0;
  for (const [index, entry] of entries.entries()) {
    assert(entry.sequence === first + index, () => `chunk has a hole at ${entry.sequence}`);
    writer.u8(entry.purpose === 'sitemap' ? SITEMAP_BIT : 0);
    writeEntry(writer, entry);
  }
  return writer.view();
}

/**
 * @param firstSequence from the row's key
 * @throws ByteDamage when the bytes are not a chunk
 */
export function decodeChunk(value: Uint8Array, firstSequence: number): QueueEntry[] {
  const reader = new ByteReader(value);
  const count = reader.varint();
  if (count > CHUNK_ENTRIES_DECODED_MAX) throw new ByteDamage(`chunk of ${count} entries`);
  const entries: QueueEntry[] = [];
  for (let index = 0; index < count; index++) {
    const sitemap = (reader.u8() & SITEMAP_BIT) !== 0;
    entries.push(readEntry(reader, firstSequence + index, sitemap));
  }
  reader.end();
  return entries;
}

/** The value of a denied row: the entry and the band it waited in. */
export function encodeDenied(band: Band, entry: QueueEntry): Buffer {
  const writer = new ByteWriter(192);
  writer.u8(laneByte(band, entry));
  writer.varint(entry.sequence);
  writeEntry(writer, entry);
  return writer.view();
}

/** @throws ByteDamage when the bytes are not a denied row */
export function decodeDenied(value: Uint8Array): { band: Band; entry: QueueEntry } {
  const reader = new ByteReader(value);
  const byte = reader.u8();
  const band = laneOf(byte);
  if (band === PARKED || band === FRESHNESS) throw new ByteDamage(`a denied URL in lane ${band}`);
  const entry = readEntry(reader, reader.varint(), (byte & SITEMAP_BIT) !== 0);
  reader.end();
  return { band, entry };
}
