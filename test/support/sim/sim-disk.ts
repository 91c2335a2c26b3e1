// The committed state of a simulated crawl directory, and nothing else: what survives a crash. Rows in plain maps, the frontier log as
// segments of entries, the seen keys, pages with their bodies. `apply` is the one transaction of a group commit; `recover` is what a start
// does, with the very rule of the real storage (actors/queue-recovery.ts). Order within a batch is the real one: removals, then rows.
import { createHash } from 'node:crypto';
import type {
  CheckpointBatch,
  DeniedCheckpoint,
  DiscoveredCheckpoint,
  FetchResponse,
  PageCheckpoint,
  PageReceipt,
  StoredBody,
  UnparsedPage,
} from '../../../src/actors/ports.ts';
import { recoverQueues } from '../../../src/actors/queue-recovery.ts';
import type {
  BodyPointer,
  HostRow,
  PageRow,
  QueueEntry,
  RobotsRow,
} from '../../../src/actors/rows.ts';
import { BANDS, cursorsOf, LANES } from '../../../src/actors/rows.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../../../src/base/units.ts';
import { headerValue } from '../../../src/domain/header-list.ts';
import type { RecrawlPolicy } from '../../../src/domain/recrawl.ts';
import {
  dueOf,
  type PackedVisit,
  packNotModified,
  packVisit,
} from '../../../src/storage/pack-visit.ts';
import { SimDue } from './sim-due.ts';

/** A host row with its key. */
export interface HostAt {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly row: HostRow;
}

interface Segment {
  readonly number: number;
  entries: DiscoveredCheckpoint[];
}

/** Everything that is durable. */
export class SimDisk {
  readonly hosts = new Map<HostKey, HostRow>();
  readonly robots = new Map<HostKey, Map<string, RobotsRow>>();
  /** Chunk rows by host and band, then by the first sequence. */
  readonly chunks = new Map<string, Map<number, readonly QueueEntry[]>>();
  readonly pages = new Map<UrlKey, PageRow>();
  readonly pageHosts = new Map<UrlKey, HostKey>();
  readonly denied = new Map<HostKey, Map<UrlKey, DeniedCheckpoint>>();
  readonly unparsed = new Map<number, UnparsedPage & { readonly partition: PartitionIndex }>();
  readonly counters = new Map<string, number>();
  /** Every URL the log ever held by its identity, by host. */
  readonly logged = new Map<HostKey, Set<UrlKey>>();
  /** Every key the log ever held: what the seen set is rebuilt from. */
  readonly seenKeys = new Set<UrlKey>();
  /** Start times of audited requests, `host startedAt`. */
  readonly audited = new Set<string>();
  readonly #keyOf: (url: string) => UrlKey;
  readonly #recrawl: RecrawlPolicy;
  /** When pages are due for another visit. */
  readonly due = new SimDue();
  readonly #bodies: StoredBody[] = [];
  readonly #digests = new Map<string, { pointer: BodyPointer; url: string; parsed: boolean }>();
  readonly #names = new Map<HostKey, string>();
  /** Sequence after the last one the log ever held, by host and band. */
  readonly #tails = new Map<string, number>();
  #segments: Segment[] = [{ number: 1, entries: [] }];
  #nextUnparsedId = 1;

  /** @param keyOf identity of a URL: the key of its canonical form */
  constructor(keyOf: (url: string) => UrlKey, recrawl: RecrawlPolicy) {
    this.#keyOf = keyOf;
    this.#recrawl = recrawl;
  }

  get segment(): number {
    return (this.#segments.at(-1) as Segment).number;
  }

  get segmentCount(): number {
    return this.#segments.length;
  }

  /** When a page that has a row is due for another visit, 0 for never. */
  dueAtOf(url: string): number | undefined {
    const row = this.pages.get(this.#keyOf(url));
    return row === undefined ? undefined : (row.visit?.dueAt ?? 0);
  }

  body(pointer: BodyPointer): StoredBody | undefined {
    return this.#bodies[pointer.record];
  }

  /** All live log entries of a host, oldest first. */
  *logOf(hostKey: HostKey): Generator<DiscoveredCheckpoint> {
    for (const { entries } of this.#segments) {
      for (const entry of entries) if (entry.hostKey === hostKey) yield entry;
    }
  }

  /** Hosts of which a URL was ever queued. */
  get seenHosts(): IterableIterator<HostKey> {
    return this.#names.keys();
  }

  hostName(hostKey: HostKey): string {
    return this.#names.get(hostKey) ?? '';
  }

  /**
   * True when an entry of the host is not done, whether its row or only the log knows of it.
   * @param withParked parked entries count
   */
  hasWork(hostKey: HostKey, withParked: boolean): boolean {
    return (withParked ? LANES : BANDS).some((band) => {
      const { head, tail } = cursorsOf(this.hosts.get(hostKey), band);
      return head < Math.max(tail, this.#tails.get(bandName(hostKey, band)) ?? 0);
    });
  }

  /** Commits one batch. @returns receipts of its pages */
  apply(batch: CheckpointBatch): PageReceipt[] {
    for (const removal of batch.chunkRemovals) {
      this.chunks.get(bandName(removal.hostKey, removal.band))?.delete(removal.firstSequence);
    }
    for (const { hostKey, urlKey } of batch.deniedRemovals) {
      this.denied.get(hostKey)?.delete(urlKey);
    }
    for (const { hostKey, row } of batch.hosts) this.hosts.set(hostKey, row);
    for (const { hostKey, row } of batch.robots) inner(this.robots, hostKey).set(row.origin, row);
    for (const { hostKey, band, entries } of batch.chunks) {
      const first = (entries[0] as QueueEntry).sequence;
      inner(this.chunks, bandName(hostKey, band)).set(first, entries);
    }
    for (const denied of batch.denied) {
      inner(this.denied, denied.hostKey).set(denied.entry.urlKey, denied);
    }
    for (const entry of batch.discovered) this.#log(entry);
    for (const id of batch.parsedIds) this.unparsed.delete(id);
    for (const { urlKey, row } of batch.pageRows) this.pages.set(urlKey, row);
    for (const [name, by] of Object.entries(batch.counters)) {
      this.counters.set(name, (this.counters.get(name) ?? 0) + by);
    }
    for (const { host, startedAt } of batch.audit) {
      this.audited.add(`${host} ${startedAt.toFixed(2)}`);
    }
    for (const due of batch.due) this.due.add(due);
    for (const taken of batch.dueTaken) this.due.taken(taken);
    return batch.pages.map((page) => this.#place(page));
  }

  /** Begins a new log segment when the last one holds `rollEntries`. @returns its number */
  roll(rollEntries: number): number | undefined {
    const last = this.#segments.at(-1) as Segment;
    if (last.entries.length < rollEntries) return undefined;
    this.#segments.push({ number: last.number + 1, entries: [] });
    return last.number + 1;
  }

  /** Deletes log segments up to a number. */
  forget(through: number): void {
    const last = this.segment;
    this.#segments = this.#segments.filter(({ number }) => number > through || number === last);
  }

  /** What a start does: entries that only the log holds go into chunk rows, and the log begins anew. @returns entries moved */
  recover(): number {
    let moved = 0;
    const byHost = new Map<HostKey, DiscoveredCheckpoint[]>();
    for (const { entries } of this.#segments) {
      for (const entry of entries) {
        const known = byHost.get(entry.hostKey);
        if (known === undefined) byHost.set(entry.hostKey, [entry]);
        else known.push(entry);
      }
    }
    for (const [hostKey, entries] of byHost) {
      const { partition, entry } = entries[0] as DiscoveredCheckpoint;
      const row = this.hosts.get(hostKey);
      const host = row?.host ?? new URL(entry.url).hostname;
      const result = recoverQueues({ host, hostKey, partition, row, entries });
      for (const chunk of result.chunks) {
        const first = (chunk.entries[0] as QueueEntry).sequence;
        inner(this.chunks, bandName(hostKey, chunk.band)).set(first, chunk.entries);
        moved += chunk.entries.length;
      }
      if (result.row !== undefined) this.hosts.set(hostKey, result.row);
    }
    this.#segments = [{ number: this.segment + 1, entries: [] }];
    return moved;
  }

  #log(entry: DiscoveredCheckpoint): void {
    const { hostKey, entry: queued } = entry;
    if (!this.#names.has(hostKey)) this.#names.set(hostKey, new URL(queued.url).hostname);
    this.#tails.set(bandName(entry.hostKey, entry.band), entry.entry.sequence + 1);
    (this.#segments.at(-1) as Segment).entries.push(entry);
    let keys = this.logged.get(entry.hostKey);
    if (keys === undefined) {
      keys = new Set();
      this.logged.set(entry.hostKey, keys);
    }
    this.seenKeys.add(entry.entry.urlKey);
    // A spelling that was queued before its host's rules were known has a key of its own and is accounted for when it is proven.
    if (entry.entry.urlKey === this.#keyOf(entry.entry.url)) keys.add(entry.entry.urlKey);
  }

  #place(page: PageCheckpoint): PageReceipt {
    const { response } = page;
    if (page.purpose === 'robots') return { unparsedId: 0, duplicateOf: undefined };
    if (response?.status === 304) return this.#revalidate(page, response);
    const digest =
      response === undefined || response.body.length === 0
        ? ''
        : createHash('sha1').update(response.body).digest('hex');
    const isWhole = response?.status === 200 && digest !== '' && response.truncated === undefined;
    const known = isWhole && page.purpose === 'page' ? this.#digests.get(digest) : undefined;
    const first = known !== undefined && (known.parsed || !page.parse) ? known : undefined;
    let pointer = first?.pointer;
    if (pointer === undefined && response !== undefined) {
      const { status, headers, body } = response;
      pointer = { file: 0, record: this.#bodies.length };
      this.#bodies.push({ status, headers, body });
      const isCopyable = isWhole && page.purpose === 'page';
      if (isCopyable) this.#digests.set(digest, { pointer, url: page.url, parsed: page.parse });
    }
    const alone = rowOf(page, digest, pointer, first?.url);
    this.#visited(page, packVisit(this.#recrawl, page, page.prior, alone));
    // A duplicate on the same host leads to what its original leads to.
    const leads = first === undefined || new URL(first.url).origin !== new URL(page.url).origin;
    const isWaiting = leads && page.parse && pointer !== undefined;
    const unparsedId = isWaiting ? this.#nextUnparsedId++ : 0;
    if (isWaiting && pointer !== undefined) {
      const { hostKey, partition, urlKey, url, depth, hops } = page;
      const purpose = page.purpose === 'sitemap' ? 'sitemap' : 'page';
      const waiting = { unparsedId, hostKey, partition, urlKey, url, depth, hops, pointer };
      this.unparsed.set(unparsedId, { ...waiting, purpose });
    }
    return { unparsedId, duplicateOf: first?.url };
  }

  /** A 304: the copy stays. */
  #revalidate(page: PageCheckpoint, response: FetchResponse): PageReceipt {
    const { prior } = page;
    if (prior?.pointer === undefined) throw new Error(`304 for ${page.url}, which is not stored`);
    const { headers } = response;
    const etag = headerValue(headers, 'etag');
    const lastModified = headerValue(headers, 'last-modified');
    this.#visited(page, packNotModified(this.#recrawl, page, prior, { etag, lastModified }));
    return { unparsedId: 0, duplicateOf: undefined };
  }

  #visited(page: PageCheckpoint, { row, outcome }: PackedVisit): void {
    this.pages.set(page.urlKey, row);
    this.pageHosts.set(page.urlKey, page.hostKey);
    const due = dueOf(page, row);
    if (due !== undefined) this.due.add(due);
    if (page.prior === undefined) return;
    this.counters.set(`visits.${outcome}`, (this.counters.get(`visits.${outcome}`) ?? 0) + 1);
  }
}

/** Name of a band's chunk rows. */
export function bandName(hostKey: HostKey, band: number): string {
  return `${hostKey}/${band}`;
}

/** The inner map of a key, made when missing. */
export function inner<Outer, Key, Value>(
  outer: Map<Outer, Map<Key, Value>>,
  key: Outer,
): Map<Key, Value> {
  let found = outer.get(key);
  if (found === undefined) {
    found = new Map();
    outer.set(key, found);
  }
  return found;
}

function rowOf(
  page: PageCheckpoint,
  contentDigest: string,
  pointer: BodyPointer | undefined,
  duplicateOf: string | undefined,
): PageRow {
  const { response } = page;
  return {
    url: page.url,
    fetchedAt: page.fetchedAt,
    status: response?.status ?? 0,
    failure: page.failure,
    depth: page.depth,
    contentDigest,
    contentType: headerValue(response?.headers ?? [], 'content-type') ?? '',
    bodyBytes: response?.body.length ?? 0,
    pointer,
    duplicateOf,
    truncated: response?.truncated,
    redirectTo: page.redirectTo,
    etag: headerValue(response?.headers ?? [], 'etag'),
    lastModified: headerValue(response?.headers ?? [], 'last-modified'),
    visit: undefined,
    simhash: undefined,
    nearDuplicateOf: undefined,
  };
}
