// Packs a CheckpointBatch on the shard thread: frames answers as WARC members, takes their digests, packs rows and log entries, all into
// one transferable buffer (step 10). What only the storage thread can know (where a body came to lie, whether another page had the same
// content first) is left open in the packed rows.

import type {
  CheckpointBatch,
  DiscoveredCheckpoint,
  FetchResponse,
  PageCheckpoint,
} from '../actors/ports.ts';
import type { PageRow } from '../actors/rows.ts';
import { assert } from '../base/assert.ts';
import { wallMs } from '../base/units.ts';
import type { RecrawlPolicy } from '../domain/recrawl.ts';
import { packAudit } from './audit-log.ts';
import type { PageToPack } from './batch-codec.ts';
import { writePage, writeRow, writeTail } from './batch-codec.ts';
import { ByteWriter } from './byte-writer.ts';
import { encodeChunk, encodeDenied } from './entry-codec.ts';
import { packDiscovered } from './frontier-log.ts';
import { chunkRowKey, hostRowKey, outboxRowKey, robotsRowKey, urlRowKey } from './keys.ts';
import type { PackedVisit } from './pack-visit.ts';
import { changeOf, dueOf, packNotModified, packVisit } from './pack-visit.ts';
import { placePage, writePageRow } from './page-codec.ts';
import type { DigestRow } from './row-codec.ts';
import { encodeHostRow, encodeRobotsRow } from './row-codec.ts';
import type { BatchTable } from './tables.ts';
import { BATCH_TABLES } from './tables.ts';
import {
  conversionRecord,
  newRecordId,
  type RecordParts,
  responseRecords,
  revisitRecord,
} from './warc-record.ts';

const NOTHING = Buffer.alloc(0);
/** Room for what is not body: rows, heads, members' frames; bytes per page and per other row. */
const PAGE_OVERHEAD_BYTES = 4096;
const ROW_OVERHEAD_BYTES = 256;

/** A packed batch and what its pages' rows will be, as far as the shard knows, for its own reads until the receipt. */
export interface PackingResult {
  readonly bytes: Buffer;
  /** In the order of `batch.pages`; undefined for robots.txt answers. */
  readonly rows: readonly (PageRow | undefined)[];
}

/** The stored copy of a page: its row, and its content's digest row when that is of a page's first copy. */
export interface StoredCopy {
  readonly row: PageRow;
  readonly first: DigestRow | undefined;
}

/**
 * @param storedCopy what is now stored of a page, if anything; asked for answers 304 only
 */
export function packBatch(
  batch: CheckpointBatch,
  policy: RecrawlPolicy,
  storedCopy: (page: PageCheckpoint) => StoredCopy | undefined,
): PackingResult {
  const writer = new ByteWriter(estimateBytes(batch), 'transfer');
  const rows: (PageRow | undefined)[] = [];
  const due = [...batch.due];
  const counters = new Map(Object.entries(batch.counters));
  writer.varint(batch.pages.length);
  for (const page of batch.pages) {
    const { packed, visited } = packPage(page, policy, storedCopy);
    writePage(writer, packed);
    rows.push(visited?.row);
    if (visited === undefined) continue;
    const next = dueOf(page, visited.row);
    if (next !== undefined) due.push(next);
    if (page.prior !== undefined) raise(counters, `visits.${visited.outcome}`);
  }
  packRows(writer, batch);
  checkDiscovered(batch.discovered);
  writeTail(writer, {
    frontierBlock: batch.discovered.length === 0 ? NOTHING : packDiscovered(batch.discovered),
    auditBlock: batch.audit.length === 0 ? NOTHING : packAudit(batch.audit),
    parsedIds: batch.parsedIds,
    due,
    dueTaken: batch.dueTaken,
    counters: [...counters],
    sweptThroughSegment: batch.sweptThroughSegment,
  });
  return { bytes: writer.take(), rows };
}

function estimateBytes(batch: CheckpointBatch): number {
  let bytes = 1024;
  for (const { response } of batch.pages) {
    bytes += PAGE_OVERHEAD_BYTES + (response?.payload.byteLength ?? 0);
  }
  const small =
    batch.hosts.length + batch.discovered.length + batch.audit.length + batch.denied.length;
  return bytes + small * ROW_OVERHEAD_BYTES + batch.chunks.length * 64 * ROW_OVERHEAD_BYTES;
}

function raise(counters: Map<string, number>, name: string): void {
  counters.set(name, (counters.get(name) ?? 0) + 1);
}

/** A page ready to be written, and what its visit made of its row; robots answers have none. */
interface PagePacking {
  readonly packed: PageToPack;
  readonly visited: PackedVisit | undefined;
}

function packPage(
  page: PageCheckpoint,
  policy: RecrawlPolicy,
  storedCopy: (page: PageCheckpoint) => StoredCopy | undefined,
): PagePacking {
  const { response } = page;
  if (page.purpose === 'rendered') return packRendered(page, storedCopy(page));
  const named = (response === undefined) !== (page.failure === undefined);
  assert(named || response !== undefined, () => `page ${page.url} without outcome`);
  const stored = response?.status === 304 && hasRow(page) ? storedCopy(page) : undefined;
  if (response === undefined) {
    const visited = packVisit(policy, page, page.prior, rowOf(page, undefined, ''));
    const packed = packedPage(page, {
      row: packWhole(visited.row),
      change: changeOf(page, visited),
      records: [],
      dedupe: undefined,
      keepsPointer: false,
    });
    return { packed, visited };
  }
  if (stored === undefined) return packAnswer(page, policy, response);
  const visited = packNotModified(policy, page, stored.row, validatorsOf(response));
  const packed = packedPage(page, {
    row: packWhole(visited.row),
    change: changeOf(page, visited),
    records: frameNotModified(page, response, stored),
    dedupe: undefined,
    keepsPointer: true,
  });
  return { packed, visited };
}

/** A page as it is packed. Written field by field, as a literal that begins with a spread has a hidden class of its own each time. */
function packedPage(
  page: PageCheckpoint,
  parts: Pick<PageToPack, 'row' | 'change' | 'records' | 'dedupe' | 'keepsPointer'>,
): PageToPack {
  return {
    key: hasRow(page) ? urlRowKey(page.partition, page.hostKey, page.urlKey) : undefined,
    row: parts.row,
    url: page.url,
    fetchedAt: page.fetchedAt,
    depth: page.depth,
    hops: page.hops,
    parse: page.parse && page.response !== undefined,
    sitemap: page.purpose === 'sitemap',
    rendered: page.purpose === 'rendered',
    parseCopy: page.parseCopy === true,
    keepsPointer: parts.keepsPointer,
    change: parts.change,
    records: parts.records,
    dedupe: parts.dedupe,
  };
}

/** The document of a rendering: a row of its own, a conversion record, and to the change feed a change of the page. */
function packRendered(page: PageCheckpoint, plain: StoredCopy | undefined): PagePacking {
  const { response } = page;
  assert(page.render !== undefined, () => `${page.url}: a document without its rendering`);
  const { url, fetchedAt } = page;
  const framed =
    response === undefined
      ? undefined
      : conversionRecord({
          ...{ url, fetchedAt, warcinfoId: undefined, response },
          refersTo: plain?.first?.recordId,
        });
  const packed = packedPage(page, {
    row: packRow(rowOf(page, response, framed?.contentDigest ?? '')),
    change: framed === undefined ? undefined : 'changed',
    records: framed === undefined ? [] : [framed.record],
    dedupe: undefined,
    keepsPointer: false,
  });
  return { packed, visited: undefined };
}

/** Robots answers and resources are archived and nothing more. */
function hasRow(page: PageCheckpoint): boolean {
  return page.purpose !== 'robots' && page.purpose !== 'resource';
}

function packAnswer(
  page: PageCheckpoint,
  policy: RecrawlPolicy,
  response: FetchResponse,
): PagePacking {
  const framed = responseRecords({
    url: page.url,
    fetchedAt: page.fetchedAt,
    response,
    warcinfoId: undefined,
  });
  const hasBody = response.body.byteLength > 0;
  const row = rowOf(page, response, hasBody ? framed.contentDigest : '');
  const whole = response.status === 200 && hasBody && response.truncated === undefined;
  const { status, reason, headers, address } = response;
  const dedupe =
    page.purpose === 'page' && whole
      ? {
          contentDigest: Buffer.from(framed.contentDigest, 'hex'),
          payloadDigest: framed.payloadDigest,
          responseId: framed.responseId,
          head: { status, reason, headers, address },
        }
      : undefined;
  const records = [framed.response, framed.request];
  if (!hasRow(page)) {
    const parts = { row: packRow(row), change: undefined, records, dedupe, keepsPointer: false };
    return { packed: packedPage(page, parts), visited: undefined };
  }
  const visited = packVisit(policy, page, page.prior, row);
  const { keepsCopy } = visited;
  const packed = packedPage(page, {
    row: keepsCopy ? packWhole(visited.row) : packRow(visited.row),
    change: changeOf(page, visited),
    records,
    dedupe,
    keepsPointer: keepsCopy,
  });
  return { packed, visited };
}

/**
 * A 304 says that the stored copy is current: its record is a revisit, and the row goes on pointing at the copy (RFC 9110 §15.4.5). No
 * request record goes with it: it would say what the first one said and cost as much again as the revisit.
 */
function frameNotModified(
  page: PageCheckpoint,
  response: FetchResponse,
  { row, first }: StoredCopy,
): readonly RecordParts[] {
  return [
    revisitRecord({
      url: page.url,
      fetchedAt: page.fetchedAt,
      warcinfoId: undefined,
      response,
      refersTo: {
        url: first?.url ?? row.url,
        date: wallMs(first?.fetchedAt ?? row.fetchedAt),
        recordId: first?.recordId,
      },
      payloadDigest: first?.payloadDigest,
      profile: 'server-not-modified',
      recordId: newRecordId(),
    }),
  ];
}

function rowOf(
  page: PageCheckpoint,
  response: FetchResponse | undefined,
  contentDigest: string,
): PageRow {
  return {
    url: page.url,
    fetchedAt: page.fetchedAt,
    status: response?.status ?? 0,
    failure: page.failure,
    depth: page.depth,
    contentDigest,
    contentType: headerOf(response, 'content-type') ?? '',
    bodyBytes: response?.body.byteLength ?? 0,
    pointer: undefined,
    duplicateOf: undefined,
    truncated: response?.truncated,
    redirectTo: page.redirectTo,
    etag: headerOf(response, 'etag'),
    lastModified: headerOf(response, 'last-modified'),
    visit: undefined,
    simhash: undefined,
    nearDuplicateOf: undefined,
    render: page.render,
  };
}

function validatorsOf(response: FetchResponse | undefined): Pick<PageRow, 'etag' | 'lastModified'> {
  return {
    etag: headerOf(response, 'etag'),
    lastModified: headerOf(response, 'last-modified'),
  };
}

/** A row of a body that lies somewhere already. */
function packWhole(row: PageRow): Buffer {
  return placePage(packRow(row), undefined, row.duplicateOf);
}

function packRow(row: PageRow): Buffer {
  const writer = new ByteWriter(384);
  writePageRow(writer, row);
  return writer.view();
}

function packRows(writer: ByteWriter, batch: CheckpointBatch): void {
  const removals = batch.chunkRemovals.length + batch.deniedRemovals.length;
  const { hosts, robots, chunks, denied, pageRows, outbox } = batch;
  const puts = [hosts, robots, chunks, denied, pageRows, outbox].reduce(
    (sum, { length }) => sum + length,
    0,
  );
  writer.varint(removals + puts);
  const write = (table: BatchTable, key: Buffer, value: Buffer | undefined) =>
    writeRow(writer, { table: BATCH_TABLES.indexOf(table), key, value });
  for (const removal of batch.chunkRemovals) write('chunks', chunkRowKey(removal), undefined);
  for (const removal of batch.deniedRemovals) {
    write('denied', urlRowKey(removal.partition, removal.hostKey, removal.urlKey), undefined);
  }
  for (const { hostKey, row } of hosts) {
    write('hosts', hostRowKey(row.partition, hostKey), encodeHostRow(row));
  }
  for (const { hostKey, partition, row } of robots) {
    write('robots', robotsRowKey(partition, hostKey, row.origin), encodeRobotsRow(row));
  }
  for (const chunk of chunks) {
    const first = chunk.entries[0];
    assert(first !== undefined, () => 'chunk without entries');
    const { partition, hostKey, band } = chunk;
    const key = chunkRowKey({ partition, hostKey, band, firstSequence: first.sequence });
    write('chunks', key, encodeChunk(chunk.entries));
  }
  for (const { partition, hostKey, band, entry } of denied) {
    write('denied', urlRowKey(partition, hostKey, entry.urlKey), encodeDenied(band, entry));
  }
  for (const { partition, hostKey, urlKey, row } of pageRows) {
    write('pages', urlRowKey(partition, hostKey, urlKey), packWhole(row));
  }
  for (const { partition, id, bytes } of outbox) {
    const value =
      bytes === undefined
        ? undefined
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    write('outbox', outboxRowKey(partition, id), value);
  }
}

/** Sequences of one host and band must follow one another within a batch: recovery relies on it. */
function checkDiscovered(discovered: readonly DiscoveredCheckpoint[]): void {
  const last = new Map<bigint, number[]>();
  let bands: number[] = [];
  let bandsOf: bigint | undefined;
  for (const { hostKey, band, entry } of discovered) {
    // Links of one page to one host come together: most entries are of the same host as the one before.
    if (hostKey !== bandsOf) {
      bands = last.get(hostKey) ?? [];
      last.set(hostKey, bands);
      bandsOf = hostKey;
    }
    const before = bands[band];
    assert(before === undefined || entry.sequence === before + 1, () => `hole at ${entry.url}`);
    bands[band] = entry.sequence;
  }
}

/** The first value of a header in an answer. */
function headerOf(response: FetchResponse | undefined, name: string): string | undefined {
  if (response === undefined) return undefined;
  const { headers } = response;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const candidate = headers[index] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name) {
      return headers[index + 1];
    }
  }
  return undefined;
}
