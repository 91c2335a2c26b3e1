// Checks a WARC file against ISO 28500:2017 and common practice: container, grammar, required fields, ids, dates, digests, revisits. Used by
// tests on everything the crawler wrote, and by operators on archives from anywhere. Steps 10 and 11.
// It judges; it repairs nothing and never throws for what the file holds. Each rule has a stable id, and `must` and `should` of the
// standard are both reported. The rules about one record are in warc-check-record.ts; here are the container and what spans records.

import { closeSync, fstatSync, openSync } from 'node:fs';
import { onDisk, readFully } from './files.ts';
import { fieldValue } from './header-lines.ts';
import { readMemberAt } from './member-source.ts';
import { checkRecord, type FoundRecord } from './warc-check-record.ts';

/** One broken rule. */
export interface WarcProblem {
  /** Stable id, for example `record-id` or `block-digest`. */
  readonly rule: string;
  /** Byte offset of the gzip member, or of the record in an uncompressed file. */
  readonly offset: number;
  /** Index of the record, from 0. */
  readonly record: number;
  readonly text: string;
}

export interface WarcCheck {
  readonly records: number;
  /** At most `PROBLEMS_MAX`. */
  readonly problems: readonly WarcProblem[];
}

/** A file is judged broken long before this many problems; more are not collected. */
export const PROBLEMS_MAX = 1_000;

/** Most bytes of an uncompressed file read at once: 1 GiB; what lies beyond is a problem of its own. */
const PLAIN_BYTES_MAX = 1024 * 1024 * 1024;

type Report = (rule: string, text: string) => void;

/**
 * Checks a whole file.
 * @param path `.warc.gz` (or `.warc.gz.open`) or uncompressed `.warc`
 * @param seenIds ids met in other files, to prove uniqueness across an archive; ids of this file are added
 * @throws CrawlError `disk` when the file cannot be read
 */
export function checkWarc(path: string, seenIds: Set<string> = new Set()): WarcCheck {
  return onDisk(path, () => {
    const fd = openSync(path, 'r');
    try {
      return new WarcChecker(path, fd, seenIds).run();
    } finally {
      closeSync(fd);
    }
  });
}

class WarcChecker {
  readonly #path: string;
  readonly #fd: number;
  readonly #seenIds: Set<string>;
  readonly #ids = new Set<string>();
  /** WARC-Concurrent-To targets and where they were named. */
  readonly #concurrent: { id: string; record: number; offset: number }[] = [];
  readonly #problems: WarcProblem[] = [];
  #records = 0;

  constructor(path: string, fd: number, seenIds: Set<string>) {
    this.#path = path;
    this.#fd = fd;
    this.#seenIds = seenIds;
  }

  run(): WarcCheck {
    const magic = Buffer.alloc(2);
    const compressed = readFully(this.#fd, magic, 0) === 2 && magic.equals(Buffer.from([31, 139]));
    if (compressed) this.#checkMembers();
    else this.#checkPlain();
    for (const { id, record, offset } of this.#concurrent) {
      if (this.#ids.has(id)) continue;
      this.#add(record, offset, 'concurrent-to', `no record ${id} in this file`);
    }
    return { records: this.#records, problems: this.#problems };
  }

  #add(record: number, offset: number, rule: string, text: string): void {
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push({ rule, offset, record, text });
  }

  #checkMembers(): void {
    if (!/\.warc\.gz(?:\.open)?$/.test(this.#path)) {
      this.#add(0, 0, 'gzip-suffix', 'the name of a gzipped WARC file ends in .warc.gz');
    }
    const { size } = fstatSync(this.#fd);
    for (let offset = 0; offset < size; ) {
      const member = readMemberAt(this.#fd, offset);
      if (typeof member === 'string') {
        const text = `no whole gzip member from here to the end (${member})`;
        this.#add(this.#records, offset, 'gzip-no-slack', text);
        return;
      }
      const inMember = this.#checkBytes(member.record, offset, false);
      if (inMember !== 1) {
        const text = `${inMember} records in one gzip member`;
        this.#add(this.#records, offset, 'gzip-per-record', text);
      }
      offset = member.end;
    }
  }

  #checkPlain(): void {
    const { size } = fstatSync(this.#fd);
    if (size > PLAIN_BYTES_MAX) {
      const text = `only the first ${PLAIN_BYTES_MAX} bytes of an uncompressed file are checked`;
      this.#add(0, 0, 'size', text);
    }
    const bytes = Buffer.allocUnsafeSlow(Math.min(size, PLAIN_BYTES_MAX));
    this.#checkBytes(bytes.subarray(0, readFully(this.#fd, bytes, 0)), 0, true);
  }

  /** Checks the records in `bytes`, one after the other; `plain`: offsets count inside these bytes. */
  #checkBytes(bytes: Buffer, offset: number, plain: boolean): number {
    let count = 0;
    for (let at = 0; at < bytes.length; count += 1) {
      const place = plain ? at : offset;
      const index = this.#records;
      const report: Report = (rule, text) => this.#add(index, place, rule, text);
      const found = checkRecord(bytes, at, report);
      this.#records += 1;
      if (found === undefined) return count + 1;
      this.#checkAcross(found, place, report);
      at = found.end;
    }
    return count;
  }

  /** Rules that need the records before: first record, unique ids, partners. */
  #checkAcross(found: FoundRecord, offset: number, report: Report): void {
    const index = this.#records - 1;
    if (index === 0 && found.type !== 'warcinfo') {
      report('warcinfo-first', `the file begins with ${found.type || 'an untyped record'}`);
    }
    const id = fieldValue(found.fields, 'warc-record-id');
    if (id !== undefined) {
      if (this.#seenIds.has(id)) report('record-id', `${id} was used before`);
      this.#seenIds.add(id);
      this.#ids.add(id);
    }
    for (let field = 0; field + 1 < found.fields.length; field += 2) {
      if (found.fields[field]!.toLowerCase() !== 'warc-concurrent-to') continue;
      this.#concurrent.push({ id: found.fields[field + 1]!, record: index, offset });
    }
  }
}
