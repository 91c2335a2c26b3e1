// The report as one HTML page (DESIGN.md §9, `report --html`): self-contained, no script, no request to anywhere, readable in a narrow window,
// in print, in light and dark. Everything that the web chose (types, host names) is escaped and cut.

import { AUDIT_RULES } from '../domain/audit-proof.ts';
import { AUDIT_RULE_TEXTS } from './prove-politeness.ts';
import { REPORT_STYLE } from './report-style.ts';
import type { CrawlSurvey } from './survey-crawl.ts';
import { columnChart, escapeHtml, grouped, shareBar } from './svg-charts.ts';
import { bytesText, durationText, timeText } from './text-figures.ts';

const NAME_CHARS_MAX = 60;

/** The whole page. */
export function reportPage(survey: CrawlSurvey): string {
  const sections = [
    timeSection(survey),
    '<div class="pair">',
    barSection('Answers', statusRows(survey), 'No answer yet.'),
    barSection('Content types', typeRows(survey), 'No page yet.'),
    barSection('Links not followed', countRows(survey.skipped, 'quiet'), 'None.'),
    barSection('Given up', countRows(survey.failures, 'bad'), 'None: every URL got an answer.'),
    barSection('Tried again', countRows(survey.retries, 'warn'), 'None.'),
    barSection('Storage', storageRows(survey), ''),
    '</div>',
    depthSection(survey),
    politenessSection(survey),
    hostSection(survey),
  ];
  return (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>Crawl report: ${grouped(survey.pages)} pages</title><style>${REPORT_STYLE}</style></head>` +
    `<body><main>${headSection(survey)}${sections.join('\n')}</main></body></html>\n`
  );
}

function headSection(survey: CrawlSurvey): string {
  const { urls, hosts, duplicates, politeness } = survey;
  const span = survey.lastFetchedAt - survey.firstFetchedAt;
  const tiles: readonly (readonly [name: string, value: string, note: string])[] = [
    ['pages stored', grouped(survey.pages), `${grouped(survey.fetched)} requests`],
    ['hosts', grouped(hosts.known), `${grouped(hosts.withWork)} with work left`],
    ['received', bytesText(survey.bytes), `${bytesText(survey.storage.archive)} archived`],
    [
      'URLs discovered',
      grouped(urls.discovered),
      `${grouped(urls.waiting)} waiting, ${grouped(urls.parked)} parked`,
    ],
    ['duplicates', grouped(duplicates.exact), `${grouped(duplicates.near)} near`],
    [
      'polite',
      politeness.proven ? 'proven' : 'NOT proven',
      `${(politeness.cleanShare * 100).toFixed(politeness.cleanShare === 1 ? 0 : 3)} % clean`,
    ],
  ];
  const html = tiles.map(
    ([name, value, note]) =>
      `<div class="tile"><b>${escapeHtml(value)}</b><span>${name}</span><small>${note}</small></div>`,
  );
  const when =
    survey.lastFetchedAt === 0
      ? 'nothing fetched yet'
      : `${timeText(survey.firstFetchedAt)} to ${timeText(survey.lastFetchedAt)} (${durationText(span)})`;
  return (
    `<header><h1>Crawl report</h1><p>Crawl ${escapeHtml(survey.crawlId)} · ${when}</p></header>` +
    `<div class="tiles">${html.join('')}</div>`
  );
}

function timeSection({ timeline }: CrawlSurvey): string {
  const { startedAt, binMs, counts } = timeline;
  if (counts.length === 0) return '';
  const columns = counts.map((value, bin) => ({
    value,
    label: `${timeText(startedAt + bin * binMs)}: ${grouped(value)}`,
  }));
  const total = counts.length * binMs;
  const ticks = [0, 0.5, 1].map((at) => ({ at, text: `+ ${durationText(total * at)}` }));
  const chart = columnChart(columns, ticks, 'Fetched URLs over time');
  const unit = `URLs settled per ${durationText(binMs)}, from ${timeText(startedAt)} on`;
  return `<section><h2>Over time</h2><p>${unit}</p><div class="scroll">${chart}</div></section>`;
}

function depthSection({ depths }: CrawlSurvey): string {
  if (depths.length === 0) return '';
  const columns = depths.map((value, depth) => ({
    value,
    label: `depth ${depth}: ${grouped(value)}`,
  }));
  const ticks = depths.map((_, depth) => ({
    at: (depth + 0.5) / depths.length,
    text: String(depth),
  }));
  const chart = columnChart(columns, ticks, 'URLs by depth');
  return `<section><h2>By depth</h2><p>URLs by their links from a seed</p><div class="scroll">${chart}</div></section>`;
}

interface BarRow {
  readonly name: string;
  readonly value: number;
  readonly text: string;
  readonly kind: string;
}

function barSection(title: string, rows: readonly BarRow[], empty: string): string {
  const greatest = Math.max(...rows.map(({ value }) => value), 1);
  const html = rows.map(
    ({ name, value, text, kind }) =>
      `<tr><th scope="row">${escapeHtml(cut(name))}</th>` +
      `<td class="wide">${shareBar(value / greatest, kind)}</td>` +
      `<td class="number">${escapeHtml(text)}</td></tr>`,
  );
  const body = rows.length === 0 ? `<p>${empty}</p>` : `<table>${html.join('')}</table>`;
  return `<section><h2>${title}</h2>${body}</section>`;
}

function statusRows({ status }: CrawlSurvey): BarRow[] {
  const kinds: Readonly<Record<string, string>> = { 2: 'good', 3: 'quiet', 4: 'warn', 5: 'bad' };
  return Object.entries(status)
    .map(([name, value]) => ({
      name,
      value,
      text: grouped(value),
      kind: kinds[name.charAt(0)] ?? 'quiet',
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function typeRows({ types }: CrawlSurvey): BarRow[] {
  return types.map(({ type, pages, bytes }) => ({
    name: type,
    value: pages,
    text: `${grouped(pages)} · ${bytesText(bytes)}`,
    kind: 'good',
  }));
}

function countRows(counts: Readonly<Record<string, number>>, kind: string): BarRow[] {
  return Object.entries(counts).map(([name, value]) => ({
    name,
    value,
    text: grouped(value),
    kind,
  }));
}

function storageRows({ storage }: CrawlSurvey): BarRow[] {
  const names = {
    archive: 'archive (WARC)',
    tables: 'tables',
    frontier: 'frontier',
    audit: 'audit log',
  };
  return Object.entries(names).map(([key, name]) => {
    const value = storage[key as keyof typeof names];
    return { name, value, text: bytesText(value), kind: 'quiet' };
  });
}

function politenessSection({ politeness }: CrawlSurvey): string {
  const rules = AUDIT_RULES.filter((rule) => rule !== 'min-gap').map((rule) => {
    const count = politeness.broken[rule];
    const verdict = count === 0 ? 'kept' : `broken ${grouped(count)} times`;
    const kind = count === 0 ? 'kept' : 'broken';
    return `<tr><th scope="row">${escapeHtml(AUDIT_RULE_TEXTS[rule])}</th><td class="${kind}">${verdict}</td></tr>`;
  });
  const { tightest, leastSurplusMs = 0 } = politeness;
  const gap =
    tightest === undefined
      ? ''
      : `<p>Tightest gap ${grouped(tightest.gapMs)} ms (${escapeHtml(cut(tightest.host))}), ` +
        `${grouped(leastSurplusMs)} ms at least over the gap in force; at most ` +
        `${politeness.addressMostOpen} in flight to one address.</p>`;
  const offences = politeness.offences.map(
    ({ rule, detail, request }) =>
      `<li>${rule}: ${escapeHtml(detail)}: ${escapeHtml(cut(request.url))}</li>`,
  );
  const list = offences.length === 0 ? '' : `<ul>${offences.join('')}</ul>`;
  return `<section><h2>Politeness</h2><table class="rules">${rules.join('')}</table>${gap}${list}</section>`;
}

function hostSection({ topHosts }: CrawlSurvey): string {
  const greatest = Math.max(...topHosts.map(({ stored }) => stored), 1);
  const rows = topHosts.map((host) => {
    const numbers = [host.stored, host.fetched, host.failed, host.robotsDenied, host.queued];
    const cells = numbers.map((value) => `<td class="number">${grouped(value)}</td>`).join('');
    const bar = shareBar(host.stored / greatest, 'good');
    return `<tr><th scope="row">${escapeHtml(cut(host.host))}</th><td class="wide">${bar}</td>${cells}</tr>`;
  });
  const names = ['host', '', 'stored', 'fetched', 'failed', 'denied', 'waiting'];
  const head = names.map((name) => `<th scope="col">${name}</th>`).join('');
  return (
    '<section><h2>Top hosts</h2><div class="scroll"><table class="hosts">' +
    `<thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`
  );
}

function cut(text: string): string {
  return text.length > NAME_CHARS_MAX ? `${text.slice(0, NAME_CHARS_MAX - 1)}…` : text;
}
