// CDXJ indexes: for each closed WARC file one sorted text file `<name>.cdxj`, one line a capture: `<SURT> <timestamp> <JSON>`, as replay tools
// (pywb, replayweb.page) read them. After step 10, on a pool thread; look-ups merge the files by binary search on the lines.
// The index is derived: it can be made again from the archive at any time, and must be after a compression moved the offsets.

import { basename } from 'node:path';
import { onDisk, replaceDurably } from './files.ts';
import { fieldValue } from './header-lines.ts';
import { LineFile } from './line-file.ts';
import { surtKey } from './surt.ts';
import { iterateRecords, type PlacedRecord } from './warc-reader.ts';

/** One capture of a URL. */
export interface CdxjEntry {
  readonly surt: string;
  /** UTC, `YYYYMMDDhhmmss`. */
  readonly timestamp: string;
  readonly url: string;
  /** Media type without parameters; `warc/revisit` for a revisit. */
  readonly mime: string;
  readonly status: number;
  /** WARC-Payload-Digest, `''` when there is none. */
  readonly digest: string;
  readonly length: number;
  readonly offset: number;
  readonly filename: string;
}

/**
 * Indexes one closed `.warc.gz` into a `.cdxj`, which appears whole or not at all.
 * @returns number of lines
 * @throws CrawlError `disk` or `disk-full`
 */
export function indexWarc(warcPath: string, cdxjPath: string): number {
  return onDisk(cdxjPath, () => {
    const lines: string[] = [];
    for (const record of iterateRecords(warcPath)) {
      const entry = cdxjEntry(record, basename(warcPath));
      if (entry !== undefined) lines.push(encodeLine(entry));
    }
    replaceDurably(cdxjPath, Buffer.from(lines.sort().join(''), 'latin1'));
    return lines.length;
  });
}

/** The capture a record stands for; undefined for records that are no capture (warcinfo, request, metadata). */
export function cdxjEntry(record: PlacedRecord, filename: string): CdxjEntry | undefined {
  const { type, warcHeaders } = record;
  if (type !== 'response' && type !== 'revisit' && type !== 'resource') return undefined;
  const url = fieldValue(warcHeaders, 'warc-target-uri') ?? '';
  const date = fieldValue(warcHeaders, 'warc-date') ?? '';
  return {
    surt: surtKey(url),
    timestamp: date.replace(/\D/g, '').slice(0, 14).padEnd(14, '0'),
    url,
    mime: type === 'revisit' ? 'warc/revisit' : mediaType(record),
    status: record.httpStatus,
    digest: fieldValue(warcHeaders, 'warc-payload-digest') ?? '',
    length: record.length,
    offset: record.offset,
    filename,
  };
}

function mediaType(record: PlacedRecord): string {
  const fields = record.type === 'resource' ? record.warcHeaders : record.httpHeaders;
  const value = fieldValue(fields, 'content-type') ?? '';
  const type = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}/.exec(value.trim());
  return type === null ? 'application/octet-stream' : type[0].toLowerCase();
}

/** One line with its line feed, as a string of bytes, so that sorting strings sorts bytes. Numbers are strings, as pywb writes them. */
export function encodeLine(entry: CdxjEntry): string {
  const { surt, timestamp, ...rest } = entry;
  const fields = {
    ...rest,
    status: String(entry.status),
    length: String(entry.length),
    offset: String(entry.offset),
  };
  return Buffer.from(`${surt} ${timestamp} ${JSON.stringify(fields)}\n`, 'utf8').toString('latin1');
}

/** The JSON part of a line, from any tool. */
type LineFields = Partial<Record<Exclude<keyof CdxjEntry, 'surt' | 'timestamp'>, string>>;

/**
 * Reads one line (without line feed, as a string of bytes).
 * @returns undefined when it is not a CDXJ line
 */
export function decodeLine(line: string): CdxjEntry | undefined {
  const match = /^(\S+) (\d{14}) (\{.*\})$/.exec(Buffer.from(line, 'latin1').toString('utf8'));
  if (match === null) return undefined;
  try {
    const fields = JSON.parse(match[3]!) as LineFields;
    return {
      surt: match[1]!,
      timestamp: match[2]!,
      url: fields.url ?? '',
      mime: fields.mime ?? '',
      status: Number(fields.status),
      digest: fields.digest ?? '',
      length: Number(fields.length),
      offset: Number(fields.offset),
      filename: fields.filename ?? '',
    };
  } catch {
    return undefined;
  }
}

/**
 * All captures of a URL in several index files, the oldest first.
 * @param limit most captures read from each file, default 10,000
 * @throws CrawlError `disk` when a file cannot be read
 */
export function lookUpCdxj(paths: readonly string[], url: string, limit = 10_000): CdxjEntry[] {
  const start = Buffer.from(`${surtKey(url)} `, 'utf8').toString('latin1');
  const found: CdxjEntry[] = [];
  for (const path of paths) {
    onDisk(path, () => {
      let count = 0;
      for (const line of LineFile.linesFrom(path, start)) {
        if (!line.startsWith(start) || count >= limit) break;
        count += 1;
        const entry = decodeLine(line);
        if (entry !== undefined) found.push(entry);
      }
    });
  }
  return found.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}

/** All lines of several index files in one order, without line feeds, as strings of bytes: one index out of many. */
export function* mergeCdxj(paths: readonly string[]): Generator<string, void, undefined> {
  const heads: { line: string; rest: Iterator<string> }[] = [];
  const insert = (rest: Iterator<string>): void => {
    const next = rest.next();
    if (next.done === true) return;
    let low = 0;
    let high = heads.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (heads[middle]!.line > next.value) low = middle + 1;
      else high = middle;
    }
    heads.splice(low, 0, { line: next.value, rest });
  };
  for (const path of paths) insert(LineFile.linesFrom(path, ''));
  for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
    yield head.line;
    insert(head.rest);
  }
}
