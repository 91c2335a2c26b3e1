// Everything that operating tools may ask of a running crawl, or do to it (DESIGN.md §10). The ops
// layer knows the crawl by this interface alone; the app implements it by messages to shards and a
// read-only view of stored state. Questions never stop a shard: each is answered between two turns,
// from figures kept anyway. All answers are plain data; what the crawl cannot tell is a refusal,
// never an exception.

import type { DeadLetter } from '../runtime/dead-letters.ts';
import type { ActorRow, TopOrder } from '../runtime/inspection.ts';
import type { Operation } from './operation.ts';
import type { CrawlOverview } from './overview.ts';
import type {
  BudgetReport,
  CpuReport,
  DnsReport,
  FrontReport,
  HeapReport,
  HostLine,
  HostOrder,
  HostReport,
  LeaseLine,
  RobotsReport,
  RobotsVerdict,
  SlowTurn,
  UrlReport,
} from './reports.ts';

/** Why a question was not answered, or an operation not done. */
export type RefusalCode =
  /** The request itself is wrong: a verb, a number, a URL. */
  | 'usage'
  /** There is no such actor, host or URL. */
  | 'not-found'
  /** This version, or this crawl, has no such thing. */
  | 'unsupported'
  /** No answer within the time. */
  | 'timeout'
  /** Too many at once; try again. */
  | 'busy'
  /** A bug of ours on the way. */
  | 'internal';

/** A refusal; `reason` is a sentence for the operator. */
export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  readonly reason: string;
}

/** The outcome of a question or an operation. */
export type Answer<Value> = { readonly kind: 'answered'; readonly value: Value } | Refusal;

/** The answer that is a value. */
export function answered<Value>(value: Value): Answer<Value> {
  return { kind: 'answered', value };
}

/** The answer that says why there is none. */
export function refused(code: RefusalCode, reason: string): Refusal {
  return { kind: 'refused', code, reason };
}

/** Bounds of one question. An answer that comes later, or is longer, is cut by the caller. */
export interface AskLimits {
  readonly timeoutMs: number;
  /** Rows of a list, at most. */
  readonly rowsMax: number;
}

/** An actor and where it runs. */
export interface PlacedActorRow extends ActorRow {
  readonly shard: number;
}

/** One message an actor handled, while it is traced. */
export interface TraceEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
  /** The message's fields, abridged. */
  readonly text: string;
  readonly turnMs: number;
}

/** A trace is over at the first of: `eventsMax` events, `forMs`, or `signal`. */
export interface TraceBounds {
  readonly eventsMax: number;
  readonly forMs: number;
  readonly signal: AbortSignal;
}

/** See the head of this file. No method throws or rejects. */
export interface Operator {
  overview(limits: AskLimits): Promise<Answer<CrawlOverview>>;
  /** Actors below a path, all for the empty path. */
  tree(path: string, limits: AskLimits): Promise<Answer<readonly PlacedActorRow[]>>;
  top(by: TopOrder, limits: AskLimits): Promise<Answer<readonly PlacedActorRow[]>>;
  /** What an actor tells about itself, suspended, restarting or stopped ones included. */
  state(
    actor: string,
    limits: AskLimits,
  ): Promise<Answer<{ readonly row: PlacedActorRow; readonly state: unknown }>>;
  /** The first messages that wait for an actor, abridged. */
  mailbox(actor: string, limits: AskLimits): Promise<Answer<readonly string[]>>;
  /** Calls `tell` with each message the actor handles. Resolves when the trace is over. */
  trace(
    actor: string,
    bounds: TraceBounds,
    tell: (event: TraceEvent) => void,
  ): Promise<Answer<{ readonly events: number }>>;
  host(host: string, limits: AskLimits): Promise<Answer<HostReport>>;
  hosts(by: HostOrder, limits: AskLimits): Promise<Answer<readonly HostLine[]>>;
  why(url: string, limits: AskLimits): Promise<Answer<UrlReport>>;
  front(limits: AskLimits): Promise<Answer<FrontReport>>;
  deadLetters(limits: AskLimits): Promise<Answer<readonly DeadLetter[]>>;
  /** The longest turns, longest first. */
  slowlog(limits: AskLimits): Promise<Answer<readonly SlowTurn[]>>;
  /** The options in force, secrets replaced by `(redacted)`. */
  config(limits: AskLimits): Promise<Answer<Readonly<Record<string, unknown>>>>;
  heap(limits: AskLimits): Promise<Answer<readonly HeapReport[]>>;
  /** Profiles the crawl threads for some seconds (1 … 60) and sums up; takes that much longer than `timeoutMs`. */
  cpuProfile(seconds: number, limits: AskLimits): Promise<Answer<CpuReport>>;
  robots(host: string, limits: AskLimits): Promise<Answer<readonly RobotsReport[]>>;
  robotsTest(url: string, limits: AskLimits): Promise<Answer<RobotsVerdict>>;
  dns(host: string, limits: AskLimits): Promise<Answer<DnsReport>>;
  /** URL and page budgets of a host, and of the crawl for undefined. */
  budget(host: string | undefined, limits: AskLimits): Promise<Answer<readonly BudgetReport[]>>;
  leases(limits: AskLimits): Promise<Answer<readonly LeaseLine[]>>;
  /** Changes the running crawl. `text` says what was done. Written to the audit log by the caller, whatever the outcome. */
  operate(operation: Operation, limits: AskLimits): Promise<Answer<{ readonly text: string }>>;
}
