// Reads of own state that see what this shard has staged and not yet handed to storage (step 10). The storage port shows committed rows and
// batches under way; between the turn that stages a row and the flush of its batch only the stage knows it. A host that falls asleep and
// is woken again within one flush time would otherwise begin from a stale row: URLs queued twice, gaps forgotten, chunks not found.

import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { DeniedCheckpoint, StateReader } from './ports.ts';
import type { HostRow, Lane, PageRow, QueueEntry, RobotsRow } from './rows.ts';

/** What host actors read; the same methods as `StateReader`, less those that only a start needs. */
export class StagedReader
  implements Omit<StateReader, 'hostsWithWork' | 'unparsed' | 'body' | 'due' | 'rendered'>
{
  readonly #stage: CheckpointStage;
  readonly #reader: StateReader;

  constructor(stage: CheckpointStage, reader: StateReader) {
    this.#stage = stage;
    this.#reader = reader;
  }

  host(hostKey: HostKey, partition: PartitionIndex): HostRow | undefined {
    return this.#stage.stagedHost(hostKey) ?? this.#reader.host(hostKey, partition);
  }

  /** The row of a page; undefined also while a visit of it is staged, since what its row will say is not known before. */
  page(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined {
    if (this.#stage.hasStagedPage(urlKey)) return undefined;
    return this.#reader.page(hostKey, partition, urlKey);
  }

  robots(hostKey: HostKey, partition: PartitionIndex): readonly RobotsRow[] {
    const rows = new Map<string, RobotsRow>();
    for (const row of this.#reader.robots(hostKey, partition)) rows.set(row.origin, row);
    for (const row of this.#stage.stagedRobots(hostKey)) rows.set(row.origin, row);
    return [...rows.values()];
  }

  /** The chunk that contains the entry `sequence`. */
  chunk(
    hostKey: HostKey,
    partition: PartitionIndex,
    band: Lane,
    sequence: number,
  ): readonly QueueEntry[] | undefined {
    const staged = this.#stage.stagedChunk(hostKey, band, sequence);
    return staged ?? this.#reader.chunk(hostKey, partition, band, sequence);
  }

  *denied(hostKey: HostKey, partition: PartitionIndex): Generator<DeniedCheckpoint> {
    for (const denied of this.#reader.denied(hostKey, partition)) {
      if (this.#stage.stagedDenied(denied.entry.urlKey) === undefined) yield denied;
    }
    yield* this.#stage.stagedDenials(hostKey);
  }

  isDenied(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): boolean {
    const staged = this.#stage.stagedDenied(urlKey);
    if (staged !== undefined) return staged === 'denied';
    return this.#reader.isDenied(hostKey, partition, urlKey);
  }
}
