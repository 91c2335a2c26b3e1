// Steps 11 and 12 at work: takes committed pages, reads their links and sends them on their way. One page a step, so that no host waits long
// for a page of another. The page's key stands in shared memory while it is parsed: a page that kills the thread is then known.

import { assert } from '../base/assert.ts';
import { parseBase } from '../domain/base-url.ts';
import { isRedirectStatus } from '../domain/location.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { LinkExchange } from './link-exchange.ts';
import { outlinksOf } from './page-outlinks.ts';
import type { PageToParse, ParseStage } from './parse-stage.ts';
import type { BodyPointer, PageCheckpoint, PageReceipt, StoredBody } from './ports.ts';
import { CountdownToken } from './work-token.ts';

export interface ParsingOptions {
  readonly stage: CheckpointStage;
  readonly waiting: ParseStage;
  readonly exchange: LinkExchange;
  readonly bodyOf: (pointer: BodyPointer) => StoredBody | undefined;
  /** Notes the page about to be parsed, and 0n after. */
  readonly markParsing: (urlKey: bigint) => void;
  readonly productToken: string;
}

export class PageParsing {
  readonly #options: ParsingOptions;

  constructor(options: ParsingOptions) {
    this.#options = options;
  }

  /** A page is durable: its links may be followed now. An exact duplicate was not entered in the unparsed log and is not parsed. */
  pageCommitted(page: PageCheckpoint, receipt: PageReceipt): void {
    const { stage, waiting } = this.#options;
    if (receipt.duplicateOf !== undefined) stage.count('duplicates.exact');
    if (receipt.unparsedId === 0 || page.response === undefined) return;
    const { purpose } = page;
    assert(purpose !== 'robots', () => 'a robots.txt is not parsed for links');
    const { status, headers, body } = page.response;
    const { hostKey, urlKey, url, depth, hops } = page;
    const { unparsedId } = receipt;
    waiting.add({ unparsedId, hostKey, urlKey, url, depth, hops, purpose, status, headers, body });
  }

  /** Parses the next page, if one waits: of this run first, then of an earlier one. */
  step(): void {
    const page = this.#options.waiting.take() ?? this.#unparsed();
    if (page !== undefined) this.#parse(page);
  }

  /** Reads a page of an earlier run back from its WARC record. */
  #unparsed(): PageToParse | undefined {
    const { stage, waiting, bodyOf } = this.#options;
    const unparsed = waiting.nextUnparsed();
    if (unparsed === undefined) return undefined;
    const stored = bodyOf(unparsed.pointer);
    if (stored !== undefined) return { ...unparsed, ...stored };
    stage.count('failures.unparsed-body-missing');
    stage.parsed(unparsed.unparsedId);
    return undefined;
  }

  #parse(page: PageToParse): void {
    const { stage, waiting, exchange, markParsing, productToken } = this.#options;
    const base = parseBase(page.url);
    assert(base !== undefined, () => `a stored page without a URL: ${page.url}`);
    markParsing(page.urlKey);
    const outlinks = outlinksOf(page, base, productToken);
    markParsing(0n);
    for (const [name, count] of Object.entries(outlinks.counts)) stage.count(name, count);
    const isRedirect = isRedirectStatus(page.status);
    const own = exchange.routeAll(outlinks.references, {
      base: outlinks.base,
      host: base.host,
      depth: isRedirect ? page.depth : page.depth + 1,
      hops: isRedirect ? page.hops + 1 : 0,
      purpose: outlinks.purpose,
    });
    const marks = exchange.marks();
    exchange.deal(own, new CountdownToken(waiting.departed(page.unparsedId, marks)));
  }
}
