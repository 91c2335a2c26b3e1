// What a start does before anything else (I5, I6): the frontier log's entries that no chunk row holds are put into chunk rows, and the keys
// of all replayed entries into a seen run, so that the log may begin anew. Idempotent: a crash in the middle replays the rest. Bounded:
// entries are taken in portions, each one transaction.

import type { DiscoveredCheckpoint } from '../actors/ports.ts';
import { recoverQueues } from '../actors/queue-recovery.ts';
import type { HostRow } from '../actors/rows.ts';
import type { CommittedState } from './committed-state.ts';
import { putCommitted } from './committed-state.ts';
import { encodeChunk } from './entry-codec.ts';
import { readFrontierSegment } from './frontier-log.ts';
import { chunkRowKey, hostRowKey } from './keys.ts';
import { decodeHostRow, encodeHostRow } from './row-codec.ts';
import { putManifest } from './seen-publisher.ts';
import type { SeenRuns } from './seen-runs.ts';
import type { SegmentLog } from './segment-log.ts';
import { decoding } from './table-reader.ts';
import type { Tables } from './tables.ts';

/** What a replay did. */
export interface RecoveryReport {
  /** Entries read from the log. */
  readonly entries: number;
  /** Entries that were only there. */
  readonly recovered: number;
  readonly hosts: number;
}

/** Entries taken at a time: some 30 MB of objects, one transaction. */
const PORTION_ENTRIES = 100_000;

/**
 * Replays all live segments, then begins a new one; the old files are removed.
 * @param hostOf the canonical host name of an entry's URL
 * @returns the committed state afterwards, and what was done
 * @throws CrawlError data-damaged; AssertionFailure when the log has a hole
 */
export function replayFrontier(input: {
  readonly dir: string;
  readonly tables: Tables;
  readonly frontier: SegmentLog;
  readonly seen: SeenRuns;
  readonly committed: CommittedState;
  readonly hostOf: (url: string) => string;
}): { readonly committed: CommittedState; readonly report: RecoveryReport } {
  const { dir, tables, frontier, seen, committed } = input;
  let entries = 0;
  let recovered = 0;
  let hosts = 0;
  for (const segment of committed.frontier) {
    for (const portion of portionsOf(readFrontierSegment(dir, segment))) {
      const done = recoverPortion(tables, portion, input.hostOf);
      seen.addRun(keysOf(portion));
      entries += portion.length;
      recovered += done.recovered;
      hosts += done.hosts;
    }
  }
  const report = { entries, recovered, hosts };
  frontier.roll(true);
  frontier.forget(frontier.current - 1);
  const state = { ...committed, frontier: frontier.segments };
  tables.root.transactionSync(() => {
    putManifest(tables, seen.manifest());
    putCommitted(tables, state);
  });
  frontier.removeForgotten();
  return { committed: state, report };
}

function* portionsOf(
  entries: Iterable<DiscoveredCheckpoint>,
): Generator<readonly DiscoveredCheckpoint[]> {
  let portion: DiscoveredCheckpoint[] = [];
  for (const entry of entries) {
    portion.push(entry);
    if (portion.length < PORTION_ENTRIES) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}

function recoverPortion(
  tables: Tables,
  portion: readonly DiscoveredCheckpoint[],
  hostOf: (url: string) => string,
): { recovered: number; hosts: number } {
  let recovered = 0;
  let hosts = 0;
  tables.root.transactionSync(() => {
    for (const entries of byHost(portion)) {
      const count = recoverHost(tables, entries, hostOf);
      recovered += count;
      if (count > 0) hosts += 1;
    }
  });
  return { recovered, hosts };
}

function byHost(portion: readonly DiscoveredCheckpoint[]): Iterable<DiscoveredCheckpoint[]> {
  const hosts = new Map<bigint, DiscoveredCheckpoint[]>();
  for (const discovered of portion) {
    const entries = hosts.get(discovered.hostKey);
    if (entries === undefined) hosts.set(discovered.hostKey, [discovered]);
    else entries.push(discovered);
  }
  return hosts.values();
}

function recoverHost(
  tables: Tables,
  entries: readonly DiscoveredCheckpoint[],
  hostOf: (url: string) => string,
): number {
  const { hostKey, partition, entry } = entries[0] as DiscoveredCheckpoint;
  const key = hostRowKey(partition, hostKey);
  const stored = tables.hosts.get(key);
  const row: HostRow | undefined =
    stored && decoding('host row', () => decodeHostRow(stored, partition));
  const host = row?.host ?? hostOf(entry.url);
  const result = recoverQueues({ host, hostKey, partition, row, entries });
  let count = 0;
  for (const chunk of result.chunks) {
    const firstSequence = chunk.entries[0]?.sequence ?? 0;
    tables.chunks.putSync(chunkRowKey({ ...chunk, firstSequence }), encodeChunk(chunk.entries));
    count += chunk.entries.length;
  }
  if (result.row !== undefined) tables.hosts.putSync(key, encodeHostRow(result.row));
  return count;
}

function keysOf(portion: readonly DiscoveredCheckpoint[]): BigUint64Array<ArrayBuffer> {
  const keys = new BigUint64Array(portion.length);
  for (const [index, { entry }] of portion.entries()) keys[index] = entry.urlKey;
  return keys;
}
