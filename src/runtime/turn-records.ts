// What a dispatcher notes of single turns for its operator (DESIGN.md §10): the longest turns (`slowlog`) and, of actors that are being
// traced, each message as it is handled (`trace`). Both are bounded whatever the crawl does (I10): so many turns are kept, and a trace ends
// by itself after so many events. A turn that is neither long nor traced costs one comparison.
import type { Clock } from './clock.ts';
import { abridge, messageKind } from './dead-letters.ts';

/** A turn of an actor that took long. */
export interface SlowTurnRecord {
  /** Wall clock, milliseconds since the epoch. */
  readonly at: number;
  readonly actor: string;
  /** Kind of the last message of the turn. */
  readonly kind: string;
  /** Messages handled in it. */
  readonly messages: number;
  readonly turnMs: number;
}

/** Turns shorter than this are nobody's business: it is what a pump may take in one go. */
export const SLOW_TURN_MS = 4;
/** Turns kept. */
const TURNS_MAX = 100;

/** The longest turns since the start. */
export class SlowTurns {
  #turns: SlowTurnRecord[] = [];
  #leastMs = SLOW_TURN_MS;

  /** A turn of less is not noted: the caller need not call. */
  get leastMs(): number {
    return this.#leastMs;
  }

  /** Notes a turn of at least `leastMs`. */
  note(turn: Omit<SlowTurnRecord, 'kind'>, lastMessage: unknown): void {
    this.#turns.push({ ...turn, kind: messageKind(lastMessage) });
    if (this.#turns.length < 2 * TURNS_MAX) return;
    this.#turns = this.longest();
    this.#leastMs = this.#turns.at(-1)?.turnMs ?? SLOW_TURN_MS;
  }

  /** The longest turns, longest first, at most 100. */
  longest(): SlowTurnRecord[] {
    return [...this.#turns].sort((one, other) => other.turnMs - one.turnMs).slice(0, TURNS_MAX);
  }
}

/** One message that a traced actor handled. */
export interface TracedMessage {
  /** Wall clock, milliseconds since the epoch. */
  readonly at: number;
  readonly kind: string;
  /** The message's fields, abridged to at most 300 characters. */
  readonly text: string;
  readonly turnMs: number;
}

/** Tells each message that one actor handles. */
export class Tracer {
  readonly #clock: Clock;
  readonly #tell: (message: TracedMessage) => void;
  #left: number;

  /** @param eventsMax messages told, at least 1; then it is silent */
  constructor(clock: Clock, eventsMax: number, tell: (message: TracedMessage) => void) {
    this.#clock = clock;
    this.#left = eventsMax;
    this.#tell = tell;
  }

  /** Runs the handling of a message and tells of it, also when it throws. The text is taken before: a message may be changed by its reader. */
  handle(message: unknown, run: () => void): void {
    if (this.#left <= 0) {
      run();
      return;
    }
    this.#left -= 1;
    const begun = { at: this.#clock.wallNow(), kind: messageKind(message), text: abridge(message) };
    const startedMs = this.#clock.now();
    try {
      run();
    } finally {
      this.#tell({ ...begun, turnMs: this.#clock.now() - startedMs });
    }
  }
}

/** All of it, for one dispatcher. */
export class TurnRecords {
  readonly slow = new SlowTurns();
  /** The message handled last, for the name of a slow turn. */
  lastMessage: unknown = undefined;
  readonly #clock: Clock;
  readonly #stopwatch: (() => number) | undefined;
  /** By path, also of actors that are not there yet: a sleeping host is traced when it wakes. */
  readonly #tracers = new Map<string, Tracer>();
  #turnStartedMs = 0;

  /** @param stopwatch milliseconds; without one no turn is timed */
  constructor(clock: Clock, stopwatch: (() => number) | undefined) {
    this.#clock = clock;
    this.#stopwatch = stopwatch;
  }

  /** The first of several turns begins. */
  runBegins(): void {
    if (this.#stopwatch !== undefined) this.#turnStartedMs = this.#stopwatch();
  }

  /** A turn has ended, and the next begins there: one look at the stopwatch a turn. @returns its length, 0 without a stopwatch */
  turnEnded(actor: string, messages: number): number {
    if (this.#stopwatch === undefined) return 0;
    const endedMs = this.#stopwatch();
    const turnMs = endedMs - this.#turnStartedMs;
    this.#turnStartedMs = endedMs;
    if (turnMs >= this.slow.leastMs) {
      this.slow.note({ at: this.#clock.wallNow(), actor, messages, turnMs }, this.lastMessage);
    }
    return turnMs;
  }

  /** What traces the actor under a path; undefined for nearly all. */
  tracerOf(path: string): Tracer | undefined {
    return this.#tracers.size === 0 ? undefined : this.#tracers.get(path);
  }

  /** Begins a trace, in place of an earlier one of that path. */
  trace(path: string, eventsMax: number, tell: (message: TracedMessage) => void): Tracer {
    const tracer = new Tracer(this.#clock, eventsMax, tell);
    this.#tracers.set(path, tracer);
    return tracer;
  }

  /** Ends a trace, unless another has taken its place. */
  untrace(path: string, tracer: Tracer): void {
    if (this.#tracers.get(path) === tracer) this.#tracers.delete(path);
  }
}
