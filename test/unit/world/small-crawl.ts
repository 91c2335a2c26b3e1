// A crawl in a page of code that shares nothing with the world's truth: it takes the served bytes, lets parse5 find the links and the
// WHATWG parser resolve them, and canonicalises in its own way. Only robots decisions and traps are asked of the world. It exists to
// show that what the world says about itself is what it serves.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { RequestEntry } from '../../support/world/judge-types.ts';
import type { World } from '../../support/world/world.ts';

/** How to crawl. */
export interface SmallCrawlOptions {
  readonly userAgent: string;
  readonly seeds: Iterable<string>;
  /** Skip the links of a body seen before. */
  readonly skipCopies: boolean;
  /** Takes the next URL from the frontier: first for breadth first. */
  readonly next: (frontier: string[]) => string;
}

/** Crawls with perfect manners (one request at a time, five seconds apart) and returns the log and the canonical 200 pages without traps. */
export function smallCrawl(world: World, options: SmallCrawlOptions) {
  const seen = new Set<string>();
  const digests = new Set<string>();
  const pages = new Set<string>();
  const frontier = [...options.seeds];
  const log: RequestEntry[] = [];
  let atMs = 10_000;
  const fetchOnce = (url: URL) => {
    const host = world.hostIndex(url.hostname);
    const path = url.pathname + url.search;
    const response = world.respond({
      host: url.hostname,
      path,
      atMs,
      userAgent: options.userAgent,
      acceptsGzip: true,
    });
    const endMs = atMs + 1 + response.delayMs + response.bodyMs;
    log.push({
      host: url.hostname,
      path,
      address: world.addressOf(host),
      startMs: atMs,
      endMs,
      userAgent: options.userAgent,
      status: response.status,
      bytes: response.body.length,
      complete: response.behaviour === 'normal' || response.behaviour === 'slow-body',
    });
    atMs = endMs + 5000;
    return response;
  };
  const asked = new Set<string>();
  const closed = new Set<string>();
  while (frontier.length > 0) {
    const url = new URL(options.next(frontier));
    if (url.protocol !== 'http:' || world.hostIndex(url.hostname) < 0) continue;
    if (!asked.has(url.hostname)) {
      asked.add(url.hostname);
      let robots = new URL('/robots.txt', url);
      for (let hop = 0; hop < 5; hop++) {
        const answer = fetchOnce(robots);
        if (answer.status === 0) closed.add(url.hostname);
        const location = headerOf(answer.headers, 'location');
        if (location === undefined) break;
        robots = new URL(location, robots);
      }
    }
    if (closed.has(url.hostname)) continue;
    const truth = world.truth(url.href, { userAgent: options.userAgent, atMs: 10_000 });
    const canonical = simpleCanonical(url);
    if (truth.trap || !truth.allowed || seen.has(canonical)) continue;
    seen.add(canonical);
    const response = fetchOnce(url);
    const location = headerOf(response.headers, 'location');
    if (location !== undefined) frontier.push(new URL(location, url).href);
    if (response.status !== 200) continue;
    pages.add(canonical);
    const compressed = headerOf(response.headers, 'content-encoding') === 'gzip';
    const body = compressed ? gunzipSync(response.body) : response.body;
    const digest = createHash('sha256').update(body).digest('hex');
    if (options.skipCopies && digests.has(digest)) continue;
    digests.add(digest);
    frontier.push(...linksIn(Buffer.from(body).toString('utf8'), url.href));
  }
  return { pages, log };
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
