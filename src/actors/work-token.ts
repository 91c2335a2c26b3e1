// Counts down the host actors that were given a part of one piece of work, and tells when all have staged theirs.

import { assert } from '../base/assert.ts';
import type { WorkToken } from './messages.ts';

export class CountdownToken implements WorkToken {
  #left = 1;
  readonly #done: () => void;

  /** @param done called once, in the turn in which the last part is applied */
  constructor(done: () => void) {
    this.#done = done;
  }

  /** One more part is handed out. */
  expect(): void {
    assert(this.#left > 0, () => 'a token was used after its end');
    this.#left += 1;
  }

  /** A part is applied; the giver calls this too, once, when all parts are handed out. */
  applied(): void {
    assert(this.#left > 0, () => 'a token was applied too often');
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }
}
