// The questions an operator's tools have open with the shard threads: each gets a number, a time limit, and one answer; a trace gets any
// number of events until it ends (DESIGN.md §10). Lives on the main thread. A shard that does not answer costs its question the time and
// nothing else.

import type { TracedMessage } from '../runtime/turn-records.ts';
import type { ShardQuery, ToShardThread } from './thread-plan.ts';

/** Time for an answer when the asker names none, milliseconds: under the 5 s of the debug socket, so that the refusal can say more. */
const ANSWER_MS = 4_000;

export class ShardQuestions {
  readonly #send: (shard: number, message: ToShardThread) => void;
  readonly #answers = new Map<number, (answer: unknown) => void>();
  readonly #traces = new Map<number, (message: TracedMessage) => void>();
  #nextId = 1;

  constructor(send: (shard: number, message: ToShardThread) => void) {
    this.#send = send;
  }

  /** Asks one shard a read-only question; undefined when it does not answer within the time. */
  ask(shard: number, query: ShardQuery, timeoutMs = ANSWER_MS): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#answers.delete(id);
        resolve(undefined);
      }, timeoutMs);
      this.#answers.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#send(shard, { kind: 'inspect', id, query });
    });
  }

  /** A shard answered. */
  answered(id: number, answer: unknown): void {
    this.#answers.get(id)?.(answer);
    this.#answers.delete(id);
  }

  /** Tells the messages that an actor of a shard handles. @returns ends the trace */
  trace(
    shard: number,
    { actor, eventsMax }: { readonly actor: string; readonly eventsMax: number },
    tell: (message: TracedMessage) => void,
  ): () => void {
    const id = this.#nextId++;
    this.#traces.set(id, tell);
    this.#send(shard, { kind: 'trace', id, actor, eventsMax });
    return () => {
      if (this.#traces.delete(id)) this.#send(shard, { kind: 'end-trace', id });
    };
  }

  /** A traced actor handled a message; one that comes after the trace's end is dropped. */
  traced(id: number, message: TracedMessage): void {
    this.#traces.get(id)?.(message);
  }
}
