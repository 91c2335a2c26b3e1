// The audit log: every request the crawl made, with the gap in force and the robots rules it rests on, so that `audit` can prove from the
// crawl's own records that it was polite (DESIGN.md §9). Same files as the frontier log, `audit/audit-<number>.log`, never deleted; about 100
// bytes a request. Written in the same commit as the pages it speaks of.

import type { AuditEntry, FetchPurpose } from '../actors/ports.ts';
import { wallMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import { FAILURE_TABLE } from '../domain/failure.ts';
import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { folderOf } from './directory.ts';
import { damaged } from './disk-error.ts';
import type { LogSegment } from './segment-log.ts';
import { BLOCK_HEAD_BYTES, readBlocks, SegmentLog, sealBlock, segmentPath } from './segment-log.ts';

const PREFIX = 'audit-';
const PURPOSES: readonly FetchPurpose[] = ['page', 'robots', 'sitemap', 'resource'];
const ENTRY_BYTES_ESTIMATE = 160;

/** Opens the log for its one writer; see `SegmentLog`. */
export function openAuditLog(
  dir: string,
  rollBytes: number,
  committed: readonly LogSegment[],
): SegmentLog {
  const folder = folderOf(dir, 'audit');
  return new SegmentLog({ folder, prefix: PREFIX, rollBytes }, committed);
}

/** Packs a batch's requests into one sealed block, on the shard thread. */
export function packAudit(entries: readonly AuditEntry[]): Buffer {
  const writer = new ByteWriter(BLOCK_HEAD_BYTES + entries.length * ENTRY_BYTES_ESTIMATE);
  writer.u32(0);
  writer.u32(0);
  for (const entry of entries) writeAuditEntry(writer, entry);
  return sealBlock(writer.view());
}

/**
 * All committed requests, oldest segment first.
 * @param segments from `CommittedState.audit`
 * @param near only blocks that hold this text somewhere are decoded: a search for one host reads a hundred times as fast
 * @throws CrawlError data-damaged naming the file
 */
export function* readAuditLog(
  dir: string,
  segments: readonly LogSegment[],
  near = '',
): Generator<AuditEntry> {
  const sought = Buffer.from(near, 'utf8');
  for (const segment of segments) {
    const path = segmentPath(folderOf(dir, 'audit'), PREFIX, segment.number);
    for (const payload of readBlocks(path, segment.bytes)) {
      if (sought.length > 0 && !payload.includes(sought)) continue;
      const reader = new ByteReader(payload);
      try {
        while (reader.left > 0) yield readAuditEntry(reader);
      } catch (error) {
        if (error instanceof ByteDamage) throw damaged(path, error);
        throw error;
      }
    }
  }
}

function writeAuditEntry(writer: ByteWriter, entry: AuditEntry): void {
  writer.u8(PURPOSES.indexOf(entry.purpose));
  writer.text(entry.host);
  writer.text(entry.address);
  writer.text(entry.url);
  writer.f64(entry.startedAt);
  writer.f64(entry.endedAt);
  writer.f64(entry.gapMs);
  writer.f64(entry.robotsAt);
  writer.varint(entry.status);
  writer.optionalText(entry.failure);
  writer.f64(entry.retryAfterMs);
  writer.f64(entry.runStartedAt);
}

function readAuditEntry(reader: ByteReader): AuditEntry {
  const purpose = PURPOSES[reader.u8()];
  if (purpose === undefined) throw new ByteDamage('unknown purpose');
  const host = reader.text();
  const address = reader.text();
  const url = reader.text();
  const startedAt = wallMs(reader.f64());
  const endedAt = wallMs(reader.f64());
  const gapMs = reader.f64();
  const robotsAt = wallMs(reader.f64());
  const status = reader.varint();
  const failure = reader.optionalText();
  if (failure !== undefined && !Object.hasOwn(FAILURE_TABLE, failure)) {
    throw new ByteDamage(`unknown failure ${failure}`);
  }
  const retryAfterMs = reader.f64();
  const runStartedAt = wallMs(reader.f64());
  return {
    host,
    address,
    url,
    purpose,
    startedAt,
    endedAt,
    gapMs,
    robotsAt,
    status,
    failure: failure as FailureKind | undefined,
    retryAfterMs,
    runStartedAt,
  };
}
