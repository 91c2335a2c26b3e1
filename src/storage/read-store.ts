// Read-only access to a crawl, while it runs or afterwards, for the commands report, why, export, audit and replay (DESIGN.md §9). Takes no lock
// and writes nothing; each iteration sees one commit.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FEED_START, type FeedPlace } from '../actors/change-event.ts';
import type { AuditEntry, DiscoveredCheckpoint, StoredBody } from '../actors/ports.ts';
import type { BodyPointer, PageRow } from '../actors/rows.ts';
import { CrawlError } from '../base/errors.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import { readAuditLog } from './audit-log.ts';
import { BodyReader } from './body-reader.ts';
import { readCommitted } from './committed-state.ts';
import { readCounters } from './counters.ts';
import type { CrawlIdentity } from './crawl-identity.ts';
import { readIdentity } from './crawl-identity.ts';
import { checkReadable, folderOf } from './directory.ts';
import type { PlacedEvent } from './feed-log.ts';
import { readFeed } from './feed-log.ts';
import { readFrontierSegment } from './frontier-log.ts';
import { hostOfKey, hostRange, partitionRange, urlOfKey } from './keys.ts';
import { decodePageRow } from './page-codec.ts';
import { RemoteBodies } from './remote-bodies.ts';
import { SeenView } from './seen-view.ts';
import { decoding, TableReader } from './table-reader.ts';
import type { Tables } from './tables.ts';
import { openTables, rowsOf } from './tables.ts';
import { warcFileNumber, warcPaths } from './warc-names.ts';

/** A page row with its key. */
export interface PageAt {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly urlKey: UrlKey;
  readonly row: PageRow;
}

/** One WARC file. */
export interface ArchiveFile {
  readonly file: number;
  readonly path: string;
  /** True while it grows. */
  readonly isOpen: boolean;
  /** Path of its index; undefined when there is none yet. */
  readonly cdxj: string | undefined;
  readonly bytes: number;
}

/** Bytes on disk by what they hold. */
export interface StorageBytes {
  readonly tables: number;
  readonly frontier: number;
  readonly archive: number;
  readonly audit: number;
}

/** See the head of this file. */
export class ReadStore {
  readonly identity: CrawlIdentity;
  /** Hosts, robots rows, chunks, single pages, denied URLs. */
  readonly rows: TableReader;
  readonly #dir: string;
  readonly #tables: Tables;
  readonly #bodies: BodyReader;
  readonly #remote: RemoteBodies;
  readonly #warcPrefix: string;

  /**
   * @param warcPrefix start of the WARC files' names
   * @throws CrawlError usage when the directory holds no crawl; data-version, data-damaged, disk
   */
  constructor(dir: string, warcPrefix: string) {
    checkReadable(dir);
    this.#dir = dir;
    this.#tables = openTables(dir, { readOnly: true });
    const identity = readIdentity(this.#tables);
    if (identity === undefined) {
      throw new CrawlError('usage', `${dir} holds no crawl yet`, {
        remedy: 'Name the directory of a crawl with --data.',
      });
    }
    this.identity = identity;
    this.rows = new TableReader(this.#tables, identity.partitions);
    this.#warcPrefix = warcPrefix;
    this.#bodies = new BodyReader(folderOf(dir, 'warc'), { prefix: warcPrefix });
    this.#remote = new RemoteBodies(folderOf(dir, 'warc'), warcPrefix);
  }

  /** All page rows in the order of their keys: partition, host, URL. */
  *pages(partition?: PartitionIndex): Generator<PageAt> {
    const range = partition === undefined ? {} : partitionRange(partition);
    for (const { key, value } of rowsOf(this.#tables.pages, range)) {
      const row = decoding('page row', () => decodePageRow(value));
      yield { ...hostOfKey(key), urlKey: urlOfKey(key), row };
    }
  }

  /**
   * Page rows in portions, in the order of their keys. No read transaction is held between two portions, so that the caller may wait (for
   * a slow reader of its output) without keeping the crawl's pages from being used again. Rows that come behind the place reached are seen.
   * @param rowsMax rows in a portion
   * @param of only the rows of one host
   */
  *pagePortions(
    rowsMax: number,
    of?: { readonly hostKey: HostKey; readonly partition: PartitionIndex },
  ): Generator<readonly PageAt[]> {
    const range = of === undefined ? {} : hostRange(of.partition, of.hostKey);
    let start: Buffer | undefined;
    for (;;) {
      const from = start === undefined ? {} : { start };
      const portion: PageAt[] = [];
      for (const { key, value } of this.#tables.pages.getRange({
        ...range,
        ...from,
        limit: rowsMax,
      })) {
        const row = decoding('page row', () => decodePageRow(value));
        portion.push({ ...hostOfKey(key), urlKey: urlOfKey(key), row });
        start = Buffer.concat([key, AFTER]);
      }
      if (portion.length > 0) yield portion;
      if (portion.length < rowsMax) return;
      this.#tables.root.resetReadTxn();
    }
  }

  /** URL keys of pages whose outlinks are not durable at their owners yet. */
  unparsedKeys(): Set<UrlKey> {
    const keys = new Set<UrlKey>();
    for (const { urlKey } of this.rows.unparsed(() => true)) keys.add(urlKey);
    return keys;
  }

  /** Entries of the frontier log that are not in chunk rows for certain, oldest first. */
  *discovered(): Generator<DiscoveredCheckpoint> {
    for (const segment of readCommitted(this.#tables).frontier) {
      yield* readFrontierSegment(this.#dir, segment);
    }
  }

  /** The seen set as of now; the caller closes it. */
  seen(): SeenView {
    return new SeenView(this.#dir, this.#tables);
  }

  /** Events of the change feed that are committed now, from a place on; `refresh` makes newer ones seen. */
  feed(from: FeedPlace): Generator<PlacedEvent> {
    return readFeed(this.#dir, readCommitted(this.#tables).feed, from);
  }

  /** The place after the last committed event. */
  feedEnd(): FeedPlace {
    this.rows.refresh();
    const last = readCommitted(this.#tables).feed.at(-1);
    return last === undefined ? FEED_START : { segment: last.number, offset: last.bytes, index: 0 };
  }

  /** The crawl's durable counters by name. */
  counters(): Map<string, number> {
    return readCounters(this.#tables);
  }

  /** Every request the crawl made, oldest first. */
  audit(): Generator<AuditEntry> {
    return readAuditLog(this.#dir, readCommitted(this.#tables).audit);
  }

  /**
   * The requests to one host, oldest first.
   * @param segmentsMax only those in the last so many files of the log (64 MiB each)
   */
  *auditOf(host: string, segmentsMax: number): Generator<AuditEntry> {
    const segments = readCommitted(this.#tables).audit;
    const last = segments.slice(Math.max(segments.length - segmentsMax, 0));
    for (const entry of readAuditLog(this.#dir, last, host)) {
      if (entry.host === host) yield entry;
    }
  }

  /** WARC files in the order of their numbers. */
  archiveFiles(): ArchiveFile[] {
    const folder = folderOf(this.#dir, 'warc');
    const files = readdirSync(folder).flatMap((name) => {
      const number = warcFileNumber(name, this.#warcPrefix);
      const path = join(folder, name);
      const bytes = bytesOf(path);
      if (number === undefined || bytes === undefined) return [];
      const { cdxj } = warcPaths(folder, this.#warcPrefix, number.file);
      const index = existsSync(cdxj) ? cdxj : undefined;
      return [{ file: number.file, path, isOpen: number.open, cdxj: index, bytes }];
    });
    return files.sort((a, b) => a.file - b.file);
  }

  /** CDXJ indexes of files that were moved away. */
  movedIndexes(): string[] {
    const folder = folderOf(this.#dir, 'warc');
    const names = new Set(readdirSync(folder));
    return [...names]
      .filter((name) => name.endsWith('.remote'))
      .map((name) => name.slice(0, -'.remote'.length))
      .filter((stem) => !names.has(`${stem}.warc.gz`) && names.has(`${stem}.cdxj`))
      .map((stem) => join(folder, `${stem}.cdxj`));
  }

  storageBytes(): StorageBytes {
    const sum = (folder: 'lmdb' | 'frontier' | 'warc' | 'audit'): number => {
      const path = folderOf(this.#dir, folder);
      return readdirSync(path).reduce((bytes, name) => bytes + (bytesOf(join(path, name)) ?? 0), 0);
    };
    return {
      tables: sum('lmdb'),
      frontier: sum('frontier'),
      archive: sum('warc'),
      audit: sum('audit'),
    };
  }

  /** Name and byte offset of a record as its file is now, `s3://bucket/key` for one that was moved; undefined when it is nowhere. */
  place(pointer: BodyPointer): { readonly name: string; readonly offset: number } | undefined {
    return this.#bodies.place(pointer) ?? this.#remote.place(pointer);
  }

  /**
   * A stored answer, from here or from the object store its file was moved to.
   * @returns undefined when it is in neither
   * @throws CrawlError `disk` when the store cannot be read
   */
  async body(pointer: BodyPointer): Promise<StoredBody | undefined> {
    return this.#bodies.read(pointer) ?? this.#remote.read(pointer);
  }

  async close(): Promise<void> {
    this.#bodies.close();
    await this.#remote.close();
    await this.#tables.root.close();
  }
}

/** A key followed by this is the first one behind it. */
const AFTER = Buffer.from([0]);

/** Length of a file; undefined when it vanished meanwhile (a running crawl renames and removes files). */
function bytesOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
