// The LMDB environment and its tables: everything durable about a crawl but bodies, logs and seen runs (step 10 of a URL's life). One
// storage thread writes; shard threads and other processes only read (DESIGN.md §3). Keys are plain bytes (keys.ts), values hand-packed
// (row-codec.ts, page-codec.ts). `overlappingSync` is off, so that a transaction is on the disk when `transactionSync` returns (seen with
// strace: fdatasync of the data, then the meta page through an O_DSYNC descriptor, both before it returns).

import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { open } from 'lmdb';
import { damaged, diskError } from './disk-error.ts';

/** One table: binary keys and values. */
export type Table = Database<Buffer, Buffer>;

/** The tables whose rows a shard thread may write through a batch, by the number that stands for them in a packed batch. */
export const BATCH_TABLES = ['hosts', 'robots', 'chunks', 'pages', 'denied', 'outbox'] as const;
export type BatchTable = (typeof BATCH_TABLES)[number];

const OTHER_TABLES = ['meta', 'digests', 'unparsed', 'counters', 'due', 'renders'] as const;
type TableName = BatchTable | (typeof OTHER_TABLES)[number];

/** The open environment. Keys: see keys.ts; digests: 20 bytes SHA-1; unparsed: id; due: due-table.ts; counters and meta: a name in UTF-8. */
export interface Tables extends Readonly<Record<TableName, Table>> {
  readonly root: RootDatabase<Buffer, Buffer>;
}

/** Address space kept for the map: 1 TiB, so that it never has to move. The file itself grows only as it fills. */
const MAP_BYTES = 2 ** 40;
/** Reader slots: one for each thread of each process that reads at a time. */
const READERS_MAX = 512;

/**
 * Opens (and without `readOnly` creates) the environment below a data directory. Each thread opens its own; they share one map.
 * @throws CrawlError data-damaged when the file is not LMDB's or is cut off; disk or disk-full for what the system says
 */
export function openTables(dir: string, options: { readOnly: boolean }): Tables {
  const path = join(dir, 'lmdb');
  try {
    checkWhole(join(path, 'data.mdb'), options.readOnly);
    const root = open<Buffer, Buffer>({
      path,
      noSubdir: false,
      encoding: 'binary',
      keyEncoding: 'binary',
      overlappingSync: false,
      mapSize: MAP_BYTES,
      maxDbs: 16,
      maxReaders: READERS_MAX,
      readOnly: options.readOnly,
    });
    const names: readonly TableName[] = [...BATCH_TABLES, ...OTHER_TABLES];
    const tables = names.map((name) => [
      name,
      root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' }),
    ]);
    return { root, ...Object.fromEntries(tables) } as Tables;
  } catch (error) {
    throw diskError(error, dir, `open the tables in ${path}`);
  }
}

/** LMDB's magic number, lmdb.h `MDB_MAGIC`, and where this version keeps it and the last page's number in a meta page. */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const LAST_PAGE_AT = 144;
const PAGE_BYTES = 4096;
const META_PAGES = 2;
/** Below this share of the counted pages a file is surely cut. */
const WHOLE_ENOUGH = 0.5;

/**
 * A file cut short would kill the process with SIGBUS when its map is read; so it is looked at before it is mapped. The meta pages may
 * honestly count a few pages more than the file holds (allocated and freed again within one transaction), hence the writer lengthens
 * the file with zeros, which LMDB reports as damage if it ever needs them, and recovery compares the size with the one committed.
 */
function checkWhole(path: string, readOnly: boolean): void {
  if (!existsSync(path)) return;
  const file = openSync(path, readOnly ? 'r' : 'r+');
  try {
    const { size } = fstatSync(file);
    if (size === 0) return;
    const meta = Buffer.alloc(META_PAGES * PAGE_BYTES);
    if (readSync(file, meta, 0, meta.length, 0) < meta.length) throw damaged(`${path} is cut off`);
    let needed = 0;
    for (let at = 0; at < meta.length; at += PAGE_BYTES) {
      if (meta.readUInt32LE(at + MAGIC_AT) !== MAGIC) throw damaged(`${path} is not an LMDB file`);
      const pages = Number(meta.readBigUInt64LE(at + LAST_PAGE_AT)) + 1;
      needed = Math.max(needed, pages * PAGE_BYTES);
    }
    if (size < needed * WHOLE_ENOUGH) throw damaged(`${path} holds ${size} bytes of ${needed}`);
    if (size < needed && !readOnly) ftruncateSync(file, needed);
  } finally {
    closeSync(file);
  }
}

/** Bytes of the table file, which never shrinks; committed with every group so that a cut is noticed at the next open. */
export function tableFileBytes(dir: string): number {
  const path = join(dir, 'lmdb', 'data.mdb');
  return existsSync(path) ? statSync(path).size : 0;
}

/** The name of a row of tables meta and counters as its key. */
export function nameKey(name: string): Buffer {
  return Buffer.from(name, 'utf8');
}

/** All rows of a table between two keys, as views that are valid until the next step. */
export function rowsOf(
  table: Table,
  range: { readonly start?: Buffer; readonly end?: Buffer } = {},
): Iterable<{ readonly key: Buffer; readonly value: Buffer }> {
  return table.getRange(range);
}
