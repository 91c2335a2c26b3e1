// The back queues of one host, one per band and one for parked URLs, tied to the host's chunk rows and to the frontier log (step 7). Priority is
// strict among the bands of discovery; between discovery and pages due for another visit the host's requests are split as configured, so
// that neither ever waits for the other's end (DESIGN.md §4). Fairness between hosts is the shard's matter (host-schedule.ts). What is
// parked is queued like everything else, and so as durable and as cheap, but gets no slot: when it leaves, it is by host-budget.ts.

import type { HostKey, PartitionIndex } from '../base/units.ts';
import { FreshnessSplit } from '../domain/split.ts';
import { BackQueue, type ChunkStore } from './back-queue.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { StateReader } from './ports.ts';
import { type Residency, ResidencyShare } from './residency.ts';
import {
  BANDS,
  type Band,
  cursorsOf,
  FRESHNESS,
  type HostRow,
  type Lane,
  PARKED,
  type QueueCursors,
  type QueueEntry,
} from './rows.ts';

/** Counters of URLs waiting, by lane. */
const QUEUED = ['queued.0', 'queued.1', 'queued.2', 'parked.urls', 'queued.due'] as const;

const FRESHNESS_FIRST: readonly Band[] = [FRESHNESS, 0, 1, 2];

interface QueueIdentity {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
}

interface QueueServices {
  readonly stage: CheckpointStage;
  readonly residency: Residency;
  readonly reader: Pick<StateReader, 'chunk'>;
  /** Percent of the requests that go to due pages while there is something to discover too; 1 … 99. */
  readonly policy: { readonly freshnessShare: number };
}

export class HostQueues {
  readonly #stage: CheckpointStage;
  readonly #sum: Residency;
  readonly #residency: ResidencyShare;
  readonly #id: QueueIdentity;
  /** By their numbers. */
  readonly #lanes: readonly [BackQueue, BackQueue, BackQueue, BackQueue, BackQueue];
  readonly #split: FreshnessSplit;

  constructor(services: QueueServices, id: QueueIdentity, row: HostRow | undefined) {
    this.#stage = services.stage;
    this.#sum = services.residency;
    this.#residency = new ResidencyShare(services.residency);
    this.#id = id;
    const open = (lane: Lane) =>
      new BackQueue(chunkStore(services, id, lane), cursorsOf(row, lane));
    this.#lanes = [open(0), open(1), open(2), open(PARKED), open(FRESHNESS)];
    this.#split = new FreshnessSplit(services.policy.freshnessShare);
  }

  /** URLs that wait for their turn. */
  get length(): number {
    return this.#discovery + this.#lanes[FRESHNESS].length;
  }

  /** URLs that are parked. */
  get parked(): number {
    return this.#lanes[PARKED].length;
  }

  /** Entries held in memory. */
  get resident(): number {
    const [first, second, third, parked, due] = this.#lanes;
    const discovery = first.resident + second.resident + third.resident;
    return discovery + parked.resident + due.resident;
  }

  /** URLs that wait for their turn, by band. */
  lengths(): readonly number[] {
    return BANDS.map((band) => this.#lanes[band].length);
  }

  /** True when URLs wait that come before those of a band. */
  hasBefore(band: Band): boolean {
    return BANDS.some((at) => at < band && this.#lanes[at].length > 0);
  }

  cursors(): HostRow['queues'] {
    const [first, second, third] = this.#lanes;
    return [first.cursors(), second.cursors(), third.cursors()];
  }

  /** Cursors of the parked URLs; undefined while none was ever parked. */
  parkedCursors(): QueueCursors | undefined {
    const cursors = this.#lanes[PARKED].cursors();
    return cursors.tail === 0 ? undefined : cursors;
  }

  /** Cursors of the pages due for another visit; undefined while there never were any. */
  dueCursors(): QueueCursors | undefined {
    const cursors = this.#lanes[FRESHNESS].cursors();
    return cursors.tail === 0 ? undefined : cursors;
  }

  /** Appends an entry; the frontier log gets it in the same commit. */
  push(band: Band, entry: Omit<QueueEntry, 'sequence'>): void {
    this.#append(band, entry);
    if (band === FRESHNESS) this.#sum.visits += 1;
  }

  /** Sets an entry aside, behind those that are parked already. */
  park(entry: Omit<QueueEntry, 'sequence'>): void {
    this.#append(PARKED, entry);
  }

  /** The entry that has been parked longest. */
  peekParked(): QueueEntry | undefined {
    const entry = this.#lanes[PARKED].peek();
    this.#count();
    return entry;
  }

  /** Takes it out; the caller puts it elsewhere in the same turn. */
  takeParked(): QueueEntry | undefined {
    const entry = this.peekParked();
    if (entry !== undefined) this.#remove(PARKED);
    return entry;
  }

  /** The next entry: the oldest of the best band that has one, or of the due pages when it is their turn. */
  peek(): { readonly band: Band; readonly entry: QueueEntry } | undefined {
    const isTheirTurn = this.#lanes[FRESHNESS].length > 0 && this.#split.isFreshnessNext;
    const bands = isTheirTurn ? FRESHNESS_FIRST : BANDS;
    for (const band of bands) {
      const entry = this.#lanes[band].peek();
      if (entry === undefined) continue;
      this.#count();
      return { band, entry };
    }
    return undefined;
  }

  /** The head of a band is done. */
  advance(band: Band): void {
    if (this.#discovery > 0 && this.#lanes[FRESHNESS].length > 0) {
      this.#split.served(band === FRESHNESS ? 'freshness' : 'discovery');
    }
    if (band === FRESHNESS) this.#sum.visits -= 1;
    this.#remove(band);
  }

  /** Moves buffered entries into chunk rows. The host's row must be staged in the same turn. */
  spill(): void {
    for (const queue of this.#lanes) queue.spill();
  }

  /** Spills and forgets what is in memory. */
  unload(): void {
    for (const queue of this.#lanes) queue.unload();
    this.#count();
  }

  #append(lane: Lane, entry: Omit<QueueEntry, 'sequence'>): void {
    const placed = this.#lanes[lane].push(entry);
    const { hostKey, partition } = this.#id;
    this.#stage.discovered({ hostKey, partition, band: lane, entry: placed });
    this.#stage.count(QUEUED[lane]);
    if (lane < PARKED) this.#sum.waiting += 1;
    this.#count();
  }

  #remove(lane: Lane): void {
    this.#lanes[lane].advance();
    this.#stage.count(QUEUED[lane], -1);
    if (lane < PARKED) this.#sum.waiting -= 1;
    this.#count();
  }

  get #discovery(): number {
    return this.#lanes[0].length + this.#lanes[1].length + this.#lanes[2].length;
  }

  #count(): void {
    this.#residency.hold(this.resident);
  }
}

function chunkStore(services: QueueServices, id: QueueIdentity, band: Lane): ChunkStore {
  const { hostKey, partition } = id;
  return {
    read: (sequence) => services.reader.chunk(hostKey, partition, band, sequence),
    write: (entries) => services.stage.chunk({ hostKey, partition, band, entries }),
    remove: (firstSequence) =>
      services.stage.removeChunk({ hostKey, partition, band, firstSequence }),
  };
}
