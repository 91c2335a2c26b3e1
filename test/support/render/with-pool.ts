// A rendering pool over the Chromium of this machine, with a test in the place of the crawl: what pages want is answered by a function. Where
// there is no Chromium these tests are left out, and say so.
import type { RenderOutcome, ResourceAnswer } from '../../../src/actors/render-port.ts';
import { findBrowser } from '../../../src/render/find-browser.ts';
import type { RenderNews, RenderSettings } from '../../../src/render/render-messages.ts';
import { RenderPool } from '../../../src/render/render-pool.ts';
import { RealClock } from '../../../src/runtime/real-clock.ts';

const found = await findBrowser(undefined);

/** For the options of a test: false, or why it is left out. */
export const SKIPPED: false | string = found.kind === 'found' ? false : `left out: ${found.detail}`;

const MIB = 1_048_576;
export const SETTINGS: RenderSettings = {
  pagesMax: 2,
  timeMs: 20_000,
  requestsMax: 12,
  bytesMax: MIB,
  memoryBytes: 256 * MIB,
  browserPath: undefined,
};

export interface PoolBench {
  /** Renders a page of http://h.test/. */
  render(name: string, body: string): Promise<RenderOutcome>;
  /** URLs that pages wanted. */
  readonly wanted: string[];
  /** Those of them that lie on another host than the page. */
  readonly foreign: string[];
  readonly news: RenderNews[];
}

/** Runs `body` on a pool, and closes it. @param answer what the crawl brings for a URL; a text, or a whole answer */
export async function withPool(
  body: (bench: PoolBench) => Promise<void>,
  options: {
    readonly settings?: Partial<RenderSettings>;
    readonly answer?: (url: string) => string | ResourceAnswer;
  } = {},
): Promise<void> {
  const wanted: string[] = [];
  const foreign: string[] = [];
  const news: RenderNews[] = [];
  const pool = new RenderPool({
    settings: { ...SETTINGS, ...options.settings },
    clock: new RealClock(),
    news: (one) => news.push(one),
  });
  let renderId = 0;
  const render = (name: string, html: string): Promise<RenderOutcome> =>
    new Promise((resolve) => {
      renderId += 1;
      const headers = ['Content-Type', 'text/html; charset=utf-8'];
      pool.submit({
        job: { renderId, url: `http://h.test/${name}`, headers, body: Buffer.from(html) },
        wanted: ({ resourceId, url, isForeign }) => {
          wanted.push(url);
          if (isForeign) foreign.push(url);
          const given = options.answer?.(url) ?? 'text';
          queueMicrotask(() => pool.supply(resourceId, answerOf(given)));
        },
        ended: resolve,
      });
    });
  try {
    await body({ render, wanted, foreign, news });
  } finally {
    await pool.close();
  }
}

function answerOf(given: string | ResourceAnswer): ResourceAnswer {
  if (typeof given !== 'string') return given;
  const headers = ['content-type', 'text/plain'];
  return { kind: 'response', status: 200, headers, body: Buffer.from(given) };
}

/** The document of a rendering as text; fails the test when there is none. */
export function documentOf(outcome: RenderOutcome): string {
  if (outcome.kind === 'rendered') return Buffer.from(outcome.dom).toString('utf8');
  throw new Error(`not rendered: ${outcome.failure} (${outcome.detail})`);
}
