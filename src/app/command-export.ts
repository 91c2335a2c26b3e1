// `node cluster.js export pages|links|cdxj|audit`: what was crawled, as lines on standard output for other programs, or as a Parquet file
// (DESIGN.md §9). A slow reader slows it down and costs no memory. Works on a running crawl: records are of the commit that was newest when
// their portion was read.

import { CrawlError } from '../base/errors.ts';
import type { CommandInput } from './command.ts';
import { exportAudit } from './export-audit.ts';
import { LINK_COLUMNS, PAGE_COLUMNS } from './export-columns.ts';
import {
  exportCdxj,
  exportLinks,
  exportPages,
  type LinkRecord,
  type TakeRecord,
} from './export-records.ts';
import { LineOutput } from './line-output.ts';
import { ParquetOutput } from './parquet-output.ts';
import { type CrawlReading, readingCrawl } from './read-crawl.ts';

/** Pages that cannot be parsed are told one by one up to this many. */
const TOLD_MAX = 10;

const WHATS = ['pages', 'links', 'cdxj', 'audit'] as const;
const WHATS_TEXT = 'pages, links, cdxj or audit';

/** @returns 0; pages whose links cannot be had are told on standard error */
export async function commandExport({ words, options, config }: CommandInput): Promise<number> {
  const [what] = words;
  if (words.length !== 1 || !WHATS.some((one) => one === what)) {
    throw new CrawlError('usage', `export: expected ${WHATS_TEXT}, not ${words.join(' ')}`, {
      remedy: 'See node cluster.js export --help.',
    });
  }
  const file = options.parquet;
  if (typeof file === 'string' && what !== 'pages' && what !== 'links') {
    throw new CrawlError('usage', `export: --parquet goes with pages or links, not with ${what}`, {
      remedy: 'Leave it out, or redirect standard output to a file.',
    });
  }
  await readingCrawl(config, async (reading) => {
    if (typeof file === 'string') {
      await exportParquet(reading, what, file);
      return;
    }
    // CDXJ lines are strings of bytes; JSON lines are text.
    const output = new LineOutput(process.stdout, what === 'cdxj' ? 'latin1' : 'utf8');
    const line = (record: unknown) => output.write(JSON.stringify(record));
    if (what === 'pages') await exportPages(reading, line);
    if (what === 'audit') await exportAudit(reading, output);
    if (what === 'cdxj') {
      await exportCdxj(reading, output, typeof options.url === 'string' ? options.url : undefined);
    }
    if (what === 'links') await linksOf(reading, line);
    await output.flush();
  });
  return 0;
}

async function exportParquet(
  reading: CrawlReading,
  what: string | undefined,
  file: string,
): Promise<void> {
  if (what === 'pages') {
    await parquetOf(new ParquetOutput(file, PAGE_COLUMNS), (take) => exportPages(reading, take));
  } else {
    await parquetOf(new ParquetOutput(file, LINK_COLUMNS), (take) => linksOf(reading, take));
  }
}

/** Fills a file; one that could not be filled is removed. */
async function parquetOf<Row>(
  output: ParquetOutput<Row>,
  fill: (take: (row: Row) => undefined) => Promise<void>,
): Promise<void> {
  try {
    await fill((row) => void output.add(row));
    output.finish();
  } finally {
    output.abandon();
  }
}

/** All links; pages that cannot be parsed are told. */
async function linksOf(reading: CrawlReading, take: TakeRecord<LinkRecord>): Promise<void> {
  let told = 0;
  await exportLinks(reading, take, (url, kind) => {
    told += 1;
    if (told <= TOLD_MAX) process.stderr.write(`hostler: ${url}: not parsed: ${kind}\n`);
  });
  if (told > TOLD_MAX) process.stderr.write(`hostler: ${told} pages not parsed in all\n`);
}
