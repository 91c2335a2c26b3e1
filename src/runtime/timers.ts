// Timers of one dispatcher: a heap by deadline over which the driver keeps a single real timer. Equal deadlines fire in the order they
// were set (ids ascend and the heap breaks ties by key), so a virtual clock replays exactly (invariant I11). Setting and firing cost
// O(log n); cancelling frees the payload at once, so a hundred thousand request timeouts that never fire cost nothing later. The count
// is bounded (invariant I10).
import { assert } from '../base/assert.ts';
import { IndexedHeap } from '../base/heap.ts';
import type { TimerId } from './actor.ts';

/** A timer that fired. */
export interface DueTimer<Payload> {
  readonly id: TimerId;
  /** When it was due, on the caller's monotonic clock. */
  readonly deadline: number;
  readonly payload: Payload;
}

/** Pending timers, each with a payload. */
export class Timers<Payload> {
  readonly #deadlines: IndexedHeap<number>;
  readonly #payloads = new Map<number, Payload>();
  #nextId = 1;

  /** @param countMax the most timers pending at once; one more is a bug and throws */
  constructor(countMax = 1_000_000) {
    this.#deadlines = new IndexedHeap<number>({ countMax, keys: 'number' });
  }

  get size(): number {
    return this.#payloads.size;
  }

  /** The earliest deadline in milliseconds, or Infinity. */
  get nextDeadline(): number {
    return this.#deadlines.peekPriority();
  }

  /** Sets a timer. `deadline` is on the caller's monotonic clock. */
  set(deadline: number, payload: Payload): TimerId {
    const id = this.#nextId;
    this.#nextId += 1;
    const fits = this.#deadlines.push(id, deadline);
    assert(fits, () => `more than ${this.#deadlines.countMax} timers`);
    this.#payloads.set(id, payload);
    return id as TimerId;
  }

  /** Forgets a timer. Returns whether it was pending. */
  cancel(id: TimerId): boolean {
    this.#payloads.delete(id);
    return this.#deadlines.remove(id);
  }

  /** Takes the earliest timer due at `now`, or undefined. */
  takeDue(now: number): DueTimer<Payload> | undefined {
    const deadline = this.#deadlines.peekPriority();
    if (deadline > now) return undefined;
    const id = this.#deadlines.pop();
    if (id === undefined) return undefined;
    const payload = this.#payloads.get(id);
    assert(payload !== undefined, () => `timer ${id} has no payload`);
    this.#payloads.delete(id);
    return { id: id as TimerId, deadline, payload };
  }
}
