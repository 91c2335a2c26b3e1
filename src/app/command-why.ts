// `node cluster.js why URL`: every decision about a URL, from the data directory of a running or stopped crawl (DESIGN.md §9). What only a
// running crawl's memory knows, `inspect why` adds by its debug socket.

import { PARKED } from '../actors/rows.ts';
import { CrawlError } from '../base/errors.ts';
import { hostKey, urlKey } from '../base/units.ts';
import type { RenderReason } from '../domain/render-need.ts';
import type { CommandInput } from './command.ts';
import { needOf, renderingRows } from './explain-rendering.ts';
import { yieldText } from './explain-repeats.ts';
import { explainUrl, type WhyAnswer, type WhyHost, type WhyTrace } from './explain-url.ts';
import { readingCrawl } from './read-crawl.ts';

/** Prints the trace, or with --json the answer as one object. */
export async function commandWhy({ words, config }: CommandInput): Promise<number> {
  const [url, ...rest] = words;
  if (url === undefined || rest.length > 0) {
    throw new CrawlError('usage', `why: expected one URL`, {
      remedy: 'See node cluster.js why --help.',
    });
  }
  const { answer, need } = await readingCrawl(config, async (reading) => {
    const explained = explainUrl(reading, url, Date.now());
    const { trace } = explained;
    if (trace === undefined) return { answer: explained, need: undefined };
    const keys = {
      hostKey: hostKey(BigInt(`0x${trace.hostKey}`)),
      urlKey: urlKey(BigInt(`0x${trace.urlKey}`)),
    };
    return { answer: explained, need: await needOf(reading.store, keys, trace.page) };
  });
  const text = config.json
    ? `${JSON.stringify({ ...answer, browser: need })}\n`
    : whyText(answer, need);
  process.stdout.write(text);
  return 0;
}

/** The trace as a person reads it. */
export function whyText({ answer, trace }: WhyAnswer, need?: RenderReason | 'none'): string {
  if (trace === undefined) return `${answer}\n`;
  const rows = [
    ...identityRows(trace),
    ...ruleRows(trace),
    ...stateRows(trace),
    ...renderingRows(trace.rendering, need),
    ...trace.attempts.map((entry): Row => {
      const result = entry.failure ?? `status ${entry.status}`;
      const tookMs = (entry.endedAt - entry.startedAt).toFixed(0);
      const gap = `gap in force ${entry.gapMs.toFixed(0)} ms`;
      return [`request`, `${time(entry.startedAt)}: ${result}, ${tookMs} ms, ${gap}`];
    }),
    ...(trace.repeats?.yieldsTo === undefined
      ? []
      : [['comes last', yieldText(trace.repeats.yieldsTo)] as const]),
    ...(trace.hostState === undefined ? [] : hostRows(trace.hostState)),
  ];
  return `${answer}\n${rows.map(([name, text]) => `  ${name.padEnd(11)} ${text}\n`).join('')}`;
}

type Row = readonly [name: string, text: string];

function identityRows(trace: WhyTrace): Row[] {
  const steps = trace.steps.length === 0 ? 'as given' : trace.steps.join(', ');
  return [
    ['canonical', `${trace.canonical} (${steps})`],
    ['key', trace.urlKey],
    ['owner', `${trace.host}: partition ${trace.partition}, thread ${trace.thread}`],
    ['seen', trace.seen ? 'yes' : 'no'],
  ];
}

function ruleRows({ scope, optOut, trap, robots }: WhyTrace): Row[] {
  const inside = scope.outside === undefined ? 'inside' : `outside by ${scope.outside}`;
  const rows: Row[] = [['scope', `${inside} (${scope.mode}, ${scope.seeds} seeds)`]];
  if (optOut !== undefined) {
    rows.push(['opt-out', `${optOut.domain}, listed in ${optOut.listedIn}`]);
  }
  const trapText = trap === undefined ? 'none' : `${trap.rule}: ${trap.detail}`;
  const weight = trap === undefined || trap.isCertain ? '' : ' (a suspect: fetched last)';
  rows.push(['trap', `${trapText}${weight}`]);
  if (robots === undefined) return [...rows, ['robots', 'not read yet']];
  const { verdict } = robots;
  const by = verdict?.rule === undefined ? '' : ` by line ${verdict.line}: ${verdict.rule}`;
  const says =
    verdict === undefined ? 'unreachable' : `${verdict.allowed ? 'allowed' : 'disallowed'}${by}`;
  const read = `read ${time(robots.fetchedAt)}, status ${robots.status}`;
  return [...rows, ['robots', `${says} (${read}, valid until ${time(robots.expiresAt)})`]];
}

function stateRows({ isDenied, queue, page, repeats }: WhyTrace): Row[] {
  const rows: Row[] = [];
  if (isDenied) rows.push(['denied', 'lies aside until the robots rules change']);
  if (queue !== undefined) {
    const { depth, attempts, url } = queue.entry;
    const lane = queue.band === PARKED ? 'parked' : `band Q${queue.band + 1}`;
    const place = `${lane}, ${queue.ahead} of ${queue.bandLength} before it`;
    rows.push(['queue', `${place}; depth ${depth}, ${attempts} failed attempts, sent as ${url}`]);
  }
  if (page === undefined) return rows;
  const type = page.contentType === '' ? 'no type' : page.contentType;
  const result = page.failure ?? `status ${page.status}`;
  rows.push(['page', `${time(page.fetchedAt)}: ${result}, ${type}, ${page.bodyBytes} bytes`]);
  if (page.contentDigest !== '') rows.push(['digest', `sha1 ${page.contentDigest}`]);
  if (page.record !== undefined) {
    rows.push(['record', `${page.record.name} at byte ${page.record.offset}`]);
  }
  const twin = page.duplicateOf ?? page.sameBodyAs;
  if (twin !== undefined) rows.push(['duplicate', `of ${twin}`]);
  if (page.nearDuplicateOf !== undefined) rows.push(['near', `of ${page.nearDuplicateOf}`]);
  if (repeats?.isSoft404 === true) rows.push(['soft 404', 'shown under unrelated paths']);
  if (page.simhash !== undefined) rows.push(['simhash', page.simhash]);
  return rows;
}

function hostRows(state: WhyHost): Row[] {
  const { gapParts: parts, counts } = state;
  const latency = `${parts.latencyFactor} × ${parts.responseMs.toFixed(0)} ms`;
  const penalty = parts.penalty === 1 ? '' : ` × ${parts.penalty.toFixed(2)}`;
  const gap =
    `${state.gapMs.toFixed(0)} ms = max(${parts.minGapMs} ms, Crawl-delay ` +
    `${parts.crawlDelayMs} ms, ${latency})${penalty}`;
  const queued = state.queued.map((count, band) => `Q${band + 1} ${count}`).join(', ');
  return [
    ['host gap', gap],
    ['host next', state.lastEndedAt === 0 ? 'never asked' : time(state.nextAllowedAt)],
    ['host queue', queued],
    [
      'host',
      `${counts.discovered} discovered, ${counts.fetched} fetched, ${counts.stored} stored, ` +
        `${counts.failed} failed, ${counts.robotsDenied} denied by robots.txt`,
    ],
  ];
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
