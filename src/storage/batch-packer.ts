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
import { packAudit } from './audit-log.ts';
import type { PageToPack } from './batch-codec.ts';
import { writePage, writeRow, writeTail } from './batch-codec.ts';
import { ByteWriter } from './byte-writer.ts';
import { encodeChunk, encodeDenied } from './entry-codec.ts';
import { packDiscovered } from './frontier-log.ts';
import { chunkRowKey, hostRowKey, robotsRowKey, urlRowKey } from './keys.ts';
import { placePage, writePageRow } from './page-codec.ts';
import type { DigestRow } from './row-codec.ts';
import { encodeHostRow, encodeRobotsRow } from './row-codec.ts';
import type { BatchTable } from './tables.ts';
import { BATCH_TABLES } from './tables.ts';
import {
  newRecordId,
  type RecordParts,
  requestRecord,
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
  storedCopy: (page: PageCheckpoint) => StoredCopy | undefined,
): PackingResult {
  const writer = new ByteWriter(estimateBytes(batch), 'transfer');
  const rows: (PageRow | undefined)[] = [];
  writer.varint(batch.pages.length);
  for (const page of batch.pages) {
    const { packed, row } = packPage(page, storedCopy);
    writePage(writer, packed);
    rows.push(hasRow(page) ? row : undefined);
  }
  packRows(writer, batch);
  checkDiscovered(batch.discovered);
  writeTail(writer, {
    frontierBlock: batch.discovered.length === 0 ? NOTHING : packDiscovered(batch.discovered),
    auditBlock: batch.audit.length === 0 ? NOTHING : packAudit(batch.audit),
    parsedIds: batch.parsedIds,
    counters: Object.entries(batch.counters),
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

function packPage(
  page: PageCheckpoint,
  storedCopy: (page: PageCheckpoint) => StoredCopy | undefined,
): { packed: PageToPack; row: PageRow } {
  const { response } = page;
  const named = (response === undefined) !== (page.failure === undefined);
  assert(named || response !== undefined, () => `page ${page.url} without outcome`);
  const stored = response?.status === 304 && hasRow(page) ? storedCopy(page) : undefined;
  const base = {
    key: hasRow(page) ? urlRowKey(page.partition, page.hostKey, page.urlKey) : undefined,
    url: page.url,
    fetchedAt: page.fetchedAt,
    depth: page.depth,
    hops: page.hops,
    parse: page.parse,
    sitemap: page.purpose === 'sitemap',
    keepsPointer: stored !== undefined,
  };
  if (response === undefined) {
    const row = rowOf(page, undefined, '');
    const packed = { ...base, row: packRow(row), records: [], dedupe: undefined, parse: false };
    return { packed, row };
  }
  if (stored !== undefined) {
    const row = revalidatedRow(page, response, stored.row);
    const records = frameNotModified(page, response, stored);
    const packedRow = placePage(packRow(row), undefined, row.duplicateOf);
    return { packed: { ...base, row: packedRow, records, dedupe: undefined }, row };
  }
  return packAnswer(page, response, base);
}

/** Robots answers are archived and nothing more. */
function hasRow(page: PageCheckpoint): boolean {
  return page.purpose !== 'robots';
}

function packAnswer(
  page: PageCheckpoint,
  response: FetchResponse,
  base: Omit<PageToPack, 'row' | 'records' | 'dedupe'>,
): { packed: PageToPack; row: PageRow } {
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
  return { packed: { ...base, row: packRow(row), records, dedupe }, row };
}

/** A 304 says that the stored copy is current: its record is a revisit, and the row goes on pointing at the copy (RFC 9110 §15.4.5). */
function frameNotModified(
  page: PageCheckpoint,
  response: FetchResponse,
  stored: StoredCopy,
): readonly RecordParts[] {
  const { row, first } = stored;
  const { url, fetchedAt } = page;
  const recordId = newRecordId();
  const revisit = revisitRecord({
    url,
    fetchedAt,
    warcinfoId: undefined,
    response,
    refersTo: {
      url: first?.url ?? row.url,
      date: wallMs(first?.fetchedAt ?? row.fetchedAt),
      recordId: first?.recordId,
    },
    payloadDigest: first?.payloadDigest,
    profile: 'server-not-modified',
    recordId,
  });
  const { requestHead, address } = response;
  const request = requestRecord({
    url,
    fetchedAt,
    warcinfoId: undefined,
    requestHead,
    address,
    concurrentTo: recordId,
  });
  return [revisit, request];
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
  };
}

function revalidatedRow(page: PageCheckpoint, response: FetchResponse, stored: PageRow): PageRow {
  return {
    ...stored,
    fetchedAt: page.fetchedAt,
    failure: undefined,
    depth: page.depth,
    etag: headerOf(response, 'etag') ?? stored.etag,
    lastModified: headerOf(response, 'last-modified') ?? stored.lastModified,
  };
}

function packRow(row: PageRow): Buffer {
  const writer = new ByteWriter(384);
  writePageRow(writer, row);
  return writer.view();
}

function packRows(writer: ByteWriter, batch: CheckpointBatch): void {
  const removals = batch.chunkRemovals.length + batch.deniedRemovals.length;
  const { hosts, robots, chunks, denied, pageRows } = batch;
  const puts = [hosts, robots, chunks, denied, pageRows].reduce(
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
    const key = chunkRowKey({ ...chunk, firstSequence: first.sequence });
    write('chunks', key, encodeChunk(chunk.entries));
  }
  for (const { partition, hostKey, band, entry } of denied) {
    write('denied', urlRowKey(partition, hostKey, entry.urlKey), encodeDenied(band, entry));
  }
  for (const { partition, hostKey, urlKey, row } of pageRows) {
    const value = placePage(packRow(row), undefined, row.duplicateOf);
    write('pages', urlRowKey(partition, hostKey, urlKey), value);
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
