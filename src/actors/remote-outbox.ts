// Step 3 between machines, the sending half: links for hosts of partitions that other nodes own, in numbered batches by partition, never by node,
// so that a change of owner re-routes nothing (CLUSTER.md, shuffle). A batch is a row of the outbox table before it is sent, and stays one
// until the RECEIVER has committed it and said so: correctness never rests on what the bus acknowledges (I7). Few batches of a partition
// are under way at a time; what is not answered is sent again, and whoever owns the partition by then takes it. At its bound the outbox is
// full and the shard stops parsing: a slow receiver slows its senders' parsers and fills no memory (I10).

import { assert } from '../base/assert.ts';
import type { PartitionIndex, UrlKey } from '../base/units.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { RemoteBatch, RoutedLink } from './messages.ts';

/** Links in a batch: 500–1,000 cost least per link (CLUSTER.md, shuffle). */
const BATCH_LINKS = 500;
/** Characters of URLs in a batch: far below the bus's largest message. */
const BATCH_CHARS = 512 * 1024;
/** Keys in a batch of known URLs. */
const BATCH_KEYS = 8_192;
/** Batches of one partition under way and not yet committed by the receiver. */
const WINDOW = 4;
/** An unanswered batch is sent again after this time. */
const RESEND_MS = 4_000;
/** Bytes not yet committed by their receivers above which no more pages are parsed; they lie on the disk. */
const OPEN_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of them that are also kept in memory. */
const RESIDENT_BYTES_MAX = 16 * 1024 * 1024;
/** Seals by the flush timer before open batches are closed: some 200 ms fill them better. */
const SEALS_A_BATCH = 5;
/** Rows of the outbox carry the shard that wrote them in their id, below this factor. */
const SHARDS_MAX = 1_024;

export interface RemoteOutboxOptions {
  readonly shard: number;
  readonly stage: CheckpointStage;
  readonly encode: (batch: RemoteBatch) => Uint8Array;
  /** Sends; what gets lost is sent again. `base`: everything up to it was committed by a receiver. */
  readonly publish: (
    at: { readonly partition: number; readonly batch: number; readonly base: number },
    bytes: Uint8Array,
  ) => void;
  /** Reads a committed row back. */
  readonly read: (partition: PartitionIndex, id: number) => Uint8Array | undefined;
  readonly nowMs: () => number;
}

interface Entry {
  readonly batch: number;
  readonly id: number;
  readonly size: number;
  /** Undefined once dropped for want of memory; the row has them. */
  bytes: Uint8Array | undefined;
  isDurable: boolean;
}

interface Lane {
  readonly partition: PartitionIndex;
  open: RoutedLink[];
  openChars: number;
  known: UrlKey[];
  /** Sealed and not yet committed by a receiver, oldest first. */
  readonly entries: Entry[];
  lastSealed: number;
  committedThrough: number;
  sentThrough: number;
  sentMs: number;
}

export class RemoteOutbox {
  readonly #options: RemoteOutboxOptions;
  readonly #lanes = new Map<PartitionIndex, Lane>();
  #waiting = 0;
  #openBytes = 0;
  #residentBytes = 0;
  #seals = 0;
  /** Grows whenever everything open is sealed; a page is durable once its generation is. */
  #generation = 0;
  #durableThrough = 0;
  #nextCounter = 1;

  constructor(options: RemoteOutboxOptions) {
    assert(options.shard < SHARDS_MAX, () => `shard ${options.shard}`);
    this.#options = options;
  }

  /** Links not yet in a sealed batch. */
  get waiting(): number {
    return this.#waiting;
  }

  /** True when parsing should wait for receipts. */
  get isFull(): boolean {
    return this.#openBytes >= OPEN_BYTES_MAX;
  }

  /** True when every link was committed by its receiver. */
  get isIdle(): boolean {
    return this.#waiting === 0 && this.#openBytes === 0;
  }

  /** The generation that holds the newest link added so far. */
  get mark(): number {
    return this.#waiting > 0 ? this.#generation + 1 : this.#generation;
  }

  /** Generations whose links are all durable here: their pages need not be parsed again. */
  get durableThrough(): number {
    return this.#durableThrough;
  }

  add(link: RoutedLink): void {
    const lane = this.#lane(link.partition);
    lane.open.push(link);
    lane.openChars += link.url.length;
    this.#waiting += 1;
    if (lane.open.length >= BATCH_LINKS || lane.openChars >= BATCH_CHARS) this.#sealLane(lane);
  }

  /** A URL that this node has settled: the new owner of its partition shall not fetch it again. */
  addKnown(partition: PartitionIndex, urlKey: UrlKey): void {
    const lane = this.#lane(partition);
    lane.known.push(urlKey);
    this.#waiting += 1;
    if (lane.known.length >= BATCH_KEYS) this.#sealLane(lane);
  }

  /** The shard's flush timer: closes open batches, each few times it is called. */
  seal(): void {
    if (this.#waiting === 0) return;
    this.#seals += 1;
    if (this.#seals < SEALS_A_BATCH) return;
    this.#seals = 0;
    for (const lane of this.#lanes.values()) this.#sealLane(lane);
    assert(this.#waiting === 0, () => `${this.#waiting} links left open`);
    this.#generation += 1;
    const generation = this.#generation;
    this.#options.stage.afterCommit(() => {
      this.#durableThrough = generation;
    });
  }

  /** Rows of an earlier run, in any order; to be called before anything is added. */
  recover(
    rows: Iterable<{ partition: PartitionIndex; id: number; size: number }>,
    shards: number,
  ): void {
    const { shard } = this.#options;
    for (const { partition, id, size } of rows) {
      this.#nextCounter = Math.max(this.#nextCounter, Math.floor(id / SHARDS_MAX) + 1);
      if ((id % SHARDS_MAX) % shards !== shard) continue;
      const lane = this.#lane(partition);
      lane.lastSealed += 1;
      this.#openBytes += size;
      lane.entries.push({ batch: lane.lastSealed, id, size, bytes: undefined, isDurable: true });
    }
  }

  /** A receiver has committed batches of this run up to `through`. Receipts may come twice, late, and from an owner of before. */
  committed(partition: PartitionIndex, through: number): void {
    const lane = this.#lanes.get(partition);
    if (lane === undefined || through > lane.sentThrough || through <= lane.committedThrough)
      return;
    lane.committedThrough = through;
    while (lane.entries[0] !== undefined && lane.entries[0].batch <= through) {
      const { id, size, bytes } = lane.entries.shift() as Entry;
      this.#openBytes -= size;
      if (bytes !== undefined) this.#residentBytes -= size;
      this.#options.stage.removeOutbox(partition, id);
    }
    this.#send(lane);
  }

  /** Another node owns the partition now: what the last one did not commit is sent again. */
  ownerChanged(partition: PartitionIndex): void {
    const lane = this.#lanes.get(partition);
    if (lane === undefined) return;
    lane.sentThrough = lane.committedThrough;
    this.#send(lane);
  }

  /** Sends what is due, again what was not answered. To be called about once a second. */
  pump(): void {
    const now = this.#options.nowMs();
    for (const lane of this.#lanes.values()) {
      const isOverdue = lane.sentThrough > lane.committedThrough && now - lane.sentMs >= RESEND_MS;
      if (isOverdue) lane.sentThrough = lane.committedThrough;
      this.#send(lane);
    }
  }

  #lane(partition: PartitionIndex): Lane {
    const known = this.#lanes.get(partition);
    if (known !== undefined) return known;
    const counts = { lastSealed: 0, committedThrough: 0, sentThrough: 0, sentMs: 0 };
    const lane: Lane = { partition, open: [], openChars: 0, known: [], entries: [], ...counts };
    this.#lanes.set(partition, lane);
    return lane;
  }

  #sealLane(lane: Lane): void {
    const { stage, encode, shard } = this.#options;
    if (lane.open.length + lane.known.length === 0) return;
    this.#waiting -= lane.open.length + lane.known.length;
    const bytes = encode({ links: lane.open, known: lane.known });
    const size = bytes.byteLength;
    lane.open = [];
    lane.openChars = 0;
    lane.known = [];
    lane.lastSealed += 1;
    const id = this.#nextCounter * SHARDS_MAX + shard;
    this.#nextCounter += 1;
    const entry: Entry = { batch: lane.lastSealed, id, size, bytes, isDurable: false };
    lane.entries.push(entry);
    this.#openBytes += size;
    this.#residentBytes += size;
    stage.outbox(lane.partition, id, bytes);
    stage.afterCommit(() => {
      entry.isDurable = true;
      if (this.#residentBytes > RESIDENT_BYTES_MAX) this.#drop(entry);
      this.#send(lane);
    });
  }

  #drop(entry: Entry): void {
    if (entry.bytes === undefined) return;
    entry.bytes = undefined;
    this.#residentBytes -= entry.size;
  }

  #send(lane: Lane): void {
    const { publish, read, nowMs } = this.#options;
    const { partition } = lane;
    for (const entry of lane.entries) {
      if (entry.batch > lane.committedThrough + WINDOW || !entry.isDurable) return;
      if (entry.batch <= lane.sentThrough) continue;
      const bytes = entry.bytes ?? read(partition, entry.id);
      assert(bytes !== undefined, () => `outbox row ${entry.id} of ${partition} is gone`);
      lane.sentThrough = entry.batch;
      lane.sentMs = nowMs();
      publish({ partition, batch: entry.batch, base: lane.committedThrough }, bytes);
    }
  }
}
