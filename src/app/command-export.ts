// `node cluster.js export pages|links|cdxj|audit`: what was crawled, as lines on standard output for other programs (DESIGN.md §9). A slow reader
// slows it down and costs no memory. Works on a running crawl: lines are of the commit that was newest when their portion was read.

import { CrawlError } from '../base/errors.ts';
import type { CommandInput } from './command.ts';
import { exportAudit } from './export-audit.ts';
import { exportCdxj, exportLinks, exportPages } from './export-records.ts';
import { LineOutput } from './line-output.ts';
import { readingCrawl } from './read-crawl.ts';

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
  await readingCrawl(config, async (reading) => {
    // CDXJ lines are strings of bytes; JSON lines are text.
    const output = new LineOutput(process.stdout, what === 'cdxj' ? 'latin1' : 'utf8');
    if (what === 'pages') await exportPages(reading, output);
    if (what === 'audit') await exportAudit(reading, output);
    if (what === 'cdxj') {
      await exportCdxj(reading, output, typeof options.url === 'string' ? options.url : undefined);
    }
    if (what === 'links') {
      let told = 0;
      await exportLinks(reading, output, (url, kind) => {
        told += 1;
        if (told <= TOLD_MAX) process.stderr.write(`hostler: ${url}: not parsed: ${kind}\n`);
      });
      if (told > TOLD_MAX) process.stderr.write(`hostler: ${told} pages not parsed in all\n`);
    }
    await output.flush();
  });
  return 0;
}
