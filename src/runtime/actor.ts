// What an actor is (DESIGN.md §2): a synchronous state machine behind a mailbox. `receive` runs to completion and returns nothing; slow
// work starts through a port and its answer comes back as a message; time, timers and chance come from the context alone. So there is no
// await inside an actor, no re-entrancy and no lock, and one seed replays the whole crawl. The context is valid only while the actor
// that got it is alive and must not be handed to anybody else.
import type { Random } from '../base/random.ts';
import type { MonotonicMs, WallMs } from '../base/units.ts';
import type { SupervisionPolicy } from './supervisor.ts';

/** Names a timer of one actor. */
export type TimerId = number & { readonly timer: unique symbol };

/** The address of an actor that accepts `Message`. Valid on the dispatcher that made it; not encodable. */
export interface ActorRef<in Message> {
  /** Unique on its dispatcher, never reused. */
  readonly id: number;
  /** Path from the root, for example `shard/host:example.com`. */
  readonly name: string;
  /** Exists only for the compiler: what the actor accepts. */
  readonly accepts?: (message: Message) => void;
}

/** Behaviour and state of one actor. */
export interface Actor<Message> {
  /**
   * Handles one message. A throw is a bug of ours: it fails this actor only, the message becomes a dead letter, and the supervisor
   * decides what follows.
   */
  receive(message: Message, context: ActorContext<Message>): void;
  /** State for `state <actor>`: plain data, cheap, bounded. */
  inspect?(): unknown;
  /** Rough bytes held, for `top mem`. */
  bytes?(): number;
  /** Whether nothing is under way, so that a virtual actor may be passivated now. Absent means always. */
  isIdle?(): boolean;
  /** Last call before a stop that was asked for (never after a failure): the place to hand state to storage. */
  stopped?(context: ActorContext<Message>): void;
}

/** Makes an actor, at spawn and again at each restart. May use the context. */
export type ActorFactory<Message> = (context: ActorContext<Message>) => Actor<Message>;

/** What can be chosen for one actor. */
export interface SpawnOptions {
  /** Most messages waiting; default: the dispatcher's `mailboxMax`. */
  readonly mailboxMax?: number;
  /** Default: {@link SupervisionPolicy} of the dispatcher. */
  readonly supervision?: SupervisionPolicy;
}

/** The world of an actor. `Message` is what the actor itself accepts. */
export interface ActorContext<Message = unknown> {
  readonly self: ActorRef<Message>;
  /** This dispatcher's stream of chance. */
  readonly random: Random;
  now(): MonotonicMs;
  wallNow(): WallMs;
  /** Sends; a refusal (mailbox full, actor stopped) becomes a dead letter. */
  tell<Other>(ref: ActorRef<Other>, message: Other): void;
  /** Sends; false when the mailbox is full or the actor stopped: the caller keeps the message. */
  offer<Other>(ref: ActorRef<Other>, message: Other): boolean;
  /** Sends `message` to this actor, `ms` (≥ 0) from now. Gone when the actor stops or fails. */
  after(ms: number, message: Message): TimerId;
  /** Forgets a timer; one that fired or is unknown is ignored. */
  cancel(id: TimerId): void;
  /** Stops this actor when the current message is done; waiting messages become dead letters. */
  stop(): void;
  /** Starts a child: it stops when this actor stops or fails. The name must be free under this actor. */
  spawn<Other>(name: string, factory: ActorFactory<Other>, options?: SpawnOptions): ActorRef<Other>;
}
