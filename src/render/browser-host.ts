// One browser at a time (docs/RENDERING.md): started when the first page comes, replaced when it has crashed, hangs, or has had PAGES_PER_BROWSER
// pages. It reaches no network: every request of a page is intercepted, and whatever would slip through meets a proxy that is not there, a
// resolver that knows no name, and no way past the proxy for WebRTC. A renderer that grows beyond the bound is ended from outside, which
// its page sees as a crash.

import { randomUUID } from 'node:crypto';
import type { Browser, BrowserType } from './browser-api.ts';
import { findBrowser } from './find-browser.ts';
import {
  killProcesses,
  type ProcessIdentity,
  processesBelow,
  processWith,
  renderersBelow,
} from './process-tree.ts';

/** Pages after which a browser is replaced: what leaks then does not grow. */
const PAGES_PER_BROWSER = 250;
const LAUNCH_MS_MAX = 30_000;
const CLOSE_MS_MAX = 3_000;
/** How long renderers are watched to see which is busy. */
const BUSY_LOOK_MS = 250;
/** How often the memory of renderers is looked at: 100 MB are allocated in some 50 ms, so the bound is passed by little. */
const MEMORY_LOOK_MS = 100;
/** A port of this machine that nothing listens on (RFC 1700: 1 is tcpmux, which no browser is asked through). */
const NOWHERE = 'http://127.0.0.1:1';
const MIB = 1_048_576;

/** Arguments of the browser. https://peter.sh/experiments/chromium-command-line-switches/ describes each. */
function argumentsFor(memoryBytes: number, mark: string): string[] {
  const heapMiB = Math.floor(memoryBytes / MIB / 2);
  return [
    `--proxy-server=${NOWHERE}`,
    '--proxy-bypass-list=<-loopback>',
    '--host-resolver-rules=MAP * ~NOTFOUND',
    // Two names of one switch, of newer and older versions: without it STUN goes out by UDP, past proxy and interception.
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    '--dns-prefetch-disable',
    '--disable-dev-shm-usage',
    '--disable-gpu',
    '--mute-audio',
    '--disable-site-isolation-trials',
    `--js-flags=--max-old-space-size=${heapMiB}`,
    mark,
    // Chromium refuses to run its sandbox as root.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ];
}

export type Opened =
  | { readonly kind: 'open'; readonly browser: Browser; readonly generation: number }
  | { readonly kind: 'unavailable'; readonly detail: string };

export interface BrowserHostOptions {
  readonly browserPath: string | undefined;
  readonly memoryBytes: number;
  /** True while no page is in the browser. */
  readonly isIdle: () => boolean;
  /** A browser has started, with this process id. */
  readonly started?: ((pid: number) => void) | undefined;
  /** A browser ended by itself, or was ended. */
  readonly replaced: (detail: string) => void;
}

export class BrowserHost {
  readonly #options: BrowserHostOptions;
  #opening: Promise<Opened> | undefined;
  #browser: Browser | undefined;
  #process: ProcessIdentity | undefined;
  #generation = 0;
  #pages = 0;
  #watch: NodeJS.Timeout | undefined;
  /** When a renderer was last ended for its memory; performance.now(). */
  #killedAt = Number.NEGATIVE_INFINITY;

  constructor(options: BrowserHostOptions) {
    this.#options = options;
  }

  /** True when a renderer was ended for its memory within the last so many milliseconds. */
  hasEndedRenderer(withinMs: number): boolean {
    return performance.now() - this.#killedAt <= withinMs;
  }

  /** The browser, started if there is none. Replaced only when nobody else uses it. @param isAlone no other page is in it */
  async open(isAlone: boolean): Promise<Opened> {
    if (this.#pages >= PAGES_PER_BROWSER && isAlone) await this.close();
    this.#pages += 1;
    if (this.#browser?.isConnected() === true) {
      return { kind: 'open', browser: this.#browser, generation: this.#generation };
    }
    this.#opening ??= this.#launch().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Ends a browser that does not do what it is told; the next page gets a new one. Ignored when it is another one already. */
  async replace(generation: number, detail: string): Promise<void> {
    if (generation !== this.#generation || this.#browser === undefined) return;
    this.#options.replaced(detail);
    await this.close();
  }

  /** Ends the renderer that has used most of a processor in the last moment: a page in an endless loop closes no other way. */
  async endBusiest(): Promise<void> {
    const root = this.#process;
    if (root === undefined) return;
    const before = new Map(renderersBelow(root).map(({ pid, usedTicks }) => [pid, usedTicks]));
    await new Promise((resolve) => setTimeout(resolve, BUSY_LOOK_MS));
    let busiest: ProcessIdentity | undefined;
    let most = 0;
    for (const renderer of renderersBelow(root)) {
      const used = renderer.usedTicks - (before.get(renderer.pid) ?? renderer.usedTicks);
      if (used <= most) continue;
      busiest = renderer;
      most = used;
    }
    if (busiest !== undefined) killProcesses([busiest]);
  }

  async close(): Promise<void> {
    const browser = this.#browser;
    const family = this.#process === undefined ? [] : processesBelow(this.#process);
    this.#forget();
    if (browser === undefined) return;
    await Promise.race([
      browser.close().catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, CLOSE_MS_MAX)),
    ]);
    killProcesses(family);
  }

  #forget(): void {
    clearInterval(this.#watch);
    this.#browser = undefined;
    this.#process = undefined;
    this.#pages = 0;
  }

  async #launch(): Promise<Opened> {
    const found = await findBrowser(this.#options.browserPath);
    if (found.kind === 'missing') return { kind: 'unavailable', detail: found.detail };
    try {
      return await this.#start(found.type, found.path);
    } catch (error) {
      const [why = ''] = String(error).split('\n');
      return { kind: 'unavailable', detail: `${found.path} does not start: ${why}` };
    }
  }

  async #start(type: BrowserType, path: string): Promise<Opened> {
    const mark = `--hostler-render=${randomUUID()}`;
    const browser = await type.launch({
      executablePath: path,
      headless: true,
      args: argumentsFor(this.#options.memoryBytes, mark),
      timeout: LAUNCH_MS_MAX,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    this.#generation += 1;
    const generation = this.#generation;
    this.#browser = browser;
    this.#pages = 1;
    this.#process = processWith(mark);
    if (this.#process !== undefined) this.#options.started?.(this.#process.pid);
    browser.on('disconnected', () => {
      if (generation !== this.#generation || this.#browser === undefined) return;
      this.#forget();
      this.#options.replaced('the browser ended');
    });
    this.#watch = setInterval(() => this.#lookAtMemory(), MEMORY_LOOK_MS);
    this.#watch.unref();
    return { kind: 'open', browser, generation };
  }

  #lookAtMemory(): void {
    if (this.#process === undefined || this.#options.isIdle()) return;
    for (const renderer of renderersBelow(this.#process)) {
      if (renderer.privateBytes <= this.#options.memoryBytes) continue;
      this.#killedAt = performance.now();
      killProcesses([renderer]);
    }
  }
}
