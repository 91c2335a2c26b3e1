// Rebuilds a host's back queues after a crash (steps 6 and 7 of a URL's life): the host row says how far its entries are done (head) or in
// chunk rows (chunkEnd); what the frontier log holds beyond that is put into chunk rows. Pure, so that the simulator recovers with the
// very code the real storage uses. I5, I6: no accepted URL is lost and none is queued twice.

import { assert } from '../base/assert.ts';
import type { HostKey, PartitionIndex } from '../base/units.ts';
import { wallMs } from '../base/units.ts';
import { ZERO_COUNTS } from './host-counts.ts';
import type { ChunkCheckpoint, DiscoveredCheckpoint } from './ports.ts';
import {
  cursorsOf,
  FRESHNESS,
  type HostRow,
  LANES,
  type Lane,
  PARKED,
  type QueueCursors,
  type QueueEntry,
} from './rows.ts';

/** Most entries recovery puts into one chunk row. */
export const RECOVERED_CHUNK_ENTRIES_MAX = 64;

/** One host's part of the replayed log. */
export interface QueueRecoveryInput {
  /** Canonical host name; used when the host has no row yet. */
  readonly host: string;
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  /** The host's committed row; undefined stands for cursors 0, 0, 0. */
  readonly row: HostRow | undefined;
  /** Entries of this host in the order of the log; sequences of a band follow one another without holes. */
  readonly entries: readonly DiscoveredCheckpoint[];
}

/** What to write; `row` is undefined when everything was done or in chunk rows already. */
export interface QueueRecovery {
  readonly row: HostRow | undefined;
  readonly chunks: readonly ChunkCheckpoint[];
}

const NO_CURSORS: QueueCursors = { head: 0, chunkEnd: 0, tail: 0 };

/** The row of a host of which nothing is known but its name. */
export function newHostRow(host: string, partition: PartitionIndex): HostRow {
  return {
    host,
    partition,
    queues: [NO_CURSORS, NO_CURSORS, NO_CURSORS],
    lastEndedAt: wallMs(0),
    gap: { smoothedMs: 0, penalty: 1, failuresInRow: 0, pausedUntil: wallMs(0) },
    crawlDelayMs: 0,
    counts: ZERO_COUNTS,
    parked: undefined,
    due: undefined,
    worth: undefined,
    renders: undefined,
  };
}

/**
 * Moves entries that only the log holds into chunk rows. May be called again with later entries of the log and the row it returned.
 * @throws AssertionFailure when the log has a hole: an entry was acknowledged and is not there
 */
export function recoverQueues(input: QueueRecoveryInput): QueueRecovery {
  const before = input.row ?? newHostRow(input.host, input.partition);
  const chunks: ChunkCheckpoint[] = [];
  const recovered = LANES.map((lane) => {
    const cursors = cursorsOf(before, lane);
    const missing = missingEntries(input, lane, cursors);
    chunks.push(...chunksOf(input, lane, missing));
    return { cursors: advance(cursors, missing), count: missing.length };
  });
  const added = recovered.reduce((sum, { count }) => sum + count, 0);
  if (added === 0) return { row: undefined, chunks };
  const [first, second, third] = recovered.map(({ cursors }) => cursors);
  const queues = [first, second, third] as unknown as HostRow['queues'];
  const { cursors: parked } = recovered[PARKED] as (typeof recovered)[number];
  const { cursors: due, count: visits } = recovered[FRESHNESS] as (typeof recovered)[number];
  // An existing row counted its discoveries itself, in the commit that logged them or the next one.
  const discovered = before.counts.discovered + (input.row === undefined ? added - visits : 0);
  const counts = { ...before.counts, discovered };
  return { row: { ...before, queues, parked, due, counts }, chunks };
}

/** The band's entries that are neither done nor in a chunk row. */
function missingEntries(
  { host, entries }: QueueRecoveryInput,
  band: Lane,
  cursors: QueueCursors,
): QueueEntry[] {
  const missing: QueueEntry[] = [];
  let expected = Math.max(cursors.head, cursors.chunkEnd);
  for (const discovered of entries) {
    if (discovered.band !== band || discovered.entry.sequence < expected) continue;
    const { sequence } = discovered.entry;
    assert(
      sequence === expected,
      () => `${host} band ${band}: ${sequence} follows ${expected - 1}`,
    );
    missing.push(discovered.entry);
    expected += 1;
  }
  return missing;
}

function advance(cursors: QueueCursors, missing: readonly QueueEntry[]): QueueCursors {
  const last = missing.at(-1);
  if (last === undefined) return cursors;
  const end = last.sequence + 1;
  return { head: cursors.head, chunkEnd: end, tail: Math.max(cursors.tail, end) };
}

function chunksOf(
  { hostKey, partition }: QueueRecoveryInput,
  band: Lane,
  missing: readonly QueueEntry[],
): ChunkCheckpoint[] {
  const chunks: ChunkCheckpoint[] = [];
  for (let from = 0; from < missing.length; from += RECOVERED_CHUNK_ENTRIES_MAX) {
    const entries = missing.slice(from, from + RECOVERED_CHUNK_ENTRIES_MAX);
    chunks.push({ hostKey, partition, band, entries });
  }
  return chunks;
}
