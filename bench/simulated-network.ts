// Steps 8 and 9 without sockets: names and answers are the shipped web's pure functions, in the shard's own thread, a fixed time after they
// were asked for. What `load --sim` measures is thus the crawler without undici and the kernel; what the pages cost to make is timed here
// and told apart. The rest of the crawl is as it is: robots, politeness, durable checkpoint, exact seen set, WARC.

import { writeSync } from 'node:fs';
import type {
  FetchFailure,
  FetchOutcome,
  FetchPort,
  FetchRequest,
  FetchResponse,
  ResolveOutcome,
  ResolvePort,
} from '../src/actors/ports.ts';
import type { MonotonicMs } from '../src/base/units.ts';
import { createWorld, type World } from '../test/support/world/world.ts';
import type { PartialWorldOptions } from '../test/support/world/world-options.ts';

/** The environment variable that holds the options of the web as JSON. */
export const WORLD_VARIABLE = 'BENCH_WORLD';
/** From a request to its answer: a near server's. */
const LATENCY_MS = 20;
const NAME_TTL_MS = 3_600_000;
const STDERR = 2;

/** A line on stderr at the end of a thread: what its pages took to make. */
export interface SimulatedWebCost {
  readonly simulatedWebMs: number;
}

interface Asked {
  readonly request: FetchRequest;
  readonly startedMs: MonotonicMs;
  readonly ended: (outcome: FetchOutcome) => void;
}

export class SimulatedNetwork implements FetchPort, ResolvePort {
  readonly clients = 0;
  readonly #world: World;
  readonly #now: () => MonotonicMs;
  readonly #userAgent: string;
  /** In the order of their ends, since all take the same time. */
  #asked: Asked[] = [];
  #timer: NodeJS.Timeout | undefined;
  #webMs = 0;

  /** @param world options of a plain web: what a host does amiss on its sockets is not played */
  constructor(world: PartialWorldOptions, now: () => MonotonicMs, userAgent: string) {
    this.#world = createWorld(world);
    this.#now = now;
    this.#userAgent = userAgent;
  }

  start(request: FetchRequest, ended: (outcome: FetchOutcome) => void): void {
    this.#asked.push({ request, startedMs: this.#now(), ended });
    this.#timer ??= setTimeout(() => this.#answer(), LATENCY_MS);
  }

  abort(fetchId: number): void {
    const asked = this.#asked.find(({ request }) => request.fetchId === fetchId);
    if (asked === undefined) return;
    this.#asked = this.#asked.filter((one) => one !== asked);
    queueMicrotask(() => asked.ended(this.#aborted(asked)));
  }

  release(): void {}

  resolve(host: string, answered: (outcome: ResolveOutcome) => void): void {
    const answer = this.#world.resolve(host);
    const outcome: ResolveOutcome =
      answer.kind === 'address'
        ? { kind: 'resolved', addresses: [answer.address], ttlMs: NAME_TTL_MS }
        : { kind: 'no-such-host', ttlMs: NAME_TTL_MS };
    setImmediate(() => answered(outcome));
  }

  close(): void {
    if (this.#webMs === 0) return;
    clearTimeout(this.#timer);
    writeSync(STDERR, `${JSON.stringify({ simulatedWebMs: this.#webMs })}\n`);
    this.#webMs = 0;
  }

  #answer(): void {
    this.#timer = undefined;
    const now = this.#now();
    const due = this.#asked.findIndex(({ startedMs }) => startedMs + LATENCY_MS > now);
    const answers = this.#asked.splice(0, due < 0 ? this.#asked.length : due);
    const begun = performance.now();
    const outcomes = answers.map((asked) => this.#outcomeOf(asked, now));
    this.#webMs += performance.now() - begun;
    for (const [at, { ended }] of answers.entries()) ended(outcomes[at] as FetchOutcome);
    const next = this.#asked[0];
    if (next === undefined) return;
    const waitMs = Math.max(next.startedMs + LATENCY_MS - now, 1);
    this.#timer ??= setTimeout(() => this.#answer(), waitMs);
  }

  #outcomeOf({ request, startedMs }: Asked, now: MonotonicMs): FetchResponse {
    const url = new URL(request.url);
    const path = url.pathname + url.search;
    const answer = this.#world.respond({
      host: url.hostname,
      path,
      atMs: now,
      userAgent: this.#userAgent,
    });
    return {
      kind: 'response',
      status: answer.status,
      reason: '',
      headers: answer.headers.flat(),
      payload: answer.body,
      body: answer.body,
      truncated: undefined,
      requestHead: `GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nUser-Agent: ${this.#userAgent}\r\n\r\n`,
      address: request.addresses[0] as string,
      startedMs,
      responseMs: LATENCY_MS,
      endedMs: now,
    };
  }

  #aborted({ request, startedMs }: Asked): FetchFailure {
    return {
      kind: 'failed',
      failure: 'aborted',
      detail: 'the crawl ends',
      address: request.addresses[0],
      startedMs,
      endedMs: this.#now(),
    };
  }
}
