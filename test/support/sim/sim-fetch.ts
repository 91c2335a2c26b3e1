// Step 9 simulated: requests go to the shipped web's pure functions, with latency, accidents and the faults a seed drew, all in virtual time.
// Every request is written down for the judge as the web would see it. Three promises are checked on the spot, where a trace is most
// telling: no address but the host's own and no forbidden one (I13), one request in flight to a host (I1), and no second request for
// a page whose row is committed (I9).
import type {
  FetchFailure,
  FetchOutcome,
  FetchPort,
  FetchRequest,
  FetchResponse,
} from '../../../src/actors/ports.ts';
import type { SeededRandom } from '../../../src/base/random.ts';
import type { MonotonicMs } from '../../../src/base/units.ts';
import type { FailureKind } from '../../../src/domain/failure.ts';
import type { RequestEntry } from '../world/judge-types.ts';
import type { World } from '../world/world.ts';
import type { WorldResponse } from '../world/world-respond.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { Boundary, FaultRates } from './sim-plan.ts';

export const USER_AGENT = 'hostler/0.1 (+sim@example.invalid)';
/** The fetcher's bounds: to the first byte, and for the whole exchange; ms. */
const HEAD_TIMEOUT_MS = 10_000;
const TOTAL_TIMEOUT_MS = 20_000;
const ENDLESS_BYTES = 40_000;
/** Faults drawn against one URL at most: below every retry bound of the failure table, so that none is given up for a drawn fault. */
const FAULTS_PER_URL_MAX = 2;

/** What outlives the runs of the process: the web's memory. */
export class SimWebLog {
  readonly entries: RequestEntry[] = [];
  /** Time of the earliest next request a drawn 503 asked for, by host. */
  readonly retryAfterMs = new Map<string, { untilMs: number; askedMs: number }>();
  readonly attempts = new Map<string, number>();
  readonly faults = new Map<string, number>();
}

export interface SimFetchOptions {
  readonly kernel: SimKernel;
  readonly world: World;
  readonly log: SimWebLog;
  readonly faults: FaultRates;
  readonly random: SeededRandom;
  readonly boundary: (boundary: Boundary) => void;
  /** When a page whose row is committed is due for another visit, wall clock, 0 for never; undefined for one that has no row. */
  readonly dueAtOf: (url: string) => number | undefined;
}

interface Exchange {
  readonly request: FetchRequest;
  readonly host: string;
  readonly startMs: MonotonicMs;
  readonly ended: (outcome: FetchOutcome) => void;
  isOver: boolean;
}

/** How an exchange ends, decided when it starts. */
interface Ending {
  readonly afterMs: number;
  readonly responseMs: number;
  readonly status: number;
  readonly failure: FailureKind | undefined;
  readonly truncated: FetchResponse['truncated'];
  readonly body: Uint8Array;
  readonly headers: readonly string[];
}

const NOTHING = new Uint8Array(0);

/** The fetchers of all shards of one run. */
export class SimFetch {
  readonly #options: SimFetchOptions;
  readonly #open = new Map<string, Exchange>();
  /** Pages visited again in this run, each with the time at which it was due. */
  readonly #visited = new Map<string, number>();
  #isDead = false;

  constructor(options: SimFetchOptions) {
    this.#options = options;
  }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#open.size;
  }

  portOf(shard: number): FetchPort {
    const byId = new Map<number, Exchange>();
    return {
      start: (request, ended) => {
        byId.set(
          request.fetchId,
          this.#start(shard, request, (outcome) => {
            byId.delete(request.fetchId);
            ended(outcome);
          }),
        );
      },
      abort: (fetchId) => {
        const exchange = byId.get(fetchId);
        if (exchange !== undefined)
          this.#options.kernel.clock.after(0, () => this.#abort(exchange));
      },
      release: () => {},
    };
  }

  /** The process is gone: the web sees its connections end now. */
  kill(): void {
    this.#isDead = true;
    for (const exchange of this.#open.values()) {
      exchange.isOver = true;
      this.#log(exchange, { status: 0, bytes: 0, complete: false });
    }
    this.#open.clear();
  }

  #start(shard: number, request: FetchRequest, ended: (outcome: FetchOutcome) => void): Exchange {
    const { kernel, boundary } = this.#options;
    const { hostname } = new URL(request.url);
    kernel.note(`fetch ${shard} ${request.purpose} ${request.url}`);
    this.#check(hostname, request);
    const startMs = kernel.clock.now();
    const exchange: Exchange = { request, host: hostname, startMs, ended, isOver: false };
    this.#open.set(hostname, exchange);
    const ending = this.#ending(exchange);
    kernel.clock.after(ending.afterMs, () => this.#end(exchange, ending));
    boundary('fetch-started');
    return exchange;
  }

  #check(host: string, request: FetchRequest): void {
    const { kernel, world, log } = this.#options;
    if (this.#open.has(host)) kernel.fail(`I1: second request in flight to ${host}`);
    const index = world.hostIndex(host);
    if (index < 0) kernel.fail(`a request to ${host}, which is not of this web`);
    for (const address of request.addresses) {
      if (address !== world.addressOf(index)) kernel.fail(`I13: ${address} for ${host}`);
    }
    if (world.resolve(host).kind !== 'address') kernel.fail(`I13: ${host} has no address`);
    if (request.purpose === 'page') this.#checkVisit(request.url);
    const asked = log.retryAfterMs.get(host);
    if (asked !== undefined && kernel.nowMs < asked.untilMs - 1) {
      kernel.fail(`${host} asked to wait until ${asked.untilMs}`);
    }
  }

  /** I9: a stored page is fetched again only when it is due for another visit. I5: and then once. */
  #checkVisit(url: string): void {
    const { kernel, dueAtOf } = this.#options;
    const dueAt = dueAtOf(url);
    if (dueAt === undefined) return;
    if (dueAt === 0 || dueAt > kernel.clock.wallNow()) {
      kernel.fail(`I9: ${url} is stored and fetched again`);
    }
    if (this.#visited.get(url) === dueAt) kernel.fail(`I5: ${url} is visited twice for ${dueAt}`);
    kernel.count('visit');
  }

  #ending(exchange: Exchange): Ending {
    const { kernel, world, faults, random } = this.#options;
    const { request, host } = exchange;
    const { pathname, search } = new URL(request.url);
    const connectMs = 1 + random.float() * 20;
    const isSlow = kernel.faultsOn && random.chance(faults.slow);
    const extraMs = isSlow ? random.float() * 9_000 : 0;
    const fault = this.#drawFault(request.url, host);
    if (fault !== undefined) return { ...fault, afterMs: fault.afterMs + connectMs };
    const attempt = this.#options.log.attempts.get(request.url) ?? 0;
    this.#options.log.attempts.set(request.url, attempt + 1);
    const atMs = kernel.nowMs;
    const path = pathname + search;
    const validator = request.etag === undefined ? {} : { ifNoneMatch: request.etag };
    const asked = { host, path, atMs, userAgent: USER_AGENT, attempt };
    const answer = world.respond({ ...asked, ...validator });
    if (answer.status === 304) kernel.count('visit.not-modified');
    return endingOf(answer, connectMs + extraMs);
  }

  #drawFault(url: string, host: string): Ending | undefined {
    const { kernel, log, faults, random } = this.#options;
    const draw = random.float();
    const wait = random.float();
    if (!kernel.faultsOn || (log.faults.get(url) ?? 0) >= FAULTS_PER_URL_MAX) return undefined;
    const kinds: readonly (readonly [number, FailureKind, number])[] = [
      [faults.reset, 'reset', 200],
      [faults.timeout, 'timeout', 0],
      [faults.refused, 'connect-refused', 5],
      [faults.overload, 'status-5xx', 300],
    ];
    let rest = draw;
    for (const [rate, kind, spreadMs] of kinds) {
      rest -= rate;
      if (rest >= 0) continue;
      log.faults.set(url, (log.faults.get(url) ?? 0) + 1);
      kernel.count(`fault.${kind}`);
      if (kind === 'status-5xx') return this.#overloaded(host, wait);
      const afterMs = kind === 'timeout' ? HEAD_TIMEOUT_MS : wait * spreadMs;
      return failing(kind, afterMs);
    }
    return undefined;
  }

  #overloaded(host: string, wait: number): Ending {
    const { kernel, faults, log } = this.#options;
    const afterMs = wait * 100;
    const seconds = faults.retryAfter ? Math.ceil(wait * 40) : 0;
    if (seconds > 0) {
      const untilMs = kernel.nowMs + seconds * 1000;
      const before = log.retryAfterMs.get(host)?.untilMs ?? 0;
      kernel.count('fault.retry-after');
      log.retryAfterMs.set(host, { untilMs: Math.max(untilMs, before), askedMs: kernel.nowMs });
    }
    return {
      ...failing(undefined, afterMs),
      // Not 503: the judge takes that for the web's own answer and looks for the wait it asked for.
      status: 500,
      headers: seconds > 0 ? ['Retry-After', String(seconds)] : [],
    };
  }

  #abort(exchange: Exchange): void {
    this.#end(exchange, failing('aborted', 0));
  }

  #end(exchange: Exchange, ending: Ending): void {
    if (this.#isDead || exchange.isOver) return;
    const { kernel, boundary } = this.#options;
    exchange.isOver = true;
    this.#open.delete(exchange.host);
    const { status, failure, body, truncated } = ending;
    const complete = failure === undefined && truncated === undefined;
    this.#log(exchange, {
      status: failure === undefined ? status : 0,
      bytes: body.length,
      complete,
    });
    kernel.note(`ended ${exchange.request.url} ${failure ?? status} ${truncated ?? ''}`);
    const { url } = exchange.request;
    const dueAt = this.#options.dueAtOf(url);
    const isFinal = failure === undefined && status < 500 && status !== 429;
    if (dueAt !== undefined && isFinal) this.#visited.set(url, dueAt);
    exchange.ended(outcomeOf(exchange, ending, kernel.clock.now()));
    boundary('fetch-ended');
  }

  #log(
    exchange: Exchange,
    end: { readonly status: number; readonly bytes: number; readonly complete: boolean },
  ): void {
    const { kernel, log } = this.#options;
    const { request, host, startMs } = exchange;
    const { pathname, search } = new URL(request.url);
    log.entries.push({
      host,
      path: pathname + search,
      address: request.addresses[0] ?? '',
      startMs,
      endMs: kernel.nowMs,
      userAgent: USER_AGENT,
      ...end,
    });
  }
}

function failing(failure: FailureKind | undefined, afterMs: number): Ending {
  return {
    afterMs,
    responseMs: afterMs,
    status: 0,
    failure,
    truncated: undefined,
    body: NOTHING,
    headers: [],
  };
}

/** What a client with our bounds sees of an answer. */
function endingOf(answer: WorldResponse, latencyMs: number): Ending {
  const { behaviour, status, body, bodyMs } = answer;
  const responseMs = latencyMs + answer.delayMs;
  const headers = answer.headers.flat();
  const whole: Ending = {
    ...{ afterMs: responseMs + bodyMs, responseMs, status, headers, body },
    failure: undefined,
    truncated: undefined,
  };
  if (behaviour === 'mute' || responseMs > HEAD_TIMEOUT_MS) {
    return failing('timeout', HEAD_TIMEOUT_MS);
  }
  if (behaviour === 'reset') return failing('reset', responseMs);
  if (behaviour === 'endless-body') {
    const bytes = new Uint8Array(ENDLESS_BYTES).fill(32);
    return { ...whole, body: bytes, truncated: 'length' };
  }
  if (behaviour === 'reset-in-body' || behaviour === 'short-body') {
    return { ...whole, body: body.subarray(0, body.length >> 1), truncated: 'disconnect' };
  }
  if (whole.afterMs > TOTAL_TIMEOUT_MS) {
    return { ...whole, afterMs: TOTAL_TIMEOUT_MS, truncated: 'time' };
  }
  return whole;
}

function outcomeOf(exchange: Exchange, ending: Ending, endedMs: MonotonicMs): FetchOutcome {
  const { request, startMs } = exchange;
  const address = request.addresses[0];
  if (ending.failure !== undefined) {
    const failed: FetchFailure = {
      kind: 'failed',
      failure: ending.failure,
      detail: 'simulated',
      address,
      startedMs: startMs,
      endedMs,
    };
    return failed;
  }
  return {
    kind: 'response',
    status: ending.status,
    reason: '',
    headers: ending.headers,
    payload: ending.body,
    body: ending.body,
    truncated: ending.truncated,
    requestHead: `GET ${request.url} HTTP/1.1\r\n\r\n`,
    address: address ?? '',
    startedMs: startMs,
    responseMs: Math.min(ending.responseMs, endedMs - startMs),
    endedMs,
  };
}
