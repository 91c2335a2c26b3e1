// Reads stored bodies by pointer (file, record): step 11, parsing from stored bytes, on any thread beside the writer. The offsets index
// turns the record number into a byte offset, in whichever edition the file now is: growing, closed, or compressed.
// Descriptors are kept in a bounded cache (I10). A descriptor of a file that was renamed or replaced meanwhile still reads the old edition
// with the old index, which is sound; the cache lets go of it by and by, or at once by `forget`.

import { closeSync, fstatSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import type { StoredBody } from '../actors/ports.ts';
import type { BodyPointer } from '../actors/rows.ts';
import { assert } from '../base/assert.ts';
import { readFully } from './files.ts';
import { fieldValue } from './header-lines.ts';
import { warcPaths } from './warc-names.ts';
import {
  entryPosition,
  OFFSET_BYTES,
  OFFSETS_HEADER_BYTES,
  readClaim,
  readOffset,
} from './warc-offsets.ts';
import { BODY_BYTES_MAX, readRecordFrom, type StoredRecord } from './warc-reader.ts';

interface OpenWarc {
  readonly name: string;
  readonly warcFd: number;
  readonly offsetsFd: number;
}

export class BodyReader {
  readonly #directory: string;
  readonly #prefix: string;
  readonly #bodyBytesMax: number;
  readonly #openMax: number;
  /** In order of use, the least recent first. */
  readonly #open = new Map<number, OpenWarc>();
  readonly #entries = Buffer.alloc(2 * OFFSET_BYTES);

  /**
   * @param directory `warc/`
   * @param options `bodyBytesMax` bound of a body, default 64 MiB; `openMax` files kept open, default 32 (two descriptors each)
   */
  constructor(
    directory: string,
    options: { readonly prefix: string; readonly bodyBytesMax?: number; readonly openMax?: number },
  ) {
    this.#directory = directory;
    this.#prefix = options.prefix;
    this.#bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
    this.#openMax = options.openMax ?? 32;
    assert(this.#openMax >= 1, () => `openMax ${this.#openMax}`);
  }

  /**
   * The stored answer a pointer names, or the document that a browser made of one.
   * @returns undefined when the file is not here, the record is not whole, or it is no response (a revisit holds no body)
   */
  read(pointer: BodyPointer): StoredBody | undefined {
    const stored = this.readRecord(pointer);
    if (stored?.type === 'conversion') {
      const type = fieldValue(stored.warcHeaders, 'content-type') ?? '';
      return { status: 200, headers: ['Content-Type', type], body: stored.body };
    }
    if (stored === undefined || stored.type !== 'response') return undefined;
    return { status: stored.httpStatus, headers: stored.httpHeaders, body: stored.body };
  }

  /** The whole record a pointer names, of any type; undefined as for `read`. */
  readRecord(pointer: BodyPointer): StoredRecord | undefined {
    const warc = this.#use(pointer.file);
    if (warc === undefined) return undefined;
    const read = readFully(warc.offsetsFd, this.#entries, entryPosition(pointer.record));
    if (read < OFFSET_BYTES) return undefined;
    const offset = readOffset(this.#entries, 0);
    const next = read === 2 * OFFSET_BYTES ? readOffset(this.#entries, OFFSET_BYTES) : 0;
    return readRecordFrom(warc.warcFd, offset, {
      bytesMax: this.#bodyBytesMax,
      ...(next > offset ? { expectedBytes: next - offset } : {}),
    });
  }

  /**
   * Where a record begins, for tools that read the archive by themselves.
   * @returns the file's name as it is now, and a byte offset; undefined when the file is not here or holds no such record
   */
  place(pointer: BodyPointer): { readonly name: string; readonly offset: number } | undefined {
    const warc = this.#use(pointer.file);
    if (warc === undefined) return undefined;
    const read = readFully(warc.offsetsFd, this.#entries, entryPosition(pointer.record));
    if (read < OFFSET_BYTES) return undefined;
    return { name: warc.name, offset: readOffset(this.#entries, 0) };
  }

  /** Closes the descriptors of one file, for example before it is removed after an upload. */
  forget(file: number): void {
    const warc = this.#open.get(file);
    if (warc === undefined) return;
    closeSync(warc.warcFd);
    closeSync(warc.offsetsFd);
    this.#open.delete(file);
  }

  /** Closes everything. */
  close(): void {
    for (const file of [...this.#open.keys()]) this.forget(file);
  }

  #use(file: number): OpenWarc | undefined {
    const warc = this.#open.get(file) ?? this.#openPair(file);
    if (warc === undefined) return undefined;
    this.#open.delete(file);
    this.#open.set(file, warc);
    if (this.#open.size > this.#openMax) {
      const [oldest] = this.#open.keys();
      this.forget(oldest!);
    }
    return warc;
  }

  /** Opens a file with the index that belongs to this edition of it; tried again when a rename comes in between. */
  #openPair(file: number): OpenWarc | undefined {
    const paths = warcPaths(this.#directory, this.#prefix, file);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const closedFd = tryOpen(paths.closed);
      const warcFd = closedFd ?? tryOpen(paths.open);
      if (warcFd === undefined) continue;
      const name = basename(closedFd === undefined ? paths.open : paths.closed);
      const { size } = fstatSync(warcFd);
      const offsetsFd =
        openIndex(paths.nextOffsets, (claim) => claim === size) ??
        openIndex(paths.offsets, (claim) => claim === 0 || claim === size);
      if (offsetsFd !== undefined) return { name, warcFd, offsetsFd };
      closeSync(warcFd);
    }
    return undefined;
  }
}

function tryOpen(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

/** Opens an index when its claim fits the WARC file it is wanted for. */
function openIndex(path: string, fits: (claimBytes: number) => boolean): number | undefined {
  const fd = tryOpen(path);
  if (fd === undefined) return undefined;
  const header = Buffer.alloc(OFFSETS_HEADER_BYTES);
  const claim = readFully(fd, header, 0) === header.length ? readClaim(header) : undefined;
  if (claim !== undefined && fits(claim)) return fd;
  closeSync(fd);
  return undefined;
}
