// The change feed on disk: one log for a crawl, `feed/feed-<number>.log`, a block for each group commit, events in the order in which their
// pages were committed (step 10). It is synced with the other logs and its length is part of the same transaction as the rows, so that it
// tells of every page that is stored and of none that is not. Old segments go when the log outgrows what is to be kept.

import type { ChangeEvent, ChangeKind, FeedPlace } from '../actors/change-event.ts';
import { CHANGE_KINDS } from '../actors/change-event.ts';
import { CrawlError } from '../base/errors.ts';
import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { folderOf } from './directory.ts';
import { damaged } from './disk-error.ts';
import { decodePageRow } from './page-codec.ts';
import type { LogSegment } from './segment-log.ts';
import { BLOCK_HEAD_BYTES, readBlocks, SegmentLog, sealBlock, segmentPath } from './segment-log.ts';

const PREFIX = 'feed-';
const EVENT_BYTES_ESTIMATE = 320;
/** Segments that what is kept is made of, so that it goes in small portions. */
const SEGMENTS_KEPT = 8;
const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/** Opens the log for its one writer; see `SegmentLog`. @param keptBytes of events, at least, before the oldest go */
export function openFeedLog(
  dir: string,
  keptBytes: number,
  committed: readonly LogSegment[],
): SegmentLog {
  const rollBytes = Math.min(Math.ceil(keptBytes / SEGMENTS_KEPT), SEGMENT_BYTES_MAX);
  return new SegmentLog({ folder: folderOf(dir, 'feed'), prefix: PREFIX, rollBytes }, committed);
}

/** One event before it is written: its kind and the page row's final bytes. */
export interface PackedEvent {
  readonly kind: ChangeKind;
  readonly row: Uint8Array;
}

/** One block; empty when there are no events. */
export function packEvents(events: readonly PackedEvent[]): Buffer | undefined {
  if (events.length === 0) return undefined;
  const writer = new ByteWriter(BLOCK_HEAD_BYTES + events.length * EVENT_BYTES_ESTIMATE);
  writer.u32(0);
  writer.u32(0);
  for (const { kind, row } of events) {
    writer.u8(CHANGE_KINDS.indexOf(kind) + 1);
    writer.block(row);
  }
  return sealBlock(writer.view());
}

/** The last segment that may go so that at least `keptBytes` of events stay; 0 when none may. */
export function forgettable(segments: readonly LogSegment[], keptBytes: number): number {
  let bytes = 0;
  for (let at = segments.length - 1; at >= 0; at--) {
    const segment = segments[at] as LogSegment;
    if (bytes >= keptBytes) return segment.number;
    bytes += segment.bytes;
  }
  return 0;
}

/** An event and the place after it, from which a consumer goes on that has dealt with it. */
export interface PlacedEvent {
  readonly event: ChangeEvent;
  readonly next: FeedPlace;
}

/**
 * All committed events from a place on.
 * @param segments from `CommittedState.feed`
 * @throws CrawlError usage when events after `from` were removed already, or it is no place of this feed; data-damaged
 */
export function* readFeed(
  dir: string,
  segments: readonly LogSegment[],
  from: FeedPlace,
): Generator<PlacedEvent> {
  const oldest = segments[0]?.number ?? 0;
  if (from.segment !== 0 && from.segment < oldest) {
    throw new CrawlError('usage', `the feed no longer holds events after ${from.segment}`, {
      remedy: 'Begin with --from start, or keep more of the feed (feedKeptBytes).',
    });
  }
  const known = segments.find(({ number }) => number === from.segment)?.bytes ?? -1;
  if (from.segment !== 0 && known < from.offset) {
    throw new CrawlError('usage', `the feed has no place ${from.segment}-${from.offset}`, {
      remedy: 'A place is good for the crawl it came from only. Begin with --from start.',
    });
  }
  for (const segment of segments) {
    if (segment.number < from.segment) continue;
    const start = segment.number === from.segment ? from : { offset: 0, index: 0 };
    yield* readSegment(dir, segment, start);
  }
}

function* readSegment(
  dir: string,
  { number, bytes }: LogSegment,
  start: { readonly offset: number; readonly index: number },
): Generator<PlacedEvent> {
  const path = segmentPath(folderOf(dir, 'feed'), PREFIX, number);
  let offset = start.offset;
  let skip = start.index;
  for (const payload of readBlocks(path, bytes, offset)) {
    const events = readEvents(payload, path);
    const end = offset + BLOCK_HEAD_BYTES + payload.length;
    for (let index = skip; index < events.length; index++) {
      const isLast = index === events.length - 1;
      const next = isLast
        ? { segment: number, offset: end, index: 0 }
        : { segment: number, offset, index: index + 1 };
      yield { event: events[index] as ChangeEvent, next };
    }
    skip = 0;
    offset = end;
  }
}

function readEvents(payload: Buffer, path: string): ChangeEvent[] {
  const reader = new ByteReader(payload);
  const events: ChangeEvent[] = [];
  try {
    while (reader.left > 0) {
      const kind = CHANGE_KINDS[reader.u8() - 1];
      const row = reader.block();
      // Kinds are only added: an event of a later version is nothing that this one could tell of.
      if (kind !== undefined) events.push({ kind, row: decodePageRow(row) });
    }
  } catch (error) {
    if (error instanceof ByteDamage) throw damaged(path, error);
    throw error;
  }
  return events;
}
