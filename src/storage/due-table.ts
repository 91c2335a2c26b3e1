// The schedule of visits on disk (from step 10 back to 6): which pages are due at what time, table `due`. A row holds up to 64 pages of one
// partition that are due at one time (domain/recrawl.ts rounds times so that they meet), 16 bytes each: a hundred million pages cost
// 1.6 GB of disk and no memory. Rows are appended to within the commit that stores the visit, and read in the order of their times.

import type { DueCheckpoint, DueLook, DueRow, DueRowPlace, DueRowTaken } from '../actors/ports.ts';
import { assert } from '../base/assert.ts';
import type { PartitionIndex, WallMs } from '../base/units.ts';
import { hostKey, partitionIndex, urlKey, wallMs } from '../base/units.ts';
import { ByteDamage } from './byte-reader.ts';
import { partitionRange } from './keys.ts';
import type { Table } from './tables.ts';

/** Pages of one row: 1 KiB, so that a commit copies little when a page is added. */
const PAGES_MAX = 64;
const PAGE_BYTES = 16;
const KEY_BYTES = 12;
/** Rows being filled whose number is remembered; of others it is looked up. */
const REMEMBERED_MAX = 4_096;

/** Key of table due: partition u16, time in milliseconds u48, number u32; big-endian, so that a partition's rows are in the order of time. */
export function dueRowKey({ partition, dueAt, number }: DueRowPlace): Buffer {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key.writeUInt16BE(partition, 0);
  key.writeUIntBE(Math.round(dueAt), 2, 6);
  key.writeUInt32BE(number, 8);
  return key;
}

function placeOf(key: Buffer): DueRowPlace {
  if (key.length !== KEY_BYTES) throw new ByteDamage(`due key of ${key.length} bytes`);
  return {
    partition: partitionIndex(key.readUInt16BE(0)),
    dueAt: wallMs(key.readUIntBE(2, 6)),
    number: key.readUInt32BE(8),
  };
}

function rowOf(key: Buffer, value: Buffer): DueRow {
  if (value.length % PAGE_BYTES !== 0) throw new ByteDamage(`due row of ${value.length} bytes`);
  const pages = Array.from({ length: value.length / PAGE_BYTES }, (_, index) => ({
    hostKey: hostKey(value.readBigUInt64BE(index * PAGE_BYTES)),
    urlKey: urlKey(value.readBigUInt64BE(index * PAGE_BYTES + 8)),
  }));
  return { ...placeOf(key), pages };
}

/** The writing side, on the storage thread; every call belongs inside a commit's transaction. */
export class DueWriter {
  readonly #table: Table;
  /** Number of the row that is being filled, by partition and time. */
  readonly #numbers = new Map<string, number>();

  constructor(table: Table) {
    this.#table = table;
  }

  /** Adds pages to the schedule. One that is due never (time 0) is none. */
  add(due: readonly DueCheckpoint[]): void {
    const rows = new Map<string, [DueCheckpoint, ...DueCheckpoint[]]>();
    for (const page of due) {
      if (page.dueAt === 0) continue;
      const name = `${page.partition}/${page.dueAt}`;
      const row = rows.get(name);
      if (row === undefined) rows.set(name, [page]);
      else row.push(page);
    }
    for (const [name, pages] of rows) this.#append(name, pages);
  }

  /** Takes the pages that were dealt out off a row; what was added behind them meanwhile stays. */
  taken(taken: readonly DueRowTaken[]): void {
    for (const { count, ...place } of taken) {
      const key = dueRowKey(place);
      const value = this.#table.get(key);
      assert(value !== undefined, () => `a row of ${place.dueAt} was taken twice`);
      const left = value.subarray(count * PAGE_BYTES);
      if (left.length === 0) this.#table.removeSync(key);
      else this.#table.putSync(key, Buffer.from(left));
    }
  }

  #append(name: string, pages: readonly [DueCheckpoint, ...DueCheckpoint[]]): void {
    const { partition, dueAt } = pages[0];
    const place = { partition, dueAt };
    let number = this.#numbers.get(name) ?? this.#lastNumber(place);
    for (let at = 0; at < pages.length; ) {
      const key = dueRowKey({ ...place, number });
      const value = this.#table.get(key);
      const room = PAGES_MAX - (value?.length ?? 0) / PAGE_BYTES;
      if (room > 0) {
        const added = pages.slice(at, at + room);
        this.#table.putSync(key, withPages(value, added));
        at += added.length;
      }
      if (at < pages.length) number += 1;
    }
    if (this.#numbers.size >= REMEMBERED_MAX) this.#numbers.clear();
    this.#numbers.set(name, number);
  }

  #lastNumber(place: Omit<DueRowPlace, 'number'>): number {
    const start = dueRowKey({ ...place, number: 0xffffffff });
    const end = dueRowKey({ ...place, number: 0 });
    for (const key of this.#table.getKeys({ start, end, reverse: true, limit: 1 })) {
      return placeOf(key).number;
    }
    return 0;
  }
}

/** A row with more pages behind those that it has. */
function withPages(value: Buffer | undefined, added: readonly DueCheckpoint[]): Buffer {
  const before = value?.length ?? 0;
  const row = Buffer.allocUnsafe(before + added.length * PAGE_BYTES);
  value?.copy(row);
  for (const [index, page] of added.entries()) {
    row.writeBigUInt64BE(page.hostKey, before + index * PAGE_BYTES);
    row.writeBigUInt64BE(page.urlKey, before + index * PAGE_BYTES + 8);
  }
  return row;
}

/** What `look` is asked for, as StateReader.due has it. */
interface DueQuestion {
  readonly now: WallMs;
  readonly rowsMax: number;
  readonly isTaken: (row: DueRowPlace) => boolean;
}

/**
 * Reads what is due, one seek for each partition, rows of the earliest times first.
 * @param partitions to look at
 */
export function readDue(
  table: Table,
  partitions: Iterable<PartitionIndex>,
  { now, rowsMax, isTaken }: DueQuestion,
): DueLook {
  const rows: DueRow[] = [];
  let nextAt = Infinity;
  for (const partition of partitions) {
    let found = 0;
    for (const { key, value } of table.getRange(partitionRange(partition))) {
      const place = placeOf(key);
      if (isTaken(place)) continue;
      if (place.dueAt > now) {
        nextAt = Math.min(nextAt, place.dueAt);
        break;
      }
      rows.push(rowOf(key, value));
      found += 1;
      if (found >= rowsMax) break;
    }
  }
  rows.sort((a, b) => a.dueAt - b.dueAt);
  const left = rows[rowsMax];
  return { rows: rows.slice(0, rowsMax), nextAt: left === undefined ? nextAt : left.dueAt };
}
