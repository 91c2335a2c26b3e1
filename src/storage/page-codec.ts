// Page rows as bytes (step 10 of a URL's life). The shard thread packs everything it knows; only where the body came to lie and whether
// the page is a duplicate are known to the storage thread, so the pointer sits at a fixed place and the duplicate's URL at the very end,
// and `placePage` fills them in without decoding the rest.

import type { BodyPointer, PageRow } from '../actors/rows.ts';
import { wallMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import { FAILURE_TABLE } from '../domain/failure.ts';
import type { VisitState } from '../domain/recrawl.ts';
import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { readRenderFacts, writeRenderFacts } from './render-codec.ts';

const POINTER_BIT = 1;
const DUPLICATE_BIT = 2;
const VISIT_BIT = 4;
const SIMHASH_BIT = 8;
const NEAR_BIT = 16;
const RENDER_BIT = 32;
const SIMHASH_BYTES = 8;
const FLAGS_AT = 0;
const FILE_AT = 1;
const RECORD_AT = 5;
const DIGEST_BYTES = 20;

/** Packs a row as the shard knows it: `row.duplicateOf` is left to `placePage`, a pointer may be given already. */
export function writePageRow(writer: ByteWriter, row: PageRow): void {
  writer.u8(
    (row.pointer === undefined ? 0 : POINTER_BIT) |
      (row.visit === undefined ? 0 : VISIT_BIT) |
      (row.simhash === undefined ? 0 : SIMHASH_BIT) |
      (row.nearDuplicateOf === undefined ? 0 : NEAR_BIT) |
      (row.render === undefined ? 0 : RENDER_BIT),
  );
  writer.u32(row.pointer?.file ?? 0);
  writer.u32(row.pointer?.record ?? 0);
  writer.f64(row.fetchedAt);
  writer.varint(row.status);
  writer.varint(row.depth);
  writer.varint(row.bodyBytes);
  writer.block(Buffer.from(row.contentDigest, 'hex'));
  writer.text(row.url);
  writer.text(row.contentType);
  writer.optionalText(row.failure);
  writer.optionalText(row.truncated);
  writer.optionalText(row.redirectTo);
  writer.optionalText(row.etag);
  writer.optionalText(row.lastModified);
  if (row.visit !== undefined) writeVisit(writer, row.visit);
  if (row.simhash !== undefined) writer.raw(Buffer.from(row.simhash, 'hex'));
  if (row.nearDuplicateOf !== undefined) writer.text(row.nearDuplicateOf);
  if (row.render !== undefined) writeRenderFacts(writer, row.render);
}

function writeVisit(writer: ByteWriter, visit: VisitState): void {
  writer.f64(visit.dueAt);
  writer.f64(visit.intervalMs);
  writer.f64(visit.changedAt);
  writer.varint(visit.changed);
  writer.varint(visit.unchanged);
  writer.varint(visit.missed);
  writer.u8(visit.sitemap ? 1 : 0);
}

function readVisit(reader: ByteReader): VisitState {
  return {
    dueAt: wallMs(reader.f64()),
    intervalMs: reader.f64(),
    changedAt: wallMs(reader.f64()),
    changed: reader.varint(),
    unchanged: reader.varint(),
    missed: reader.varint(),
    sitemap: reader.u8() === 1,
  };
}

/**
 * Completes a packed row in place; a duplicate's row is a new, longer buffer.
 * @param packed what `writePageRow` wrote
 * @returns the value of the page row
 */
export function placePage(
  packed: Buffer,
  pointer: BodyPointer | undefined,
  duplicateOf: string | undefined,
): Buffer {
  if (pointer !== undefined) {
    packed[FLAGS_AT] = (packed[FLAGS_AT] as number) | POINTER_BIT;
    packed.writeUInt32LE(pointer.file, FILE_AT);
    packed.writeUInt32LE(pointer.record, RECORD_AT);
  }
  if (duplicateOf === undefined) return packed;
  packed[FLAGS_AT] = (packed[FLAGS_AT] as number) | DUPLICATE_BIT;
  const writer = new ByteWriter(packed.length + duplicateOf.length * 3 + 8);
  writer.raw(packed);
  writer.text(duplicateOf);
  return writer.view();
}

/** @throws ByteDamage when the bytes are not a page row */
export function decodePageRow(value: Uint8Array): PageRow {
  const reader = new ByteReader(value);
  const flags = reader.u8();
  const file = reader.u32();
  const record = reader.u32();
  const fetchedAt = wallMs(reader.f64());
  const status = reader.varint();
  const depth = reader.varint();
  const bodyBytes = reader.varint();
  const digest = reader.block();
  if (digest.length !== 0 && digest.length !== DIGEST_BYTES) {
    throw new ByteDamage(`digest of ${digest.length} bytes`);
  }
  const url = reader.text();
  const contentType = reader.text();
  const failure = failureOf(reader.optionalText());
  const truncated = reader.optionalText();
  const redirectTo = reader.optionalText();
  const etag = reader.optionalText();
  const lastModified = reader.optionalText();
  const visit = (flags & VISIT_BIT) === 0 ? undefined : readVisit(reader);
  const simhash =
    (flags & SIMHASH_BIT) === 0 ? undefined : reader.raw(SIMHASH_BYTES).toString('hex');
  const nearDuplicateOf = (flags & NEAR_BIT) === 0 ? undefined : reader.text();
  const render = (flags & RENDER_BIT) === 0 ? undefined : readRenderFacts(reader);
  const duplicateOf = (flags & DUPLICATE_BIT) === 0 ? undefined : reader.text();
  reader.end();
  return {
    url,
    fetchedAt,
    status,
    failure,
    depth,
    contentDigest: digest.toString('hex'),
    contentType,
    bodyBytes,
    pointer: (flags & POINTER_BIT) === 0 ? undefined : { file, record },
    duplicateOf,
    truncated,
    redirectTo,
    etag,
    lastModified,
    visit,
    simhash,
    nearDuplicateOf,
    render,
  };
}

function failureOf(text: string | undefined): FailureKind | undefined {
  if (text === undefined) return undefined;
  if (!Object.hasOwn(FAILURE_TABLE, text)) throw new ByteDamage(`unknown failure ${text}`);
  return text as FailureKind;
}
