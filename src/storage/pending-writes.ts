// A shard's own writes that are on their way to the disk, so that it reads what it wrote (step 10: a host may go on before the commit). Each
// entry carries the sequence of the batch that wrote it last and goes when that batch is durable. Bounded by what the shard may have
// pending (CheckpointPort.pendingBytes). URL keys name rows here without their host: they are unique in a crawl.

import type { CheckpointBatch, DeniedCheckpoint } from '../actors/ports.ts';
import {
  type HostRow,
  LANES,
  type Lane,
  type PageRow,
  type QueueEntry,
  type RobotsRow,
} from '../actors/rows.ts';
import type { HostKey, UrlKey } from '../base/units.ts';

/** What was written last: a row, or `undefined` for its removal. */
interface Pending<Value> {
  readonly value: Value | undefined;
  readonly sequence: number;
}

type PendingRows<Key, Value> = Map<Key, Pending<Value>>;

/** The keys a batch wrote, without its bodies. */
interface WrittenKeys {
  readonly sequence: number;
  readonly urlKeys: readonly UrlKey[];
  readonly rows: Pick<
    CheckpointBatch,
    'hosts' | 'robots' | 'chunks' | 'chunkRemovals' | 'denied' | 'deniedRemovals' | 'parsedIds'
  >;
}

/** A place in one band's queue of one host. */
interface QueuePlace {
  readonly hostKey: HostKey;
  readonly band: Lane;
  readonly sequence: number;
}

type PendingChunks = PendingRows<number, readonly QueueEntry[]>;

/** The pending writes of one shard. A look-up gives undefined when nothing is pending for the key. */
export class PendingWrites {
  readonly #written: WrittenKeys[] = [];
  readonly #hosts: PendingRows<HostKey, HostRow> = new Map();
  /** By lane, host and first sequence. */
  readonly #chunks: readonly Map<HostKey, PendingChunks>[] = LANES.map(() => new Map());
  readonly #pages: PendingRows<UrlKey, PageRow> = new Map();
  readonly #robots = new Map<HostKey, PendingRows<string, RobotsRow>>();
  readonly #denied = new Map<HostKey, PendingRows<UrlKey, DeniedCheckpoint>>();
  readonly #parsedIds = new Set<number>();

  /** Batches not yet durable. */
  get batches(): number {
    return this.#written.length;
  }

  /**
   * Records a batch that was just sent.
   * @param rows its page rows as far as known, in the order of its pages
   */
  add(batch: CheckpointBatch, rows: readonly (PageRow | undefined)[]): void {
    const { sequence } = batch;
    const { hosts, robots, chunks, chunkRemovals, denied, deniedRemovals, parsedIds } = batch;
    const urlKeys = [...batch.pages, ...batch.pageRows].map(({ urlKey }) => urlKey);
    const kept = { hosts, robots, chunks, chunkRemovals, denied, deniedRemovals, parsedIds };
    this.#written.push({ sequence, urlKeys, rows: kept });
    for (const [index, page] of batch.pages.entries()) {
      const value = rows[index];
      if (value !== undefined) this.#pages.set(page.urlKey, { value, sequence });
    }
    for (const { urlKey, row } of batch.pageRows) this.#pages.set(urlKey, { value: row, sequence });
    for (const { hostKey, row } of hosts) this.#hosts.set(hostKey, { value: row, sequence });
    for (const { hostKey, row } of robots) {
      inner(this.#robots, hostKey).set(row.origin, { value: row, sequence });
    }
    for (const { hostKey, band, firstSequence } of chunkRemovals) {
      inner(this.#band(band), hostKey).set(firstSequence, { value: undefined, sequence });
    }
    for (const { hostKey, band, entries } of chunks) {
      const first = entries[0]?.sequence ?? 0;
      inner(this.#band(band), hostKey).set(first, { value: entries, sequence });
    }
    for (const { hostKey, urlKey } of deniedRemovals) {
      inner(this.#denied, hostKey).set(urlKey, { value: undefined, sequence });
    }
    for (const one of denied) {
      inner(this.#denied, one.hostKey).set(one.entry.urlKey, { value: one, sequence });
    }
    for (const id of parsedIds) this.#parsedIds.add(id);
  }

  /** Forgets what batches up to `through` wrote: the tables have it now. */
  settle(through: number): void {
    for (;;) {
      const written = this.#written[0];
      if (written === undefined || written.sequence > through) return;
      this.#written.shift();
      this.#forget(written);
    }
  }

  host(hostKey: HostKey): Pending<HostRow> | undefined {
    return this.#hosts.get(hostKey);
  }

  /** The pending chunk that contains an entry; few are pending for one host. */
  chunkWith({ hostKey, band, sequence }: QueuePlace): readonly QueueEntry[] | undefined {
    for (const [first, { value }] of this.#band(band).get(hostKey) ?? []) {
      if (value !== undefined && first <= sequence && sequence < first + value.length) return value;
    }
    return undefined;
  }

  /** True when a chunk with this first sequence is pending, be it its removal. */
  hasChunk({ hostKey, band, sequence }: QueuePlace): boolean {
    return this.#band(band).get(hostKey)?.has(sequence) === true;
  }

  page(urlKey: UrlKey): Pending<PageRow> | undefined {
    return this.#pages.get(urlKey);
  }

  robots(hostKey: HostKey): ReadonlyMap<string, Pending<RobotsRow>> | undefined {
    return this.#robots.get(hostKey);
  }

  denied(hostKey: HostKey): ReadonlyMap<UrlKey, Pending<DeniedCheckpoint>> | undefined {
    return this.#denied.get(hostKey);
  }

  /** True when the page's outlinks are reported durable by a batch on its way. */
  isParsed(unparsedId: number): boolean {
    return this.#parsedIds.has(unparsedId);
  }

  /** Hosts with a pending row. */
  hosts(): IterableIterator<[HostKey, Pending<HostRow>]> {
    return this.#hosts.entries();
  }

  #band(band: Lane): Map<HostKey, PendingChunks> {
    return this.#chunks[band] as Map<HostKey, PendingChunks>;
  }

  #forget({ sequence, urlKeys, rows }: WrittenKeys): void {
    for (const urlKey of urlKeys) drop(this.#pages, urlKey, sequence);
    for (const { hostKey } of rows.hosts) drop(this.#hosts, hostKey, sequence);
    for (const { hostKey, row } of rows.robots) {
      dropInner(this.#robots, hostKey, row.origin, sequence);
    }
    for (const { hostKey, band, firstSequence } of rows.chunkRemovals) {
      dropInner(this.#band(band), hostKey, firstSequence, sequence);
    }
    for (const { hostKey, band, entries } of rows.chunks) {
      dropInner(this.#band(band), hostKey, entries[0]?.sequence ?? 0, sequence);
    }
    for (const { hostKey, urlKey } of rows.deniedRemovals) {
      dropInner(this.#denied, hostKey, urlKey, sequence);
    }
    for (const { hostKey, entry } of rows.denied) {
      dropInner(this.#denied, hostKey, entry.urlKey, sequence);
    }
    for (const id of rows.parsedIds) this.#parsedIds.delete(id);
  }
}

function inner<Key, Value>(
  outer: Map<HostKey, PendingRows<Key, Value>>,
  hostKey: HostKey,
): PendingRows<Key, Value> {
  const rows = outer.get(hostKey) ?? new Map();
  outer.set(hostKey, rows);
  return rows;
}

/** Removes a key's entry unless a later batch wrote it again. */
function drop<Key, Value>(rows: PendingRows<Key, Value>, key: Key, sequence: number): void {
  const row = rows.get(key);
  if (row !== undefined && row.sequence <= sequence) rows.delete(key);
}

function dropInner<Key, Value>(
  outer: Map<HostKey, PendingRows<Key, Value>>,
  hostKey: HostKey,
  key: Key,
  sequence: number,
): void {
  const rows = outer.get(hostKey);
  if (rows === undefined) return;
  drop(rows, key, sequence);
  if (rows.size === 0) outer.delete(hostKey);
}
