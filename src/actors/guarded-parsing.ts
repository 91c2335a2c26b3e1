// Step 11 the guarded way: pages that wait for the guarded pool, are in its hands, or came back and wait for their links to leave. A page
// that fails there is tried again and then given up with its reason; the others go on. What is in hand is bounded by IN_HAND_MAX, what
// waits by its bytes, which count as the shard's parse backlog (I10). A page leaves the unparsed log only after it was answered.

import { assert } from '../base/assert.ts';
import type { PageToParse } from './parse-stage.ts';
import type { GuardedParseFailure, GuardedParseOutcome } from './ports.ts';

/** Pages of one shard with the pool, or answered and not yet taken: one is parsed while the next is on its way. */
export const IN_HAND_MAX = 2;

/** Tries of a page in the pool before it is given up. A second one, since memory and time also depend on what else the machine does. */
export const GUARDED_TRIES_MAX = 2;

/** An answered page. */
export interface GuardedAnswer {
  readonly page: PageToParse;
  readonly outcome: GuardedParseOutcome;
}

interface InHand {
  readonly page: PageToParse;
  readonly tries: number;
}

export class GuardedParsing {
  /** Starts a parse whose answer comes to `answered`, never within the call. */
  readonly #start: (page: PageToParse) => void;
  readonly #waiting: PageToParse[] = [];
  readonly #inHand = new Map<number, InHand>();
  readonly #answers: GuardedAnswer[] = [];
  #bytes = 0;

  constructor(start: (page: PageToParse) => void) {
    this.#start = start;
  }

  /** Bytes of all pages held here. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Pages held here. */
  get size(): number {
    return this.#waiting.length + this.#inHand.size + this.#answers.length;
  }

  get hasAnswer(): boolean {
    return this.#answers.length > 0;
  }

  /** True while another page would only wait: pages of an earlier run stay in their log until then. */
  get isBusy(): boolean {
    return this.#inHand.size + this.#answers.length >= IN_HAND_MAX;
  }

  add(page: PageToParse): void {
    this.#bytes += page.body.byteLength;
    this.#waiting.push(page);
    this.#startNext();
  }

  /** The pool's answer; a page that failed is tried again while it has tries. */
  answered(unparsedId: number, outcome: GuardedParseOutcome): void {
    const held = this.#inHand.get(unparsedId);
    assert(held !== undefined, () => `an answer for page ${unparsedId}, which nobody holds`);
    if (outcome.kind !== 'parsed' && held.tries < GUARDED_TRIES_MAX) {
      this.#inHand.set(unparsedId, { page: held.page, tries: held.tries + 1 });
      this.#start(held.page);
      return;
    }
    this.#inHand.delete(unparsedId);
    this.#answers.push({ page: held.page, outcome });
  }

  /** The oldest answer; its place is free for the next page. */
  takeAnswer(): GuardedAnswer | undefined {
    const answer = this.#answers.shift();
    if (answer === undefined) return undefined;
    this.#bytes -= answer.page.body.byteLength;
    assert(this.#bytes >= 0, () => `guarded pages of ${this.#bytes} bytes`);
    this.#startNext();
    return answer;
  }

  #startNext(): void {
    while (!this.isBusy) {
      const page = this.#waiting.shift();
      if (page === undefined) return;
      const { unparsedId } = page;
      assert(!this.#inHand.has(unparsedId), () => `page ${unparsedId} is parsed twice at once`);
      this.#inHand.set(unparsedId, { page, tries: 1 });
      this.#start(page);
    }
  }
}

/** For a counter's name. */
export function failureName(outcome: GuardedParseFailure): string {
  return `parse.${outcome.kind}`;
}
