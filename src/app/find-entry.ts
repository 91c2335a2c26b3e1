// Where a URL waits in its host's back queue (step 7), found exactly and without the crawl: the host row's cursors say which entries wait,
// chunk rows hold some of them and the frontier log the rest. A scan of one host's chunk rows and of the log's live segments.

import { cursorsOf, type HostRow, LANES, type Lane, type QueueEntry } from '../actors/rows.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import type { ReadStore } from '../storage/read-store.ts';

/** A waiting URL. */
export interface QueuePlace {
  /** Its band, or the lane of parked URLs. */
  readonly band: Lane;
  /** Entries of its band that go before it; 0 for the head. */
  readonly ahead: number;
  /** Entries waiting in its band. */
  readonly bandLength: number;
  readonly entry: QueueEntry;
}

/**
 * The first place in which a URL waits; undefined when it does not wait.
 * @param row the host's row
 * @param of the keys of URL, host and partition
 */
export function findEntry(
  store: ReadStore,
  row: HostRow,
  of: {
    readonly hostKey: HostKey;
    readonly partition: PartitionIndex;
    readonly urlKey: UrlKey;
  },
): QueuePlace | undefined {
  for (const band of LANES) {
    const { head, chunkEnd } = cursorsOf(row, band);
    for (let sequence = head; sequence < chunkEnd; ) {
      const entries = store.rows.chunk({ ...of, band, sequence });
      // A chunk that is gone was done meanwhile, while the row was read before.
      if (entries === undefined) break;
      const entry = entries.find((one) => one.urlKey === of.urlKey && one.sequence >= head);
      if (entry !== undefined) return placeOf(row, band, entry);
      const last = entries.at(-1);
      if (last === undefined) break;
      sequence = last.sequence + 1;
    }
  }
  for (const { hostKey, band, entry } of store.discovered()) {
    if (hostKey !== of.hostKey || entry.urlKey !== of.urlKey) continue;
    if (entry.sequence >= cursorsOf(row, band).head) return placeOf(row, band, entry);
  }
  return undefined;
}

function placeOf(row: HostRow, band: Lane, entry: QueueEntry): QueuePlace {
  const { head, tail } = cursorsOf(row, band);
  return { band, ahead: entry.sequence - head, bandLength: tail - head, entry };
}
