// The context an actor gets: a thin view of its cell and its dispatcher, made once for a cell. It holds no state of its own. Calls by an
// actor that has stopped meanwhile are harmless: timers are not set, messages go their usual way.
import type { Random } from '../base/random.ts';
import type { MonotonicMs, WallMs } from '../base/units.ts';
import type { ActorContext, ActorFactory, ActorRef, SpawnOptions, TimerId } from './actor.ts';
import type { ActorCell } from './actor-cell.ts';
import type { Clock } from './clock.ts';

/** What a context needs of its dispatcher. */
export interface ContextHost {
  readonly clock: Clock;
  readonly random: Random;
  tell<Message>(ref: ActorRef<Message>, message: Message): void;
  offer<Message>(ref: ActorRef<Message>, message: Message): boolean;
  setTimer<Message>(cell: ActorCell<Message>, ms: number, message: Message): TimerId;
  cancelTimer<Message>(cell: ActorCell<Message>, id: TimerId): void;
  stopSoon<Message>(cell: ActorCell<Message>): void;
  spawnChild<Message>(
    parent: ActorCell,
    name: string,
    factory: ActorFactory<Message>,
    options: SpawnOptions,
  ): ActorRef<Message>;
}

/** The context of one cell. */
export class CellContext<Message> implements ActorContext<Message> {
  readonly #host: ContextHost;
  readonly #cell: ActorCell<Message>;

  constructor(host: ContextHost, cell: ActorCell<Message>) {
    this.#host = host;
    this.#cell = cell;
  }

  get self(): ActorRef<Message> {
    return this.#cell;
  }

  get random(): Random {
    return this.#host.random;
  }

  now(): MonotonicMs {
    return this.#host.clock.now();
  }

  wallNow(): WallMs {
    return this.#host.clock.wallNow();
  }

  tell<Other>(ref: ActorRef<Other>, message: Other): void {
    this.#host.tell(ref, message);
  }

  offer<Other>(ref: ActorRef<Other>, message: Other): boolean {
    return this.#host.offer(ref, message);
  }

  after(ms: number, message: Message): TimerId {
    return this.#host.setTimer(this.#cell, ms, message);
  }

  cancel(id: TimerId): void {
    this.#host.cancelTimer(this.#cell, id);
  }

  stop(): void {
    this.#host.stopSoon(this.#cell);
  }

  spawn<Other>(
    name: string,
    factory: ActorFactory<Other>,
    options: SpawnOptions = {},
  ): ActorRef<Other> {
    return this.#host.spawnChild(this.#cell as ActorCell, name, factory, options);
  }
}
