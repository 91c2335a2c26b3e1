// Host, robots, unparsed and digest rows as bytes (step 10 of a URL's life). Hand-packed, since every batch writes one row per host it
// touched; only robots rules, whose shape the parser owns, go through msgpackr. Pages have their own file, page-codec.ts.

import { Packr } from 'msgpackr';
import type { ParsePurpose, UnparsedPage } from '../actors/ports.ts';
import {
  type BodyPointer,
  cursorsOf,
  FRESHNESS,
  type HostCounts,
  type HostRepeatsRow,
  type HostRow,
  hasWork,
  PARKED,
  type QueueCursors,
  type RobotsRow,
} from '../actors/rows.ts';
import type { PartitionIndex } from '../base/units.ts';
import { hostKey, partitionIndex, urlKey, wallMs } from '../base/units.ts';
import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { readHostWorth, writeHostWorth } from './host-worth-codec.ts';
import { readRenderMemory, writeRenderMemory } from './render-codec.ts';

const packr = new Packr({ useRecords: false, structuredClone: true });

const NO_REPEATS: HostRepeatsRow = { soft404: [], twins: [] };

const DECISIONS: readonly RobotsRow['decision'][] = ['rules', 'allow-all', 'disallow-all'];

/** The value of a host row. The cursors come first, so that a scan for hosts with work reads little. */
export function encodeHostRow(row: HostRow): Buffer {
  const writer = new ByteWriter(192);
  for (const cursors of row.queues) writeCursors(writer, cursors);
  writer.text(row.host);
  writer.f64(row.lastEndedAt);
  writer.f64(row.gap.smoothedMs);
  writer.f64(row.gap.penalty);
  writer.varint(row.gap.failuresInRow);
  writer.f64(row.gap.pausedUntil);
  writer.f64(row.crawlDelayMs);
  const counts = row.counts;
  writer.varint(counts.discovered);
  writer.varint(counts.fetched);
  writer.varint(counts.stored);
  writer.varint(counts.duplicates);
  writer.varint(counts.failed);
  writer.varint(counts.robotsDenied);
  writer.varint(counts.trapped);
  writer.varint(counts.inLinks);
  const { parked, due, worth } = row;
  if (parked === undefined && due === undefined && worth === undefined) return writer.view();
  writeCursors(writer, cursorsOf(row, PARKED));
  writeCursors(writer, cursorsOf(row, FRESHNESS));
  if (worth === undefined) return writer.view();
  const { renders } = row;
  if (renders === undefined) {
    writeHostWorth(writer, worth);
    return writer.view();
  }
  // What follows is found by its place: behind a worth, which every host has that was ever awake, and behind what it repeats.
  writeHostWorth(writer, { ...worth, repeats: worth.repeats ?? NO_REPEATS });
  writeRenderMemory(writer, renders);
  return writer.view();
}

function writeCursors(writer: ByteWriter, { head, chunkEnd, tail }: QueueCursors): void {
  writer.varint(head);
  writer.varint(chunkEnd);
  writer.varint(tail);
}

function readCursors(reader: ByteReader): QueueCursors {
  return { head: reader.varint(), chunkEnd: reader.varint(), tail: reader.varint() };
}

function readCounts(reader: ByteReader): HostCounts {
  return {
    discovered: reader.varint(),
    fetched: reader.varint(),
    stored: reader.varint(),
    duplicates: reader.varint(),
    failed: reader.varint(),
    robotsDenied: reader.varint(),
    trapped: reader.varint(),
    inLinks: reader.varint(),
  };
}

/**
 * @param partition from the row's key
 * @throws ByteDamage when the bytes are not a host row
 */
export function decodeHostRow(value: Uint8Array, partition: PartitionIndex): HostRow {
  const reader = new ByteReader(value);
  const queues = [readCursors(reader), readCursors(reader), readCursors(reader)] as const;
  const host = reader.text();
  const lastEndedAt = wallMs(reader.f64());
  const gap = {
    smoothedMs: reader.f64(),
    penalty: reader.f64(),
    failuresInRow: reader.varint(),
    pausedUntil: wallMs(reader.f64()),
  };
  const crawlDelayMs = reader.f64();
  const counts = readCounts(reader);
  // Rows of older versions end here.
  const isWhole = reader.left > 0;
  const parked = isWhole ? usedCursors(readCursors(reader)) : undefined;
  const due = isWhole ? usedCursors(readCursors(reader)) : undefined;
  const worth = reader.left > 0 ? readHostWorth(reader) : undefined;
  const renders = reader.left > 0 ? readRenderMemory(reader) : undefined;
  reader.end();
  return {
    host,
    partition,
    queues,
    lastEndedAt,
    gap,
    crawlDelayMs,
    counts,
    parked,
    due,
    worth,
    renders,
  };
}

/** Undefined for a lane that was never used. */
function usedCursors(cursors: QueueCursors): QueueCursors | undefined {
  return cursors.tail === 0 ? undefined : cursors;
}

/** True when a host row's bytes say that entries wait in some lane; mostly reads the cursors of the first bands only. */
export function hostRowHasWork(value: Uint8Array): boolean {
  const reader = new ByteReader(value);
  for (let band = 0; band < 3; band++) {
    const { head, tail } = readCursors(reader);
    if (head < tail) return true;
  }
  return hasWork(decodeHostRow(value, partitionIndex(0)));
}

/** The value of a robots row. */
export function encodeRobotsRow(row: RobotsRow): Buffer {
  const writer = new ByteWriter(512);
  writer.u8(DECISIONS.indexOf(row.decision));
  writer.text(row.origin);
  writer.f64(row.fetchedAt);
  writer.f64(row.expiresAt);
  writer.varint(row.status);
  writer.varint(row.failures);
  writer.f64(row.failingSince);
  writer.block(packr.pack(row.rules));
  if (row.processAt !== undefined) writer.f64(row.processAt);
  return writer.view();
}

/** @throws ByteDamage when the bytes are not a robots row */
export function decodeRobotsRow(value: Uint8Array): RobotsRow {
  const reader = new ByteReader(value);
  const decision = DECISIONS[reader.u8()];
  if (decision === undefined) throw new ByteDamage('unknown robots decision');
  const origin = reader.text();
  const fetchedAt = wallMs(reader.f64());
  const expiresAt = wallMs(reader.f64());
  const status = reader.varint();
  const failures = reader.varint();
  const failingSince = wallMs(reader.f64());
  const packed = reader.block();
  // A row of an older version ends here.
  const processAt = reader.left === 0 ? undefined : wallMs(reader.f64());
  reader.end();
  const rules = unpackRules(packed);
  const times = { fetchedAt, expiresAt, failingSince, processAt };
  return { origin, rules, decision, status, failures, ...times };
}

function unpackRules(packed: Uint8Array): unknown {
  try {
    return packr.unpack(packed);
  } catch (error) {
    throw new ByteDamage(`robots rules: ${String(error)}`);
  }
}

/** By their numbers on disk; purposes are only added. */
const PARSE_PURPOSES: readonly ParsePurpose[] = ['page', 'sitemap', 'rendered'];

/** The value of an unparsed row; the id is in its key. */
export function encodeUnparsed(page: Omit<UnparsedPage, 'unparsedId'>, partition: number): Buffer {
  const writer = new ByteWriter(160);
  writer.u16(partition);
  writer.u64(page.hostKey);
  writer.u64(page.urlKey);
  writer.varint(page.depth);
  writer.varint(page.hops);
  writer.u8(PARSE_PURPOSES.indexOf(page.purpose));
  writePointer(writer, page.pointer);
  writer.text(page.url);
  return writer.view();
}

/** @throws ByteDamage when the bytes are not an unparsed row */
export function decodeUnparsed(
  value: Uint8Array,
  unparsedId: number,
): UnparsedPage & { readonly partition: number } {
  const reader = new ByteReader(value);
  const partition = reader.u16();
  const host = hostKey(reader.u64());
  const url = urlKey(reader.u64());
  const depth = reader.varint();
  const hops = reader.varint();
  const purpose = PARSE_PURPOSES[reader.u8()];
  if (purpose === undefined) throw new ByteDamage('unknown purpose of a body');
  const pointer = readPointer(reader);
  const text = reader.text();
  reader.end();
  return {
    unparsedId,
    hostKey: host,
    urlKey: url,
    partition,
    url: text,
    depth,
    hops,
    purpose,
    pointer,
  };
}

/** Where the first copy of a body lies, and what a revisit record must say of it. */
export interface DigestRow {
  readonly pointer: BodyPointer;
  readonly url: string;
  readonly fetchedAt: number;
  /** WARC-Record-ID of the response record. */
  readonly recordId: string;
  /** `sha1:BASE32` of the payload as received; a revisit record needs it equal (WARC 1.1 §6.7.2). */
  readonly payloadDigest: string;
  /** False when the first copy was stored without following its links. */
  readonly parsed: boolean;
}

/** The value of a digest row; the key is the SHA-1 of the decoded body. */
export function encodeDigestRow(row: DigestRow): Buffer {
  const writer = new ByteWriter(256);
  writer.u8(row.parsed ? 1 : 0);
  writePointer(writer, row.pointer);
  writer.f64(row.fetchedAt);
  writer.text(row.recordId);
  writer.text(row.payloadDigest);
  writer.text(row.url);
  return writer.view();
}

/** @throws ByteDamage when the bytes are not a digest row */
export function decodeDigestRow(value: Uint8Array): DigestRow {
  const reader = new ByteReader(value);
  const parsed = reader.u8() === 1;
  const pointer = readPointer(reader);
  const fetchedAt = reader.f64();
  const recordId = reader.text();
  const payloadDigest = reader.text();
  const url = reader.text();
  reader.end();
  return { pointer, url, fetchedAt, recordId, payloadDigest, parsed };
}

function writePointer(writer: ByteWriter, pointer: BodyPointer): void {
  writer.varint(pointer.file);
  writer.varint(pointer.record);
}

function readPointer(reader: ByteReader): BodyPointer {
  return { file: reader.varint(), record: reader.varint() };
}
