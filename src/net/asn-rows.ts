// Reads tables of autonomous systems in text form (DESIGN.md §4): rows `start,end,number,…`, separated by commas or tabs, as ip-location-db
// and iptoasn publish them. Addresses are textual, or decimal numbers. Files of 20 MB are streamed in pieces, so that the thread that reads
// one goes on answering. Lines that are no such rows (headings, comments) are passed over; a file without any row is none.

import { createReadStream } from 'node:fs';
import { CrawlError } from '../base/errors.ts';
import { parseAddress } from './address-block.ts';
import { type AsnRange, type AsnRangeList, upperHalf } from './asn-ranges.ts';

/** Longer lines are no rows of such a table. */
const LINE_CHARS_MAX = 4_096;
/** The Internet has some 600,000; more would be another kind of file. */
const ROWS_MAX = 8_000_000;

const ROW =
  /^"?([0-9a-f:.]{1,45})"?[,\t]"?([0-9a-f:.]{1,45})"?[,\t]"?(?:AS)?(\d{1,10})"?(?:[,\t]|$)/i;
const DECIMAL = /^\d+$/;
const ASN_MAX = 4_294_967_295;
const IPV4_MAX = 4_294_967_295n;

/**
 * Adds the rows of a table to a list.
 * @throws CrawlError config when the file cannot be read or holds no rows
 */
export async function readAsnRows(path: string, ranges: AsnRangeList): Promise<void> {
  const before = ranges.size;
  let rest = '';
  try {
    for await (const piece of createReadStream(path, { encoding: 'latin1' })) {
      const lines = (rest + (piece as string)).split('\n');
      rest = (lines.pop() ?? '').slice(0, LINE_CHARS_MAX);
      for (const line of lines) addRow(line, ranges);
      if (ranges.size > ROWS_MAX) break;
    }
  } catch (cause) {
    throw tableError(path, `cannot be read: ${String(cause)}`, cause);
  }
  addRow(rest, ranges);
  if (ranges.size === before) throw tableError(path, 'holds no rows start,end,number');
  if (ranges.size > ROWS_MAX) throw tableError(path, `holds more than ${ROWS_MAX} rows`);
}

/** The error of a table that cannot be used. */
export function tableError(path: string, what: string, cause?: unknown): CrawlError {
  return new CrawlError('config', `asnTable: ${path} ${what}`, {
    remedy: 'Name a table of ip-location-db (CSV) or an .mmdb file, or leave asnTable out.',
    cause,
  });
}

/** The range of a row; undefined for other lines, for unrouted ranges (number 0) and for nonsense. */
export function asnRangeOf(line: string): AsnRange | undefined {
  const match = ROW.exec(line);
  if (match === null) return undefined;
  const [, first = '', last = '', number = ''] = match;
  const asn = Number(number);
  const start = addressOf(first);
  const end = addressOf(last);
  if (asn === 0 || asn > ASN_MAX || start === undefined || end === undefined) return undefined;
  if (typeof start === 'number') {
    return typeof end === 'number' && end >= start ? { family: 4, start, end, asn } : undefined;
  }
  return typeof end === 'bigint' && end >= start ? { family: 6, start, end, asn } : undefined;
}

function addRow(line: string, ranges: AsnRangeList): void {
  const range = asnRangeOf(line);
  if (range !== undefined) ranges.add(range);
}

/** An IPv4 address as a number, the upper half of an IPv6 address as a bigint. */
function addressOf(text: string): number | bigint | undefined {
  if (!DECIMAL.test(text)) {
    const parsed = parseAddress(text);
    if (parsed === undefined) return undefined;
    return parsed.family === 4 ? parsed.value : upperHalf(parsed.groups);
  }
  if (text.length <= 10) {
    const value = Number(text);
    return value <= Number(IPV4_MAX) ? value : undefined;
  }
  const value = BigInt(text);
  return value >> 128n === 0n ? value >> 64n : undefined;
}
