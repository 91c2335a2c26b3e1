// `inspect top` on a terminal: the crawl and its busiest actors, redrawn each second on the
// terminal's other screen. Keys change the order; q leaves. Plain control sequences of ECMA-48 and
// xterm are all it needs: one screen, no input but single keys.

import { emitKeypressEvents } from 'node:readline';
import type { CrawlOverview } from '../ops/overview.ts';
import { type OverviewRates, ratesBetween } from '../ops/overview-rates.ts';
import type { Plain } from '../ops/plain-value.ts';
import { textOf } from '../ops/text-form.ts';
import type { InspectSession, InspectStreams } from './inspect-session.ts';

const REDRAW_MS = 1_000;
const OPEN_SCREEN = '\u001b[?1049h\u001b[?25l';
const CLOSE_SCREEN = '\u001b[?25h\u001b[?1049l';
/** Lines above the table. */
const HEAD_LINES = 9;

/** Lists that a key shows. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  b: ['top', 'busy'],
  m: ['top', 'mailbox'],
  e: ['top', 'mem'],
  w: ['top', 'wait'],
  h: ['hosts', 'fetched'],
  s: ['slowlog'],
};

/** What one screen shows. */
export interface TopScreen {
  readonly overview: CrawlOverview;
  readonly rates: OverviewRates;
  /** The verb whose answer `list` is. */
  readonly verb: readonly string[];
  readonly list: Plain;
  readonly columns: number;
  readonly rows: number;
}

/** Runs the live view until a key ends it. Resolves to the exit status. @throws CrawlError when there is no crawl */
export async function liveTop(
  session: InspectSession,
  order: string | undefined,
  streams: InspectStreams,
): Promise<number> {
  const { stdin, stdout } = streams;
  let verb: readonly string[] = ['top', order ?? 'busy'];
  const first = await session.ask(verb);
  // A wrong order is told on the ordinary screen.
  if (!first.ok) return session.run(verb);
  let wake: () => void = () => {};
  let isLeaving = false;
  const onKey = (text: string | undefined, key: { name?: string; ctrl?: boolean }): void => {
    if (key.name === 'q' || key.name === 'escape' || (key.ctrl === true && key.name === 'c')) {
      isLeaving = true;
    }
    verb = LISTS[text ?? ''] ?? verb;
    wake();
  };
  const onResize = (): void => wake();
  emitKeypressEvents(stdin);
  stdin.setRawMode?.(true);
  stdin.on('keypress', onKey).resume();
  stdout.on('resize', onResize);
  stdout.write(OPEN_SCREEN);
  try {
    let before: CrawlOverview | undefined;
    while (!isLeaving) {
      const drawn = verb;
      before = await draw(session, drawn, before, stdout);
      // A key that came meanwhile is obeyed at once.
      if (isLeaving || verb !== drawn) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, REDRAW_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    stdout.write(CLOSE_SCREEN);
    stdout.off('resize', onResize);
    stdin.off('keypress', onKey).pause();
    stdin.setRawMode?.(false);
  }
  return 0;
}

/** The lines of a screen, none longer than its width, at most as many as its height. */
export function screenLines(screen: TopScreen): string[] {
  const { overview, rates, verb, list, columns, rows } = screen;
  const lines = [...headLines(overview, rates), '', ...textOf(list).split('\n')];
  const foot = `[${verb.join(' ')}]  b busy · m mailbox · e memory · w wait · h hosts · s slow turns · q quit`;
  const kept = lines.slice(0, Math.max(rows - 1, 1));
  while (kept.length < rows - 1) kept.push('');
  return [...kept, foot].map((line) => line.slice(0, columns));
}

async function draw(
  session: InspectSession,
  verb: readonly string[],
  before: CrawlOverview | undefined,
  stdout: NodeJS.WriteStream,
): Promise<CrawlOverview | undefined> {
  const { columns = 80, rows = 24 } = stdout;
  const answer = await session.ask(['overview']);
  const wanted = verb[0] === 'slowlog' ? verb : [...verb, String(Math.max(rows - HEAD_LINES, 1))];
  const list = await session.ask(wanted);
  if (!answer.ok) {
    paint(stdout, [`error: ${answer.error}`.slice(0, columns)]);
    return before;
  }
  // Our own crawl wrote it, a moment ago: its shape is the overview's.
  const overview = answer.value as unknown as CrawlOverview;
  const rates = ratesBetween(before, overview);
  const shown = list.ok ? list.value : `error: ${list.error}`;
  paint(stdout, screenLines({ overview, rates, verb, list: shown, columns, rows }));
  return overview;
}

/** Each line is cleared to its end and the rest of the screen below, so that nothing flickers. */
function paint(stdout: NodeJS.WriteStream, lines: readonly string[]): void {
  stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\r\n')}\u001b[J`);
}

function headLines(overview: CrawlOverview, rates: OverviewRates): string[] {
  const { hosts, queuedByBand, seenSet, memory, shards } = overview;
  const seconds = Math.round((overview.at - overview.startedAt) / 1_000);
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  const fill = seenSet.capacity === 0 ? 0 : (100 * seenSet.keys) / seenSet.capacity;
  const perShard = shards.map(
    ({ shard, loopDelayMs, parseBacklog }) =>
      `${shard}: ${loopDelayMs.toFixed(1)} ms late, ${parseBacklog} to parse`,
  );
  const found = overview.discovered / Math.max(overview.fetched, 1);
  return [
    `hostler ${overview.version}  ${overview.state}  ${seconds} s`,
    `pages    ${overview.pages}  ${rates.pagesPerSecond.toFixed(1)}/s   requests ${overview.fetched}  ` +
      `${rates.fetchedPerSecond.toFixed(1)}/s   ${megabytes(rates.bytesPerSecond)}/s`,
    `hosts    ${hosts.ready} ready  ${hosts.waiting} waiting  ${hosts.backingOff} backing off  ` +
      `${hosts.active} awake   in flight ${overview.inFlight}/${overview.slots}`,
    `queued   Q1 ${queuedByBand[0]}  Q2 ${queuedByBand[1]}  Q3 ${queuedByBand[2]}   ` +
      `found per fetched ${found.toFixed(1)}   seen set ${fill.toFixed(0)} % full`,
    `storage  commit ${overview.storage.commitP50Ms.toFixed(1)} ms, worst ${overview.storage.commitMaxMs.toFixed(0)} ms   ` +
      `waiting ${megabytes(overview.storage.queuedBytes)}`,
    `process  ${megabytes(memory.anonBytes + memory.sharedBytes)}   ${rates.cpuCores.toFixed(2)} cores`,
    `shards   ${perShard.join('   ')}`,
  ];
}
