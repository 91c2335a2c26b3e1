// The final report of a crawl (DESIGN.md §9): from the durable counters, so it tells of the whole crawl and agrees with what is on disk,
// plus the figures of this run.

/** Why a run ended. */
export type EndReason = 'done' | 'max-pages' | 'max-time' | 'disk-quota' | 'stopped' | 'failed';

/** The object that `--json` prints. Counts are of the whole crawl, over all its runs; `run` is about this one. */
export interface CrawlReport {
  /** Stored 200 pages. */
  readonly pages: number;
  /** Answers and failures of page requests, retries included. */
  readonly fetched: number;
  /** Payload bytes received with them. */
  readonly bytes: number;
  /** Stored 200 pages of this run per second of this run. */
  readonly pagesPerSecond: number;
  /** Distinct URLs that entered the frontier. */
  readonly urlsDiscovered: number;
  /** Links found on pages, repetitions included. */
  readonly urlsSeen: number;
  readonly duplicates: { readonly exact: number; readonly near: number };
  /** Pages that their host shows under unrelated paths; exact and near ones are among them. */
  readonly soft404: number;
  readonly skipped: Readonly<Record<string, number>>;
  /** URLs over a budget now; looked at again from time to time (`skipped.budget` counts the decisions). */
  readonly parked: number;
  readonly failures: Readonly<Record<string, number>>;
  /** Visits of pages beyond the first, by how each ended: changed, unchanged, gone, failed, new; and those put off or made sooner. */
  readonly visits: Readonly<Record<string, number>>;
  readonly status: Readonly<Record<string, number>>;
  /** Pages in the browser, by what became of them (docs/RENDERING.md). */
  readonly render: Readonly<Record<string, number>>;
  /** Hosts that were asked for anything. */
  readonly hosts: number;
  /** Hosts that still have URLs and wait for robots, DNS or the end of a back-off; the next run goes on with them. */
  readonly hostsWaiting: number;
  readonly cpuSeconds: number;
  /** Peak of anonymous and shared memory (not LMDB's map of the disk). */
  readonly peakRssBytes: number;
  readonly seconds: number;
  readonly reason: EndReason;
  readonly run: { readonly pages: number; readonly fetched: number; readonly bytes: number };
}

export interface RunFigures {
  readonly countersBefore: ReadonlyMap<string, number>;
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
  readonly seconds: number;
  readonly hostsWaiting: number;
  readonly reason: EndReason;
}

export function crawlReport(counters: ReadonlyMap<string, number>, run: RunFigures): CrawlReport {
  const count = (name: string): number => counters.get(name) ?? 0;
  const since = (name: string): number => count(name) - (run.countersBefore.get(name) ?? 0);
  const perSecond = run.seconds > 0 ? since('pages') / run.seconds : 0;
  return {
    pages: count('pages'),
    fetched: count('fetched'),
    bytes: count('bytes'),
    pagesPerSecond: Math.round(perSecond * 10) / 10,
    urlsDiscovered: count('urls.discovered'),
    urlsSeen: count('links'),
    duplicates: { exact: count('duplicates.exact'), near: count('duplicates.near') },
    soft404: count('pages.soft-404'),
    skipped: withPrefix(counters, 'skipped.'),
    parked: count('parked.urls'),
    failures: withPrefix(counters, 'failures.'),
    status: withPrefix(counters, 'status.'),
    visits: withPrefix(counters, 'visits.'),
    render: withPrefix(counters, 'render.'),
    hosts: count('hosts'),
    hostsWaiting: run.hostsWaiting,
    cpuSeconds: Math.round(run.cpuSeconds * 1_000) / 1_000,
    peakRssBytes: run.peakRssBytes,
    seconds: Math.round(run.seconds * 1_000) / 1_000,
    reason: run.reason,
    run: { pages: since('pages'), fetched: since('fetched'), bytes: since('bytes') },
  };
}

/** The counters of one family, by the rest of their names, in order of name. */
export function withPrefix(
  counters: ReadonlyMap<string, number>,
  prefix: string,
): Record<string, number> {
  const found: Record<string, number> = {};
  for (const name of [...counters.keys()].sort()) {
    if (name.startsWith(prefix)) found[name.slice(prefix.length)] = counters.get(name) ?? 0;
  }
  return found;
}

/** The report as a person reads it, a few lines. */
export function reportText(report: CrawlReport): string {
  const lines = [
    `${report.pages} pages stored of ${report.urlsDiscovered} URLs discovered on ${report.hosts} hosts` +
      ` (${report.run.pages} pages in this run, ${report.pagesPerSecond}/s, ${report.seconds} s)`,
    `fetched ${report.fetched} · ${megabytes(report.bytes)} received · ${report.duplicates.exact} exact duplicates`,
    `answers: ${listed(report.status)}`,
    `skipped: ${listed(report.skipped)} · ${report.parked} URLs parked`,
    `failed: ${listed(report.failures)}`,
    `visited again: ${listed(report.visits)}`,
    `CPU ${report.cpuSeconds} s · memory at most ${megabytes(report.peakRssBytes)} · ended: ${report.reason}`,
  ];
  if (report.hostsWaiting > 0) {
    lines.push(`${report.hostsWaiting} hosts still wait; the same command goes on with them.`);
  }
  return lines.join('\n');
}

function listed(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return parts.length === 0 ? 'none' : parts.join(' · ');
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
