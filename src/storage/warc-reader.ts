// Reads records back from WARC files (steps 10 and 11: recovery, parsing from stored bytes, replay, indexing). Bounded, and never throws for
// what a file holds: a record that is cut, damaged or too large is undefined, and the caller decides what that means.

import { closeSync, fstatSync, openSync } from 'node:fs';
import { decodeContent } from './content-decode.ts';
import { fieldValue, fieldValues, parseHeaderLines } from './header-lines.ts';
import { readMemberAt } from './member-source.ts';

/** One record, taken apart. */
export interface StoredRecord {
  /** WARC-Type in lower case. */
  readonly type: string;
  /** Flat list name, value …, as written. */
  readonly warcHeaders: readonly string[];
  /** HTTP status of a response or revisit; 0 for other records and for a block without HTTP head. */
  readonly httpStatus: number;
  /** Flat list, Latin-1 strings; empty when the block holds no HTTP message. */
  readonly httpHeaders: readonly string[];
  /** What follows the HTTP head, or the whole block when there is none. */
  readonly payload: Buffer;
  /** The payload without content codings, cut at the bound. */
  readonly body: Uint8Array;
}

/** A record with its place in the file, its body not decoded. */
export interface PlacedRecord extends Omit<StoredRecord, 'body'> {
  readonly record: number;
  readonly offset: number;
  /** Bytes of its gzip member. */
  readonly length: number;
}

/** Room for the heads of a record on top of its body's bound: 1 MiB. */
const HEADS_BYTES_MAX = 1024 * 1024;
/** Default bound of a body: 64 MiB. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Reads the record whose gzip member begins at a byte offset.
 * @param bytesMax bound of payload and body
 * @returns undefined when there is no whole record there or it exceeds the bound
 * @throws CrawlError never; an unreadable file is undefined as well
 */
export function readRecordAt(
  path: string,
  offset: number,
  bytesMax: number = BODY_BYTES_MAX,
): StoredRecord | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return readRecordFrom(fd, offset, { bytesMax });
  } finally {
    closeSync(fd);
  }
}

/**
 * Like `readRecordAt`, from an open file.
 * @param limits `expectedBytes` the member's size when known, which saves a second read
 */
export function readRecordFrom(
  fd: number,
  offset: number,
  limits: { readonly bytesMax: number; readonly expectedBytes?: number },
): StoredRecord | undefined {
  const { bytesMax, expectedBytes } = limits;
  const member = readMemberAt(fd, offset, {
    recordBytesMax: bytesMax + HEADS_BYTES_MAX,
    ...(expectedBytes === undefined ? {} : { expectedBytes }),
  });
  return typeof member === 'string' ? undefined : parseRecord(member.record, bytesMax);
}

/**
 * All records of a `.warc.gz` in order, bodies not decoded (`recordBody` does that). Ends early at a record that is not whole; use
 * warc-check.ts to be told why.
 * @param bytesMax bound of each payload
 */
export function* iterateRecords(
  path: string,
  bytesMax: number = BODY_BYTES_MAX,
): Generator<PlacedRecord, void, undefined> {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    let offset = 0;
    for (let record = 0; offset < size; record += 1) {
      const member = readMemberAt(fd, offset, { recordBytesMax: bytesMax + HEADS_BYTES_MAX });
      if (typeof member === 'string') return;
      const split = splitRecord(member.record);
      if (split === undefined) return;
      yield { ...split, record, offset, length: member.end - offset };
      offset = member.end;
    }
  } finally {
    closeSync(fd);
  }
}

/** The payload of a record without its content codings, cut at `bodyBytesMax`. */
export function recordBody(
  record: Omit<StoredRecord, 'body'>,
  bodyBytesMax: number = BODY_BYTES_MAX,
): Uint8Array {
  const coding = fieldValues(record.httpHeaders, 'content-encoding');
  return decodeContent(record.payload, coding, bodyBytesMax);
}

/**
 * Takes one unpacked record apart and decodes its body.
 * @returns undefined when it is not a WARC record, or shorter than its Content-Length
 */
export function parseRecord(bytes: Buffer, bodyBytesMax: number): StoredRecord | undefined {
  const split = splitRecord(bytes);
  if (split === undefined) return undefined;
  return { ...split, body: recordBody(split, bodyBytesMax) };
}

/** Like `parseRecord`, without decoding the body. */
export function splitRecord(bytes: Buffer): Omit<StoredRecord, 'body'> | undefined {
  const head = parseHeaderLines(bytes, 0, 'utf8');
  if (head === undefined || !/^WARC\/1\.\d$/.test(head.firstLine)) return undefined;
  const lengthText = fieldValue(head.fields, 'content-length') ?? '';
  if (!/^\d{1,15}$/.test(lengthText)) return undefined;
  const blockEnd = head.end + Number(lengthText);
  if (blockEnd > bytes.length) return undefined;
  const block = bytes.subarray(head.end, blockEnd);
  const type = (fieldValue(head.fields, 'warc-type') ?? '').toLowerCase();
  const isHttp = /^application\/http\b/i.test(fieldValue(head.fields, 'content-type') ?? '');
  const http = isHttp ? parseHeaderLines(block, 0, 'latin1') : undefined;
  if (http === undefined) {
    return { type, warcHeaders: head.fields, httpStatus: 0, httpHeaders: [], payload: block };
  }
  const status = /^HTTP\/\d(?:\.\d)? +(\d{3})(?: |$)/i.exec(http.firstLine);
  return {
    type,
    warcHeaders: head.fields,
    httpStatus: status === null ? 0 : Number(status[1]),
    httpHeaders: http.fields,
    payload: block.subarray(http.end),
  };
}
