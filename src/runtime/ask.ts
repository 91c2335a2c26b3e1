// Request and response between actors, without promises: the asker keeps what it needs to go on (the note) under a request id, sends the
// id with its question, and finds the note again when the answer comes as an ordinary message. A timeout is a message too. The id is a
// plain number, so an ask crosses threads and machines like any message. Ids start at a random point, so that an answer meant for an
// actor's earlier life finds no ask of its next one. Open asks are bounded (invariant I10): a full book refuses.
import { assert } from '../base/assert.ts';
import type { ActorContext, TimerId } from './actor.ts';

/** The id of one ask, unique within its book; encodable. */
export type AskId = number;

interface OpenAsk<Note> {
  readonly note: Note;
  readonly timer: TimerId;
}

/** The open asks of one actor; a field of the actor. */
export class AskBook<Note, Message> {
  readonly #open = new Map<AskId, OpenAsk<Note>>();
  readonly #openMax: number;
  readonly #timeoutMessage: (id: AskId) => Message;
  #nextId = 0;
  #timeouts = 0;
  #lateAnswers = 0;

  /** @param options.timeoutMessage makes the message that the asker gets when an answer fails to come */
  constructor(options: {
    readonly openMax: number;
    readonly timeoutMessage: (id: AskId) => Message;
  }) {
    assert(options.openMax >= 1, () => 'a book needs room for one ask');
    this.#openMax = options.openMax;
    this.#timeoutMessage = options.timeoutMessage;
  }

  get size(): number {
    return this.#open.size;
  }

  get counters(): { readonly timeouts: number; readonly lateAnswers: number } {
    return { timeouts: this.#timeouts, lateAnswers: this.#lateAnswers };
  }

  /** Opens an ask; the caller sends the question with the id. Undefined when too many are open. */
  open(context: ActorContext<Message>, timeoutMs: number, note: Note): AskId | undefined {
    if (this.#open.size >= this.#openMax) return undefined;
    if (this.#nextId === 0) this.#nextId = 1 + context.random.below(2 ** 48);
    const id = this.#nextId;
    this.#nextId += 1;
    this.#open.set(id, { note, timer: context.after(timeoutMs, this.#timeoutMessage(id)) });
    return id;
  }

  /** The answer came: gives the note back once. Undefined when the ask had timed out or never was. */
  settle(context: ActorContext<Message>, id: AskId): Note | undefined {
    const ask = this.#open.get(id);
    if (ask === undefined) {
      this.#lateAnswers += 1;
      return undefined;
    }
    this.#open.delete(id);
    context.cancel(ask.timer);
    return ask.note;
  }

  /** The timeout message came: gives the note back. Undefined when the answer was handled before it. */
  expire(id: AskId): Note | undefined {
    const ask = this.#open.get(id);
    if (ask === undefined) return undefined;
    this.#open.delete(id);
    this.#timeouts += 1;
    return ask.note;
  }
}
