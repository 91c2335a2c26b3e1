// The shard's counter for robots errands between hosts (step 5): a robots.txt that redirects to another host is asked of that host's owner,
// perhaps on another shard, and the answer finds its way back; sitemaps that a robots.txt names are routed like links.

import { assert } from '../base/assert.ts';
import type { HostKey } from '../base/units.ts';
import { parseBase } from '../domain/base-url.ts';
import type { LinkExchange } from './link-exchange.ts';
import type { LinkRouter } from './link-router.ts';
import type { HostMessage, HostPlaceIdentity, RobotsAnswer, RobotsAsk } from './messages.ts';

export interface CounterOptions {
  readonly shard: number;
  readonly readsSitemaps: boolean;
  /** Looks for a sitemap at its well-known place too. */
  readonly asksWellKnown: boolean;
  readonly router: LinkRouter;
  readonly exchange: LinkExchange;
  readonly offerHost: (hostKey: HostKey, message: HostMessage) => boolean;
}

export class RobotsCounter {
  readonly #options: CounterOptions;
  readonly #open = new Map<number, HostKey>();
  #nextId = 1;

  constructor(options: CounterOptions) {
    this.#options = options;
  }

  /** Asks whose answer is awaited. */
  get asksOpen(): number {
    return this.#open.size;
  }

  /** Asks the owner of the host of `url` for a robots.txt. @returns the id the answer will carry */
  ask(asker: HostPlaceIdentity, url: string): number {
    const { router, exchange, shard } = this.#options;
    const askId = this.#nextId;
    this.#nextId += 1;
    this.#open.set(askId, asker.hostKey);
    const base = parseBase(url);
    assert(base !== undefined, () => `no URL: ${url}`);
    const { hostKey, partition, shard: owner } = router.placeOf(base.host);
    const host = { host: base.host, hostKey, partition };
    exchange.toPeer(owner, { kind: 'ask-robots', ask: { from: shard, askId, url }, host });
    return askId;
  }

  /** Sends an answer to the shard that asked. */
  answer(ask: RobotsAsk, answer: RobotsAnswer): void {
    this.#options.exchange.toPeer(ask.from, { kind: 'robots-answered', askId: ask.askId, answer });
  }

  /** An answer came in: it goes to the host that awaits it. One that is too late finds nobody and is dropped. */
  answered(askId: number, answer: RobotsAnswer): void {
    const hostKey = this.#open.get(askId);
    if (hostKey === undefined) return;
    this.#open.delete(askId);
    this.#options.offerHost(hostKey, { kind: 'robots-answered', askId, answer });
  }

  /** The rules of an origin are known, and with them the sitemaps they name. What was routed before ends at the seen set. */
  rulesRead(host: HostPlaceIdentity, origin: string, sitemaps: readonly string[]): void {
    const { readsSitemaps, asksWellKnown, exchange } = this.#options;
    const named = readsSitemaps ? sitemaps : [];
    const wanted = asksWellKnown ? [...named, `${origin}/sitemap.xml`] : named;
    if (wanted.length === 0) return;
    const base = parseBase(`${origin}/robots.txt`);
    assert(base !== undefined, () => `no origin: ${origin}`);
    const source = { base, host: host.host, depth: 0, hops: 0, purpose: 'sitemap' as const };
    exchange.deal(exchange.routeAll(wanted, source), undefined);
  }
}
