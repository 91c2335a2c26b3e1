// The autonomous system of an address, from the operator's table (before step 8 of a URL's life; DESIGN.md §4): rows of text, packed into
// shared ranges, or an .mmdb file (MaxMind DB format 2.0), kept as its bytes in shared memory and searched by the package mmdb-lib. The main
// thread loads, every shard opens a lookup on the same memory; a table that is replaced is loaded again and sent again.

import { readFile } from 'node:fs/promises';
import { AsnRangeList, type AsnRanges, asnOf } from './asn-ranges.ts';
import { readAsnRows, tableError } from './asn-rows.ts';

/** A table in shared memory; passes between threads as it is. */
export interface AsnTable {
  readonly ranges: AsnRanges;
  /** Whole .mmdb files, asked in turn after the ranges. */
  readonly databases: readonly SharedArrayBuffer[];
}

/** Number of the autonomous system of a textual address; undefined when no table knows it. Never throws. */
export type AsnLookup = (address: string) => number | undefined;

/** What the package mmdb-lib has, as far as it is used here; it is installed only where an .mmdb table is. */
interface MmdbModule {
  readonly Reader: new (
    bytes: Buffer,
  ) => {
    readonly metadata: { readonly databaseType: string };
    get(address: string): { readonly autonomous_system_number?: unknown } | null;
  };
}
const MMDB_PACKAGE: string = 'mmdb-lib';

/**
 * Loads a table.
 * @param paths .mmdb files and text files, in any mixture; at least one
 * @throws CrawlError config when one cannot be used, or mmdb-lib is needed and not installed
 */
export async function loadAsnTable(paths: readonly string[]): Promise<AsnTable> {
  const isMmdb = (path: string): boolean => path.endsWith('.mmdb');
  const ranges = new AsnRangeList();
  for (const path of paths.filter((each) => !isMmdb(each))) await readAsnRows(path, ranges);
  const databases: SharedArrayBuffer[] = [];
  for (const path of paths.filter(isMmdb)) databases.push(await loadDatabase(path));
  return { ranges: ranges.pack(), databases };
}

/** Opens a lookup on a table that `loadAsnTable` made, in any thread. @throws Error when mmdb-lib cannot be loaded in this thread */
export async function openAsnLookup(table: AsnTable): Promise<AsnLookup> {
  const { ranges, databases } = table;
  if (databases.length === 0) return (address) => asnOf(ranges, address);
  const { Reader } = await mmdbLib();
  const readers = databases.map((bytes) => new Reader(Buffer.from(bytes)));
  return (address) => {
    const inRanges = asnOf(ranges, address);
    if (inRanges !== undefined) return inRanges;
    for (const reader of readers) {
      try {
        const number = reader.get(address)?.autonomous_system_number;
        if (typeof number === 'number') return number;
      } catch {
        // A damaged record, or an IPv6 address in a table of IPv4: this address has no network then.
      }
    }
    return undefined;
  };
}

async function loadDatabase(path: string): Promise<SharedArrayBuffer> {
  let shared: SharedArrayBuffer;
  try {
    const bytes = await readFile(path);
    shared = new SharedArrayBuffer(bytes.length);
    new Uint8Array(shared).set(bytes);
  } catch (cause) {
    throw tableError(path, `cannot be read: ${String(cause)}`, cause);
  }
  const { Reader } = await mmdbLib().catch((cause) => {
    throw tableError(path, 'needs the package mmdb-lib (npm install mmdb-lib)', cause);
  });
  try {
    new Reader(Buffer.from(shared)).get('192.0.2.1');
  } catch (cause) {
    throw tableError(path, `is no MaxMind database: ${String(cause)}`, cause);
  }
  return shared;
}

async function mmdbLib(): Promise<MmdbModule> {
  return (await import(MMDB_PACKAGE)) as MmdbModule;
}
