// What the HTTP side answers to which path: the dashboard's files, its JSON, metrics and health
// (DESIGN.md §10). Everything here only looks; changing a crawl is http-operate.ts. Answers
// are values; the server writes them.

import { ANSWER_TIMEOUT_MS, withinDeadline } from './answer-request.ts';
import type { CrawlWatch } from './crawl-watch.ts';
import type { ServedFile } from './dashboard-files.ts';
import { ANSWER_BYTES_MAX } from './debug-protocol.ts';
import { ROWS_DEFAULT } from './look-verbs.ts';
import type { CrawlMetrics } from './metrics.ts';
import { type Answer, answered, type Operator, type RefusalCode, refused } from './operator.ts';
import { boundedPlain } from './plain-value.ts';
import { HOST_ORDERS } from './reports.ts';

/** An answer to a request. */
export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** What answers are made of. */
export interface HttpServices {
  readonly operator: Operator;
  readonly watch: CrawlWatch;
  readonly metrics: CrawlMetrics;
  readonly files: ReadonlyMap<string, ServedFile>;
  /** True when acts may be sent, with the token. */
  readonly isOperable: boolean;
}

/** Questions to the crawl at a time. */
const ASKS_MAX = 16;
/** Age at which a snapshot no longer shows a healthy crawl, milliseconds. */
const STALE_MS = 15_000;
/** Hosts of the dashboard's list. */
const HOSTS_MAX = 200;
/** Content type of every JSON answer. */
export const JSON_TYPE = 'application/json; charset=utf-8';

const STATUS_OF: Readonly<Record<RefusalCode, number>> = {
  usage: 400,
  'not-found': 404,
  unsupported: 501,
  timeout: 504,
  busy: 503,
  internal: 500,
};

/** See the head of this file. */
export class HttpRoutes {
  readonly #services: HttpServices;
  #asks = 0;

  constructor(services: HttpServices) {
    this.#services = services;
  }

  /** Answers a GET. Never rejects. */
  async answer({ pathname, searchParams }: URL): Promise<HttpAnswer> {
    const { files, operator, watch } = this.#services;
    const file = files.get(pathname);
    if (file !== undefined) return { status: 200, contentType: file.contentType, body: file.bytes };
    switch (pathname) {
      case '/metrics':
        return this.#metrics();
      case '/health':
        return this.#health();
      case '/ready':
        return this.#ready();
      case '/api/overview':
        return jsonAnswer(watch.latest());
      case '/api/operate':
        return jsonAnswer(answered({ isOperable: this.#services.isOperable }));
      case '/api/hosts':
        return this.#hosts(searchParams.get('by') ?? 'fetched');
      case '/api/why':
        return this.#ask((limits) => operator.why(searchParams.get('url') ?? '', limits));
      default:
        return this.#hostAnswer(pathname);
    }
  }

  #hosts(by: string): Promise<HttpAnswer> | HttpAnswer {
    const order = HOST_ORDERS.find((known) => known === by);
    if (order === undefined) return jsonAnswer(refused('usage', `by ${HOST_ORDERS.join(', ')}`));
    const { operator } = this.#services;
    return this.#ask((limits) => operator.hosts(order, { ...limits, rowsMax: HOSTS_MAX }));
  }

  #hostAnswer(pathname: string): Promise<HttpAnswer> | HttpAnswer {
    const prefix = '/api/host/';
    if (!pathname.startsWith(prefix)) return nothingThere(pathname);
    const host = decoded(pathname.slice(prefix.length));
    if (host === undefined || host === '') return nothingThere(pathname);
    return this.#ask((limits) => this.#services.operator.host(host, limits));
  }

  async #ask(
    ask: (limits: { timeoutMs: number; rowsMax: number }) => Promise<Answer<unknown>>,
  ): Promise<HttpAnswer> {
    if (this.#asks >= ASKS_MAX) {
      return jsonAnswer(refused('busy', `${ASKS_MAX} questions are open already; try again`));
    }
    this.#asks += 1;
    const limits = { timeoutMs: ANSWER_TIMEOUT_MS, rowsMax: ROWS_DEFAULT };
    const answer = await withinDeadline('the question', ANSWER_TIMEOUT_MS, () => ask(limits));
    this.#asks -= 1;
    return jsonAnswer(answer);
  }

  async #metrics(): Promise<HttpAnswer> {
    const latest = this.#services.watch.latest();
    if (latest.kind === 'refused') return jsonAnswer(latest);
    const { overview, rates } = latest.value;
    const { contentType, text } = await this.#services.metrics.expose(overview, rates);
    return { status: 200, contentType, body: text };
  }

  /** Alive: the crawl threads answered a short while ago. */
  #health(): HttpAnswer {
    const latest = this.#services.watch.latest();
    if (latest.kind === 'refused') return verdict(false, { reason: latest.reason });
    const ageMs = Math.round(this.#services.watch.ageMs());
    if (ageMs <= STALE_MS) return verdict(true, { ageMs });
    return verdict(false, { reason: 'the crawl threads do not answer', ageMs });
  }

  /** Ready: alive, and taking work. */
  #ready(): HttpAnswer {
    const latest = this.#services.watch.latest();
    if (latest.kind === 'refused') return this.#health();
    const { state } = latest.value.overview;
    const isReady = state === 'running' || state === 'paused';
    return isReady ? this.#health() : verdict(false, { reason: `the crawl is ${state}` });
  }
}

function verdict(isGood: boolean, details: Readonly<Record<string, unknown>>): HttpAnswer {
  const body = `${JSON.stringify({ status: isGood ? 'ok' : 'failing', ...details })}\n`;
  return { status: isGood ? 200 : 503, contentType: JSON_TYPE, body };
}

/** The answer, or its refusal with the status that goes with it. */
export function jsonAnswer(answer: Answer<unknown>): HttpAnswer {
  if (answer.kind === 'refused') {
    const { code, reason } = answer;
    const body = `${JSON.stringify({ code, error: reason })}\n`;
    return { status: STATUS_OF[code], contentType: JSON_TYPE, body };
  }
  const { value } = boundedPlain(answer.value, ANSWER_BYTES_MAX);
  return { status: 200, contentType: JSON_TYPE, body: `${JSON.stringify(value)}\n` };
}

function nothingThere(pathname: string): HttpAnswer {
  return jsonAnswer(refused('not-found', `there is nothing at ${pathname.slice(0, 200)}`));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray % in the path: no host is called that.
    return undefined;
  }
}
