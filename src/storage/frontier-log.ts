// The frontier log: newly accepted URLs in the order they were committed, `frontier/urls-<number>.log` (steps 6 and 7 of a URL's life). It
// is where a URL becomes durable, at a tenth of a microsecond instead of 12 … 40 for a row of its own (PERFORMANCE.md). Owners sweep entries
// into chunk rows later; recovery replays what they had not swept; the seen set is rebuilt from it.

import type { DiscoveredCheckpoint } from '../actors/ports.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { folderOf } from './directory.ts';
import { damaged } from './disk-error.ts';
import { readDiscovered, writeDiscovered } from './entry-codec.ts';
import type { LogSegment } from './segment-log.ts';
import { BLOCK_HEAD_BYTES, readBlocks, SegmentLog, sealBlock, segmentPath } from './segment-log.ts';

const PREFIX = 'urls-';
const ENTRY_BYTES_ESTIMATE = 128;

/** Opens the log for its one writer; see `SegmentLog`. */
export function openFrontierLog(
  dir: string,
  rollBytes: number,
  committed: readonly LogSegment[],
): SegmentLog {
  const folder = folderOf(dir, 'frontier');
  return new SegmentLog({ folder, prefix: PREFIX, rollBytes }, committed);
}

/** Packs a batch's discovered URLs into one sealed block, on the shard thread. */
export function packDiscovered(discovered: readonly DiscoveredCheckpoint[]): Buffer {
  const writer = new ByteWriter(BLOCK_HEAD_BYTES + discovered.length * ENTRY_BYTES_ESTIMATE);
  writer.u32(0);
  writer.u32(0);
  for (const one of discovered) writeDiscovered(writer, one);
  return sealBlock(writer.view());
}

/**
 * All committed entries of one segment in order.
 * @throws CrawlError data-damaged naming the file
 */
export function* readFrontierSegment(
  dir: string,
  segment: LogSegment,
): Generator<DiscoveredCheckpoint> {
  const path = segmentPath(folderOf(dir, 'frontier'), PREFIX, segment.number);
  let blocks = 0;
  for (const payload of readBlocks(path, segment.bytes)) {
    const reader = new ByteReader(payload);
    while (reader.left > 0) yield readOrFail(reader, path, blocks);
    blocks++;
  }
}

function readOrFail(reader: ByteReader, path: string, block: number): DiscoveredCheckpoint {
  const at = reader.position;
  try {
    return readDiscovered(reader);
  } catch (error) {
    throw damaged(`${path}, block ${block}, byte ${at}`, error);
  }
}
