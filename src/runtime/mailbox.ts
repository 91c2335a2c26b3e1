// The bounded mailbox of one actor (invariant I10). Nothing is allocated before the first message, because a million actors may exist
// and few have mail; a lone message, the usual case, is kept without a queue (fewer cache lines to touch: 40 % of a message's cost with
// a thousand actors, bench/runtime.bench.ts). A full mailbox refuses: the sender turns that into a dead letter or into backpressure,
// never into growth. A small reserve admits the actor's own timers and the answers to its own questions, which are bounded already and whose
// loss would leave it waiting for ever.
import { assert } from '../base/assert.ts';
import { Fifo } from '../base/fifo.ts';

/** Room beyond the bound for the actor's own timers and answers. */
const TIMER_RESERVE = 64;

/** Messages waiting for one actor, oldest first. */
export class Mailbox<Message> {
  /** Most messages that others may leave waiting. */
  readonly countMax: number;
  /** The most that ever waited at once. */
  countPeak = 0;
  /** The oldest message; undefined when there is none. */
  #first: Message | undefined = undefined;
  /** The messages after the first, once there were two. */
  #rest: Fifo<Message> | undefined = undefined;

  constructor(countMax: number) {
    assert(countMax >= 1, () => `a mailbox needs room for one message, got ${countMax}`);
    this.countMax = countMax;
  }

  get size(): number {
    if (this.#first === undefined) return 0;
    return this.#rest === undefined ? 1 : this.#rest.size + 1;
  }

  /** Leaves a message. False when full: nothing changed, the caller keeps the message. */
  offer(message: Message): boolean {
    return this.size < this.countMax && this.#push(message);
  }

  /** Leaves a message of the actor's own timer, or the answer to its own question, using the reserve when need be. */
  offerOwn(message: Message): boolean {
    return this.#push(message);
  }

  /** Takes the oldest message, or undefined when there is none. */
  take(): Message | undefined {
    const message = this.#first;
    this.#first = this.#rest?.shift();
    return message;
  }

  /** The waiting messages, oldest first, for inspection. */
  *messages(): IterableIterator<Message> {
    if (this.#first !== undefined) yield this.#first;
    if (this.#rest !== undefined) yield* this.#rest;
  }

  /** Takes everything, oldest first, and lets the memory go. */
  drain(): Message[] {
    const left = [...this.messages()];
    this.#first = undefined;
    this.#rest = undefined;
    return left;
  }

  #push(message: Message): boolean {
    assert(message !== undefined, () => 'undefined is no message');
    if (this.#first === undefined) this.#first = message;
    else {
      this.#rest ??= new Fifo<Message>(this.countMax + TIMER_RESERVE);
      if (!this.#rest.push(message)) return false;
    }
    const { size } = this;
    if (size > this.countPeak) this.countPeak = size;
    return true;
  }
}
