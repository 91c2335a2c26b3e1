// The rendering pool (docs/RENDERING.md): pages of all shards wait here in order, `pagesMax` of them are in the browser. A page whose browser
// died under it is tried once more, since another page may be to blame; one that crashes or outgrows its bounds by itself has failed, with its
// reason. Without a browser every page is answered `unavailable`, and the operator is told once.

import type {
  RenderJob,
  RenderOutcome,
  ResourceAnswer,
  WantedResource,
} from '../actors/render-port.ts';
import { parseUrl } from '../base/parse-url.ts';
import type { MonotonicMs } from '../base/units.ts';
import { monotonicMs } from '../base/units.ts';
import type { Clock } from '../runtime/clock.ts';
import { BrowserHost } from './browser-host.ts';
import { PageRendering } from './page-rendering.ts';
import type { RenderNews, RenderSettings } from './render-messages.ts';
import { ResourceCache } from './resource-cache.ts';

/** Tries of a page whose browser died. */
const TRIES_MAX = 2;
/** A renderer ended so long before a page's crash, milliseconds, was that page's. */
const GROWN_MS = 3_000;

/** A page of a shard. */
export interface PoolJob {
  readonly job: RenderJob;
  readonly wanted: (resource: WantedResource) => void;
  readonly ended: (outcome: RenderOutcome) => void;
}

export interface RenderPoolOptions {
  readonly settings: RenderSettings;
  readonly clock: Clock;
  readonly news: (news: RenderNews) => void;
  /** Told of each browser that was started, by its process id. */
  readonly started?: (pid: number) => void;
}

export class RenderPool {
  readonly #options: RenderPoolOptions;
  readonly #host: BrowserHost;
  readonly #cache = new ResourceCache();
  readonly #waiting: { readonly job: PoolJob; readonly tries: number }[] = [];
  readonly #asked = new Map<number, (answer: ResourceAnswer) => void>();
  #busy = 0;
  #nextResourceId = 1;
  #unavailable: string | undefined;
  #isClosed = false;

  constructor(options: RenderPoolOptions) {
    this.#options = options;
    const { browserPath, memoryBytes } = options.settings;
    this.#host = new BrowserHost({
      ...{ browserPath, memoryBytes },
      isIdle: () => this.#busy === 0,
      started: options.started,
      replaced: (detail) => {
        if (!this.#isClosed) options.news({ kind: 'render-browser-replaced', detail });
      },
    });
  }

  /** Takes a page; `ended` is called once, later. */
  submit(job: PoolJob): void {
    this.#waiting.push({ job, tries: 1 });
    this.#startNext();
  }

  /** Hands in what the crawl brought. */
  supply(resourceId: number, answer: ResourceAnswer): void {
    this.#asked.get(resourceId)?.(answer);
  }

  /** Ends the browser; pages in it are not answered any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await this.#host.close();
  }

  #startNext(): void {
    while (this.#busy < this.#options.settings.pagesMax && !this.#isClosed) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#busy += 1;
      void this.#run(next.job, next.tries).finally(() => {
        this.#busy -= 1;
        this.#startNext();
      });
    }
  }

  async #run(job: PoolJob, tries: number): Promise<void> {
    const opened =
      this.#unavailable === undefined
        ? await this.#host.open(this.#busy === 1)
        : { kind: 'unavailable' as const, detail: this.#unavailable };
    if (opened.kind === 'unavailable') {
      this.#tellUnavailable(opened.detail);
      const failure = 'unavailable' as const;
      job.ended({ kind: 'failed', failure, detail: opened.detail, elapsedMs: 0 });
      return;
    }
    const { browser, generation } = opened;
    const untilMs = monotonicMs(this.#options.clock.now() + this.#options.settings.timeMs);
    const rendering = new PageRendering(job.job, {
      settings: this.#options.settings,
      get: (url, type) => this.#get(job, { url, type, untilMs }),
      hasGrown: () => this.#host.hasEndedRenderer(GROWN_MS),
    });
    const { outcome, isClosed } = await rendering.run(browser);
    if (this.#isClosed) return;
    if (!isClosed && browser.isConnected()) await this.#free(rendering, generation);
    const isOrphan = outcome.kind === 'failed' && !browser.isConnected();
    if (isOrphan && tries < TRIES_MAX) this.#waiting.unshift({ job, tries: tries + 1 });
    else job.ended(outcome);
  }

  /** A page that cannot be closed is in an endless loop: its renderer is ended, and if that does not help, the browser. */
  async #free(rendering: PageRendering, generation: number): Promise<void> {
    await this.#host.endBusiest();
    if (await rendering.closeAgain()) return;
    await this.#host.replace(generation, 'a page could not be closed');
  }

  /** From the cache, or through the crawl. */
  #get(
    { job, wanted }: PoolJob,
    { url, type, untilMs }: { url: string; type: string; untilMs: MonotonicMs },
  ): Promise<ResourceAnswer> {
    const { clock } = this.#options;
    const isForeign = parseUrl(url)?.hostname !== parseUrl(job.url)?.hostname;
    return this.#cache.get({ url, type, isForeign }, clock.wallNow(), () => {
      const resourceId = this.#nextResourceId;
      this.#nextResourceId += 1;
      return new Promise((resolve) => {
        const answered = (answer: ResourceAnswer): void => {
          clearTimeout(timer);
          this.#asked.delete(resourceId);
          resolve(answer);
        };
        const late = (): void => answered({ kind: 'refused', reason: 'late' });
        const timer = setTimeout(late, Math.max(untilMs - clock.now(), 0));
        this.#asked.set(resourceId, answered);
        wanted({ resourceId, renderId: job.renderId, url, isForeign, untilMs });
      });
    });
  }

  #tellUnavailable(detail: string): void {
    if (this.#unavailable !== undefined) return;
    this.#unavailable = detail;
    this.#options.news({ kind: 'render-unavailable', detail });
  }
}
