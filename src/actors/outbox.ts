// Step 3, the sending half: links for the hosts of one other shard, in numbered batches. A batch is kept until the receiver has taken it,
// and counted as open until the receiver has committed it (I7): only then may the page it came from leave the unparsed log. At the bound
// the outbox is full, and the shard stops parsing until receipts come: backpressure reaches the parser, not the memory (I10).

import { assert } from '../base/assert.ts';
import type { RoutedLink } from './messages.ts';

/** Links in a batch: 500–1,000 cost least per link (CLUSTER.md, shuffle). */
const BATCH_LINKS = 500;
/** Batches sent or waiting and not yet committed by the receiver, at most. */
const BATCHES_OPEN_MAX = 64;

/** Hands a batch over; false when the link has no credit now. */
export type SendBatch = (batch: number, links: readonly RoutedLink[]) => boolean;

export class Outbox {
  readonly #send: SendBatch;
  #open: RoutedLink[] = [];
  readonly #sealed: { readonly batch: number; readonly links: readonly RoutedLink[] }[] = [];
  #lastSealed = 0;
  #committedThrough = 0;

  constructor(send: SendBatch) {
    this.#send = send;
  }

  /** True when parsing should wait for receipts. */
  get isFull(): boolean {
    return this.#lastSealed - this.#committedThrough >= BATCHES_OPEN_MAX;
  }

  /** True when everything was committed by the receiver. */
  get isIdle(): boolean {
    return this.#open.length === 0 && this.#committedThrough === this.#lastSealed;
  }

  /** Links not yet handed to the wire. */
  get waiting(): number {
    return this.#sealed.reduce((sum, { links }) => sum + links.length, this.#open.length);
  }

  get committedThrough(): number {
    return this.#committedThrough;
  }

  /** The batch that holds the newest link added so far; 0 before the first. */
  get mark(): number {
    return this.#open.length > 0 ? this.#lastSealed + 1 : this.#lastSealed;
  }

  add(link: RoutedLink): void {
    this.#open.push(link);
    if (this.#open.length >= BATCH_LINKS) this.seal();
  }

  /** Closes the open batch and sends what the link takes. */
  seal(): void {
    if (this.#open.length > 0) {
      this.#lastSealed += 1;
      this.#sealed.push({ batch: this.#lastSealed, links: this.#open });
      this.#open = [];
    }
    this.pump();
  }

  /** Sends what waited for credit. */
  pump(): void {
    let next = this.#sealed[0];
    while (next !== undefined && this.#send(next.batch, next.links)) {
      this.#sealed.shift();
      next = this.#sealed[0];
    }
  }

  /** The receiver has committed all batches up to this one. */
  committed(through: number): void {
    assert(through <= this.#lastSealed, () => `receipt ${through} beyond ${this.#lastSealed}`);
    if (through > this.#committedThrough) this.#committedThrough = through;
  }
}
