// What a stored crawl has done, gathered for `report` in one pass over page rows, one over host rows and one over the audit log (DESIGN.md
// §9). Whatever the size of the crawl, the survey stays small: names that the web chooses (types, hosts) are counted up to a bound.

import type { HostRow, PageRow } from '../actors/rows.ts';
import type { ReadStore, StorageBytes } from '../storage/read-store.ts';
import { type PolitenessProof, provePoliteness } from './prove-politeness.ts';
import type { CrawlReading } from './read-crawl.ts';
import { Timeline } from './timeline.ts';

const PORTION_ROWS = 1_024;
/** Content types counted by name; the rest are `other`. */
const TYPES_MAX = 1_000;
const TYPES_SHOWN = 12;
const TOP_HOSTS = 20;
/** Depths counted one by one; the last stands for all beyond it. */
const DEPTH_MAX = 20;
/** Offences told with their lines; `audit` tells more. */
const OFFENCES_MAX = 5;

export interface TypeCount {
  readonly type: string;
  readonly pages: number;
  /** Decoded bytes, duplicates included. */
  readonly bytes: number;
}

export interface HostLine extends Readonly<HostRow['counts']> {
  readonly host: string;
  /** URLs waiting. */
  readonly queued: number;
}

/** The answer of `report --json`. Times are wall clock, milliseconds. */
export interface CrawlSurvey {
  readonly crawlId: string;
  readonly createdAt: number;
  /** Of page rows; 0 when there is none. */
  readonly firstFetchedAt: number;
  readonly lastFetchedAt: number;
  readonly pages: number;
  readonly fetched: number;
  readonly bytes: number;
  readonly urls: {
    readonly discovered: number;
    readonly settled: number;
    readonly waiting: number;
    /** URLs over a budget; looked at again from time to time. */
    readonly parked: number;
    /** Links seen on pages, repeats included. */
    readonly links: number;
  };
  readonly hosts: {
    readonly known: number;
    readonly withWork: number;
    readonly backingOff: number;
  };
  readonly status: Readonly<Record<string, number>>;
  readonly types: readonly TypeCount[];
  readonly skipped: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly retries: Readonly<Record<string, number>>;
  /** Pages in the browser, by what became of them. */
  readonly render: Readonly<Record<string, number>>;
  readonly duplicates: { readonly exact: number; readonly near: number };
  /** Pages that their host shows under unrelated paths; exact and near ones are among them. */
  readonly soft404: number;
  readonly traps: { readonly skipped: number; readonly suspects: number };
  readonly truncated: number;
  /** Fetched pages by links from a seed. */
  readonly depths: readonly number[];
  /** Fetched pages by time: `counts[i]` from `startedAt + i × binMs` on. */
  readonly timeline: {
    readonly startedAt: number;
    readonly binMs: number;
    readonly counts: readonly number[];
  };
  readonly topHosts: readonly HostLine[];
  readonly politeness: PolitenessProof;
  readonly storage: StorageBytes;
}

/** @throws CrawlError data-damaged, disk */
export function surveyCrawl(reading: CrawlReading, nowMs: number): CrawlSurvey {
  const { store } = reading;
  const counters = store.counters();
  const count = (name: string): number => counters.get(name) ?? 0;
  const prefixed = (prefix: string): Record<string, number> => countersOf(counters, prefix);
  const discovered = count('urls.discovered');
  const settled = count('urls.settled');
  return {
    crawlId: store.identity.crawlId,
    createdAt: store.identity.createdAt,
    ...surveyPages(store),
    ...surveyHosts(store, nowMs),
    pages: count('pages'),
    fetched: count('fetched'),
    bytes: count('bytes'),
    urls: {
      discovered,
      settled,
      waiting: Math.max(discovered - settled - count('parked.urls'), 0),
      parked: count('parked.urls'),
      links: count('links'),
    },
    status: prefixed('status.'),
    skipped: prefixed('skipped.'),
    failures: prefixed('failures.'),
    retries: prefixed('retries.'),
    render: prefixed('render.'),
    duplicates: { exact: count('duplicates.exact'), near: count('duplicates.near') },
    soft404: count('pages.soft-404'),
    traps: { skipped: count('skipped.trap'), suspects: count('links.suspect') },
    politeness: provePoliteness(reading, { offencesMax: OFFENCES_MAX }),
    storage: store.storageBytes(),
  };
}

/** Counters whose name begins so, the greatest first. */
function countersOf(counters: ReadonlyMap<string, number>, prefix: string): Record<string, number> {
  const found = [...counters].filter(([name]) => name.startsWith(prefix));
  found.sort(([, a], [, b]) => b - a);
  return Object.fromEntries(found.map(([name, value]) => [name.slice(prefix.length), value]));
}

type PageFigures = Pick<
  CrawlSurvey,
  'firstFetchedAt' | 'lastFetchedAt' | 'types' | 'truncated' | 'depths' | 'timeline'
>;

function surveyPages(store: ReadStore): PageFigures {
  const timeline = new Timeline(store.identity.createdAt);
  const types = new Map<string, { pages: number; bytes: number }>();
  const depths: number[] = [];
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  let truncated = 0;
  for (const portion of store.pagePortions(PORTION_ROWS)) {
    for (const { row } of portion) {
      first = Math.min(first, row.fetchedAt);
      last = Math.max(last, row.fetchedAt);
      if (row.truncated !== undefined) truncated += 1;
      timeline.add(row.fetchedAt);
      const depth = Math.min(row.depth, DEPTH_MAX);
      while (depths.length <= depth) depths.push(0);
      depths[depth] = (depths[depth] as number) + 1;
      if (row.status === 200) countType(types, row);
    }
  }
  return {
    firstFetchedAt: last === 0 ? 0 : first,
    lastFetchedAt: last,
    types: shownTypes(types),
    truncated,
    depths,
    timeline: timeline.bins(),
  };
}

function countType(types: Map<string, { pages: number; bytes: number }>, row: PageRow): void {
  const named = /^[^;\s]{1,80}/.exec(row.contentType.toLowerCase())?.[0] ?? '(none)';
  const type = types.has(named) || types.size < TYPES_MAX ? named : 'other';
  const sums = types.get(type) ?? { pages: 0, bytes: 0 };
  sums.pages += 1;
  sums.bytes += row.bodyBytes;
  types.set(type, sums);
}

function shownTypes(types: ReadonlyMap<string, { pages: number; bytes: number }>): TypeCount[] {
  const sorted = [...types].map(([type, sums]) => ({ type, ...sums }));
  sorted.sort((a, b) => b.pages - a.pages);
  const rest = sorted.slice(TYPES_SHOWN);
  const shown = sorted.slice(0, TYPES_SHOWN);
  if (rest.length === 0) return shown;
  const pages = rest.reduce((sum, each) => sum + each.pages, 0);
  const bytes = rest.reduce((sum, each) => sum + each.bytes, 0);
  return [...shown, { type: `${rest.length} others`, pages, bytes }];
}

function surveyHosts(store: ReadStore, nowMs: number): Pick<CrawlSurvey, 'hosts' | 'topHosts'> {
  let known = 0;
  let withWork = 0;
  let backingOff = 0;
  let top: HostLine[] = [];
  for (const { row } of store.rows.hosts()) {
    known += 1;
    const queued = row.queues.reduce((sum, { head, tail }) => sum + tail - head, 0);
    if (queued > 0) withWork += 1;
    if (queued > 0 && row.gap.pausedUntil > nowMs) backingOff += 1;
    top.push({ host: row.host, queued, ...row.counts });
    // Cut back now and then, so that a million hosts are sorted a few at a time.
    if (top.length >= 4 * TOP_HOSTS) top = greatest(top);
  }
  return { hosts: { known, withWork, backingOff }, topHosts: greatest(top) };
}

function greatest(hosts: readonly HostLine[]): HostLine[] {
  return [...hosts]
    .sort((a, b) => b.stored - a.stored || b.fetched - a.fetched || (a.host < b.host ? -1 : 1))
    .slice(0, TOP_HOSTS);
}
