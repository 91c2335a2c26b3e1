// One page in the browser (docs/RENDERING.md): a context of its own, the stored document, what its scripts ask for, and the document as it stands
// once the page is quiet. Everything is bounded: requests and bytes by count, the page's own time (that in which it waits for nobody) and its
// whole time by the clock, memory from outside (browser-host.ts). A page that reaches a bound is taken as it stands. Nothing is kept:
// no cookie, no storage, no permission; dialogs are dismissed, popups closed, downloads cancelled, sockets closed, workers blocked.

import type { RenderCut, RenderJob, RenderOutcome, ResourceAnswer } from '../actors/render-port.ts';
import { parseUrl } from '../base/parse-url.ts';
import { headerValue } from '../domain/header-list.ts';
import type {
  Browser,
  BrowserContext,
  BrowserPage,
  BrowserRequest,
  BrowserRoute,
  BrowserSession,
} from './browser-api.ts';
import { documentText, type PageSnapshot, SCROLL, SETTLED, SNAPSHOT } from './page-script.ts';
import type { RenderSettings } from './render-messages.ts';
import { documentUrl, isShown, verdictOf } from './request-policy.ts';

/** No request for so long, and nothing waiting for its turn: the page is quiet. */
const QUIET_MS = 400;
/** The page's own time: that in which no request of it is under way. */
const OWN_MS_MAX = 10_000;
const LOOK_MS = 50;
/** Longest that a script of ours may take in the page, and that the document may take to be written out. */
const SCRIPT_MS_MAX = 3_000;
const SNAPSHOT_MS_MAX = 10_000;
/** Longest until a page is there and has its document; on a busy machine the browser waits for a processor too. */
const OPEN_MS_MAX = 15_000;
const CLOSE_MS_MAX = 2_000;
/** Times that a page is scrolled to its end, for lists that load more then. */
const SCROLLS_MAX = 3;
const REDIRECTS_MAX = 5;

/** What a page's rendering needs of the pool. */
export interface RenderingMeans {
  readonly settings: RenderSettings;
  /** Gets something through the crawl, or from the cache. */
  readonly get: (url: string, type: string) => Promise<ResourceAnswer>;
  /** True when a renderer was just ended for its memory. */
  readonly hasGrown: () => boolean;
}

/** How a rendering ended, and whether its page could be closed: a browser in which one could not is to be replaced. */
export interface Rendering {
  readonly outcome: RenderOutcome;
  readonly isClosed: boolean;
}

type Ending = 'quiet' | 'cut' | 'crashed';

export class PageRendering {
  readonly #job: RenderJob;
  readonly #means: RenderingMeans;
  readonly #startedMs = performance.now();
  #context: BrowserContext | undefined;
  #page: BrowserPage | undefined;
  #session: BrowserSession | undefined;
  #worldId = 0;
  #hasDocument = false;
  #isLoaded = false;
  #isCrashed = false;
  #isGrown = false;
  #isOver = false;
  #cut: RenderCut | undefined;
  #movedTo: string | undefined;
  #requests = 0;
  #bytes = 0;
  #open = 0;
  #lastActivityMs = performance.now();

  constructor(job: RenderJob, means: RenderingMeans) {
    this.#job = job;
    this.#means = means;
  }

  /** Renders. Never throws. */
  async run(browser: Browser): Promise<Rendering> {
    let outcome: RenderOutcome;
    try {
      outcome = await this.#render(browser);
    } catch (error) {
      outcome = this.#failed(error);
    }
    this.#isOver = true;
    return { outcome, isClosed: await this.#close() };
  }

  async #render(browser: Browser): Promise<RenderOutcome> {
    const { url } = this.#job;
    await within(OPEN_MS_MAX, this.#openPage(browser));
    await within(OPEN_MS_MAX, this.#page?.goto(url, { waitUntil: 'commit', timeout: 0 }));
    let ending = await this.#untilQuiet();
    for (let scrolls = 0; ending === 'quiet' && scrolls < SCROLLS_MAX; scrolls += 1) {
      const requestsBefore = this.#requests;
      if ((await this.#evaluate(SCROLL)) !== true) break;
      ending = await this.#untilQuiet();
      if (this.#requests === requestsBefore) break;
    }
    if (ending === 'crashed') throw new Error('the page crashed');
    const text = await this.#evaluate(SNAPSHOT, SNAPSHOT_MS_MAX);
    if (typeof text !== 'string') throw new Error('the page does not answer');
    const snapshot = JSON.parse(text) as PageSnapshot;
    if (snapshot.isCut) this.#cut ??= 'bytes';
    const renamedTo = otherUrl(snapshot.location, url);
    return {
      kind: 'rendered',
      dom: Buffer.from(documentText(snapshot, renamedTo), 'utf8'),
      cut: this.#cut,
      movedTo: this.#movedTo ?? renamedTo,
      requests: this.#requests,
      elapsedMs: performance.now() - this.#startedMs,
    };
  }

  async #openPage(browser: Browser): Promise<void> {
    const context = await browser.newContext({
      serviceWorkers: 'block',
      acceptDownloads: false,
      permissions: [],
      viewport: { width: 1_280, height: 1_024 },
    });
    this.#context = context;
    await context.route('**/*', (route) => this.#routed(route));
    await context.routeWebSocket(/.*/, (socket) => void socket.close().catch(ignore));
    const page = await context.newPage();
    this.#page = page;
    context.on('page', (popup) => {
      if (popup !== page) void popup.close().catch(ignore);
    });
    page.on('load', () => {
      this.#isLoaded = true;
    });
    page.on('crash', () => {
      this.#isCrashed = true;
      // Asked at once: a script of ours that was under way may take seconds to be given up.
      this.#isGrown = this.#means.hasGrown();
    });
    page.on('dialog', (dialog) => void dialog.dismiss().catch(ignore));
    page.on('download', (download) => void download.cancel().catch(ignore));
    this.#session = await context.newCDPSession(page);
  }

  /** Waits until the page is quiet, or has reached a bound. */
  async #untilQuiet(): Promise<Ending> {
    const { timeMs } = this.#means.settings;
    const untilMs = this.#startedMs + timeMs;
    let ownMs = 0;
    let lastMs = performance.now();
    this.#lastActivityMs = lastMs;
    for (;;) {
      await delay(LOOK_MS);
      const now = performance.now();
      // On a busy machine this thread, whose priority is the browser's, waits for a processor as long as the page does: no time of its own.
      if (this.#open === 0) ownMs += Math.min(now - lastMs, 2 * LOOK_MS);
      lastMs = now;
      if (this.#isCrashed) return 'crashed';
      if (now >= untilMs || ownMs >= OWN_MS_MAX) {
        this.#cut ??= 'time';
        return 'cut';
      }
      if (this.#open > 0 || !this.#isLoaded || now - this.#lastActivityMs < QUIET_MS) continue;
      // What waits for its turn in the page runs before this answers; a page that does not answer has its own time running.
      if ((await this.#evaluate(SETTLED)) !== true) continue;
      if (this.#open === 0 && performance.now() - this.#lastActivityMs >= QUIET_MS) return 'quiet';
    }
  }

  // ------------------------------------------------------------------------------------------------------------- requests

  async #routed(route: BrowserRoute): Promise<void> {
    const request = route.request();
    try {
      await this.#answer(route, request);
    } catch {
      // The page went away, or the frame did.
    }
  }

  async #answer(route: BrowserRoute, request: BrowserRequest): Promise<void> {
    const url = documentUrl(request.url());
    const isNavigation = request.isNavigationRequest();
    const verdict = verdictOf({
      url,
      method: request.method(),
      type: request.resourceType(),
      isNavigation,
      isMainFrame: isNavigation && isMainFrameOf(request),
      hasDocument: this.#hasDocument,
    });
    switch (verdict) {
      case 'document':
        this.#hasDocument = true;
        await route.fulfill(this.#document());
        return;
      case 'moved':
        this.#movedTo ??= otherUrl(url, this.#job.url);
        // The page has said what it has to say; its own loading may end with this.
        this.#isLoaded = true;
        // An answer without content leaves the document where it is.
        await route.fulfill({ status: 204, headers: {}, body: '' });
        return;
      case 'empty-style':
        await route.fulfill({ status: 200, headers: openTo(request, 'text/css'), body: '' });
        return;
      case 'fetch':
        await this.#fetched(route, request, url);
        return;
      default:
        await route.abort('blockedbyclient');
    }
  }

  #document(): Parameters<BrowserRoute['fulfill']>[0] {
    const { headers, body } = this.#job;
    const type = headerValue(headers, 'content-type') ?? 'text/html';
    const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    return { status: 200, headers: { 'content-type': type }, body: view };
  }

  async #fetched(route: BrowserRoute, request: BrowserRequest, url: string): Promise<void> {
    const { requestsMax, bytesMax } = this.#means.settings;
    if (this.#isOver) return route.abort('aborted');
    if (this.#requests >= requestsMax) this.#cut ??= 'requests';
    if (this.#bytes >= bytesMax) this.#cut ??= 'bytes';
    if (this.#requests >= requestsMax || this.#bytes >= bytesMax) return route.abort('failed');
    this.#open += 1;
    try {
      const type = request.resourceType();
      const { at, answer } = await this.#follow(url, type);
      if (answer.kind === 'refused') return await route.abort('failed');
      this.#bytes += answer.body.byteLength;
      const { body, status, headers: all } = answer;
      const content = headerValue(all, 'content-type') ?? '';
      const isOpen = isShown({ pageUrl: this.#job.url, url: at, type, headers: all });
      // The browser does not know of the redirect, and would take this for the first host's.
      if (!isOpen && at !== url) return await route.abort('failed');
      const headers = isOpen ? openTo(request, content) : closedOf(content);
      const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      return await route.fulfill({ status, headers, body: view });
    } finally {
      this.#open -= 1;
      this.#lastActivityMs = performance.now();
    }
  }

  /** Redirects are followed here: the browser would follow them by itself, past the interception. */
  async #follow(url: string, type: string): Promise<{ at: string; answer: ResourceAnswer }> {
    let at = url;
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      this.#requests += 1;
      const answer = await this.#means.get(at, type);
      const isLast = answer.kind === 'refused' || answer.status < 300 || answer.status > 399;
      if (isLast) return { at, answer };
      const target = parseUrl(headerValue(answer.headers, 'location') ?? '', at);
      if (target === undefined || !/^https?:$/.test(target.protocol)) break;
      at = documentUrl(target.href);
    }
    return { at, answer: { kind: 'refused', reason: 'failed' } };
  }

  // --------------------------------------------------------------------------------------------------------------- the page

  /** Runs a script of ours in an isolated world. Undefined when the page does not answer in time, or has gone. */
  async #evaluate(expression: string, msMax = SCRIPT_MS_MAX): Promise<unknown> {
    const session = this.#session;
    if (session === undefined || this.#isCrashed) return undefined;
    try {
      if (this.#worldId === 0) this.#worldId = await within(msMax, openWorld(session));
      const answered = await within(
        msMax,
        session.send('Runtime.evaluate', {
          expression,
          contextId: this.#worldId,
          returnByValue: true,
          awaitPromise: true,
          timeout: msMax,
        }),
      );
      return (answered as { readonly result?: { readonly value?: unknown } }).result?.value;
    } catch {
      return undefined;
    }
  }

  #failed(error: unknown): RenderOutcome {
    const elapsedMs = performance.now() - this.#startedMs;
    const [detail = ''] = String(error).slice(0, 200).split('\n');
    const isTimeout = error instanceof TooLate || this.#cut === 'time';
    const failure = this.#isGrown
      ? 'out-of-memory'
      : isTimeout && !this.#isCrashed
        ? 'timeout'
        : 'crashed';
    return { kind: 'failed', failure, detail, elapsedMs };
  }

  /** True when the page is gone. */
  async #close(): Promise<boolean> {
    try {
      await within(CLOSE_MS_MAX, this.#context?.close());
      return true;
    } catch {
      return false;
    }
  }

  /** Tries once more, after what kept the page busy was ended. */
  closeAgain(): Promise<boolean> {
    return this.#close();
  }
}

/** Something took longer than it may. */
class TooLate extends Error {}

function ignore(): void {}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function within<Value>(ms: number, promise: Promise<Value> | undefined): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`nothing within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise as Promise<Value>, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A world of our own in the page's main frame. @returns its id */
async function openWorld(session: BrowserSession): Promise<number> {
  const { frameTree } = (await session.send('Page.getFrameTree')) as {
    readonly frameTree: { readonly frame: { readonly id: string } };
  };
  const { executionContextId } = (await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'hostler',
  })) as { readonly executionContextId: number };
  return executionContextId;
}

function isMainFrameOf(request: BrowserRequest): boolean {
  try {
    return request.frame().parentFrame() === null;
  } catch {
    // The frame of a popup is not known yet.
    return false;
  }
}

/** Fields of an answer that the page's scripts may read (request-policy.ts). */
function openTo(request: BrowserRequest, type: string): Record<string, string> {
  const { origin } = request.headers();
  return {
    ...contentOf(type),
    'access-control-allow-origin': origin ?? '*',
    ...(origin === undefined ? {} : { 'access-control-allow-credentials': 'true' }),
  };
}

/** Fields of an answer that they may not. Where none speaks of origins, playwright-core adds one that lets all of them. */
function closedOf(type: string): Record<string, string> {
  return { ...contentOf(type), 'access-control-allow-origin': 'https://nobody.invalid' };
}

/** Fields of any answer. */
function contentOf(type: string): Record<string, string> {
  return { ...(type === '' ? {} : { 'content-type': type }), 'cache-control': 'no-store' };
}

/** A URL without fragment, when it is an http(s) URL other than the page's own. */
function otherUrl(text: string, own: string): string | undefined {
  const url = parseUrl(documentUrl(text));
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href === parseUrl(documentUrl(own))?.href ? undefined : url.href;
}
