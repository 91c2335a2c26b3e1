// The crawl's durable counters, by stable name (step 10): added up in the same transaction as the rows they count, so that a report is
// exact after any crash.

import { ByteDamage, ByteReader } from './byte-reader.ts';
import { damaged } from './disk-error.ts';
import type { Tables } from './tables.ts';
import { nameKey, rowsOf } from './tables.ts';

type Increments = readonly (readonly [name: string, increment: number])[];

/** Adds increments to the stored counters; inside the commit's transaction. */
export function addCounters(tables: Tables, many: readonly Increments[]): void {
  const sums = new Map<string, number>();
  for (const increments of many) {
    for (const [name, increment] of increments) {
      sums.set(name, (sums.get(name) ?? 0) + increment);
    }
  }
  for (const [name, sum] of sums) {
    const key = nameKey(name);
    const stored = tables.counters.get(key);
    const value = Buffer.allocUnsafe(8);
    value.writeDoubleLE((stored === undefined ? 0 : readCounter(stored, name)) + sum, 0);
    tables.counters.putSync(key, value);
  }
}

/** All counters by name, in the order of their names. */
export function readCounters(tables: Tables): Map<string, number> {
  const counters = new Map<string, number>();
  for (const { key, value } of rowsOf(tables.counters)) {
    const name = Buffer.from(key).toString('utf8');
    counters.set(name, readCounter(value, name));
  }
  return counters;
}

function readCounter(value: Uint8Array, name: string): number {
  try {
    return new ByteReader(value).f64();
  } catch (error) {
    if (error instanceof ByteDamage) throw damaged(`counter ${name}`, error);
    throw error;
  }
}
