// Actors that exist by name alone (HostActor: one per host, a million of them, DESIGN.md §3): the first message to a key activates its
// actor, and an actor is passivated again when it stops itself or when room is needed. So memory follows the hosts that are busy, not
// the hosts that are known. At most `activeMax` are awake; to make room the one that has been quiet longest goes to sleep (second
// chance: whoever handled a message since the last look stays), but never one with mail or with something under way (`isIdle`). A
// message that arrives while its actor stops activates a new one: nothing is lost between two lives.
import { assert } from '../base/assert.ts';
import type { ActorFactory, ActorRef } from './actor.ts';
import type { ActorCell } from './actor-cell.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { SupervisionPolicy } from './supervisor.ts';

/** Actors looked at, at most, to make room for one. */
const LOOKS_MAX = 64;

/** Options of {@link VirtualActors}. */
export interface VirtualActorsOptions<Key, Message> {
  readonly dispatcher: Dispatcher;
  /** Prefix of the actors' names, for example `host`: actors are called `host:KEY`. */
  readonly name: string;
  /** Makes the actor of a key, reading its stored state synchronously if it has any. */
  readonly activate: (key: Key) => ActorFactory<Message>;
  /** Most actors awake at once. */
  readonly activeMax: number;
  readonly mailboxMax?: number;
  readonly supervision?: SupervisionPolicy;
}

interface Active<Message> {
  readonly ref: ActorRef<Message>;
  /** Messages handled when it was last looked at. */
  handledAtLook: number;
}

/** Actors addressed by key, activated by their first message. */
export class VirtualActors<Key extends string | number | bigint, Message> {
  readonly #options: VirtualActorsOptions<Key, Message>;
  /** In order of activation or of the last look. */
  readonly #active = new Map<Key, Active<Message>>();
  #activations = 0;
  #refusals = 0;

  constructor(options: VirtualActorsOptions<Key, Message>) {
    assert(options.activeMax >= 1, () => 'room is needed for one active actor');
    this.#options = options;
  }

  /** Actors awake now. */
  get size(): number {
    return this.#active.size;
  }

  /** Activations so far, and messages refused for want of room. */
  get counters(): { readonly activations: number; readonly refusals: number } {
    return { activations: this.#activations, refusals: this.#refusals };
  }

  /** Whether the actor of a key is awake. */
  isActive(key: Key): boolean {
    return this.#active.has(key);
  }

  /** The address of the actor of a key while it is awake; for inspection, not for keeping. */
  refOf(key: Key): ActorRef<Message> | undefined {
    return this.#active.get(key)?.ref;
  }

  /** Keys of the actors awake. */
  keys(): IterableIterator<Key> {
    return this.#active.keys();
  }

  /** Sends to the actor of a key; a refusal becomes a dead letter. */
  tell(key: Key, message: Message): void {
    const active = this.#active.get(key) ?? this.#activate(key);
    if (active === undefined) this.#bury(key, message);
    else this.#options.dispatcher.tell(active.ref, message);
  }

  /** Sends; false when the mailbox is full or every actor awake is busy: the caller keeps the message. */
  offer(key: Key, message: Message): boolean {
    const active = this.#active.get(key) ?? this.#activate(key);
    return active !== undefined && this.#options.dispatcher.offer(active.ref, message);
  }

  /** Asks the actor of a key to stop, if it is awake. Returns whether it was. */
  passivate(key: Key): boolean {
    const active = this.#active.get(key);
    if (active === undefined) return false;
    this.#options.dispatcher.stop(active.ref);
    return true;
  }

  /** Puts up to `countMax` actors to sleep that have nothing under way, the quiet ones first: when memory is short. */
  rest(countMax: number): void {
    for (let count = 0; count < countMax; count += 1) if (!this.#makeRoom()) return;
  }

  /** Asks every actor awake to stop: at shutdown. */
  passivateAll(): void {
    for (const key of [...this.#active.keys()]) this.passivate(key);
  }

  /** Mail came while the actor was falling asleep: it was accepted, so it is delivered, even if the room was given away meanwhile. */
  #revive(key: Key, left: readonly Message[]): void {
    const active = this.#active.get(key) ?? this.#wake(key);
    for (const message of left) {
      if (active === undefined) this.#bury(key, message);
      else this.#options.dispatcher.tell(active.ref, message);
    }
  }

  #activate(key: Key): Active<Message> | undefined {
    if (this.#active.size >= this.#options.activeMax && !this.#makeRoom()) {
      this.#refusals += 1;
      return undefined;
    }
    return this.#wake(key);
  }

  #wake(key: Key): Active<Message> | undefined {
    const { dispatcher, activate, name, mailboxMax, supervision } = this.#options;
    this.#activations += 1;
    let hasEnded = false;
    const ref = dispatcher.spawn<Message>(`${name}:${key}`, activate(key), {
      ...(mailboxMax === undefined ? {} : { mailboxMax }),
      ...(supervision === undefined ? {} : { supervision }),
      onStopped: (left, isOrderly) => {
        hasEnded = true;
        this.#active.delete(key);
        if (isOrderly && left.length > 0) this.#revive(key, left);
        else for (const message of left) this.#bury(key, message);
      },
    });
    const active: Active<Message> = { ref, handledAtLook: -1 };
    if (hasEnded) return undefined;
    this.#active.set(key, active);
    return active;
  }

  /** Puts one quiet actor to sleep. Returns whether there is room now or after the current turn. */
  #makeRoom(): boolean {
    let looks = 0;
    let secondBest: ActorRef<Message> | undefined;
    for (const [key, active] of this.#active) {
      const cell = active.ref as ActorCell<Message>;
      const canSleep = maySleep(cell);
      if (canSleep && cell.messagesHandled === active.handledAtLook) {
        this.#options.dispatcher.stop(active.ref);
        return true;
      }
      if (canSleep) secondBest ??= active.ref;
      active.handledAtLook = cell.messagesHandled;
      this.#active.delete(key);
      this.#active.set(key, active);
      looks += 1;
      if (looks >= LOOKS_MAX) break;
    }
    if (secondBest !== undefined) this.#options.dispatcher.stop(secondBest);
    return secondBest !== undefined;
  }

  #bury(key: Key, message: Message): void {
    const { dispatcher, name } = this.#options;
    const at = dispatcher.clock.now();
    dispatcher.deadLetters.record({ to: `${name}:${key}`, message, reason: 'unroutable', at });
  }
}

function maySleep<Message>(cell: ActorCell<Message>): boolean {
  if (cell.mailboxSize > 0 || cell.isStopping || cell.state !== 'running') return false;
  return cell.actor?.isIdle === undefined || cell.actor.isIdle();
}
