// One actor as its dispatcher sees it: behaviour, mailbox, counters, place in the tree. The cell is the actor's address (ActorRef) and
// outlives restarts of the behaviour. Everything that most actors never need (mailbox, children, timers, history of failures) is
// allocated when first needed, because a shard keeps a hundred thousand of these.
import type { Actor, ActorContext, ActorFactory, ActorRef, TimerId } from './actor.ts';
import { Mailbox } from './mailbox.ts';
import type { ActorFailure, SupervisionPolicy } from './supervisor.ts';
import type { Tracer } from './turn-records.ts';

/** Where an actor is in its life. */
export type CellState = 'running' | 'backing-off' | 'stopped';

/** What a dispatcher decides about a cell when it is made. */
export interface CellPlan<Message> {
  readonly name: string;
  readonly factory: ActorFactory<Message>;
  readonly mailboxMax: number;
  readonly supervision: SupervisionPolicy;
  /**
   * Takes the messages left when the actor stopped; absent: they become dead letters. `isOrderly` is false when it was given up.
   */
  readonly onStopped?: (left: Message[], isOrderly: boolean) => void;
}

/** The dispatcher's record of one actor. Only the dispatcher changes it. */
export class ActorCell<Message = unknown> implements ActorRef<Message> {
  readonly id: number;
  readonly plan: CellPlan<Message>;
  readonly parent: ActorCell | undefined;
  state: CellState = 'running';
  /** Undefined while backing off and after the stop. */
  actor: Actor<Message> | undefined = undefined;
  context: ActorContext<Message> | undefined = undefined;
  mailbox: Mailbox<Message> | undefined = undefined;
  /** Whether it stands in the run queue. */
  isQueued = false;
  /** Set by `context.stop()` until the current message is done. */
  isStopping = false;
  /** When it was last put into the run queue. */
  queuedAt = 0;
  messagesHandled = 0;
  turns = 0;
  busyMs = 0;
  /** Sum over turns of the time spent in the run queue. */
  waitMs = 0;
  restarts = 0;
  restartTimes: number[] | undefined = undefined;
  lastFailure: ActorFailure | undefined = undefined;
  children: Set<ActorCell> | undefined = undefined;
  timers: Set<TimerId> | undefined = undefined;
  /** Hears each message it handles; set while an operator traces it. */
  tracer: Tracer | undefined = undefined;

  constructor(id: number, plan: CellPlan<Message>, parent: ActorCell | undefined) {
    this.id = id;
    this.plan = plan;
    this.parent = parent;
  }

  get name(): string {
    return this.plan.name;
  }

  get mailboxSize(): number {
    return this.mailbox === undefined ? 0 : this.mailbox.size;
  }

  /** The mailbox, allocated at the first message. */
  openMailbox(): Mailbox<Message> {
    this.mailbox ??= new Mailbox<Message>(this.plan.mailboxMax);
    return this.mailbox;
  }
}
