// The records of `export` (DESIGN.md §9): pages as rows of the crawl's state with the place of their body, links as found today in the stored
// bodies, and the merged CDXJ index. Everything streams; a portion is in memory.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PageRow, RenderFacts } from '../actors/rows.ts';
import type { UrlKey } from '../base/units.ts';
import type { AnchoredPage } from '../parsers/anchored-entry.ts';
import { encodeLine, indexWarc, lookUpCdxj, mergeCdxj } from '../storage/cdxj.ts';
import type { PageAt, ReadStore } from '../storage/read-store.ts';
import type { LineOutput } from './line-output.ts';
import { parseStored, selectPages } from './parse-stored.ts';
import type { CrawlReading } from './read-crawl.ts';

/** Page rows taken at a time. */
const PORTION_ROWS = 512;

/** One line of `export pages`. */
export interface PageRecord {
  /** As it was requested. */
  readonly url: string;
  /** ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  readonly failure?: string;
  /** Links from a seed. */
  readonly depth: number;
  readonly contentType: string;
  /** `sha1:` and the hexadecimal digest of the decoded body; null without a body. */
  readonly contentHash: string | null;
  /** Names the stored body for good: file and record number. Duplicates share one. */
  readonly bodyKey: string | null;
  readonly bodyBytes: number;
  /** True when its links, or those of the page it duplicates, are at their owners. */
  readonly parsed: boolean;
  /** Where the record lies now; null when there is none, or its file is elsewhere. */
  readonly warc: { readonly file: string; readonly offset: number; readonly record: number } | null;
  readonly duplicateOf?: string;
  readonly nearDuplicateOf?: string;
  /** Fingerprint of its visible text, sixteen hexadecimal digits. */
  readonly simhash?: string;
  readonly redirectTo?: string;
  readonly truncated?: string;
  readonly etag?: string;
  readonly lastModified?: string;
  /** What a browser made of it, if it was rendered: as for the page itself, and how it went. */
  readonly rendered?: RenderFacts &
    Pick<PageRecord, 'contentHash' | 'bodyKey' | 'bodyBytes' | 'warc'>;
}

/** Takes a record; the promise, if there is one, is awaited before the next. */
export type TakeRecord<Row> = (record: Row) => Promise<void> | undefined;

/** One line of `export links`. */
export interface LinkRecord {
  readonly from: string;
  readonly to: string;
  /** What can be read at the link. */
  readonly text: string | undefined;
  /** The link's own `rel`. */
  readonly rel: string | undefined;
  readonly nofollow: boolean;
}

/** Hands on all page records, in the order of partition, host and URL key. */
export async function exportPages(
  { store }: CrawlReading,
  take: TakeRecord<PageRecord>,
): Promise<void> {
  const unparsed = store.unparsedKeys();
  for (const portion of store.pagePortions(PORTION_ROWS)) {
    for (const page of portion) {
      await take(pageRecord(store, page, unparsed));
    }
  }
}

function pageRecord(store: ReadStore, page: PageAt, unparsed: ReadonlySet<UrlKey>): PageRecord {
  const { row, urlKey } = page;
  const optional = {
    failure: row.failure,
    duplicateOf: row.duplicateOf,
    nearDuplicateOf: row.nearDuplicateOf,
    simhash: row.simhash,
    redirectTo: row.redirectTo,
    truncated: row.truncated,
    etag: row.etag,
    lastModified: row.lastModified,
    rendered: renderedRecord(store, page),
  };
  return {
    url: row.url,
    fetchedAt: new Date(row.fetchedAt).toISOString(),
    status: row.status,
    depth: row.depth,
    contentType: row.contentType,
    ...bodyRecord(store, row),
    parsed: isParsed(store, page) && !unparsed.has(urlKey),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** Where a body lies, and which it is. */
function bodyRecord(
  store: ReadStore,
  { pointer, contentDigest, bodyBytes }: PageRow,
): Pick<PageRecord, 'contentHash' | 'bodyKey' | 'bodyBytes' | 'warc'> {
  const place = pointer === undefined ? undefined : store.place(pointer);
  return {
    contentHash: contentDigest === '' ? null : `sha1:${contentDigest}`,
    bodyKey: pointer === undefined ? null : `${pointer.file}:${pointer.record}`,
    bodyBytes,
    warc:
      place === undefined || pointer === undefined
        ? null
        : { file: place.name, offset: place.offset, record: pointer.record },
  };
}

function renderedRecord(store: ReadStore, page: PageAt): PageRecord['rendered'] {
  const row = store.rows.rendered(page.hostKey, page.partition, page.urlKey);
  return row?.render === undefined ? undefined : { ...row.render, ...bodyRecord(store, row) };
}

/** The digest row of a body says whether the links of its first copy were to be followed. */
function isParsed(store: ReadStore, { row }: PageAt): boolean {
  if (row.pointer === undefined || row.failure !== undefined) return false;
  if (row.redirectTo !== undefined) return true;
  return store.rows.firstCopy(row.contentDigest)?.parsed === true;
}

/** Hands on each link of each stored page; a page that cannot be parsed is told and left out. */
export async function exportLinks(
  reading: CrawlReading,
  take: TakeRecord<LinkRecord>,
  failed: (url: string, kind: string) => void,
): Promise<void> {
  const { threads } = reading.config;
  const pages = selectPages(reading, { duplicates: true });
  const entry = new URL('../parsers/anchored-entry.js', import.meta.url);
  const parsed = parseStored<AnchoredPage>(reading, pages, { threads, entry });
  for await (const { page, outcome } of parsed) {
    const from = page.row.url;
    if (outcome.kind !== 'ok') {
      failed(from, outcome.kind);
      continue;
    }
    for (const { url: to, rel, nofollow = false } of outcome.value.links) {
      const text = outcome.value.anchors.get(to);
      await take({ from, to, text, rel, nofollow });
    }
  }
}

/**
 * Writes the CDXJ lines of all WARC files in one order, or those of one URL, the oldest first. Files without an index (those that grow, and closed ones not yet indexed) are
 * indexed into a temporary directory, since a reader never writes into the data directory.
 */
export async function exportCdxj(
  { store }: CrawlReading,
  output: LineOutput,
  url?: string | undefined,
): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'hostler-cdxj-'));
  try {
    const local = store.archiveFiles().map(({ path, cdxj, file }) => {
      if (cdxj !== undefined) return cdxj;
      const made = join(temporary, `${file}.cdxj`);
      indexWarc(path, made);
      return made;
    });
    const indexes = [...local, ...store.movedIndexes()];
    const lines =
      url === undefined
        ? mergeCdxj(indexes)
        : lookUpCdxj(indexes, url).map((entry) => encodeLine(entry).trimEnd());
    for (const line of lines) await output.write(line);
    await output.flush();
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
