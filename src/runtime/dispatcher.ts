// Runs the actors of one thread. Actors with mail stand in a run queue, each at most once; a turn handles up to `messagesPerTurn` of one
// actor's messages and then the next actor has its turn, so that one flooded host cannot starve the others. Nothing here knows real time
// or schedules itself: a driver (real-dispatcher.ts, virtual-dispatcher.ts) calls `fireTimers` and `runUntilIdle`, which makes every run
// replayable. A throw in `receive` fails that actor alone; supervisor.ts decides what follows. Bounded throughout (invariant I10):
// actors, mailboxes, timers. Counters are cheap: the clock is read once in 32 turns, the stopwatch once a turn.
import { assert } from '../base/assert.ts';
import { Fifo } from '../base/fifo.ts';
import type { Random } from '../base/random.ts';
import type { ActorFactory, ActorRef, SpawnOptions, TimerId } from './actor.ts';
import { ActorCell, type CellPlan } from './actor-cell.ts';
import { CellContext, type ContextHost } from './cell-context.ts';
import type { Clock } from './clock.ts';
import { DeadLetters, messageKind } from './dead-letters.ts';
import type { SupervisionPolicy } from './supervisor.ts';
import {
  type ActorFailure,
  describeFailure,
  SUPERVISION_DEFAULT,
  superviseFailure,
} from './supervisor.ts';
import { Timers } from './timers.ts';
import { TurnRecords } from './turn-records.ts';

const TURNS_PER_CLOCK_READ = 32;

/** Options of {@link Dispatcher}. */
export interface DispatcherOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Most messages of one actor in a turn. Default 16. */
  readonly messagesPerTurn?: number;
  /** Default bound of a mailbox. Default 10,000. */
  readonly mailboxMax?: number;
  /** Most actors alive at once. Default 2^21. */
  readonly actorsMax?: number;
  readonly timersMax?: number;
  readonly supervision?: SupervisionPolicy;
  readonly deadLetters?: DeadLetters;
  /** Milliseconds, high resolution, for busy time; absent in the simulator. */
  readonly stopwatch?: () => number;
  /** Called when mail or a timer appears while the dispatcher is not running; spurious calls happen. */
  readonly onWork?: () => void;
  /** Called for each failure of an actor, whatever follows. */
  readonly onFailure?: (failure: ActorFailure) => void;
  /** Called when an actor is given up. */
  readonly onEscalation?: (failure: ActorFailure) => void;
}

interface TimerPayload {
  readonly cell: ActorCell;
  /** Undefined: time to restart the actor. */
  readonly message: unknown;
}

/** The actors of one thread and their run queue. */
export class Dispatcher implements ContextHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly deadLetters: DeadLetters;
  readonly records: TurnRecords;
  readonly #options: DispatcherOptions;
  readonly #messagesPerTurn: number;
  readonly #actorsMax: number;
  readonly #cells = new Map<string, ActorCell>();
  readonly #runQueue: Fifo<ActorCell>;
  readonly #timers: Timers<TimerPayload>;
  #nextId = 1;
  #isRunning = false;
  #now = 0;
  #turns = 0;
  #messagesHandled = 0;
  #failures = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.random = options.random;
    this.deadLetters = options.deadLetters ?? new DeadLetters();
    this.records = new TurnRecords(options.clock, options.stopwatch);
    this.#messagesPerTurn = options.messagesPerTurn ?? 16;
    assert(this.#messagesPerTurn >= 1, () => 'a turn handles at least one message');
    this.#actorsMax = options.actorsMax ?? 2 ** 21;
    this.#runQueue = new Fifo<ActorCell>(this.#actorsMax * 2);
    this.#timers = new Timers<TimerPayload>(options.timersMax);
  }

  /** Whether no actor has mail to handle now. */
  get isIdle(): boolean {
    return this.#runQueue.size === 0;
  }

  /** Monotonic milliseconds of the earliest timer, or Infinity. */
  get nextTimerAt(): number {
    return this.#timers.nextDeadline;
  }

  /** Totals for inspection. */
  get counters(): DispatcherCounters {
    return {
      actors: this.#cells.size,
      ready: this.#runQueue.size,
      timers: this.#timers.size,
      turns: this.#turns,
      messagesHandled: this.#messagesHandled,
      failures: this.#failures,
    };
  }

  /** Starts an actor at the root. The name must be free and hold no `/`. */
  spawn<Message>(
    name: string,
    factory: ActorFactory<Message>,
    options: SpawnOptions & Pick<CellPlan<Message>, 'onStopped'> = {},
  ): ActorRef<Message> {
    return this.#start(undefined, name, factory, options);
  }

  spawnChild<Message>(
    parent: ActorCell,
    name: string,
    factory: ActorFactory<Message>,
    options: SpawnOptions,
  ): ActorRef<Message> {
    assert(parent.state === 'running', () => `${parent.name} is ${parent.state}: no children`);
    return this.#start(parent, `${parent.name}/${name}`, factory, options);
  }

  /** The actor under a path, or undefined. */
  find(path: string): ActorCell | undefined {
    return this.#cells.get(path);
  }

  /** Every actor, in the order they were started. */
  cells(): IterableIterator<ActorCell> {
    return this.#cells.values();
  }

  /** Sends; a refusal becomes a dead letter. */
  tell<Message>(ref: ActorRef<Message>, message: Message): void {
    if (this.offer(ref, message)) return;
    const isStopped = (ref as ActorCell<Message>).state === 'stopped';
    this.#bury(ref.name, message, isStopped ? 'stopped' : 'mailbox-full');
  }

  /** Sends; false when the mailbox is full or the actor stopped: the caller keeps the message. */
  offer<Message>(ref: ActorRef<Message>, message: Message): boolean {
    const cell = ref as ActorCell<Message>;
    if (cell.state === 'stopped') return false;
    if (!cell.openMailbox().offer(message)) return false;
    this.#enqueue(cell as ActorCell);
    return true;
  }

  /**
   * Delivers the answer to something the actor itself asked of a port. There are only as many of these as it has questions open, and
   * without one it would wait for ever: so it may use the mailbox's reserve when others have filled it.
   */
  answer<Message>(ref: ActorRef<Message>, message: Message): void {
    const cell = ref as ActorCell<Message>;
    if (cell.state === 'stopped') this.#bury(ref.name, message, 'stopped');
    else if (!cell.openMailbox().offerOwn(message)) this.#bury(ref.name, message, 'mailbox-full');
    else this.#enqueue(cell as ActorCell);
  }

  /** Stops an actor and its children now; their waiting messages become dead letters. */
  stop<Message>(ref: ActorRef<Message>): void {
    const cell = ref as ActorCell;
    if (this.#isRunning) this.stopSoon(cell);
    else this.#stop(cell, true);
  }

  stopSoon<Message>(cell: ActorCell<Message>): void {
    if (cell.state === 'stopped') return;
    cell.isStopping = true;
    this.#enqueue(cell as ActorCell);
  }

  setTimer<Message>(cell: ActorCell<Message>, ms: number, message: Message): TimerId {
    assert(ms >= 0, () => `timer of ${cell.name} in ${ms} ms`);
    assert(message !== undefined, () => 'undefined is no message');
    if (cell.state === 'stopped') return 0 as TimerId;
    return this.#setTimer(cell as ActorCell, ms, message);
  }

  cancelTimer<Message>(cell: ActorCell<Message>, id: TimerId): void {
    if (cell.timers?.delete(id)) this.#timers.cancel(id);
  }

  /** Moves the messages of all timers that are due into their mailboxes. Returns how many fired. */
  fireTimers(): number {
    const now = this.clock.now();
    let fired = 0;
    for (let due = this.#timers.takeDue(now); due !== undefined; due = this.#timers.takeDue(now)) {
      const { cell, message } = due.payload;
      cell.timers?.delete(due.id);
      fired += 1;
      if (message === undefined) this.#restart(cell);
      else if (cell.openMailbox().offerOwn(message)) this.#enqueue(cell);
      else this.#bury(cell.name, message, 'mailbox-full');
    }
    return fired;
  }

  /**
   * Gives turns to actors with mail until there is none, or until the budget is spent.
   * @param messagesMax stop after the turn that reaches this many messages
   * @returns messages handled
   */
  runUntilIdle(messagesMax = Infinity): number {
    assert(!this.#isRunning, () => 'a dispatcher is not re-entered');
    this.#isRunning = true;
    let handled = 0;
    try {
      this.#now = this.clock.now();
      this.records.runBegins();
      while (handled < messagesMax) {
        const cell = this.#runQueue.shift();
        if (cell === undefined) break;
        handled += this.#turn(cell);
      }
    } finally {
      this.#isRunning = false;
    }
    this.#messagesHandled += handled;
    return handled;
  }

  #enqueue(cell: ActorCell): void {
    if (cell.isQueued) return;
    if (cell.state !== 'running' && !cell.isStopping) return;
    const wasIdle = this.#runQueue.size === 0 && !this.#isRunning;
    if (wasIdle) this.#now = this.clock.now();
    cell.isQueued = true;
    cell.queuedAt = this.#now;
    const fits = this.#runQueue.push(cell);
    assert(fits, () => 'more actors are ready than exist');
    if (wasIdle) this.#options.onWork?.();
  }

  #turn(cell: ActorCell): number {
    cell.isQueued = false;
    this.#turns += 1;
    if (this.#turns % TURNS_PER_CLOCK_READ === 0) this.#now = this.clock.now();
    cell.turns += 1;
    cell.waitMs += this.#now - cell.queuedAt;
    const handled = this.#handle(cell);
    cell.busyMs += this.records.turnEnded(cell.name, handled);
    cell.messagesHandled += handled;
    if (cell.isStopping) this.#stop(cell, true);
    else if (cell.mailboxSize > 0) this.#enqueue(cell);
    return handled;
  }

  #handle(cell: ActorCell): number {
    const { mailbox, context } = cell;
    let handled = 0;
    while (handled < this.#messagesPerTurn && cell.state === 'running' && !cell.isStopping) {
      const message = mailbox?.take();
      if (message === undefined || context === undefined) break;
      handled += 1;
      this.records.lastMessage = message;
      try {
        if (cell.tracer === undefined) cell.actor?.receive(message, context);
        else cell.tracer.handle(message, () => cell.actor?.receive(message, context));
      } catch (thrown) {
        this.#bury(cell.name, message, 'failed');
        this.#fail(cell, thrown, messageKind(message));
      }
    }
    return handled;
  }

  #start<Message>(
    parent: ActorCell | undefined,
    path: string,
    factory: ActorFactory<Message>,
    options: SpawnOptions & Pick<CellPlan<Message>, 'onStopped'>,
  ): ActorRef<Message> {
    assert(!this.#cells.has(path), () => `an actor named ${path} exists`);
    assert(this.#cells.size < this.#actorsMax, () => `more than ${this.#actorsMax} actors`);
    const plan: CellPlan<Message> = {
      name: path,
      factory,
      mailboxMax: options.mailboxMax ?? this.#options.mailboxMax ?? 10_000,
      supervision: options.supervision ?? this.#options.supervision ?? SUPERVISION_DEFAULT,
      ...(options.onStopped === undefined ? {} : { onStopped: options.onStopped }),
    };
    const cell = new ActorCell<Message>(this.#nextId, plan, parent);
    cell.tracer = this.records.tracerOf(path);
    this.#nextId += 1;
    cell.context = new CellContext<Message>(this, cell);
    this.#cells.set(path, cell as ActorCell);
    if (parent !== undefined) {
      parent.children ??= new Set();
      parent.children.add(cell as ActorCell);
    }
    this.#create(cell as ActorCell);
    return cell;
  }

  #create(cell: ActorCell): void {
    assert(cell.context !== undefined, () => `${cell.name} has no context`);
    cell.state = 'running';
    try {
      cell.actor = cell.plan.factory(cell.context);
    } catch (thrown) {
      this.#fail(cell, thrown, '(start)');
    }
    if (cell.mailboxSize > 0) this.#enqueue(cell);
  }

  #restart(cell: ActorCell): void {
    if (cell.state !== 'backing-off') return;
    cell.restarts += 1;
    this.#create(cell);
  }

  #fail(cell: ActorCell, thrown: unknown, kind: string): void {
    if (cell.state !== 'running') return;
    const at = this.clock.now();
    const failure = describeFailure(thrown, { actor: cell.name, messageKind: kind, at });
    this.#failures += 1;
    cell.lastFailure = failure;
    this.#options.onFailure?.(failure);
    this.#abandon(cell);
    cell.restartTimes ??= [];
    const { supervision } = cell.plan;
    const decision = superviseFailure(supervision, cell.restartTimes, at, this.random);
    if (decision.kind === 'restart') {
      cell.state = 'backing-off';
      this.#setTimer(cell, decision.delayMs, undefined);
      return;
    }
    this.#stop(cell, false);
    this.#options.onEscalation?.(failure);
    if (supervision.escalation !== 'parent' || cell.parent === undefined) return;
    this.#fail(cell.parent, thrown, '(child)');
  }

  #setTimer(cell: ActorCell, ms: number, message: unknown): TimerId {
    const id = this.#timers.set(this.clock.now() + ms, { cell, message });
    cell.timers ??= new Set();
    cell.timers.add(id);
    if (!this.#isRunning) this.#options.onWork?.();
    return id;
  }

  /** Drops the behaviour with its timers and children; the mailbox stays. */
  #abandon(cell: ActorCell): void {
    cell.actor = undefined;
    if (cell.timers !== undefined) for (const id of cell.timers) this.#timers.cancel(id);
    cell.timers = undefined;
    if (cell.children !== undefined) for (const child of cell.children) this.#stop(child, true);
    cell.children = undefined;
  }

  #stop(cell: ActorCell, isOrderly: boolean): void {
    if (cell.state === 'stopped') return;
    const { actor, context } = cell;
    if (isOrderly && actor?.stopped !== undefined && context !== undefined) {
      try {
        actor.stopped(context);
      } catch (thrown) {
        const where = { actor: cell.name, messageKind: '(stop)', at: this.clock.now() };
        this.#options.onFailure?.(describeFailure(thrown, where));
      }
    }
    cell.state = 'stopped';
    cell.isStopping = false;
    this.#abandon(cell);
    this.#cells.delete(cell.name);
    cell.parent?.children?.delete(cell);
    const left = cell.mailbox?.drain() ?? [];
    cell.mailbox = undefined;
    if (cell.plan.onStopped !== undefined) cell.plan.onStopped(left, isOrderly);
    else for (const message of left) this.#bury(cell.name, message, 'stopped');
  }

  #bury(to: string, message: unknown, reason: 'mailbox-full' | 'stopped' | 'failed'): void {
    this.deadLetters.record({ to, message, reason, at: this.clock.now() });
  }
}

/** Totals of a dispatcher. */
export interface DispatcherCounters {
  readonly actors: number;
  /** Actors with mail, waiting for a turn. */
  readonly ready: number;
  readonly timers: number;
  readonly turns: number;
  readonly messagesHandled: number;
  readonly failures: number;
}
