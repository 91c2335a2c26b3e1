// What the last durable commit says about the files beside LMDB: how long each is, which log segments live, the next id of the unparsed
// log (I8, I12). Written in the same transaction as the rows, so rows and files can never disagree; recovery cuts the files to it.

import { ByteDamage, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { damaged } from './disk-error.ts';
import type { LogSegment } from './segment-log.ts';
import type { Tables } from './tables.ts';
import { nameKey } from './tables.ts';
import type { WarcEnd } from './warc-writer.ts';

/** The committed ends of all files. Lengths in bytes. */
export interface CommittedState {
  readonly warc: readonly WarcEnd[];
  readonly frontier: readonly LogSegment[];
  readonly audit: readonly LogSegment[];
  /** Ids below are used up; ids begin at 1. */
  readonly nextUnparsedId: number;
  /** Length of LMDB's file when this was written; it never shrinks. */
  readonly tableBytes: number;
  /** The change feed; empty as well for a crawl from before there was one. */
  readonly feed: readonly LogSegment[];
}

/** The state of a new crawl. */
export const EMPTY_STATE: CommittedState = {
  warc: [],
  frontier: [],
  audit: [],
  nextUnparsedId: 1,
  tableBytes: 0,
  feed: [],
};

const COMMITTED = nameKey('committed');
const LIST_MAX = 1_000_000;

/** @throws CrawlError data-damaged */
export function readCommitted(tables: Tables): CommittedState {
  const value = tables.meta.get(COMMITTED);
  if (value === undefined) return EMPTY_STATE;
  try {
    const reader = new ByteReader(value);
    const state = {
      warc: readList(reader, () => ({
        file: reader.varint(),
        bytes: reader.varint(),
        records: reader.varint(),
      })),
      frontier: readSegments(reader),
      audit: readSegments(reader),
      nextUnparsedId: reader.varint(),
      tableBytes: reader.varint(),
      feed: reader.left === 0 ? [] : readSegments(reader),
    };
    reader.end();
    return state;
  } catch (error) {
    if (error instanceof ByteDamage) throw damaged('committed state in table meta', error);
    throw error;
  }
}

/** Puts the state; to be called inside the commit's transaction. */
export function putCommitted(tables: Tables, state: CommittedState): void {
  const writer = new ByteWriter(256);
  writer.varint(state.warc.length);
  for (const end of state.warc) {
    writer.varint(end.file);
    writer.varint(end.bytes);
    writer.varint(end.records);
  }
  writeSegments(writer, state.frontier);
  writeSegments(writer, state.audit);
  writer.varint(state.nextUnparsedId);
  writer.varint(state.tableBytes);
  writeSegments(writer, state.feed);
  tables.meta.putSync(COMMITTED, writer.view());
}

function writeSegments(writer: ByteWriter, segments: readonly LogSegment[]): void {
  writer.varint(segments.length);
  for (const segment of segments) {
    writer.varint(segment.number);
    writer.varint(segment.bytes);
  }
}

function readSegments(reader: ByteReader): LogSegment[] {
  return readList(reader, () => ({ number: reader.varint(), bytes: reader.varint() }));
}

function readList<One>(reader: ByteReader, one: () => One): One[] {
  const count = reader.varint();
  if (count > LIST_MAX) throw new ByteDamage(`list of ${count}`);
  return Array.from({ length: count }, one);
}
