// Pages that need a browser (between steps 11 and 12, docs/RENDERING.md): decides which, hands them to the pool, gets them what they want from
// the owners of its hosts, and stages the document that came of it, which is then parsed like any stored page. The plain page's links have
// left long before: discovery never waits here. A page stays in the unparsed log until its document is staged, so a crash renders it
// again and never fetches it again (I9). Bounded by WAITING_MAX and WAITING_BYTES_MAX (I10): what comes beyond is counted and not rendered.

import { unreachable } from '../base/assert.ts';
import { Lru } from '../base/lru.ts';
import type { HostKey, WallMs } from '../base/units.ts';
import { parseBase } from '../domain/base-url.ts';
import { isGain, isWorthRendering, NO_RENDERS } from '../domain/render-memory.ts';
import { type RenderReason, renderReasonOf } from '../domain/render-need.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { LinkExchange } from './link-exchange.ts';
import type { LinkRouter } from './link-router.ts';
import type { ResourceAsk, ShardMessage } from './messages.ts';
import { type Outlinks, outlinksOf } from './page-outlinks.ts';
import type { PageToParse, ParseStage } from './parse-stage.ts';
import type { StateReader } from './ports.ts';
import type { RenderOutcome, RenderPort, ResourceAnswer, WantedResource } from './render-port.ts';
import { renderedCheckpoint } from './rendered-page.ts';
import type { ShardOptions } from './shard-ports.ts';

/** Which pages are rendered: those that seem to need it, or every one. */
export type RenderMode = 'auto' | 'always';

/** Pages waiting for the pool, and bytes of their bodies, on one shard. Shells are small: some 5 KB. */
const WAITING_MAX = 4_096;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** Renderings of one host at once: they share its pace, and more would only wait for each other with a browser in their hands. */
const HOST_RENDERS_MAX = 2;
/** Pages whose need is remembered, for their copies. */
const NEEDS_REMEMBERED = 16_384;

export interface RenderDeskOptions {
  /** Absent when nothing is rendered. */
  readonly render?: ShardOptions['render'];
  readonly shard: number;
  readonly shards: number;
  readonly productToken: string;
  readonly port: RenderPort | undefined;
  readonly stage: CheckpointStage;
  readonly waiting: ParseStage;
  readonly exchange: LinkExchange;
  readonly router: LinkRouter;
  readonly reader: Pick<StateReader, 'host' | 'page' | 'rendered'>;
  /** Posts to the shard itself. */
  readonly toSelf: (message: ShardMessage) => void;
}

interface HeldPage {
  readonly page: PageToParse;
  readonly reason: RenderReason;
}

/** The messages of a shard that are this desk's. */
export type RenderMessage = Extract<
  ShardMessage,
  { kind: 'render-wants' | 'page-rendered' | 'ask-resource' | 'resource-answered' }
>;

export class RenderDesk {
  readonly #options: RenderDeskOptions;
  #mode: RenderMode | undefined;
  /** Waiting pages by host; hosts take turns. */
  readonly #waiting = new Map<HostKey, HeldPage[]>();
  #waitingCount = 0;
  #waitingBytes = 0;
  readonly #inHand = new Map<number, HeldPage>();
  readonly #needs = new Lru<string, RenderReason | 'none'>(NEEDS_REMEMBERED);
  #nextRenderId = 1;
  #isStopped = false;

  constructor(options: RenderDeskOptions) {
    this.#options = options;
    this.#mode = options.port === undefined ? undefined : options.render?.mode;
  }

  /** Pages waiting for the pool or with it. */
  get size(): number {
    return this.#waitingCount + this.#inHand.size;
  }

  /** True while a page more would not be taken: pages of an earlier run stay in their log until then. */
  get isFull(): boolean {
    return this.#waitingCount >= WAITING_MAX || this.#waitingBytes >= WAITING_BYTES_MAX;
  }

  /** Why a page that was just parsed is to be rendered; undefined when it is not. */
  needOf(page: PageToParse, outlinks: Outlinks): RenderReason | undefined {
    if (this.#mode === undefined || outlinks.text === undefined) return undefined;
    if (page.purpose !== 'page' || page.status !== 200) return undefined;
    if (this.#mode === 'always') return this.#isRendered(page) ? undefined : 'always';
    const links = outlinks.references instanceof Set ? outlinks.references.size : 0;
    const words = outlinks.text.simhash.features;
    const need = renderReasonOf({ bytes: page.body, words, links });
    if (need === undefined) return undefined;
    this.#needs.set(page.url, need);
    return this.#isRendered(page) ? undefined : need;
  }

  /** The same for a page that is the exact copy of another of its origin, and is therefore not parsed. */
  needOfCopy(page: PageToParse, original: string): RenderReason | undefined {
    if (this.#mode === undefined) return undefined;
    const known = this.#needs.get(original);
    if (known !== undefined) return known === 'none' ? undefined : known;
    const outlinks = this.#read(page);
    const need = outlinks === undefined ? undefined : this.needOf(page, outlinks);
    this.#needs.set(original, need ?? 'none');
    return need;
  }

  /** True after `stop`. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Nothing more is rendered in this run; what waits stays in the unparsed log for the next. */
  stop(): void {
    this.#mode = undefined;
    this.#inHand.clear();
    this.#isStopped = true;
  }

  /**
   * Takes a page to be rendered, and holds it in the unparsed log until that is done. False when it is not taken.
   * @param isCopy it is not parsed by itself: its links are those of another page
   */
  take(page: PageToParse, reason: RenderReason, isCopy = false): boolean {
    const { stage, waiting } = this.#options;
    if (!this.#isWorth(page, reason)) {
      stage.count('render.passed.no-gain');
      this.#tellHost(page, 'passed');
      return false;
    }
    if (this.isFull) {
      stage.count('render.passed.full');
      return false;
    }
    stage.count(`render.wanted.${reason}`);
    waiting.hold(page.unparsedId, isCopy);
    const queue = this.#waiting.get(page.hostKey);
    if (queue === undefined) this.#waiting.set(page.hostKey, [{ page, reason }]);
    else queue.push({ page, reason });
    this.#waitingCount += 1;
    this.#waitingBytes += page.body.byteLength;
    this.#startNext();
    return true;
  }

  receive(message: RenderMessage, wallNow: WallMs): void {
    switch (message.kind) {
      case 'render-wants':
        this.#wanted(message.resource);
        break;
      case 'page-rendered':
        this.#ended(message.renderId, message.outcome, wallNow);
        break;
      case 'ask-resource':
        this.#options.exchange.giveHost(message.host, { kind: 'ask-resource', ask: message.ask });
        break;
      case 'resource-answered':
        this.#options.port?.supply(message.askId, message.answer);
        break;
      default:
        unreachable(message);
    }
  }

  /** A host of this shard answers an ask: to the shard whose page it is. */
  answer({ from, askId }: ResourceAsk, answer: ResourceAnswer): void {
    this.#options.exchange.toPeer(from, { kind: 'resource-answered', askId, answer });
  }

  #wanted({ resourceId: askId, url, isForeign, untilMs }: WantedResource): void {
    const { port, router, exchange, shard, shards, stage } = this.#options;
    const base = parseBase(url);
    const place = base === undefined ? undefined : router.placeOf(base.host);
    if (base === undefined || place === undefined || place.shard >= shards) {
      // Another machine's host: asks do not travel between machines.
      stage.count('render.refused.elsewhere');
      port?.supply(askId, { kind: 'refused', reason: 'elsewhere' });
      return;
    }
    const host = { host: base.host, hostKey: place.hostKey, partition: place.partition };
    const ask = { from: shard, askId, url, isForeign, untilMs };
    exchange.toPeer(place.shard, { kind: 'ask-resource', ask, host });
  }

  #ended(renderId: number, outcome: RenderOutcome, wallNow: WallMs): void {
    const held = this.#inHand.get(renderId);
    if (held === undefined) return;
    this.#inHand.delete(renderId);
    if (outcome.kind === 'failed' && outcome.failure === 'unavailable') this.#giveUp(held);
    else this.#settle(held, outcome, wallNow);
    this.#startNext();
  }

  /** Stages what came of a page. */
  #settle({ page, reason }: HeldPage, outcome: RenderOutcome, wallNow: WallMs): void {
    const { stage, waiting, router } = this.#options;
    const { partition } = router.placeOf(parseBase(page.url)?.host ?? '');
    const checkpoint = renderedCheckpoint({
      ...{ page, reason, outcome, wallNow, partition },
      read: (one) => this.#read(one),
    });
    stage.page(checkpoint);
    waiting.release(page.unparsedId);
    stage.count('render.ms', Math.round(outcome.elapsedMs));
    if (outcome.kind === 'failed') {
      stage.count(`render.failed.${outcome.failure}`);
      // A host whose pages loop or outgrow their memory is given up like one whose pages gain nothing.
      this.#tellHost(page, 'nothing');
      return;
    }
    stage.count('render.pages');
    stage.count('render.requests', outcome.requests);
    if (outcome.cut !== undefined) stage.count(`render.cut.${outcome.cut}`);
    const hasGained = checkpoint.render !== undefined && isGain(checkpoint.render);
    if (hasGained) stage.count('render.gained');
    this.#tellHost(page, hasGained ? 'gained' : 'nothing');
  }

  /** There is no browser: nothing is rendered in this run, and the pages are parsed as they are. */
  #giveUp(held: HeldPage): void {
    const { stage, waiting } = this.#options;
    this.#mode = undefined;
    const all = [held, ...[...this.#waiting.values()].flat()];
    for (const { page } of all) waiting.release(page.unparsedId);
    stage.count('render.passed.unavailable', all.length);
    this.#waiting.clear();
    this.#waitingCount = 0;
    this.#waitingBytes = 0;
  }

  #startNext(): void {
    const inHandMax = this.#options.render?.inHandMax ?? 0;
    while (!this.#isStopped && this.#inHand.size < inHandMax) {
      const held = this.#nextHeld();
      if (held === undefined) return;
      const { port, toSelf } = this.#options;
      const { url, headers, body } = held.page;
      const renderId = this.#nextRenderId;
      this.#nextRenderId += 1;
      this.#inHand.set(renderId, held);
      port?.render(
        { renderId, url, headers, body },
        {
          wanted: (resource) => toSelf({ kind: 'render-wants', resource }),
          ended: (outcome) => toSelf({ kind: 'page-rendered', renderId, outcome }),
        },
      );
    }
  }

  /** The oldest page of the host whose turn it is. */
  #nextHeld(): HeldPage | undefined {
    for (const [hostKey, queue] of this.#waiting) {
      let busy = 0;
      for (const { page } of this.#inHand.values()) if (page.hostKey === hostKey) busy += 1;
      if (busy >= HOST_RENDERS_MAX) continue;
      const held = queue.shift();
      // A host that was served goes to the end of the line.
      this.#waiting.delete(hostKey);
      if (held === undefined) continue;
      if (queue.length > 0) this.#waiting.set(hostKey, queue);
      this.#waitingCount -= 1;
      this.#waitingBytes -= held.page.body.byteLength;
      return held;
    }
    return undefined;
  }

  /** True for a page of an earlier run whose document was staged before that run ended. */
  #isRendered({ hostKey, urlKey, url }: PageToParse): boolean {
    const { reader, router } = this.#options;
    const { partition } = router.placeOf(parseBase(url)?.host ?? '');
    const rendered = reader.rendered(hostKey, partition, urlKey);
    if (rendered === undefined) return false;
    const row = reader.page(hostKey, partition, urlKey);
    return row !== undefined && rendered.fetchedAt >= row.fetchedAt;
  }

  #isWorth({ hostKey, url }: PageToParse, reason: RenderReason): boolean {
    if (reason === 'always') return true;
    const { reader, router } = this.#options;
    const { partition } = router.placeOf(parseBase(url)?.host ?? '');
    return isWorthRendering(reader.host(hostKey, partition)?.renders ?? NO_RENDERS);
  }

  #tellHost({ url }: PageToParse, result: 'gained' | 'nothing' | 'passed'): void {
    const { exchange, router } = this.#options;
    const host = parseBase(url)?.host ?? '';
    const { hostKey, partition } = router.placeOf(host);
    exchange.giveHost({ host, hostKey, partition }, { kind: 'render-ended', result });
  }

  /** Undefined when the scanner threw, which is a bug of ours: a page's own parse counts it. */
  #read(page: PageToParse): Outlinks | undefined {
    const base = parseBase(page.url);
    if (base === undefined) return undefined;
    try {
      return outlinksOf(page, base, this.#options.productToken);
    } catch {
      return undefined;
    }
  }
}
