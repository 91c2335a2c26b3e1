// A checkpoint batch as one run of bytes: packed on the shard thread, whose cores are many, and read by the one storage thread, which only
// has to append, place and put (step 10). Row keys and values are ready for LMDB; bodies are whole WARC members. The receiver gets views
// into the transferred buffer, not copies.

import { CHANGE_KINDS, type ChangeKind } from '../actors/change-event.ts';
import type { DueCheckpoint, DueRowTaken } from '../actors/ports.ts';
import type { BodyPointer } from '../actors/rows.ts';
import { hostKey, partitionIndex, urlKey, wallMs } from '../base/units.ts';
import { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { bytesOf, storedMemberBytes, writeStored } from './warc-gzip.ts';
import type { RecordParts, ResponseHead } from './warc-record.ts';

/** What the storage thread needs to decide whether a page repeats stored content, and to write a revisit record if so. */
export interface DedupeFacts {
  /** 20 bytes: SHA-1 of the decoded body. */
  readonly contentDigest: Buffer;
  /** `sha1:BASE32` of the payload as received. */
  readonly payloadDigest: string;
  /** WARC-Record-ID of the response member; its request member names it. */
  readonly responseId: string;
  readonly head: ResponseHead;
}

/** One page on its way. */
export interface PackedPage {
  /** Key of its page row; undefined for robots.txt answers, which are archived only. */
  readonly key: Buffer | undefined;
  /** The packed page row (page-codec.ts). */
  readonly row: Buffer;
  readonly url: string;
  readonly fetchedAt: number;
  readonly depth: number;
  readonly hops: number;
  /** Enter the unparsed log, unless it is a duplicate. */
  readonly parse: boolean;
  /** It is a sitemap, to be parsed as one. */
  readonly sitemap: boolean;
  /** It is the document that a browser made of a page: its row is one of table `renders`. */
  readonly rendered: boolean;
  /** Enter the unparsed log even as an exact duplicate on its origin. */
  readonly parseCopy: boolean;
  /** Its body lies elsewhere already (the stored copy behind a 304): the first member is no body for the row to point at. */
  readonly keepsPointer: boolean;
  /** What the change feed tells of it, as far as the shard knows: a copy of another page is found later. */
  readonly change: ChangeKind | undefined;
  /** WARC members in order; the first is the response. Empty when no answer came. */
  readonly members: readonly Buffer[];
  readonly dedupe: DedupeFacts | undefined;
}

/** A page as it is packed: its records in parts, which become gzip members in the batch's own memory. */
export interface PageToPack extends Omit<PackedPage, 'members'> {
  readonly records: readonly RecordParts[];
}

/** One row to put. */
export interface PackedRow {
  /** Index in BATCH_TABLES. */
  readonly table: number;
  readonly key: Buffer;
  /** Undefined removes the row. */
  readonly value: Buffer | undefined;
}

/** Everything of a batch but its sequence. */
export interface PackedBatch {
  readonly pages: readonly PackedPage[];
  readonly rows: readonly PackedRow[];
  /** Sealed blocks; empty buffers when there is nothing to append. */
  readonly frontierBlock: Buffer;
  readonly auditBlock: Buffer;
  readonly parsedIds: readonly number[];
  /** Entries of the schedule of visits to add, and rows of it that were dealt out. */
  readonly due: readonly DueCheckpoint[];
  readonly dueTaken: readonly DueRowTaken[];
  readonly counters: readonly (readonly [name: string, increment: number])[];
  readonly sweptThroughSegment: number | undefined;
}

const HAS_ROW = 1;
const PARSE = 2;
const KEEPS_POINTER = 4;
const DEDUPE = 8;
const SITEMAP = 16;
const RENDERED = 32;
const PARSE_COPY = 64;
const NOTHING = Buffer.alloc(0);

/** Packs one page. */
export function writePage(writer: ByteWriter, page: PageToPack): void {
  writer.u8(
    (page.key === undefined ? 0 : HAS_ROW) |
      (page.parse ? PARSE : 0) |
      (page.keepsPointer ? KEEPS_POINTER : 0) |
      (page.dedupe === undefined ? 0 : DEDUPE) |
      (page.sitemap ? SITEMAP : 0) |
      (page.rendered ? RENDERED : 0) |
      (page.parseCopy ? PARSE_COPY : 0),
  );
  writer.block(page.key ?? NOTHING);
  writer.block(page.row);
  writer.text(page.url);
  writer.f64(page.fetchedAt);
  writer.varint(page.depth);
  writer.varint(page.hops);
  writer.u8(page.change === undefined ? 0 : CHANGE_KINDS.indexOf(page.change) + 1);
  writer.varint(page.records.length);
  for (const parts of page.records) writeMember(writer, parts);
  if (page.dedupe !== undefined) writeDedupe(writer, page.dedupe);
}

function writeMember(writer: ByteWriter, parts: RecordParts): void {
  const total = bytesOf(parts);
  const bytes = storedMemberBytes(total);
  writer.varint(bytes);
  writeStored(writer.claim(bytes), parts, total);
}

function writeDedupe(writer: ByteWriter, facts: DedupeFacts): void {
  writer.raw(facts.contentDigest);
  writer.text(facts.payloadDigest);
  writer.text(facts.responseId);
  writer.varint(facts.head.status);
  writer.text(facts.head.reason);
  writer.text(facts.head.address);
  writer.varint(facts.head.headers.length);
  for (const text of facts.head.headers) writer.text(text);
}

/** Packs one row to put or remove. */
export function writeRow(writer: ByteWriter, row: PackedRow): void {
  writer.u8(row.table * 2 + (row.value === undefined ? 0 : 1));
  writer.block(row.key);
  if (row.value !== undefined) writer.block(row.value);
}

/** Packs what follows pages and rows. */
export function writeTail(writer: ByteWriter, batch: Omit<PackedBatch, 'pages' | 'rows'>): void {
  writer.block(batch.frontierBlock);
  writer.block(batch.auditBlock);
  writer.varint(batch.parsedIds.length);
  for (const id of batch.parsedIds) writer.varint(id);
  writer.varint(batch.due.length);
  for (const { partition, hostKey: host, urlKey: url, dueAt } of batch.due) {
    writer.u16(partition);
    writer.u64(host);
    writer.u64(url);
    writer.f64(dueAt);
  }
  writer.varint(batch.dueTaken.length);
  for (const { partition, dueAt, number, count } of batch.dueTaken) {
    writer.u16(partition);
    writer.f64(dueAt);
    writer.varint(number);
    writer.varint(count);
  }
  writer.varint(batch.counters.length);
  for (const [name, increment] of batch.counters) {
    writer.text(name);
    writer.f64(increment);
  }
  const swept = batch.sweptThroughSegment;
  writer.varint(swept === undefined ? 0 : swept + 1);
}

/**
 * Reads a packed batch; all buffers are views into `bytes`.
 * @throws ByteDamage when the bytes are not a batch, which would be a bug of ours
 */
export function readBatch(bytes: Uint8Array): PackedBatch {
  const reader = new ByteReader(bytes);
  const pages = readMany(reader, readPage);
  const rows = readMany(reader, readRow);
  const frontierBlock = reader.block();
  const auditBlock = reader.block();
  const parsedIds = readMany(reader, (from) => from.varint());
  const due = readMany(reader, (from) => ({
    partition: partitionIndex(from.u16()),
    hostKey: hostKey(from.u64()),
    urlKey: urlKey(from.u64()),
    dueAt: wallMs(from.f64()),
  }));
  const dueTaken = readMany(reader, (from) => ({
    partition: partitionIndex(from.u16()),
    dueAt: wallMs(from.f64()),
    number: from.varint(),
    count: from.varint(),
  }));
  const counters = readMany(reader, (from) => [from.text(), from.f64()] as const);
  const swept = reader.varint();
  reader.end();
  const sweptThroughSegment = swept === 0 ? undefined : swept - 1;
  const logs = { frontierBlock, auditBlock };
  return { pages, rows, ...logs, parsedIds, due, dueTaken, counters, sweptThroughSegment };
}

function readMany<One>(reader: ByteReader, one: (reader: ByteReader) => One): One[] {
  const count = reader.varint();
  const many: One[] = [];
  for (let index = 0; index < count; index++) many.push(one(reader));
  return many;
}

function readPage(reader: ByteReader): PackedPage {
  const flags = reader.u8();
  const key = reader.block();
  const row = reader.block();
  const url = reader.text();
  const fetchedAt = reader.f64();
  const depth = reader.varint();
  const hops = reader.varint();
  const change = CHANGE_KINDS[reader.u8() - 1];
  const members = readMany(reader, (from) => from.block());
  return {
    key: (flags & HAS_ROW) === 0 ? undefined : key,
    row,
    url,
    fetchedAt,
    depth,
    hops,
    change,
    parse: (flags & PARSE) !== 0,
    sitemap: (flags & SITEMAP) !== 0,
    rendered: (flags & RENDERED) !== 0,
    parseCopy: (flags & PARSE_COPY) !== 0,
    keepsPointer: (flags & KEEPS_POINTER) !== 0,
    members,
    dedupe: (flags & DEDUPE) === 0 ? undefined : readDedupe(reader),
  };
}

function readDedupe(reader: ByteReader): DedupeFacts {
  const contentDigest = reader.raw(20);
  const payloadDigest = reader.text();
  const responseId = reader.text();
  const status = reader.varint();
  const reason = reader.text();
  const address = reader.text();
  const headers = readMany(reader, (from) => from.text());
  return { contentDigest, payloadDigest, responseId, head: { status, reason, headers, address } };
}

function readRow(reader: ByteReader): PackedRow {
  const byte = reader.u8();
  const key = reader.block();
  return { table: byte >> 1, key, value: (byte & 1) === 0 ? undefined : reader.block() };
}

/** What a placed page became; its row, its receipt and its event follow from it. */
export interface PlacedPage {
  readonly page: PackedPage;
  readonly pointer: BodyPointer | undefined;
  readonly duplicateOf: string | undefined;
  readonly unparsedId: number;
}
