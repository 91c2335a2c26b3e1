// The verbs that change the running crawl (DESIGN.md §10). Each reads its words
// into an Operation; doing it is the Operator's part, and every one of them is
// audited (answer-request.ts).

import { LOG_LEVELS, type Operation, type PauseTarget } from './operation.ts';
import { type Refusal, refused } from './operator.ts';
import type { Prepared, Verb, VerbWords } from './verb.ts';
import { wholeNumber } from './verb.ts';

/** URLs of one `inject`, at most; more come as several requests, or by a seeds file. */
const INJECT_MAX = 1_000;
const PARTITIONS_MAX = 65_536;
const DAY_MS = 86_400_000;
const TARGETS = ['host', 'ip', 'all'];

/** All verbs that change something. */
export const OPERATE_VERBS: readonly Verb[] = [
  operate('pause', 'pause host HOST | ip ADDRESS | all', 'ask nothing more', {
    words: [1, 2],
    completions: TARGETS,
    prepare: (words) => targeted('pause', words),
  }),
  operate('resume', 'resume host HOST | ip ADDRESS | all', 'end a pause or a block', {
    words: [1, 2],
    completions: TARGETS,
    prepare: (words) => targeted('resume', words),
  }),
  operate('delay', 'delay HOST MS|auto', 'set the gap of a host', {
    words: [2, 2],
    prepare: prepareDelay,
  }),
  operate('block', 'block HOST [--until TIME|SECONDS]', 'ask a host nothing until then', {
    words: [1, 1],
    options: { until: { type: 'string' } },
    prepare: prepareBlock,
  }),
  operate('inject', 'inject URL…', 'add URLs to the crawl', {
    words: [1, INJECT_MAX],
    prepare: ({ names }) => doing({ kind: 'inject', urls: names }),
  }),
  operate('checkpoint', 'checkpoint', 'commit what is fetched, now', {
    words: [0, 0],
    prepare: () => doing({ kind: 'checkpoint' }),
  }),
  operate('reload', 'reload', 'read config file, opt-out file and ASN table again', {
    words: [0, 0],
    prepare: () => doing({ kind: 'reload' }),
  }),
  operate('log', `log ${LOG_LEVELS.join('|')}`, 'set the log level', {
    words: [1, 1],
    completions: LOG_LEVELS,
    prepare: prepareLog,
  }),
  operate('move', 'move PARTITION NODE', 'hand a partition to another node', {
    words: [2, 2],
    prepare: prepareMove,
  }),
  operate('drain', 'drain [NODE]', 'start nothing more, hand partitions over', {
    words: [0, 1],
    prepare: ({ names }) => doing({ kind: 'drain', node: names[0] }),
  }),
];

function operate(
  name: string,
  usage: string,
  summary: string,
  more: Pick<Verb, 'words' | 'prepare' | 'completions' | 'options'>,
): Verb {
  return { name, usage, summary, group: 'operate', ...more };
}

function doing(operation: Operation): Prepared {
  return { kind: 'operate', operation };
}

function targeted(kind: 'pause' | 'resume', { names }: VerbWords): Prepared | Refusal {
  const target = targetOf(names);
  return target === undefined
    ? refused('usage', `${kind} what? host HOST, ip ADDRESS or all`)
    : doing({ kind, target });
}

function targetOf([what, subject]: readonly string[]): PauseTarget | undefined {
  if (what === 'all' && subject === undefined) return { kind: 'all' };
  if (subject === undefined) return undefined;
  if (what === 'host') return { kind: 'host', host: subject };
  return what === 'ip' ? { kind: 'ip', address: subject } : undefined;
}

function prepareDelay({ names: [host = '', text = ''] }: VerbWords): Prepared | Refusal {
  if (text === 'auto') return doing({ kind: 'set-delay', host, gapMs: undefined });
  const gapMs = wholeNumber(text, { name: 'MS', least: 0, most: DAY_MS });
  return typeof gapMs === 'number' ? doing({ kind: 'set-delay', host, gapMs }) : gapMs;
}

/** Without `--until`: a day, the longest pause there is (src/domain/politeness.ts). */
function prepareBlock({ names: [host = ''], options }: VerbWords): Prepared | Refusal {
  const until = options.until ?? String(DAY_MS / 1_000);
  const text = String(until);
  const now = Date.now();
  const untilMs = /^\d{1,9}$/.test(text) ? now + Number(text) * 1_000 : Date.parse(text);
  if (!Number.isFinite(untilMs)) {
    return refused('usage', '--until takes seconds or a time like 2030-01-31T18:00:00Z');
  }
  if (untilMs <= now) return refused('usage', '--until lies in the past');
  return doing({ kind: 'block', host, untilMs });
}

function prepareLog({ names: [text] }: VerbWords): Prepared | Refusal {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) return refused('usage', `there is no log level ${text}`);
  return doing({ kind: 'set-log-level', level });
}

function prepareMove({ names: [text, node = ''] }: VerbWords): Prepared | Refusal {
  const bounds = { name: 'PARTITION', least: 0, most: PARTITIONS_MAX };
  const partition = wholeNumber(text, bounds);
  return typeof partition === 'number' ? doing({ kind: 'move', partition, node }) : partition;
}
