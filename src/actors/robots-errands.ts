// Robots requests that a host has to make or awaits, beyond the plain fetch of its own /robots.txt (step 5): redirects of its own file that
// stay on the host, redirects to another host whose owner was asked, and files that other hosts' origins redirected here. They go before
// pages, in the host's own pace.

import { assert } from '../base/assert.ts';
import type { RobotsAsk } from './messages.ts';

/** Most asks of others waiting at one host; more are refused, to be tried again by the asker. */
const ASKS_MAX = 256;

/** A robots request to make. `ask` is set when it is made for another host. */
export interface RobotsErrand {
  readonly url: string;
  readonly origin: string;
  readonly ask: RobotsAsk | undefined;
}

export class RobotsErrands {
  readonly #asks: RobotsAsk[] = [];
  #hop: { readonly origin: string; readonly url: string } | undefined;
  #awaited: { readonly askId: number; readonly origin: string; readonly url: string } | undefined;

  /** True when nothing is to be done and nothing awaited. */
  get isEmpty(): boolean {
    return this.#awaited === undefined && this.next() === undefined;
  }

  /** True while the owner of another host fetches for this one; no page may be fetched then. */
  get isAwaiting(): boolean {
    return this.#awaited !== undefined;
  }

  /** The request to make first, which stays until `done`. */
  next(): RobotsErrand | undefined {
    const ask = this.#asks[0];
    if (ask !== undefined) return { url: ask.url, origin: '', ask };
    return this.#hop === undefined ? undefined : { ...this.#hop, ask: undefined };
  }

  /** The request that `next` gave is under way, or cannot be made. */
  done(): void {
    assert(this.next() !== undefined, () => 'no errand is done');
    if (this.#asks.length > 0) this.#asks.shift();
    else this.#hop = undefined;
  }

  /** Takes an ask of another host. False when too many wait. */
  take(ask: RobotsAsk): boolean {
    if (this.#asks.length >= ASKS_MAX) return false;
    this.#asks.push(ask);
    return true;
  }

  /** An own file moved within the host. */
  follow(origin: string, url: string): void {
    this.#hop = { origin, url };
  }

  /** An own file moved to another host: its owner was asked under `askId`. */
  expect(askId: number, origin: string, url: string): void {
    assert(this.#awaited === undefined, () => 'two robots answers awaited at once');
    this.#awaited = { askId, origin, url };
  }

  /** The answer to an ask; undefined when it was not awaited (any more). */
  answered(askId: number): { readonly origin: string; readonly url: string } | undefined {
    const awaited = this.#awaited;
    if (awaited === undefined || awaited.askId !== askId) return undefined;
    this.#awaited = undefined;
    return awaited;
  }
}
