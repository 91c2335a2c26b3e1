// A crawl in a page of code that shares nothing with the world's truth: it takes the served bytes, lets parse5 find the links and the
// WHATWG parser resolve them, and canonicalises in its own way. Only robots decisions and traps are asked of the world. It exists to
// show that what the world says about itself is what it serves.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { RequestEntry } from './judge-types.ts';
import type { World } from './world.ts';
import type { WorldResponse } from './world-respond.ts';

/** How to crawl. */
export interface SmallCrawlOptions {
  readonly userAgent: string;
  readonly seeds: Iterable<string>;
  /** Skip the links of a body seen before. */
  readonly skipCopies: boolean;
  /** Takes the next URL from the frontier: first for breadth first. */
  readonly next: (frontier: string[]) => string;
}

/** Crawls with perfect manners (one request at a time, five seconds apart); returns the log and the canonical 200 pages but traps. */
export function smallCrawl(world: World, options: SmallCrawlOptions) {
  const crawl = new SmallCrawl(world, options);
  crawl.run();
  return { pages: crawl.pages, log: crawl.log };
}

class SmallCrawl {
  readonly pages = new Set<string>();
  readonly log: RequestEntry[] = [];
  readonly #world: World;
  readonly #options: SmallCrawlOptions;
  readonly #frontier: string[];
  readonly #seen = new Set<string>();
  readonly #digests = new Set<string>();
  /** Hosts whose robots.txt was asked for, and whether it was answered. */
  readonly #asked = new Map<string, boolean>();
  #atMs = 10_000;

  constructor(world: World, options: SmallCrawlOptions) {
    this.#world = world;
    this.#options = options;
    this.#frontier = [...options.seeds];
  }

  run(): void {
    while (this.#frontier.length > 0) {
      const url = new URL(this.#options.next(this.#frontier));
      if (url.protocol !== 'http:' || this.#world.hostIndex(url.hostname) < 0) continue;
      if (!this.#asked.has(url.hostname)) this.#askRobots(url);
      if (this.#asked.get(url.hostname) === true) this.#visit(url);
    }
  }

  #askRobots(url: URL): void {
    let robots = new URL('/robots.txt', url);
    this.#asked.set(url.hostname, true);
    for (let hop = 0; hop < 5; hop++) {
      const { status, headers } = this.#fetch(robots);
      if (status === 0) this.#asked.set(url.hostname, false);
      const location = headerOf(headers, 'location');
      if (location === undefined) return;
      robots = new URL(location, robots);
    }
  }

  #visit(url: URL): void {
    const { userAgent, skipCopies } = this.#options;
    const truth = this.#world.truth(url.href, { userAgent, atMs: 10_000 });
    const canonical = simpleCanonical(url);
    if (truth.trap || !truth.allowed || this.#seen.has(canonical)) return;
    this.#seen.add(canonical);
    const response = this.#fetch(url);
    const location = headerOf(response.headers, 'location');
    if (location !== undefined) this.#frontier.push(new URL(location, url).href);
    if (response.status !== 200) return;
    this.pages.add(canonical);
    const compressed = headerOf(response.headers, 'content-encoding') === 'gzip';
    const body = compressed ? gunzipSync(response.body) : response.body;
    const digest = createHash('sha256').update(body).digest('hex');
    if (skipCopies && this.#digests.has(digest)) return;
    this.#digests.add(digest);
    this.#frontier.push(...linksIn(Buffer.from(body).toString('utf8'), url.href));
  }

  #fetch(url: URL): WorldResponse {
    const host = url.hostname;
    const path = url.pathname + url.search;
    const { userAgent } = this.#options;
    const startMs = this.#atMs;
    const request = { host, path, atMs: startMs, userAgent, acceptsGzip: true };
    const response = this.#world.respond(request);
    const endMs = startMs + 1 + response.delayMs + response.bodyMs;
    const address = this.#world.addressOf(this.#world.hostIndex(host));
    const complete = response.behaviour === 'normal' || response.behaviour === 'slow-body';
    const { status, body } = response;
    const times = { startMs, endMs };
    this.log.push({
      host,
      path,
      address,
      ...times,
      userAgent,
      status,
      bytes: body.length,
      complete,
    });
    this.#atMs = endMs + 5000;
    return response;
  }
}

function headerOf(headers: readonly (readonly [string, string])[], name: string) {
  return headers.find(([key]) => key.toLowerCase() === name)?.[1];
}

/** Lower-case host by the URL parser; query sorted; utm parameters dropped; `%61` decoded; `%c3` in upper case. */
function simpleCanonical(url: URL): string {
  const query = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !pair.startsWith('utm_'))
    .sort()
    .join('&');
  const path = url.pathname
    .replace(/%[67]\w/gi, (triplet) => decodeURIComponent(triplet))
    .replace(/%../g, (triplet) => triplet.toUpperCase());
  return `${url.origin}${path}${query === '' ? '' : `?${query}`}`;
}

function linksIn(html: string, base: string): string[] {
  const links: string[] = [];
  let nofollow = false;
  const visit = (node: DefaultTreeAdapterTypes.Node) => {
    if ('attrs' in node) {
      const attribute = (name: string) => node.attrs.find((one) => one.name === name)?.value ?? '';
      if (node.nodeName === 'meta' && attribute('content').includes('nofollow')) nofollow = true;
      const href = attribute('href').trim();
      if (node.nodeName === 'a' && attribute('rel') !== 'nofollow' && URL.canParse(href, base)) {
        const url = new URL(href, base);
        url.hash = '';
        links.push(url.href);
      }
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(html));
  return nofollow ? [] : links;
}
