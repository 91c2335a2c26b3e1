// Appends gzip members to the open WARC file and keeps its offsets index. Step 10 of a URL's life, on the storage thread, synchronous:
// nobody else writes here, and only `sync` waits for the disk (up to 342 ms, PERFORMANCE.md).
// Order of a group commit (DESIGN.md §5): `append` … → `sync` → LMDB transaction that also stores `ends()` → acknowledge → `rollIfNeeded`.
// A file number is taken when its first record comes: `ends()` of {file, 0, 0} says that all smaller numbers are closed.
// I12: after `open`, every committed record is whole and nothing uncommitted is left; what cannot be had again is refused, not guessed.

import { closeSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { assert } from '../base/assert.ts';
import { type WallMs, wallMs } from '../base/units.ts';
import { onDisk, renameDurably, syncDirectory, writeFully } from './files.ts';
import { warcPaths } from './warc-names.ts';
import { entryPosition, OFFSET_BYTES, offsetsHeader, writeOffset } from './warc-offsets.ts';
import { buildWarcinfoMember, newRecordId } from './warc-record.ts';
import { repairArchive } from './warc-repair.ts';

/** The committed end of the file that grows; plain data for LMDB. `bytes` 0: the number is the next to be used. */
export interface WarcEnd {
  readonly file: number;
  readonly bytes: number;
  readonly records: number;
}

/** How to write. */
export interface WarcWriterOptions {
  /** A file is closed when it reaches this size; bytes, default 1 GiB (WARC 1.1 Annex C suggests that order). */
  readonly rollBytes?: number;
  /** Age at which a file is closed and the next begun, whatever its length; milliseconds, default never. */
  readonly rollMs?: number;
  /** `software` of warcinfo: name and version. */
  readonly software: string;
  /** `http-header-user-agent` of warcinfo. */
  readonly userAgent: string;
  /** Start of every file name. */
  readonly prefix: string;
  /** The wall clock, for the date of warcinfo; default the system's. */
  readonly now?: () => WallMs;
  /** Further warcinfo fields, for example `operator` or `isPartOf`. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** Where a member was put. */
export interface AppendedRecord {
  readonly file: number;
  readonly record: number;
  readonly offset: number;
}

/** A file that was closed: it will not be appended to again, and may be compressed, indexed and moved once the next commit is durable. */
export type ClosedWarc = string;

const ROLL_BYTES_DEFAULT = 1024 * 1024 * 1024;
const PENDING_BYTES_MAX = 1024 * 1024;

export class WarcWriter {
  readonly #directory: string;
  readonly #options: WarcWriterOptions;
  readonly #rollBytes: number;
  readonly #rollMs: number;
  readonly #now: () => WallMs;
  #file = 0;
  #bytes = 0;
  #records = 0;
  #warcFd = -1;
  #offsetsFd = -1;
  #pending: Uint8Array[] = [];
  #pendingOffsets: number[] = [];
  #pendingBytes = 0;
  #unsynced = false;
  #opened = false;
  #begunAt = 0;

  /** @param directory `warc/`; it must exist */
  constructor(directory: string, options: WarcWriterOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#rollBytes = options.rollBytes ?? ROLL_BYTES_DEFAULT;
    this.#rollMs = options.rollMs ?? Number.POSITIVE_INFINITY;
    this.#now = options.now ?? (() => wallMs(Date.now()));
    assert(this.#rollBytes > 0, () => `rollBytes ${this.#rollBytes}`);
    assert(this.#rollMs > 0, () => `rollMs ${this.#rollMs}`);
  }

  /**
   * Brings the directory back to what was committed and makes ready to append: cuts the open file and its index to the committed end,
   * removes an open file begun after it, completes an interrupted compression.
   * @param committed what `ends()` gave at the last durable commit; empty for a new crawl
   * @throws CrawlError `data-damaged` when committed records are missing or not whole, or when the directory holds closed files that
   *   the state does not know; `disk` or `disk-full` when the system refuses
   */
  open(committed: readonly WarcEnd[]): void {
    assert(!this.#opened, () => 'WarcWriter.open called twice');
    assert(committed.length <= 1, () => `${committed.length} WARC files committed as open`);
    const { prefix } = this.#options;
    const end = onDisk(this.#directory, () =>
      repairArchive(this.#directory, prefix, committed[0] ?? { file: 0, bytes: 0, records: 0 }),
    );
    this.#file = end.file;
    this.#bytes = end.bytes;
    this.#records = end.records;
    if (end.bytes > 0) {
      this.#openFiles('r+');
      this.#begunAt = fstatSync(this.#warcFd).birthtimeMs;
    }
    this.#opened = true;
  }

  /**
   * Adds one record; it reaches the disk with the next `sync`.
   * @param member a whole gzip member that holds one record
   * @returns its place: `file` and `record` are the body pointer
   */
  append(member: Uint8Array): AppendedRecord {
    assert(this.#opened, () => 'WarcWriter.append before open');
    assert(member.byteLength > 0, () => 'empty WARC member');
    if (this.#bytes === 0) this.#begin();
    return this.#put(member);
  }

  /** Makes all appended records durable: fdatasync of the WARC file and its index. Does nothing when there is nothing new. */
  sync(): void {
    this.#flush();
    if (!this.#unsynced) return;
    onDisk(this.#paths().open, () => {
      fdatasyncSync(this.#warcFd);
      fdatasyncSync(this.#offsetsFd);
    });
    this.#unsynced = false;
  }

  /** Hands everything appended to the operating system, so that readers see it; not yet durable. */
  flush(): void {
    this.#flush();
  }

  /** What to commit with the rows that point into the archive: one end. Valid for data that was synced. */
  ends(): readonly WarcEnd[] {
    assert(this.#pendingBytes === 0, () => 'WarcWriter.ends before sync');
    return [{ file: this.#file, bytes: this.#bytes, records: this.#records }];
  }

  /**
   * Closes the open file when it is full or old; to be called after the commit of its end.
   * @returns paths of files newly closed. They may be compressed only after the next commit, whose `ends()` no longer names them.
   */
  rollIfNeeded(): ClosedWarc[] {
    const isOld = this.#bytes > 0 && this.#now() - this.#begunAt >= this.#rollMs;
    return isOld || this.#bytes >= this.#rollBytes ? this.#finish() : [];
  }

  /**
   * Closes the archive: `.warc.gz.open` becomes `.warc.gz`. The writer cannot be used again; commit `ends()` once more afterwards.
   * @returns the path of the file that was closed, if one was open
   */
  close(): ClosedWarc[] {
    const closed = this.#finish();
    this.#opened = false;
    return closed;
  }

  #paths(): ReturnType<typeof warcPaths> {
    return warcPaths(this.#directory, this.#options.prefix, this.#file);
  }

  #openFiles(flags: 'r+' | 'wx'): void {
    const paths = this.#paths();
    onDisk(paths.open, () => {
      this.#warcFd = openSync(paths.open, flags);
      this.#offsetsFd = openSync(paths.offsets, flags === 'wx' ? 'w' : flags);
    });
  }

  /** Creates the file with its index and its warcinfo record (WARC 1.1 §6.2). */
  #begin(): void {
    this.#openFiles('wx');
    onDisk(this.#directory, () => {
      writeFully(this.#offsetsFd, offsetsHeader(0), 0);
      syncDirectory(this.#directory);
    });
    const { software, userAgent, fields = [] } = this.#options;
    this.#begunAt = this.#now();
    this.#put(
      buildWarcinfoMember({
        recordId: newRecordId(),
        filename: basename(this.#paths().closed),
        date: wallMs(this.#begunAt),
        fields: [
          ['software', software],
          ['format', 'WARC File Format 1.1'],
          [
            'conformsTo',
            'https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/',
          ],
          ['robots', 'obey'],
          ['hostname', hostname()],
          ['http-header-user-agent', userAgent],
          ...fields,
        ],
      }),
    );
  }

  #put(member: Uint8Array): AppendedRecord {
    const place = { file: this.#file, record: this.#records, offset: this.#bytes };
    this.#pending.push(member);
    this.#pendingOffsets.push(this.#bytes);
    this.#pendingBytes += member.byteLength;
    this.#bytes += member.byteLength;
    this.#records += 1;
    if (this.#pendingBytes >= PENDING_BYTES_MAX) this.#flush();
    return place;
  }

  /** Hands pending members and offsets to the operating system. */
  #flush(): void {
    if (this.#pendingBytes === 0) return;
    const offsets = Buffer.alloc(this.#pendingOffsets.length * OFFSET_BYTES);
    for (let index = 0; index < this.#pendingOffsets.length; index += 1) {
      writeOffset(offsets, index * OFFSET_BYTES, this.#pendingOffsets[index]!);
    }
    const firstRecord = this.#records - this.#pendingOffsets.length;
    const members = this.#pending.length === 1 ? this.#pending[0]! : Buffer.concat(this.#pending);
    assert(members.byteLength === this.#pendingBytes, () => 'pending WARC bytes miscounted');
    onDisk(this.#paths().open, () => {
      writeFully(this.#warcFd, members, this.#bytes - this.#pendingBytes);
      writeFully(this.#offsetsFd, offsets, entryPosition(firstRecord));
    });
    this.#pending = [];
    this.#pendingOffsets = [];
    this.#pendingBytes = 0;
    this.#unsynced = true;
  }

  /** Flushes, cuts anything beyond the end, syncs, closes and renames; then the next number is current. */
  #finish(): ClosedWarc[] {
    if (this.#warcFd < 0) return [];
    const paths = this.#paths();
    this.#flush();
    onDisk(paths.closed, () => {
      ftruncateSync(this.#warcFd, this.#bytes);
      fsyncSync(this.#warcFd);
      fsyncSync(this.#offsetsFd);
      closeSync(this.#warcFd);
      closeSync(this.#offsetsFd);
      renameDurably(paths.open, paths.closed);
    });
    this.#warcFd = -1;
    this.#offsetsFd = -1;
    this.#unsynced = false;
    this.#file += 1;
    this.#bytes = 0;
    this.#records = 0;
    return [paths.closed];
  }
}
