// `node cluster.js replay`: parses stored pages again with today's parser, in parallel and without one request (DESIGN.md §9; step 11). A
// parser that was mended is a replay, not a recrawl. Reads the data directory only; writes to --out, never into it.

import { availableParallelism } from 'node:os';
import { CrawlError } from '../base/errors.ts';
import type { CommandInput } from './command.ts';
import { type LineOutput, writingLines } from './line-output.ts';
import {
  type PageSelection,
  type ParseStoredOptions,
  parseStored,
  selectPages,
} from './parse-stored.ts';
import { type CrawlReading, readingCrawl } from './read-crawl.ts';
import { EarlierReplay } from './replay-changes.ts';
import { type ReplaySummary, ReplayTally } from './replay-pages.ts';

/** @returns 0 also when some pages failed: each is counted and named in --out */
export async function commandReplay({ options, config }: CommandInput): Promise<number> {
  const selection: PageSelection = {
    host: textOf(options.host)?.toLowerCase(),
    urlPrefix: textOf(options.urlPrefix),
    pattern: patternOf(options.url),
    limit: limitOf(options.limit),
    duplicates: false,
  };
  const startedMs = performance.now();
  const out = textOf(options.out);
  const against = textOf(options.against);
  const earlier = against === undefined ? undefined : new EarlierReplay(against);
  const summary = await readingCrawl(config, (reading) =>
    out === undefined
      ? replay(reading, selection, undefined, { earlier })
      : writingLines(out, (output) => replay(reading, selection, output, { earlier })),
  ).finally(() => earlier?.close());
  const seconds = Math.round(performance.now() - startedMs) / 1_000;
  const text = config.json
    ? `${JSON.stringify({ ...summary, seconds })}\n`
    : summaryText(summary, seconds);
  // With `--out -` standard output has the pages; the summary goes beside it.
  (out === '-' ? process.stderr : process.stdout).write(text);
  return 0;
}

export interface ReplayOptions extends Partial<Omit<ParseStoredOptions, 'threads'>> {
  /** What to tell changes against. */
  readonly earlier?: EarlierReplay | undefined;
}

/** Replays a selection into an output, if there is one. */
export async function replay(
  reading: CrawlReading,
  selection: PageSelection,
  output: LineOutput | undefined,
  { earlier, ...limits }: ReplayOptions = {},
): Promise<ReplaySummary> {
  const seen = reading.store.seen();
  try {
    const tally = new ReplayTally(reading, seen, new Date().getUTCFullYear(), earlier);
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

function patternOf(value: string | true | undefined): RegExp | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return new RegExp(value, 'u');
  } catch (cause) {
    throw new CrawlError('usage', `replay: --url ${value}: ${(cause as Error).message}`, {
      remedy: 'Give a JavaScript regular expression (flag u).',
      cause,
    });
  }
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
  const { changed } = summary;
  if (changed !== undefined) {
    lines.push(
      `${changed.pages} pages changed: ${changed.linksAdded} links more, ${changed.linksRemoved} less`,
    );
    for (const { url } of changed.examples) lines.push(`  ${url}`);
  }
  if (ok < pages) {
    const kinds = Object.entries(failed).filter(([, count]) => count > 0);
    lines.push(`failed: ${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ')}`);
  }
  return `${lines.join('\n')}\n`;
}
