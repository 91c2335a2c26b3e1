// `node cluster.js report`: what was crawled, from where, what was skipped and why, what failed, how politely (DESIGN.md §9); as text, as one
// JSON object, or as a page with charts. Of a running or a stopped crawl.

import { writeFileSync } from 'node:fs';
import { CrawlError } from '../base/errors.ts';
import type { CommandInput } from './command.ts';
import { readingCrawl } from './read-crawl.ts';
import { reportPage } from './report-page.ts';
import { type CrawlSurvey, surveyCrawl } from './survey-crawl.ts';
import { grouped } from './svg-charts.ts';
import { bytesText, timeText } from './text-figures.ts';

/** Prints the report; with --html FILE writes the page there and says so on standard error. */
export async function commandReport({ options, config }: CommandInput): Promise<number> {
  const survey = await readingCrawl(config, (reading) => surveyCrawl(reading, Date.now()));
  const { html } = options;
  if (typeof html === 'string') {
    writePage(html, reportPage(survey));
    if (!config.json) return 0;
  }
  process.stdout.write(config.json ? `${JSON.stringify(survey)}\n` : surveyText(survey));
  return 0;
}

function writePage(path: string, page: string): void {
  if (path === '-') {
    process.stdout.write(page);
    return;
  }
  try {
    writeFileSync(path, page);
  } catch (cause) {
    throw new CrawlError('disk', `--html ${path}: cannot be written: ${(cause as Error).message}`, {
      remedy: 'Name a file in a directory that exists and can be written.',
      cause,
    });
  }
  process.stderr.write(`hostler: wrote ${path}\n`);
}

/** The report as a person reads it on a terminal. */
export function surveyText(survey: CrawlSurvey): string {
  const { urls, hosts, duplicates, traps, politeness, storage } = survey;
  const when =
    survey.lastFetchedAt === 0
      ? 'nothing fetched yet'
      : `${timeText(survey.firstFetchedAt)} to ${timeText(survey.lastFetchedAt)}`;
  const rows: (readonly [name: string, text: string])[] = [
    ['crawl', `${survey.crawlId}, ${when}`],
    ['pages', `${grouped(survey.pages)} stored, ${grouped(survey.fetched)} requests`],
    ['received', `${bytesText(survey.bytes)}, ${grouped(survey.truncated)} bodies cut short`],
    [
      'URLs',
      `${grouped(urls.discovered)} discovered, ${grouped(urls.settled)} settled, ` +
        `${grouped(urls.waiting)} waiting, ${grouped(urls.parked)} parked; ${grouped(urls.links)} links seen`,
    ],
    [
      'hosts',
      `${grouped(hosts.known)} known, ${grouped(hosts.withWork)} with work left, ` +
        `${grouped(hosts.backingOff)} of them backing off`,
    ],
    ['answers', listed(survey.status)],
    ['types', survey.types.map(({ type, pages }) => `${type} ${grouped(pages)}`).join(' · ')],
    ['skipped', listed(survey.skipped)],
    ['given up', listed(survey.failures)],
    ['tried again', listed(survey.retries)],
    ['rendered', listed(survey.render)],
    [
      'duplicates',
      `exact ${grouped(duplicates.exact)} · near ${grouped(duplicates.near)} · soft 404 ${grouped(survey.soft404)}`,
    ],
    ['traps', `${grouped(traps.skipped)} skipped · ${grouped(traps.suspects)} suspects`],
    ['depths', survey.depths.map((pages, depth) => `${depth}: ${grouped(pages)}`).join(' · ')],
    ['politeness', politenessText(politeness)],
    [
      'storage',
      `archive ${bytesText(storage.archive)} · tables ${bytesText(storage.tables)} · ` +
        `frontier ${bytesText(storage.frontier)} · audit ${bytesText(storage.audit)}`,
    ],
  ];
  const lines = rows.map(([name, text]) => `${name.padEnd(12)} ${text === '' ? 'none' : text}`);
  return `${[...lines, '', ...hostLines(survey)].join('\n')}\n`;
}

function politenessText(politeness: CrawlSurvey['politeness']): string {
  const { proven, tightest, cleanShare } = politeness;
  if (!proven) {
    const share = (cleanShare * 100).toFixed(3);
    return `NOT proven, ${share} % of the requests are clean; see node cluster.js audit`;
  }
  const gap = tightest === undefined ? '' : `, tightest gap ${grouped(tightest.gapMs)} ms`;
  return `proven by the audit log${gap}`;
}

function hostLines({ topHosts }: CrawlSurvey): string[] {
  const width = Math.max(...topHosts.map(({ host }) => host.length), 4);
  const line = (host: string, cells: readonly string[]): string =>
    `${host.padEnd(width)} ${cells.map((cell) => cell.padStart(9)).join('')}`;
  return [
    line('host', ['stored', 'fetched', 'failed', 'denied', 'waiting']),
    ...topHosts.map((host) => {
      const { stored, fetched, failed, robotsDenied, queued } = host;
      return line(host.host, [stored, fetched, failed, robotsDenied, queued].map(grouped));
    }),
  ];
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${grouped(count)}`)
    .join(' · ');
}
