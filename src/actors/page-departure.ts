// Step 12 for one page: its outlinks leave in portions of PORTION_MAX, one a turn of the shard, since a sitemap may have fifty thousand and
// no host should wait for all of them. The page leaves the unparsed log when every link is durable at its owner (I9).

import type { LinkExchange } from './link-exchange.ts';
import type { LinkSource } from './link-router.ts';
import type { PageToParse, ParseStage } from './parse-stage.ts';
import { CountdownToken } from './work-token.ts';

/** References routed in one turn: a few milliseconds; nearly every page has fewer. */
export const PORTION_MAX = 2_000;

export interface DepartureOptions {
  readonly page: PageToParse;
  readonly source: LinkSource;
  readonly waiting: ParseStage;
  readonly exchange: LinkExchange;
}

export class LinkDeparture {
  readonly #options: DepartureOptions;
  readonly #references: Iterator<string>;
  readonly #token: CountdownToken;
  /** Set when the last portion has left. */
  #staged: (() => void) | undefined;

  /** @param references each once, in any number */
  constructor(options: DepartureOptions, references: Iterable<string>) {
    this.#options = options;
    this.#references = references[Symbol.iterator]();
    this.#token = new CountdownToken(() => this.#staged?.());
  }

  get urlKey(): bigint {
    return this.#options.page.urlKey;
  }

  /** Routes and deals out the next portion. @returns true when it was the last; not to be called again then */
  sendPortion(): boolean {
    const { page, source, waiting, exchange } = this.#options;
    const portion: string[] = [];
    let isLast = false;
    while (!isLast && portion.length < PORTION_MAX) {
      const next = this.#references.next();
      if (next.done === true) isLast = true;
      else portion.push(next.value);
    }
    this.#token.expect();
    exchange.deal(exchange.routeAll(portion, source), this.#token);
    if (!isLast) return false;
    this.#staged = waiting.departed(page.unparsedId, exchange.marks());
    this.#token.applied();
    return true;
  }
}
