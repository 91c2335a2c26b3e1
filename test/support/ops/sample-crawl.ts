// A small crawl in memory behind the Operator interface, for tests of the ops layer: it answers
// from plain tables, keeps what was done to it, and can be told to be silent or to fail. Not a
// mock: each question has its real answer in these tables.

import type { Operation } from '../../../src/ops/operation.ts';
import {
  type Answer,
  type AskLimits,
  answered,
  type Operator,
  type PlacedActorRow,
  refused,
  type TraceBounds,
  type TraceEvent,
} from '../../../src/ops/operator.ts';
import type { CrawlOverview } from '../../../src/ops/overview.ts';
import type { HostOrder } from '../../../src/ops/reports.ts';
import type { TopOrder } from '../../../src/runtime/inspection.ts';
import { sampleOverview } from './sample-overview.ts';
import { SAMPLE_HOSTS, sampleHostReport, sampleUrlReport } from './sample-reports.ts';

type Reply<Value> = Promise<Answer<Value>>;

/** See the head of this file. */
export class SampleCrawl implements Operator {
  /** What was done to it, in order. */
  readonly operations: Operation[] = [];
  /** Rows that each shard has; `top` and `tree` answer them. */
  actors: PlacedActorRow[] = [0, 1, 2].map((index) => actorRow(`shard-0/host-${index}`, index));
  overviewNow: () => CrawlOverview = () => sampleOverview(100);
  /** Questions asked so far. */
  asked = 0;
  /** `silent`: never answers, as a stuck shard; `failing`: rejects, as a bug would. */
  mood: 'well' | 'silent' | 'failing' = 'well';
  /** Ends traces that are under way; set while one is. */
  endTrace: (() => void) | undefined;

  overview(): Reply<CrawlOverview> {
    return this.#reply(() => answered(this.overviewNow()));
  }

  tree(path: string, { rowsMax }: AskLimits): Reply<readonly PlacedActorRow[]> {
    return this.#reply(() =>
      answered(this.actors.filter((row) => row.path.startsWith(path)).slice(0, rowsMax)),
    );
  }

  top(by: TopOrder, { rowsMax }: AskLimits): Reply<readonly PlacedActorRow[]> {
    const amount = (row: PlacedActorRow): number =>
      ({ mailbox: row.mailbox, busy: row.busyMs, mem: row.bytes, wait: row.waitMs })[by];
    return this.#reply(() =>
      answered([...this.actors].sort((a, b) => amount(b) - amount(a)).slice(0, rowsMax)),
    );
  }

  state(actor: string): Reply<{ row: PlacedActorRow; state: unknown }> {
    return this.#withActor(actor, (row) => ({
      row,
      state: { hostKey: 2n ** 63n, queued: [1, 2] },
    }));
  }

  mailbox(actor: string): Reply<readonly string[]> {
    return this.#withActor(actor, () => ['take-slot {}', 'offer-urls {"links":"12 entries"}']);
  }

  trace(
    actor: string,
    { eventsMax, signal }: TraceBounds,
    tell: (event: TraceEvent) => void,
  ): Reply<{ events: number }> {
    if (actor !== 'endless') {
      for (let index = 0; index < eventsMax; index += 1) tell(traceEvent(index, 'x'));
      return this.#reply(() => answered({ events: eventsMax }));
    }
    return this.#endlessTrace(signal, tell);
  }

  host(host: string): ReturnType<Operator['host']> {
    return this.#reply(() => {
      const line = SAMPLE_HOSTS.find((known) => known.host === host);
      if (line === undefined) return refused('not-found', `the crawl knows no host ${host}`);
      return answered(sampleHostReport(line));
    });
  }

  hosts(by: HostOrder, { rowsMax }: AskLimits): ReturnType<Operator['hosts']> {
    const amount = by === 'gap' ? 'gapMs' : by;
    return this.#reply(() =>
      answered([...SAMPLE_HOSTS].sort((a, b) => b[amount] - a[amount]).slice(0, rowsMax)),
    );
  }

  why(url: string): ReturnType<Operator['why']> {
    return this.#reply(() =>
      URL.canParse(url)
        ? answered(sampleUrlReport(url))
        : refused('usage', `this is no URL: ${url.slice(0, 100)}`),
    );
  }

  front(): ReturnType<Operator['front']> {
    const bands = [6, 3, 1].map((weight, band) => ({
      band,
      weight,
      urls: 4_000,
    }));
    const next = [{ host: 'www.example.org', shard: 0, band: 0, inMs: 412, reason: 'gap' }];
    const limitedBy = 'the gaps of its hosts';
    const hosts = { hostsReady: 30, hostsWaiting: 50, hostsBackingOff: 2, hostsAtHand: 80 };
    const rates = { hostsNeeded: 90, requestsPerSecondMax: 70, limitedBy };
    return this.#reply(() => answered({ bands, ...hosts, ...rates, next }));
  }

  deadLetters(): ReturnType<Operator['deadLetters']> {
    const letter = { to: 'shard-1', kind: 'wake', reason: 'stopped' as const, at: 5, text: '{}' };
    return this.#reply(() => answered([letter]));
  }

  slowlog(): ReturnType<Operator['slowlog']> {
    const turn = {
      ...{ at: 1_750_000_000_500, shard: 0, actor: 'shard', kind: 'parse-next' },
      ...{ messages: 1, turnMs: 31.25 },
    };
    return this.#reply(() => answered([turn]));
  }

  config(): ReturnType<Operator['config']> {
    return this.#reply(() => answered({ minGapMs: 1_000, proxyPassword: '(redacted)' }));
  }

  heap(): ReturnType<Operator['heap']> {
    return this.#reply(() => answered([]));
  }

  cpuProfile(seconds: number): ReturnType<Operator['cpuProfile']> {
    return this.#reply(() => answered({ seconds, hottest: [] }));
  }

  async robots(host: string, limits: AskLimits): ReturnType<Operator['robots']> {
    const answer = await this.host(host);
    if (answer.kind === 'refused') return answer;
    return answered(answer.value.robots.slice(0, limits.rowsMax));
  }

  robotsTest(url: string): ReturnType<Operator['robotsTest']> {
    const line = '12: Disallow: /private';
    return this.#reply(() => answered({ url, allowed: false, line, because: 'longest match' }));
  }

  dns(host: string): ReturnType<Operator['dns']> {
    const addresses = ['192.0.2.10'];
    return this.#reply(() =>
      answered({ host, addresses, expiresInMs: 60_000, failure: undefined }),
    );
  }

  budget(host: string | undefined): ReturnType<Operator['budget']> {
    return this.#reply(() =>
      answered([{ of: host ?? 'pages of the crawl', used: 10, limit: 100 }]),
    );
  }

  leases(): ReturnType<Operator['leases']> {
    return this.#reply(() => refused('unsupported', 'a crawl on one machine has no leases'));
  }

  operate(operation: Operation): Reply<{ text: string }> {
    return this.#reply(() => {
      if (operation.kind === 'move') return refused('unsupported', 'there is one node only');
      this.operations.push(operation);
      return answered({ text: `${operation.kind} done` });
    });
  }

  #withActor<Value>(actor: string, read: (row: PlacedActorRow) => Value): Reply<Value> {
    return this.#reply(() => {
      const row = this.actors.find(({ path }) => path === actor);
      return row === undefined ? refused('not-found', `no actor ${actor}`) : answered(read(row));
    });
  }

  #reply<Value>(read: () => Answer<Value>): Reply<Value> {
    this.asked += 1;
    if (this.mood === 'silent') return new Promise(() => {});
    if (this.mood === 'failing') return Promise.reject(new Error('a bug of ours'));
    return Promise.resolve(read());
  }

  /** Tells large events for as long as somebody listens; ends when the signal says that nobody does. */
  #endlessTrace(signal: AbortSignal, tell: (event: TraceEvent) => void): Reply<{ events: number }> {
    return new Promise((resolve) => {
      let events = 0;
      const next = (): void => {
        if (signal.aborted) {
          this.endTrace?.();
          resolve(answered({ events }));
          return;
        }
        tell(traceEvent(events, 'x'.repeat(4_000)));
        events += 1;
        setImmediate(next);
      };
      next();
    });
  }
}

/** A row with figures that differ from actor to actor. */
export function actorRow(path: string, index: number): PlacedActorRow {
  return {
    path,
    shard: 0,
    state: 'running' as PlacedActorRow['state'],
    mailbox: index,
    mailboxPeak: index * 2,
    messagesHandled: 100 + index,
    busyMs: 1.5 * index,
    waitMs: 0.25,
    bytes: 4_096,
    restarts: 0,
    lastError: '',
  };
}

function traceEvent(index: number, text: string): TraceEvent {
  return { at: 1_750_000_000_000 + index, kind: 'take-slot', text, turnMs: 0.25 };
}
