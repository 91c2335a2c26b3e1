// Read-only access to a crawl, while it runs or afterwards, for the commands report, why, export, audit and replay (DESIGN.md §9). Takes no lock
// and writes nothing; each iteration sees one commit.

import type { AuditEntry, BodyPointer, PageRow, StoredBody } from '../actors/ports.ts';
import { CrawlError } from '../base/errors.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import { readAuditLog } from './audit-log.ts';
import { BodyReader } from './body-reader.ts';
import { readCommitted } from './committed-state.ts';
import { readCounters } from './counters.ts';
import type { CrawlIdentity } from './crawl-identity.ts';
import { readIdentity } from './crawl-identity.ts';
import { checkReadable, folderOf } from './directory.ts';
import { hostOfKey, partitionRange, urlOfKey } from './keys.ts';
import { decodePageRow } from './page-codec.ts';
import { decoding, TableReader } from './table-reader.ts';
import type { Tables } from './tables.ts';
import { openTables, rowsOf } from './tables.ts';

/** A page row with its key. */
export interface PageAt {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  readonly urlKey: UrlKey;
  readonly row: PageRow;
}

/** See the head of this file. */
export class ReadStore {
  readonly identity: CrawlIdentity;
  /** Hosts, robots rows, chunks, single pages, denied URLs. */
  readonly rows: TableReader;
  readonly #dir: string;
  readonly #tables: Tables;
  readonly #bodies: BodyReader;

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
    this.#bodies = new BodyReader(folderOf(dir, 'warc'), { prefix: warcPrefix });
  }

  /** All page rows in the order of their keys: partition, host, URL. */
  *pages(partition?: PartitionIndex): Generator<PageAt> {
    const range = partition === undefined ? {} : partitionRange(partition);
    for (const { key, value } of rowsOf(this.#tables.pages, range)) {
      const row = decoding('page row', () => decodePageRow(value));
      yield { ...hostOfKey(key), urlKey: urlOfKey(key), row };
    }
  }

  /** The crawl's durable counters by name. */
  counters(): Map<string, number> {
    return readCounters(this.#tables);
  }

  /** Every request the crawl made, oldest first. */
  audit(): Generator<AuditEntry> {
    return readAuditLog(this.#dir, readCommitted(this.#tables).audit);
  }

  /** A stored answer; undefined when its file is not here. */
  body(pointer: BodyPointer): StoredBody | undefined {
    return this.#bodies.read(pointer);
  }

  async close(): Promise<void> {
    this.#bodies.close();
    await this.#tables.root.close();
  }
}
