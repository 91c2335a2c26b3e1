// Answers that several pages want: the scripts of an application are the same on each of its pages, and fetching them once spares the host a
// request a page (docs/RENDERING.md). One cache for all shards, bounded by CACHE_BYTES_MAX, in memory for one run. Scripts are kept for a
// while whatever they say, unless they forbid it, as all of a crawl's pages are a view of one time; data as long as its host says (RFC 9111
// §4.2.1). Who asks for something that is on its way waits for the same answer. What a host gives its own pages is not given to others'.

import type { ResourceAnswer } from '../actors/render-port.ts';
import { wallMs } from '../base/units.ts';
import { freshnessLifetimeMs } from '../domain/cache-control.ts';
import { headerValue } from '../domain/header-list.ts';

const CACHE_BYTES_MAX = 64 * 1024 * 1024;
const SCRIPT_FRESH_MS = 3_600_000;
/** A refusal or an error is not asked for again at once. */
const FAILURE_FRESH_MS = 30_000;
/** What an entry takes besides its body. */
const ENTRY_BYTES = 512;

/** What a page wants. */
export interface CacheSubject {
  readonly url: string;
  /** Chromium's word for what it is to be. */
  readonly type: string;
  /** It lies on another host than the page. */
  readonly isForeign: boolean;
}

interface CachedAnswer {
  readonly answer: ResourceAnswer;
  readonly freshUntil: number;
  readonly bytes: number;
}

export class ResourceCache {
  readonly #entries = new Map<string, CachedAnswer>();
  readonly #underWay = new Map<string, Promise<ResourceAnswer>>();
  #bytes = 0;

  /** The answer to a want: a kept one, one on its way, or what `ask` brings. @param now wall clock, milliseconds */
  get(
    { url, type, isForeign }: CacheSubject,
    now: number,
    ask: () => Promise<ResourceAnswer>,
  ): Promise<ResourceAnswer> {
    const key = isForeign ? `foreign ${url}` : url;
    const kept = this.#entries.get(key);
    if (kept !== undefined && now < kept.freshUntil) return Promise.resolve(kept.answer);
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const asked = ask().then((answer) => {
      this.#underWay.delete(key);
      this.#keep(key, answer, now + freshMs(answer, type, now));
      return answer;
    });
    this.#underWay.set(key, asked);
    return asked;
  }

  #keep(key: string, answer: ResourceAnswer, freshUntil: number): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#bytes -= before.bytes;
    this.#entries.delete(key);
    const bytes = ENTRY_BYTES + (answer.kind === 'response' ? answer.body.byteLength : 0);
    this.#entries.set(key, { answer, freshUntil, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= CACHE_BYTES_MAX) return;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }
}

function freshMs(answer: ResourceAnswer, type: string, now: number): number {
  if (answer.kind === 'refused') return answer.reason === 'late' ? 0 : FAILURE_FRESH_MS;
  const stated = freshnessLifetimeMs(answer.headers, wallMs(now));
  if (/\bno-store\b/i.test(headerValue(answer.headers, 'cache-control') ?? '')) return 0;
  if (answer.status >= 400) return Math.max(stated ?? 0, FAILURE_FRESH_MS);
  return type === 'script' ? Math.max(stated ?? 0, SCRIPT_FRESH_MS) : (stated ?? 0);
}
