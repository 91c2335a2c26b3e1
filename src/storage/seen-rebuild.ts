// Makes the seen set anew when one of its runs is missing or damaged (step 4): every URL the crawl knows has a page row, waits in a chunk row,
// was denied by robots.txt, or is in the frontier log, whose replay adds its keys anyway. Slower than reading runs, but it loses nothing.

import { decodeChunk } from './entry-codec.ts';
import { sequenceOfKey, urlOfKey } from './keys.ts';
import type { SeenRuns } from './seen-runs.ts';
import { decoding } from './table-reader.ts';
import type { Tables } from './tables.ts';
import { rowsOf } from './tables.ts';

/** Keys sorted at a time: 8 MiB. */
const PORTION_KEYS = 1 << 20;

/**
 * Adds runs with the keys of all rows.
 * @param runs opened with the empty manifest
 * @returns keys added, repeats counted
 */
export function rebuildSeenRuns(tables: Tables, runs: SeenRuns): number {
  let total = 0;
  const portion = new BigUint64Array(PORTION_KEYS);
  let used = 0;
  const flush = () => {
    if (used > 0) runs.addRun(portion.slice(0, used));
    total += used;
    used = 0;
  };
  for (const key of knownKeys(tables)) {
    portion[used++] = key;
    if (used === PORTION_KEYS) flush();
  }
  flush();
  return total;
}

function* knownKeys(tables: Tables): Generator<bigint> {
  for (const table of [tables.pages, tables.denied]) {
    for (const key of table.getKeys()) yield decoding('row key', () => urlOfKey(key));
  }
  for (const { key, value } of rowsOf(tables.chunks)) {
    for (const entry of decoding('chunk row', () => decodeChunk(value, sequenceOfKey(key)))) {
      yield entry.urlKey;
    }
  }
}
