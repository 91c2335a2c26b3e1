// Step 10 on the shard's side: collects what is to become durable and hands it over as one batch, so that a page row, its done mark and
// its host's gap state are one commit (I8). Host rows are taken when the batch closes, not when the host was touched: a batch is therefore
// always a consistent picture. What waits for a commit is told of it by sequence number (I7: nothing is acknowledged before).

import { assert } from '../base/assert.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import type {
  AuditEntry,
  CheckpointBatch,
  CheckpointPort,
  ChunkCheckpoint,
  ChunkRemoval,
  DeniedCheckpoint,
  DiscoveredCheckpoint,
  DueCheckpoint,
  DueRowTaken,
  OutboxCheckpoint,
  PageCheckpoint,
  PageReceipt,
  UrlPlace,
} from './ports.ts';
import type { HostRow, Lane, PageRow, QueueEntry, RobotsRow } from './rows.ts';

/** A batch closes at this many pages, or … */
const BATCH_PAGES_MAX = 128;
/** … this many body bytes, or … */
const BATCH_BYTES_MAX = 2 * 1024 * 1024;
/** … this many discovered URLs; or when the shard's flush timer fires. */
const BATCH_DISCOVERED_MAX = 4_096;

/** Told when the batch that holds a page is durable. */
export type PageCommitted = (page: PageCheckpoint, receipt: PageReceipt) => void;

interface OpenBatch {
  pages: PageCheckpoint[];
  hosts: Map<HostKey, () => HostRow>;
  robots: { hostKey: HostKey; partition: PartitionIndex; row: RobotsRow }[];
  discovered: DiscoveredCheckpoint[];
  chunks: ChunkCheckpoint[];
  chunkRemovals: ChunkRemoval[];
  denied: Map<UrlKey, DeniedCheckpoint>;
  deniedRemovals: Map<UrlKey, UrlPlace>;
  parsedIds: number[];
  pageRows: (UrlPlace & { row: PageRow })[];
  due: DueCheckpoint[];
  dueTaken: DueRowTaken[];
  outbox: OutboxCheckpoint[];
  audit: AuditEntry[];
  counters: Record<string, number>;
  sweptThroughSegment: number | undefined;
}

const newBatch = (): OpenBatch => ({
  pages: [],
  hosts: new Map(),
  robots: [],
  discovered: [],
  chunks: [],
  chunkRemovals: [],
  denied: new Map(),
  deniedRemovals: new Map(),
  parsedIds: [],
  pageRows: [],
  due: [],
  dueTaken: [],
  outbox: [],
  audit: [],
  counters: {},
  sweptThroughSegment: undefined,
});

interface Submitted {
  readonly sequence: number;
  readonly pages: readonly PageCheckpoint[];
  readonly waiters: readonly (() => void)[];
}

export class CheckpointStage {
  readonly #port: CheckpointPort;
  readonly #pageCommitted: PageCommitted;
  readonly #full: () => void;
  readonly #opened: () => void;
  #fullTold = false;
  #open: OpenBatch = newBatch();
  #openBytes = 0;
  #empty = true;
  #waiters: (() => void)[] = [];
  #nextSequence = 1;
  #committedThrough = 0;
  readonly #submitted: Submitted[] = [];

  /**
   * @param told.opened called when the first thing is staged in an empty batch, by whomever: from now on `flush` is due within the flush
   *   time
   * @param told.full called once when the open batch has grown large: `flush` should follow soon, but never in the middle of an actor's
   *   turn, when its row would not yet tell of what it has just staged
   */
  constructor(
    port: CheckpointPort,
    told: {
      readonly pageCommitted: PageCommitted;
      readonly opened: () => void;
      readonly full: () => void;
    },
  ) {
    this.#port = port;
    this.#pageCommitted = told.pageCommitted;
    this.#full = told.full;
    this.#opened = told.opened;
  }

  /** The sequence number that what is staged now will commit under. */
  get openSequence(): number {
    return this.#nextSequence;
  }

  /** Everything up to this sequence is durable. */
  get committedThrough(): number {
    return this.#committedThrough;
  }

  /** True when something is staged in the open batch. */
  get hasOpen(): boolean {
    return !this.#empty;
  }

  /** True when nothing is staged and nothing awaits its commit. */
  get idle(): boolean {
    return this.#empty && this.#submitted.length === 0;
  }

  /** Batches handed over and not yet durable. */
  get batchesPending(): number {
    return this.#submitted.length;
  }

  /** Bytes staged or awaiting their commit. */
  pendingBytes(): number {
    return this.#openBytes + this.#port.pendingBytes();
  }

  page(page: PageCheckpoint): void {
    this.#open.pages.push(page);
    this.#openBytes += page.response?.payload.byteLength ?? 0;
    this.#grown();
  }

  /** The host's row changed; `row` is asked for it when the batch closes. */
  host(hostKey: HostKey, row: () => HostRow): void {
    this.#open.hosts.set(hostKey, row);
    this.#stir();
  }

  robots(hostKey: HostKey, partition: PartitionIndex, row: RobotsRow): void {
    this.#open.robots.push({ hostKey, partition, row });
    this.#stir();
  }

  discovered(entry: DiscoveredCheckpoint): void {
    this.#open.discovered.push(entry);
    this.#grown();
  }

  chunk(chunk: ChunkCheckpoint): void {
    this.#open.chunks.push(chunk);
    this.#stir();
  }

  /** A chunk that is in the open batch still never reaches the disk: removals are carried out before the rows of a batch. */
  removeChunk(removal: ChunkRemoval): void {
    const { chunks, chunkRemovals } = this.#open;
    const staged = chunks.findIndex((chunk) => isChunk(chunk, removal));
    if (staged === -1) chunkRemovals.push(removal);
    else chunks.splice(staged, 1);
    this.#stir();
  }

  denied(denied: DeniedCheckpoint): void {
    this.#open.denied.set(denied.entry.urlKey, denied);
    this.#stir();
  }

  removeDenied(hostKey: HostKey, partition: PartitionIndex, urlKey: UrlKey): void {
    this.#open.denied.delete(urlKey);
    this.#open.deniedRemovals.set(urlKey, { hostKey, partition, urlKey });
    this.#stir();
  }

  // ------------------------------------------------------------------------------ what is staged, for staged-reader.ts

  /** The row a host would be committed with now, if it is in the open batch. */
  stagedHost(hostKey: HostKey): HostRow | undefined {
    return this.#open.hosts.get(hostKey)?.();
  }

  /** Robots rows of a host in the open batch, oldest first. */
  stagedRobots(hostKey: HostKey): readonly RobotsRow[] {
    return this.#open.robots.filter((robots) => robots.hostKey === hostKey).map(({ row }) => row);
  }

  /** The chunk of the open batch that contains an entry. */
  stagedChunk(hostKey: HostKey, band: Lane, sequence: number): readonly QueueEntry[] | undefined {
    return this.#open.chunks.find((chunk) => {
      const first = chunk.entries[0]?.sequence ?? Infinity;
      const isBefore = first <= sequence && sequence < first + chunk.entries.length;
      return isBefore && chunk.hostKey === hostKey && chunk.band === band;
    })?.entries;
  }

  /** What the open batch says of a denied URL: it is (again), it is no longer, or nothing. */
  stagedDenied(urlKey: UrlKey): 'denied' | 'removed' | undefined {
    if (this.#open.denied.has(urlKey)) return 'denied';
    return this.#open.deniedRemovals.has(urlKey) ? 'removed' : undefined;
  }

  /** URLs of a host that the open batch records as denied. */
  *stagedDenials(hostKey: HostKey): Generator<DeniedCheckpoint> {
    for (const denied of this.#open.denied.values()) if (denied.hostKey === hostKey) yield denied;
  }

  /** A page's outlinks are durable at their owners: it leaves the unparsed log. */
  parsed(unparsedId: number): void {
    this.#open.parsedIds.push(unparsedId);
    this.#stir();
  }

  /** Something was found out about a page after its commit. */
  pageRow(place: UrlPlace, row: PageRow): void {
    const { hostKey, partition, urlKey } = place;
    this.#open.pageRows.push({ hostKey, partition, urlKey, row });
    this.#stir();
  }

  /** A page is due at another time than its last visit said. */
  due(due: DueCheckpoint): void {
    this.#open.due.push(due);
    this.#stir();
  }

  /** Pages of a row of the schedule have entered their hosts' queues. */
  dueTaken(taken: DueRowTaken): void {
    this.#open.dueTaken.push(taken);
    this.#stir();
  }

  /** True when a visit of this page is in the open batch: its row is not to be had yet. Looks at 128 pages at most. */
  hasStagedPage(urlKey: UrlKey): boolean {
    return this.#open.pages.some((page) => page.urlKey === urlKey);
  }

  /** Links for another machine, encoded: durable here until their receiver has committed them. */
  outbox(partition: PartitionIndex, id: number, bytes: Uint8Array): void {
    this.#open.outbox.push({ partition, id, bytes });
    this.#openBytes += bytes.byteLength;
    this.#stir();
  }

  removeOutbox(partition: PartitionIndex, id: number): void {
    this.#open.outbox.push({ partition, id, bytes: undefined });
    this.#stir();
  }

  audit(entry: AuditEntry): void {
    this.#open.audit.push(entry);
    this.#stir();
  }

  /** Adds to one of the crawl's durable counters. */
  count(name: string, by = 1): void {
    this.#open.counters[name] = (this.#open.counters[name] ?? 0) + by;
    this.#stir();
  }

  swept(throughSegment: number): void {
    this.#open.sweptThroughSegment = throughSegment;
    this.#stir();
  }

  /** Calls `then` once all that is staged now is durable. */
  afterCommit(then: () => void): void {
    this.#waiters.push(then);
    this.#stir();
  }

  /** Hands the open batch over, if it holds anything. */
  flush(): void {
    if (this.#empty) return;
    const open = this.#open;
    const sequence = this.#nextSequence;
    const hosts = Array.from(open.hosts, ([hostKey, row]) => ({ hostKey, row: row() }));
    const denied = [...open.denied.values()];
    const deniedRemovals = [...open.deniedRemovals.values()];
    const batch: CheckpointBatch = Object.assign({}, open, {
      sequence,
      hosts,
      denied,
      deniedRemovals,
    });
    this.#submitted.push({ sequence, pages: open.pages, waiters: this.#waiters });
    this.#open = newBatch();
    this.#openBytes = 0;
    this.#empty = true;
    this.#fullTold = false;
    this.#waiters = [];
    this.#nextSequence += 1;
    this.#port.submit(batch);
  }

  /** The storage's word that a batch is durable. @throws AssertionFailure when receipts come out of order */
  committed(sequence: number, receipts: readonly PageReceipt[]): void {
    const batch = this.#submitted.shift();
    assert(batch !== undefined, () => `receipt ${sequence} for nothing`);
    assert(batch.sequence === sequence, () => `receipt ${sequence}, expected ${batch.sequence}`);
    assert(batch.pages.length === receipts.length, () => `batch ${sequence}: receipts differ`);
    this.#committedThrough = sequence;
    for (const [index, page] of batch.pages.entries()) {
      this.#pageCommitted(page, receipts[index] as PageReceipt);
    }
    for (const then of batch.waiters) then();
  }

  #stir(): void {
    if (!this.#empty) return;
    this.#empty = false;
    this.#opened();
  }

  #grown(): void {
    this.#stir();
    const full =
      this.#open.pages.length >= BATCH_PAGES_MAX ||
      this.#openBytes >= BATCH_BYTES_MAX ||
      this.#open.discovered.length >= BATCH_DISCOVERED_MAX;
    if (!full || this.#fullTold) return;
    this.#fullTold = true;
    this.#full();
  }
}

function isChunk(chunk: ChunkCheckpoint, removal: ChunkRemoval): boolean {
  const { hostKey, band, entries } = chunk;
  const isBand = hostKey === removal.hostKey && band === removal.band;
  return isBand && entries[0]?.sequence === removal.firstSequence;
}
