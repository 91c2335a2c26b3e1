// Reads single gzip members out of a file by positional reads, with a window that grows only as far as a member needs. Steps 10 and 11:
// recovery, body reads, indexing and checking all stand on this. Bounded by the caller, never throws for what the file holds.

import { fstatSync } from 'node:fs';
import { readFully } from './files.ts';
import { readMember } from './warc-gzip.ts';

/** Most bytes of one unpacked record that is read unless the caller says otherwise: 256 MiB, far above any body bound. */
export const RECORD_BYTES_MAX = 256 * 1024 * 1024;

const WINDOW_BYTES = 64 * 1024;
const WINDOW_GROWTH = 4;

/** One member: the unpacked record and where the next member begins. */
export interface Member {
  readonly record: Buffer;
  readonly end: number;
}

/** Why no member could be read at an offset. */
export type MemberFault = 'short' | 'damaged' | 'too-large';

/**
 * Reads the member at `offset`.
 * @param fd an open file
 * @param limits `end` where the member must end at the latest (default the file's end), `recordBytesMax` bound of the unpacked record,
 *   `expectedBytes` the packed size when known, to read it with one call
 * @returns the member, or the fault: `short` when the file ends inside it
 */
export function readMemberAt(
  fd: number,
  offset: number,
  limits: {
    readonly end?: number;
    readonly recordBytesMax?: number;
    readonly expectedBytes?: number;
  } = {},
): Member | MemberFault {
  const recordBytesMax = limits.recordBytesMax ?? RECORD_BYTES_MAX;
  const available = (limits.end ?? fstatSync(fd).size) - offset;
  if (available <= 0) return 'short';
  let window = Math.min(available, limits.expectedBytes ?? WINDOW_BYTES);
  for (;;) {
    const bytes = Buffer.allocUnsafeSlow(window);
    const read = readFully(fd, bytes, offset);
    const result = readMember(bytes.subarray(0, read), 0, recordBytesMax);
    if (result.kind === 'member') return { record: result.record, end: offset + result.end };
    if (result.kind !== 'short' || read < window || window === available) return result.kind;
    window = Math.min(available, window * WINDOW_GROWTH);
  }
}

/**
 * Offsets of the members from the file's start on.
 * @param end where to stop; a member that crosses it is not counted
 * @returns offsets, and where the last whole member ends
 */
export function scanMembers(fd: number, end: number): { offsets: number[]; end: number } {
  const offsets: number[] = [];
  let at = 0;
  while (at < end) {
    const member = readMemberAt(fd, at, { end });
    if (typeof member === 'string') break;
    offsets.push(at);
    at = member.end;
  }
  return { offsets, end: at };
}
