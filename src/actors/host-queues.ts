// The three back queues of one host, one per priority band, tied to the host's chunk rows and to the frontier log (step 7). Priority is
// strict within a host; fairness between bands is the shard's matter (host-schedule.ts).

import type { HostKey, PartitionIndex } from '../base/units.ts';
import { BackQueue, type ChunkStore, EMPTY_CURSORS } from './back-queue.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { StateReader } from './ports.ts';
import { BANDS, type Band, type HostRow, type QueueEntry } from './rows.ts';

/** Queue entries that all awake hosts of a shard hold in memory; the shard puts hosts to sleep when they grow too many (I10). */
export interface Residency {
  entries: number;
}

/** Counters of URLs waiting, by band. */
const QUEUED = ['queued.0', 'queued.1', 'queued.2'] as const;

interface QueueIdentity {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
}

interface QueueServices {
  readonly stage: CheckpointStage;
  readonly residency: Residency;
  readonly reader: Pick<StateReader, 'chunk'>;
}

export class HostQueues {
  readonly #stage: CheckpointStage;
  readonly #residency: Residency;
  /** Entries of this host in `#residency`. */
  #resident = 0;
  readonly #id: QueueIdentity;
  readonly #bands: readonly [BackQueue, BackQueue, BackQueue];

  constructor(services: QueueServices, id: QueueIdentity, row: HostRow | undefined) {
    this.#stage = services.stage;
    this.#residency = services.residency;
    this.#id = id;
    const open = (band: Band) =>
      new BackQueue(chunkStore(services, id, band), row?.queues[band] ?? EMPTY_CURSORS);
    this.#bands = [open(0), open(1), open(2)];
  }

  get length(): number {
    return this.#bands[0].length + this.#bands[1].length + this.#bands[2].length;
  }

  /** Entries held in memory. */
  get resident(): number {
    return this.#bands[0].resident + this.#bands[1].resident + this.#bands[2].resident;
  }

  lengths(): readonly number[] {
    return this.#bands.map((queue) => queue.length);
  }

  cursors(): HostRow['queues'] {
    const [first, second, third] = this.#bands;
    return [first.cursors(), second.cursors(), third.cursors()];
  }

  /** Appends an entry; the frontier log gets it in the same commit. */
  push(band: Band, entry: Omit<QueueEntry, 'sequence'>): void {
    const placed = this.#bands[band].push(entry);
    const { hostKey, partition } = this.#id;
    this.#stage.discovered({ hostKey, partition, band, entry: placed });
    this.#stage.count(QUEUED[band]);
    this.#count();
  }

  /** The next entry: the oldest of the best band that has one. */
  peek(): { readonly band: Band; readonly entry: QueueEntry } | undefined {
    for (const band of BANDS) {
      const entry = this.#bands[band].peek();
      if (entry === undefined) continue;
      this.#count();
      return { band, entry };
    }
    return undefined;
  }

  /** The head of a band is done. */
  advance(band: Band): void {
    this.#bands[band].advance();
    this.#stage.count(QUEUED[band], -1);
    this.#count();
  }

  /** Moves buffered entries into chunk rows. The host's row must be staged in the same turn. */
  spill(): void {
    for (const queue of this.#bands) queue.spill();
  }

  /** Spills and forgets what is in memory. */
  unload(): void {
    for (const queue of this.#bands) queue.unload();
    this.#count();
  }

  #count(): void {
    const resident = this.resident;
    this.#residency.entries += resident - this.#resident;
    this.#resident = resident;
  }
}

function chunkStore(services: QueueServices, id: QueueIdentity, band: Band): ChunkStore {
  const { hostKey, partition } = id;
  return {
    read: (sequence) => services.reader.chunk(hostKey, partition, band, sequence),
    write: (entries) => services.stage.chunk({ hostKey, partition, band, entries }),
    remove: (firstSequence) =>
      services.stage.removeChunk({ hostKey, partition, band, firstSequence }),
  };
}
