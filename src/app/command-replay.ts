// `node cluster.js replay`: parses stored pages again with today's parser, in parallel and without one request (DESIGN.md §9; step 11). A
// parser that was mended is a replay, not a recrawl. Reads the data directory only; writes to --out, never into it.

import { availableParallelism } from 'node:os';
import { CrawlError } from '../base/errors.ts';
import type { CommandInput } from './command.ts';
import { type LineOutput, writingLines } from './line-output.ts';
import { type PageSelection, parseStored, selectPages } from './parse-stored.ts';
import { type CrawlReading, readingCrawl } from './read-crawl.ts';
import { type ReplaySummary, ReplayTally } from './replay-pages.ts';

/** @returns 0 also when some pages failed: each is counted and named in --out */
export async function commandReplay({ options, config }: CommandInput): Promise<number> {
  const selection: PageSelection = {
    host: textOf(options.host)?.toLowerCase(),
    urlPrefix: textOf(options.urlPrefix),
    limit: limitOf(options.limit),
    duplicates: false,
  };
  const startedMs = performance.now();
  const out = textOf(options.out);
  const summary = await readingCrawl(config, (reading) =>
    out === undefined
      ? replay(reading, selection, undefined)
      : writingLines(out, (output) => replay(reading, selection, output)),
  );
  const seconds = Math.round(performance.now() - startedMs) / 1_000;
  const text = config.json
    ? `${JSON.stringify({ ...summary, seconds })}\n`
    : summaryText(summary, seconds);
  // With `--out -` standard output has the pages; the summary goes beside it.
  (out === '-' ? process.stderr : process.stdout).write(text);
  return 0;
}

/** Replays a selection into an output, if there is one. */
export async function replay(
  reading: CrawlReading,
  selection: PageSelection,
  output: LineOutput | undefined,
  limits: { readonly entry?: URL; readonly runMsMax?: number; readonly heapMiBMax?: number } = {},
): Promise<ReplaySummary> {
  const seen = reading.store.seen();
  try {
    const tally = new ReplayTally(reading, seen, new Date().getUTCFullYear());
    const threads = Math.min(reading.config.threads, availableParallelism());
    const pages = selectPages(reading, selection);
    for await (const result of parseStored(reading, pages, { threads, ...limits })) {
      const page = tally.add(result);
      await output?.write(JSON.stringify(page));
    }
    return tally.summary();
  } finally {
    seen.close();
  }
}

function textOf(value: string | true | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function limitOf(value: string | true | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw new CrawlError('usage', `replay: --limit ${value}: must be a whole number`, {
    remedy: 'See node cluster.js replay --help.',
  });
}

function summaryText(summary: ReplaySummary, seconds: number): string {
  const { pages, ok, failed } = summary;
  const rate = seconds > 0 ? ` (${Math.round(pages / seconds)}/s)` : '';
  const lines = [
    `${pages} pages parsed again in ${seconds} s${rate}, no request made`,
    `${summary.links} links, ${summary.nofollow} of them nofollow; ${summary.noindex} pages noindex`,
    `${summary.newLinks} links that the crawl never took up, on ${summary.pagesWithNewLinks} pages`,
  ];
  if (ok < pages) {
    const kinds = Object.entries(failed).filter(([, count]) => count > 0);
    lines.push(`failed: ${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ')}`);
  }
  return `${lines.join('\n')}\n`;
}
