// The verbs that only look (DESIGN.md §10). Each reads its words and names the question of the
// Operator that answers it. Bounds of rows and seconds are checked here, so the Operator gets only
// what it may be asked.

import type { TopOrder } from '../runtime/inspection.ts';
import { type Answer, type AskLimits, type Operator, type Refusal, refused } from './operator.ts';
import { HOST_ORDERS, type HostOrder } from './reports.ts';
import { type Prepared, question, type Verb, type VerbWords, wholeNumber } from './verb.ts';

/** Rows of a list when the request does not say. */
export const ROWS_DEFAULT = 50;
/** Rows of a list, at most. */
export const ROWS_MAX = 1_000;
/** Longest trace and profile, seconds. */
export const WATCH_SECONDS_MAX = 60;

const TOP_ORDERS: readonly TopOrder[] = ['mailbox', 'busy', 'mem', 'wait'];
const ROWS = { name: 'ROWS', least: 1, most: ROWS_MAX };
const SECONDS = { name: 'the number of seconds', least: 1, most: WATCH_SECONDS_MAX };

/** All verbs that only look. */
export const LOOK_VERBS: readonly Verb[] = [
  look('overview', 'overview', 'the crawl as a whole', (operator, limits) =>
    operator.overview(limits),
  ),
  look('tree', 'tree [PATH]', 'actors, below a path', {
    words: [0, 1],
    prepare: ({ names }) =>
      question((operator, limits) => operator.tree(names[0] ?? '', limits), { rows: ROWS_MAX }),
  }),
  look('top', 'top [mailbox|busy|mem|wait] [ROWS]', 'actors with most of something', {
    words: [0, 2],
    completions: TOP_ORDERS,
    prepare: prepareTop,
  }),
  look('state', 'state ACTOR', 'what an actor tells about itself', {
    words: [1, 1],
    prepare: ({ names }) =>
      question((operator, limits) => operator.state(names[0] as string, limits)),
  }),
  look('mailbox', 'mailbox ACTOR', 'messages that wait for an actor', {
    words: [1, 1],
    prepare: ({ names }) =>
      question((operator, limits) => operator.mailbox(names[0] as string, limits)),
  }),
  look('trace', 'trace ACTOR [--max EVENTS] [--for SECONDS]', 'messages as an actor handles them', {
    words: [1, 1],
    options: { max: { type: 'string' }, for: { type: 'string' } },
    prepare: prepareTrace,
  }),
  look('host', 'host HOST', 'a host, and why it is not ready', {
    words: [1, 1],
    prepare: ({ names }) =>
      question((operator, limits) => operator.host(names[0] as string, limits)),
  }),
  look('hosts', 'hosts [fetched|queued|failed|gap] [ROWS]', 'hosts with most of it', {
    words: [0, 2],
    completions: HOST_ORDERS,
    prepare: prepareHosts,
  }),
  look('why', 'why URL', 'every decision about a URL', {
    words: [1, 1],
    prepare: ({ names }) =>
      question((operator, limits) => operator.why(names[0] as string, limits)),
  }),
  look('front', 'front', 'bands, hosts next in turn, what limits the rate', (operator, limits) =>
    operator.front(limits),
  ),
  look('robots', 'robots show HOST | test URL | refresh HOST', 'robots rules', {
    words: [2, 2],
    completions: ['show', 'test', 'refresh'],
    prepare: prepareRobots,
  }),
  look('dns', 'dns HOST [--flush]', 'addresses of a host', {
    words: [1, 1],
    options: { flush: { type: 'boolean' } },
    prepare: ({ names, options }) => {
      const host = names[0] as string;
      if (options.flush === true) {
        return { kind: 'operate', operation: { kind: 'flush-dns', host } };
      }
      return question((operator, limits) => operator.dns(host, limits));
    },
  }),
  look('budget', 'budget [HOST]', 'URL and page budgets', {
    words: [0, 1],
    prepare: ({ names }) => question((operator, limits) => operator.budget(names[0], limits)),
  }),
  look('leases', 'leases', 'partitions and the nodes that hold them', (operator, limits) =>
    operator.leases(limits),
  ),
  look('deadletters', 'deadletters', 'messages that reached nobody', (operator, limits) =>
    operator.deadLetters(limits),
  ),
  look('slowlog', 'slowlog', 'the longest turns', (operator, limits) => operator.slowlog(limits)),
  look('config', 'config', 'options in force, secrets left out', (operator, limits) =>
    operator.config(limits),
  ),
  look('heap', 'heap', 'memory by thread', (operator, limits) => operator.heap(limits)),
  look('cpu', 'cpu [--for SECONDS]', 'profile the crawl threads', {
    options: { for: { type: 'string' } },
    prepare: prepareCpu,
  }),
];

type Ask = (operator: Operator, limits: AskLimits) => Promise<Answer<unknown>>;
type Rest = Pick<Verb, 'prepare'> & Partial<Pick<Verb, 'words' | 'options' | 'completions'>>;

/** A verb that only looks; `rest` is its question, or how it reads its words. */
function look(name: string, usage: string, summary: string, rest: Ask | Rest): Verb {
  const more: Rest = typeof rest === 'function' ? { prepare: () => question(rest) } : rest;
  return { name, usage, summary, group: 'look', words: [0, 0], ...more };
}

function prepareTop({ names }: VerbWords): Prepared | Refusal {
  const by = names[0] ?? 'busy';
  const order = TOP_ORDERS.find((known) => known === by);
  if (order === undefined) return refused('usage', `top by what? not by ${by}`);
  return listed(names[1], (rows) =>
    question((operator, limits) => operator.top(order, limits), { rows }),
  );
}

function prepareHosts({ names }: VerbWords): Prepared | Refusal {
  const by = names[0] ?? 'fetched';
  const order: HostOrder | undefined = HOST_ORDERS.find((known) => known === by);
  if (order === undefined) return refused('usage', `hosts by what? not by ${by}`);
  return listed(names[1], (rows) =>
    question((operator, limits) => operator.hosts(order, limits), { rows }),
  );
}

function listed(text: string | undefined, use: (rows: number) => Prepared): Prepared | Refusal {
  const rows = text === undefined ? ROWS_DEFAULT : wholeNumber(text, ROWS);
  return typeof rows === 'number' ? use(rows) : rows;
}

function prepareTrace({ names, options }: VerbWords): Prepared | Refusal {
  const eventsMax = wholeNumber(options.max ?? '100', { ...ROWS, name: 'EVENTS' });
  if (typeof eventsMax !== 'number') return eventsMax;
  const seconds = wholeNumber(options.for ?? '10', SECONDS);
  if (typeof seconds !== 'number') return seconds;
  const bounds = { eventsMax, forMs: seconds * 1_000 };
  return { kind: 'trace', actor: names[0] as string, bounds };
}

function prepareRobots({ names }: VerbWords): Prepared | Refusal {
  const [what, subject = ''] = names;
  if (what === 'show') return question((operator, limits) => operator.robots(subject, limits));
  if (what === 'test') return question((operator, limits) => operator.robotsTest(subject, limits));
  if (what === 'refresh') {
    return { kind: 'operate', operation: { kind: 'refresh-robots', host: subject } };
  }
  return refused('usage', `robots ${what}?`);
}

function prepareCpu({ options }: VerbWords): Prepared | Refusal {
  const seconds = wholeNumber(options.for ?? '3', SECONDS);
  if (typeof seconds !== 'number') return seconds;
  return question((operator, limits) => operator.cpuProfile(seconds, limits), {
    takesMs: seconds * 1_000,
  });
}
