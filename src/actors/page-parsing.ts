// Steps 11 and 12 at work: takes committed pages, has their links read inline or by the guarded pool, and sends the links on their way. One
// page a step, and of a page with very many links one portion, so that no host waits long for a page of another. A page's key stands in
// shared memory while this thread handles its content: a page that kills the thread is then known, and parsed behind guards at the next
// start. A page that fails behind guards fails alone: it leaves the unparsed log, and its row says why.

import { assert } from '../base/assert.ts';
import { parseBase } from '../domain/base-url.ts';
import { isRedirectStatus } from '../domain/location.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import { failureName, GuardedParsing } from './guarded-parsing.ts';
import type { PageSeen } from './host-known.ts';
import type { LinkExchange } from './link-exchange.ts';
import type { LinkRouter } from './link-router.ts';
import { FEATURES_MIN, type NearDuplicates } from './near-duplicates.ts';
import { LinkDeparture } from './page-departure.ts';
import { type ChangedPage, type Outlinks, outlinksOf, type PageText } from './page-outlinks.ts';
import { guardReasonOf } from './parse-choice.ts';
import type { PageToParse, ParseStage } from './parse-stage.ts';
import type {
  GuardedParseFailure,
  GuardedParseOutcome,
  PageCheckpoint,
  PageReceipt,
  StateReader,
} from './ports.ts';
import type { RenderDesk } from './render-desk.ts';

/** Deaths of crawl threads after which a page is not parsed again, not even behind guards: its links may be what kills. */
export const CRASHES_MAX = 3;
/** Pages that a host is told of at once: each costs it a look at a row. */
const CHANGED_PER_TURN = 256;
/** Words of a text below which its form says nothing: galleries have pages with no words but "next". */
const SHORT_MIN = 4;

/** What parsing needs of the thread that runs the shard. */
export interface ParsingPorts {
  readonly reader: Pick<StateReader, 'body' | 'page' | 'rendered'>;
  readonly router: Pick<LinkRouter, 'placeOf'>;
  /** Notes the page about to be handled where a crash of this thread leaves it readable, and 0n after. */
  markParsing(urlKey: bigint): void;
  /** Deaths of crawl threads, in earlier runs, that a page is held responsible for. */
  crashesOf(urlKey: bigint): number;
  /** Starts a guarded parse; the answer comes to `pageParsed`, never within the call. */
  parseGuarded(page: PageToParse): void;
}

export interface ParsingOptions {
  readonly stage: CheckpointStage;
  readonly waiting: ParseStage;
  readonly exchange: LinkExchange;
  readonly near: NearDuplicates;
  readonly desk: RenderDesk;
  readonly ports: ParsingPorts;
  readonly productToken: string;
}

export class PageParsing {
  readonly #options: ParsingOptions;
  readonly #guarded: GuardedParsing;
  /** A parsed page whose links leave in portions. */
  #departure: LinkDeparture | undefined;

  constructor(options: ParsingOptions) {
    this.#options = options;
    this.#guarded = new GuardedParsing((page) => options.ports.parseGuarded(page));
  }

  /** Pages waiting for their parse or being parsed. */
  get backlog(): number {
    return this.#options.waiting.backlog + this.#guarded.size;
  }

  /** Bytes of these pages. */
  get backlogBytes(): number {
    return this.#options.waiting.backlogBytes + this.#guarded.bytes;
  }

  get isIdle(): boolean {
    return (
      this.#departure === undefined &&
      this.#guarded.size === 0 &&
      this.#options.desk.size === 0 &&
      this.#options.waiting.isIdle
    );
  }

  /** True when a step would do something now. */
  get canStep(): boolean {
    const { waiting } = this.#options;
    if (this.#departure !== undefined || this.#guarded.hasAnswer || waiting.backlog > 0)
      return true;
    return waiting.isRecovering && !this.#guarded.isBusy && !this.#options.desk.isFull;
  }

  /** A page is durable: its links may be followed now. An exact duplicate of its own origin is not parsed, but it may be rendered. */
  pageCommitted(page: PageCheckpoint, receipt: PageReceipt): void {
    const { stage, waiting } = this.#options;
    const previousAt = page.prior?.fetchedAt;
    const isFirst = previousAt === undefined;
    const isCopy = receipt.duplicateOf !== undefined && receipt.duplicateOf !== page.url;
    if (receipt.duplicateOf !== undefined && isFirst) stage.count('duplicates.exact');
    const toParse = toParseOf(page, receipt, { previousAt, isCopy });
    const isSpare = toParse !== undefined && isSpareCopy(page, receipt);
    if (isSpare && this.#rendersCopy(toParse, receipt.duplicateOf ?? '')) return;
    if (isCopy && isFirst) this.#copySeen(page, receipt.duplicateOf ?? '');
    if (isSpare) stage.parsed(toParse.unparsedId);
    else if (toParse !== undefined) waiting.add(toParse);
  }

  /** One shell may stand for many pages: its copies are the same bytes, and other pages in the browser. */
  #rendersCopy(page: PageToParse, original: string): boolean {
    const { desk } = this.#options;
    const need = desk.needOfCopy(page, original);
    return need !== undefined && desk.take(page, need, true);
  }

  /** The guarded pool is done with a page. */
  pageParsed(unparsedId: number, outcome: GuardedParseOutcome): void {
    this.#guarded.answered(unparsedId, outcome);
  }

  /** Goes on with the page whose links are leaving; else takes the next: from the pool, of this run, of an earlier one. */
  step(): void {
    if (this.#departure !== undefined) {
      this.#depart(this.#departure);
      return;
    }
    const answer = this.#guarded.takeAnswer();
    if (answer !== undefined) {
      const { page, outcome } = answer;
      if (outcome.kind === 'parsed') this.#route(page, outcome.outlinks);
      else this.#fail(page, outcome);
      return;
    }
    const page = this.#options.waiting.take() ?? this.#unparsed();
    if (page !== undefined) this.#parse(page);
  }

  /** Reads a page of an earlier run back from its WARC record. */
  #unparsed(): PageToParse | undefined {
    const { stage, waiting, ports } = this.#options;
    if (this.#guarded.isBusy || this.#options.desk.isFull) return undefined;
    const unparsed = waiting.nextUnparsed();
    if (unparsed === undefined) return undefined;
    const stored = ports.reader.body(unparsed.pointer);
    if (stored !== undefined) return { ...unparsed, ...stored };
    stage.count('failures.unparsed-body-missing');
    stage.parsed(unparsed.unparsedId);
    return undefined;
  }

  #parse(page: PageToParse): void {
    const { stage, ports } = this.#options;
    const crashes = ports.crashesOf(page.urlKey);
    if (crashes >= CRASHES_MAX) {
      this.#fail(page, { kind: 'failed', detail: `ended ${crashes} crawl threads` });
      return;
    }
    const reason = guardReasonOf(page, crashes);
    const outlinks = reason === undefined ? this.#parseInline(page) : undefined;
    if (outlinks !== undefined) {
      const { desk } = this.#options;
      const need = desk.needOf(page, outlinks);
      this.#route(page, outlinks, need !== undefined && desk.take(page, need));
      return;
    }
    stage.count(`parse.guarded.${reason ?? 'threw'}`);
    this.#guarded.add(page);
  }

  /** Undefined when the scanner threw, which is a bug of ours and no reason to stop the shard: the page is looked at behind guards. */
  #parseInline(page: PageToParse): Outlinks | undefined {
    const { ports, productToken } = this.#options;
    const base = parseBase(page.url);
    assert(base !== undefined, () => `a stored page without a URL: ${page.url}`);
    ports.markParsing(page.urlKey);
    try {
      return outlinksOf(page, base, productToken);
    } catch {
      return undefined;
    } finally {
      ports.markParsing(0n);
    }
  }

  /** @param isRendered its worth shows in its rendering: a shell reads like any other shell */
  #route(page: PageToParse, outlinks: Outlinks, isRendered = false): void {
    const { stage, waiting, exchange } = this.#options;
    for (const [name, count] of Object.entries(outlinks.counts)) stage.count(name, count);
    const isRedirect = isRedirectStatus(page.status);
    const base = parseBase(page.url);
    assert(base !== undefined, () => `a stored page without a URL: ${page.url}`);
    const isKnown =
      page.isCopy === true || (!isRendered && this.#isNearDuplicate(page, outlinks.text));
    this.#tellChanged(base.host, outlinks.changed ?? []);
    const source = {
      base: outlinks.base,
      host: base.host,
      depth: isRedirect ? page.depth : page.depth + 1,
      hops: isRedirect ? page.hops + 1 : 0,
      purpose: outlinks.purpose,
      isKnown,
    };
    const references = this.#withMove(page, outlinks.references);
    this.#depart(new LinkDeparture({ page, source, waiting, exchange }, references));
  }

  /** Where a script went, or what it called the page, is a link of its document. */
  #withMove(page: PageToParse, references: Iterable<string>): Iterable<string> {
    if (page.purpose !== 'rendered') return references;
    const { router, reader } = this.#options.ports;
    const { hostKey, partition } = router.placeOf(parseBase(page.url)?.host ?? '');
    const movedTo = reader.rendered(hostKey, partition, page.urlKey)?.redirectTo;
    return movedTo === undefined ? references : new Set([movedTo, ...references]);
  }

  /** Looks at a page's text, and tells its host what the page was worth. */
  #isNearDuplicate(page: PageToParse, text: PageText | undefined): boolean {
    if (text === undefined) return false;
    const { near } = this.#options;
    if (page.previousAt !== undefined) {
      near.note(page, text.simhash);
      return false;
    }
    const original = near.judge(page, text.simhash);
    const { features } = text.simhash;
    this.#seen({
      url: page.url,
      isNew: original === undefined,
      form: text.form,
      repeats: original ?? '',
      isShort: features >= SHORT_MIN && features < FEATURES_MIN,
    });
    return original !== undefined;
  }

  /** Tells a host which of its pages its sitemap says have changed; a sitemap speaks for its own host only (sitemaps.org, "location"). */
  #tellChanged(host: string, changed: readonly ChangedPage[]): void {
    if (changed.length === 0) return;
    const { ports, exchange } = this.#options;
    const { hostKey, partition } = ports.router.placeOf(host);
    for (let at = 0; at < changed.length; at += CHANGED_PER_TURN) {
      const pages = changed.slice(at, at + CHANGED_PER_TURN);
      exchange.giveHost({ host, hostKey, partition }, { kind: 'pages-changed', pages });
    }
  }

  /** An exact copy. What repeats is content: that the bodies of two redirects or errors are equal says nothing of their hosts. */
  #copySeen({ url, response }: PageCheckpoint, original: string): void {
    const isAnswered = response !== undefined && response.status >= 200 && response.status < 300;
    const repeats = isAnswered ? original : '';
    this.#seen({ url, isNew: false, form: 0, repeats, isShort: false });
  }

  /** Tells the host what its page was worth. */
  #seen(page: PageSeen): void {
    const { ports, exchange } = this.#options;
    const host = parseBase(page.url)?.host ?? '';
    const { hostKey, partition } = ports.router.placeOf(host);
    exchange.giveHost({ host, hostKey, partition }, { kind: 'page-seen', page });
  }

  /** Sends one portion; the mark tells of this page too while its links are handled. */
  #depart(departure: LinkDeparture): void {
    const { ports, waiting } = this.#options;
    ports.markParsing(departure.urlKey);
    this.#departure = departure.sendPortion() ? undefined : departure;
    ports.markParsing(0n);
    // A page without links for this shard may be durable at once, with no commit to come that would say so.
    if (this.#departure === undefined) waiting.settle();
  }

  #fail(page: PageToParse, failure: GuardedParseFailure): void {
    const { stage } = this.#options;
    stage.count('failures.parse-crashed');
    stage.count(failureName(failure));
    this.#recordFailure(page);
    stage.parsed(page.unparsedId);
  }

  /** The page's own row tells why none of its links are known. */
  #recordFailure({ hostKey, urlKey, url }: PageToParse): void {
    const { stage, ports } = this.#options;
    const { partition } = ports.router.placeOf(parseBase(url)?.host ?? '');
    const row = ports.reader.page(hostKey, partition, urlKey);
    // With --fsync interval a row may not know the place of its body yet; it must not be written without.
    if (row?.pointer === undefined) return;
    stage.pageRow({ hostKey, partition, urlKey }, { ...row, failure: 'parse-crashed' });
  }
}

/** A committed page as it is parsed; undefined for what is not. */
function toParseOf(
  page: PageCheckpoint,
  { unparsedId }: PageReceipt,
  known: { readonly previousAt: PageToParse['previousAt']; readonly isCopy: boolean },
): PageToParse | undefined {
  if (unparsedId === 0 || page.response === undefined) return undefined;
  const { purpose, hostKey, urlKey, url, depth, hops } = page;
  assert(purpose !== 'robots', () => 'a robots.txt is not parsed for links');
  assert(purpose !== 'resource', () => `${url}: a resource is not parsed for links`);
  const { status, headers, body } = page.response;
  return {
    unparsedId,
    hostKey,
    urlKey,
    url,
    depth,
    hops,
    purpose,
    status,
    headers,
    body,
    previousAt: known.previousAt,
    isCopy: known.isCopy,
  };
}

/** True for the copy of a page of the same origin, which is in the unparsed log only because it may have to be rendered. */
function isSpareCopy({ url, parseCopy }: PageCheckpoint, { duplicateOf }: PageReceipt): boolean {
  if (parseCopy !== true || duplicateOf === undefined || duplicateOf === url) return false;
  return parseBase(url)?.authority === parseBase(duplicateOf)?.authority;
}
