// Step 10 simulated: group commit over a SimDisk with exact crash semantics. Batches of all shards queue in the order they were submitted;
// a group takes what is there, is durable after a drawn time, and is acknowledged after another. A crash drops what was not committed and
// the receipts under way, whichever boundary it falls on. A shard reads committed rows and those of its batches that are under way, never
// what it has staged and not yet submitted, as the real client does (ports.ts, StateReader).
import type {
  CheckpointBatch,
  CheckpointPort,
  DeniedCheckpoint,
  DueLook,
  PageReceipt,
  StateReader,
  StorageEvent,
  StoredBody,
  UnparsedPage,
} from '../../../src/actors/ports.ts';
import {
  type HostRow,
  hasWork,
  type Lane,
  type PageRow,
  type QueueEntry,
  type RobotsRow,
} from '../../../src/actors/rows.ts';
import type { SeededRandom } from '../../../src/base/random.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../../../src/base/units.ts';
import { bandName, type HostAt, type SimDisk } from './sim-disk.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { Boundary } from './sim-plan.ts';

/** What the storage of one run needs. */
export interface SimStorageOptions {
  readonly kernel: SimKernel;
  readonly disk: SimDisk;
  readonly shards: number;
  readonly rollEntries: number;
  readonly commitMs: readonly [number, number];
  readonly stallRate: number;
  readonly random: SeededRandom;
  readonly deliver: (shard: number, event: StorageEvent) => void;
  readonly boundary: (boundary: Boundary) => void;
  /** Called after each commit with the hosts it wrote. */
  readonly committed: (hosts: ReadonlySet<HostKey>) => void;
}

interface Queued {
  readonly shard: number;
  readonly batch: CheckpointBatch;
  readonly bytes: number;
}

/** The storage thread of one run of the process. */
export class SimStorage {
  readonly #options: SimStorageOptions;
  readonly #clients: SimStorageClient[];
  readonly #swept: number[];
  #queue: Queued[] = [];
  #committing: Queued[] = [];
  #isDead = false;
  #hasFailed = false;
  /** When the last thing under way happens. */
  #lastMs = 0;

  constructor(options: SimStorageOptions) {
    this.#options = options;
    const { disk, shards } = options;
    this.#swept = new Array<number>(shards).fill(disk.segment - 1);
    this.#clients = Array.from({ length: shards }, (_, shard) => {
      return new SimStorageClient(disk, (batch) => this.#submit(shard, batch));
    });
  }

  client(shard: number): SimStorageClient {
    return this.#clients[shard] as SimStorageClient;
  }

  /** True when nothing is under way. */
  get isIdle(): boolean {
    return this.#clients.every(({ isIdle }) => isIdle);
  }

  /** Longest time from a submit to its commit in this run, drawn stalls included; ms. */
  get commitMsMax(): number {
    return 2 * (this.#options.commitMs[1] + (this.#options.stallRate > 0 ? STALL_MS_MAX : 0)) + 4;
  }

  /** The process is gone: nothing more is committed or told. */
  kill(): void {
    this.#isDead = true;
  }

  /** The disk is full: what is not committed never will be. */
  failNow(): void {
    this.#hasFailed = true;
    this.#queue = [];
    this.#committing = [];
    for (const [shard, client] of this.#clients.entries()) {
      client.failed();
      this.#options.deliver(shard, { kind: 'storage-failed', code: 'disk-full', detail: 'full' });
    }
  }

  #submit(shard: number, batch: CheckpointBatch): void {
    if (this.#hasFailed) {
      this.client(shard).wrote(batch, 0);
      return;
    }
    let bytes = 200;
    for (const { response } of batch.pages) bytes += response?.payload.length ?? 0;
    this.#queue.push({ shard, batch, bytes });
    this.client(shard).wrote(batch, bytes);
    this.#options.boundary('batch-submitted');
    if (this.#committing.length === 0 && this.#queue.length === 1) this.#later(1, this.#begin);
  }

  #later(floorMs: number, then: () => void): void {
    const { kernel, commitMs, random, stallRate } = this.#options;
    let ms = floorMs + commitMs[0] + random.float() * (commitMs[1] - commitMs[0]);
    if (kernel.faultsOn && random.chance(stallRate)) {
      ms += random.float() * STALL_MS_MAX;
      kernel.count('storage.stall');
    }
    // The storage thread is one: nothing it does overtakes what it did before.
    this.#lastMs = Math.max(this.#lastMs, kernel.nowMs + ms);
    kernel.clock.after(this.#lastMs - kernel.nowMs, () => {
      if (!this.#isDead && !this.#hasFailed) then();
    });
  }

  readonly #begin = (): void => {
    this.#committing = this.#queue;
    this.#queue = [];
    if (this.#committing.length === 0) return;
    this.#options.boundary('commit-begun');
    this.#later(0, this.#commit);
  };

  readonly #commit = (): void => {
    const { disk, kernel, rollEntries } = this.#options;
    const hosts = new Set<HostKey>();
    const receipts: { queued: Queued; list: PageReceipt[] }[] = [];
    for (const queued of this.#committing) {
      const { batch, shard } = queued;
      receipts.push({ queued, list: disk.apply(batch) });
      for (const { hostKey } of batch.hosts) hosts.add(hostKey);
      for (const { hostKey } of batch.discovered) hosts.add(hostKey);
      const { sweptThroughSegment: swept } = batch;
      if (swept !== undefined) {
        this.#swept[shard] = Math.max(this.#swept[shard] as number, swept);
        kernel.count('storage.swept');
      }
    }
    disk.forget(Math.min(...this.#swept));
    kernel.note(
      `commit ${receipts.map(({ queued }) => `${queued.shard}:${queued.batch.sequence}`)}`,
    );
    this.#options.committed(hosts);
    this.#options.boundary('committed');
    const segment = disk.roll(rollEntries);
    this.#committing = [];
    this.#later(0, () => this.#acknowledge(receipts, segment));
    if (this.#queue.length > 0) this.#later(1, this.#begin);
  };

  #acknowledge(receipts: { queued: Queued; list: PageReceipt[] }[], segment?: number): void {
    for (const { queued, list } of receipts) {
      const { shard, batch, bytes } = queued;
      this.client(shard).acknowledged(batch, bytes);
      const { sequence } = batch;
      this.#options.deliver(shard, { kind: 'checkpoint-committed', sequence, receipts: list });
      this.#options.boundary('receipt-delivered');
    }
    if (segment === undefined) return;
    this.#options.kernel.count('storage.log-rolled');
    for (const shard of this.#clients.keys()) {
      this.#options.deliver(shard, { kind: 'log-rolled', segment });
    }
    this.#options.boundary('log-rolled');
  }
}

/** Longest stall of a commit, ms. */
const STALL_MS_MAX = 2_000;

/** One shard's end: submits, and reads what it has submitted over what is committed. */
export class SimStorageClient implements CheckpointPort, StateReader {
  readonly #disk: SimDisk;
  readonly #send: (batch: CheckpointBatch) => void;
  /** Batches under way, oldest first. */
  #pending: CheckpointBatch[] = [];
  #bytes = 0;
  #sequence = 0;

  constructor(disk: SimDisk, send: (batch: CheckpointBatch) => void) {
    this.#disk = disk;
    this.#send = send;
  }

  get isIdle(): boolean {
    return this.#pending.length === 0;
  }

  submit(batch: CheckpointBatch): void {
    if (batch.sequence !== this.#sequence + 1)
      throw new Error(`batch ${batch.sequence} in disorder`);
    this.#sequence = batch.sequence;
    checkDiscovered(batch);
    this.#send(batch);
  }

  pendingBytes(): number {
    return this.#bytes;
  }

  wrote(batch: CheckpointBatch, bytes: number): void {
    this.#pending.push(batch);
    this.#bytes += bytes;
  }

  acknowledged(batch: CheckpointBatch, bytes: number): void {
    if (this.#pending.shift() !== batch) throw new Error(`receipt ${batch.sequence} in disorder`);
    this.#bytes -= bytes;
  }

  failed(): void {
    this.#bytes = 0;
  }

  host(hostKey: HostKey): HostRow | undefined {
    for (let at = this.#pending.length - 1; at >= 0; at -= 1) {
      const found = this.#pending[at]?.hosts.findLast((host) => host.hostKey === hostKey);
      if (found !== undefined) return found.row;
    }
    return this.#disk.hosts.get(hostKey);
  }

  robots(hostKey: HostKey): readonly RobotsRow[] {
    const rows = new Map(this.#disk.robots.get(hostKey));
    for (const { robots } of this.#pending) {
      for (const one of robots) if (one.hostKey === hostKey) rows.set(one.row.origin, one.row);
    }
    return [...rows.values()];
  }

  chunk(
    hostKey: HostKey,
    _partition: PartitionIndex,
    band: Lane,
    sequence: number,
  ): readonly QueueEntry[] | undefined {
    const rows = new Map(this.#disk.chunks.get(bandName(hostKey, band)));
    for (const batch of this.#pending) {
      for (const one of batch.chunkRemovals) {
        if (one.hostKey === hostKey && one.band === band) rows.delete(one.firstSequence);
      }
      for (const one of batch.chunks) {
        if (one.hostKey !== hostKey || one.band !== band) continue;
        rows.set((one.entries[0] as QueueEntry).sequence, one.entries);
      }
    }
    let best = -1;
    for (const first of rows.keys()) if (first <= sequence && first > best) best = first;
    return rows.get(best);
  }

  /** Nothing is rendered in the simulated crawl. */
  rendered(): undefined {
    return undefined;
  }

  page(_hostKey: HostKey, _partition: PartitionIndex, urlKey: UrlKey): PageRow | undefined {
    // What a batch under way makes of a page is known when it is committed; until then it is not to be had, as behind the stage.
    const isUnderWay = this.#pending.some(({ pages }) =>
      pages.some((page) => page.urlKey === urlKey),
    );
    return isUnderWay ? undefined : this.#disk.pages.get(urlKey);
  }

  *denied(hostKey: HostKey): Generator<DeniedCheckpoint> {
    yield* this.#deniedRows(hostKey).values();
  }

  isDenied(hostKey: HostKey, _partition: PartitionIndex, urlKey: UrlKey): boolean {
    return this.#deniedRows(hostKey).has(urlKey);
  }

  *hostsWithWork(owns: (partition: PartitionIndex) => boolean): Generator<HostAt> {
    for (const [hostKey, row] of this.#disk.hosts) {
      if (hasWork(row) && owns(row.partition)) yield { hostKey, partition: row.partition, row };
    }
  }

  *unparsed(owns: (partition: PartitionIndex) => boolean): Generator<UnparsedPage> {
    for (const page of [...this.#disk.unparsed.values()]) if (owns(page.partition)) yield page;
  }

  due(
    owns: (partition: PartitionIndex) => boolean,
    look: Parameters<StateReader['due']>[1],
  ): DueLook {
    return this.#disk.due.look(owns, look);
  }

  body(pointer: { readonly file: number; readonly record: number }): StoredBody | undefined {
    return this.#disk.body(pointer);
  }

  #deniedRows(hostKey: HostKey): Map<UrlKey, DeniedCheckpoint> {
    const rows = new Map(this.#disk.denied.get(hostKey));
    for (const batch of this.#pending) {
      for (const one of batch.deniedRemovals) if (one.hostKey === hostKey) rows.delete(one.urlKey);
      for (const one of batch.denied) {
        if (one.hostKey === hostKey) rows.set(one.entry.urlKey, one);
      }
    }
    return rows;
  }
}

/** As the real packer: sequences of one host and band follow one another within a batch. */
function checkDiscovered(batch: CheckpointBatch): void {
  const last = new Map<string, number>();
  for (const { hostKey, band, entry } of batch.discovered) {
    const name = bandName(hostKey, band);
    const before = last.get(name);
    if (before !== undefined && entry.sequence !== before + 1) {
      throw new Error(`hole before ${entry.sequence} of ${name}`);
    }
    last.set(name, entry.sequence);
  }
}
