// The bounded mailbox of one actor (invariant I10). Nothing is allocated before the first message, because a million actors may exist
// and few have mail. A full mailbox refuses: the sender turns that into a dead letter or into backpressure, never into growth. A small
// reserve admits the actor's own timers, which are bounded already and whose loss would leave it waiting for ever.
import { assert } from '../base/assert.ts';
import { Fifo } from '../base/fifo.ts';

/** Room beyond the bound for the actor's own timers. */
const TIMER_RESERVE = 64;

/** Messages waiting for one actor, oldest first. */
export class Mailbox<Message> {
  /** Most messages that others may leave waiting. */
  readonly countMax: number;
  /** The most that ever waited at once. */
  countPeak = 0;
  #queue: Fifo<Message> | undefined;

  constructor(countMax: number) {
    assert(countMax >= 1, () => `a mailbox needs room for one message, got ${countMax}`);
    this.countMax = countMax;
  }

  get size(): number {
    return this.#queue === undefined ? 0 : this.#queue.size;
  }

  /** Leaves a message. False when full: nothing changed, the caller keeps the message. */
  offer(message: Message): boolean {
    return this.size < this.countMax && this.#push(message);
  }

  /** Leaves a message of the actor's own timer, using the reserve when need be. */
  offerOwn(message: Message): boolean {
    return this.#push(message);
  }

  /** Takes the oldest message, or undefined when there is none. */
  take(): Message | undefined {
    return this.#queue?.shift();
  }

  /** The waiting messages, oldest first, for inspection. */
  *messages(): IterableIterator<Message> {
    if (this.#queue !== undefined) yield* this.#queue;
  }

  /** Takes everything, oldest first, and lets the memory go. */
  drain(): Message[] {
    const left = this.#queue === undefined ? [] : [...this.#queue];
    this.#queue = undefined;
    return left;
  }

  #push(message: Message): boolean {
    assert(message !== undefined, () => 'undefined is no message');
    this.#queue ??= new Fifo<Message>(this.countMax + TIMER_RESERVE);
    if (!this.#queue.push(message)) return false;
    if (this.#queue.size > this.countPeak) this.countPeak = this.#queue.size;
    return true;
  }
}
