// The ground truth of the shipped web: what a URL is, and which pages a crawl must fetch. It walks the same pure functions that serve
// the pages, never the served bytes, with robots decided on the structured rules: an oracle that shares no code with the crawler.
//
// What is required (DESIGN.md §7: pages reachable only through exact duplicates are optional): copies on one host all hold the same
// links, none of them relative, so it does not matter which of them is parsed. Hosts of a mirrored pair hold relative links, so what is
// reached depends on which copy came first, but never which content: of such pages one of the group is required.
import { groupsAllow, groupsCrawlDelay, type RobotsGroup, robotsPlan } from './robots-model.ts';
import { canAnswer, type HostProfile, hostIndex, hostOrigin, hostProfile } from './world-host.ts';
import { contentPage, pageLinks, pageMeta } from './world-link.ts';
import type { WorldOptions } from './world-options.ts';
import { canonicalPath, pagePath, type Resource, resourceAt } from './world-path.ts';

/** What one URL is, at a time of the world and for an agent. */
export interface Truth {
  /** False for URLs outside this web and for everything that answers no 200. */
  readonly exists: boolean;
  readonly canonical: string;
  /** True when robots rules allow the URL as it is written. */
  readonly allowed: boolean;
  /** Status of a healthy answer; 0 when the host never answers or is not of this web. */
  readonly status: number;
  readonly trap: boolean;
  /** Canonical URL of the next hop. */
  readonly redirectTo: string | null;
  /** Canonical URL of the page whose bytes it shows, when that is another one. */
  readonly duplicateOf: string | null;
}

/** One page that a complete crawl finds. */
export interface ReachablePage {
  readonly url: string;
  /** Links from the nearest seed; exact in a breadth-first crawl. Redirect hops do not count. */
  readonly depth: number;
  /** A key shared by the copies of a mirrored pair, of which one is enough; null when this very page is required. */
  readonly oneOf: string | null;
  /** True when it can only be reached once a robots.txt that fails at first has recovered. */
  readonly late: boolean;
}

/** What to walk. */
export interface ReachableOptions {
  readonly userAgent: string;
  readonly fromSeeds: Iterable<string>;
  /** `hosts`: only hosts of seeds (each host is its own registrable domain); `all`: the whole web. Default `all`. */
  readonly scope?: 'hosts' | 'all';
  /** Pages further from the seeds are left out. Default none. */
  readonly maxDepth?: number;
  /** Time of the world whose robots rules count. Default 0. */
  readonly atMs?: number;
}

/** What robots.txt of a host comes to once it has been fetched without accident. */
export type RobotsDecision = readonly RobotsGroup[] | 'disallow-all';

/** The rules in force for a host: RFC 9309 §2.3.1 (4xx allows everything, 5xx and silence nothing). */
export function robotsDecision(
  options: WorldOptions,
  host: HostProfile,
  atMs: number,
): RobotsDecision {
  const plan = robotsPlan(options, host, atMs);
  if (plan.kind === 'mute') return 'disallow-all';
  if (plan.kind === 'status') return plan.status >= 500 ? 'disallow-all' : [];
  return plan.groups;
}

/** True when the host's rules let the agent send this path. */
export function isAllowed(decision: RobotsDecision, userAgent: string, sentPath: string): boolean {
  return decision !== 'disallow-all' && groupsAllow(decision, userAgent, sentPath);
}

/** The Crawl-delay of a host for an agent in ms, 0 without one. */
export function crawlDelayMs(decision: RobotsDecision, userAgent: string): number {
  return decision === 'disallow-all' ? 0 : (groupsCrawlDelay(decision, userAgent) ?? 0) * 1000;
}

/** The truth about any URL text. Never throws. */
export function truthOf(
  options: WorldOptions,
  text: string,
  { userAgent, atMs }: { userAgent: string; atMs: number },
): Truth {
  const place = locate(options, text);
  if (place === null) {
    const nothing = { redirectTo: null, duplicateOf: null, trap: false };
    return { exists: false, canonical: text, allowed: false, status: 0, ...nothing };
  }
  const { host, path } = place;
  const canonical = canonicalPath(path);
  const resource = resourceAt(options, host, canonical);
  const answers = canAnswer(host.health);
  const status = answers ? statusOf(resource) : 0;
  return {
    exists: status === 200,
    canonical: hostOrigin(options, host.index) + canonical,
    allowed: isAllowed(robotsDecision(options, host, atMs), userAgent, path),
    status,
    trap: resource.kind === 'trap',
    redirectTo: resource.kind === 'redirect' ? hopUrl(options, resource.redirect) : null,
    duplicateOf: duplicateOf(options, host, resource),
  };
}

/** Every page a complete, polite crawl fetches with 200, nearest first, each once; pages on late hosts come last. Traps are not entered. */
export function* reachablePages(
  options: WorldOptions,
  walk: ReachableOptions,
): Generator<ReachablePage> {
  const walker = new Walker(options, walk);
  for (const seed of walk.fromSeeds) walker.addSeed(seed);
  yield* walker.run();
}

interface Found {
  readonly host: HostProfile;
  readonly page: number;
  readonly depth: number;
}

class Walker {
  readonly #options: WorldOptions;
  readonly #walk: ReachableOptions;
  readonly #inScope: Set<number> | null;
  readonly #visited = new Set<number | string>();
  readonly #rules = new Map<number, RobotsDecision>();
  #queue: Found[] = [];
  /** What waits for a robots.txt to recover: walked when the rest is done. */
  #waiting: { host: HostProfile; path: string; depth: number }[] = [];
  #late = false;

  constructor(options: WorldOptions, walk: ReachableOptions) {
    this.#options = options;
    this.#walk = walk;
    this.#inScope = walk.scope === 'hosts' ? new Set() : null;
  }

  addSeed(text: string): void {
    const place = locate(this.#options, text);
    if (place === null) return;
    this.#inScope?.add(place.host.index);
    this.#waiting.push({ host: place.host, path: place.path, depth: 0 });
  }

  *run(): Generator<ReachablePage> {
    const seeds = this.#waiting;
    this.#waiting = [];
    for (const { host, path, depth } of seeds) this.#visit(host, path, depth);
    yield* this.#drain();
    this.#late = true;
    for (const { host, path, depth } of this.#waiting) this.#visit(host, path, depth);
    yield* this.#drain();
  }

  *#drain(): Generator<ReachablePage> {
    const options = this.#options;
    for (let at = 0; at < this.#queue.length; at++) {
      const { host, page, depth } = this.#queue[at]!;
      const path = pagePath(options, host.source, page);
      const content = contentPage(options, host, page);
      const oneOf = host.mirrored ? `${host.source}:${content}` : null;
      yield { url: hostOrigin(options, host.index) + path, depth, oneOf, late: this.#late };
      if (depth === (this.#walk.maxDepth ?? Infinity)) continue;
      if (pageMeta(options, host, page).nofollow) continue;
      for (const link of pageLinks(options, host, page)) {
        if (link.host < 0 || !link.follow) continue;
        const target = link.host === host.index ? host : hostProfile(options, link.host);
        this.#visit(target, link.path, depth + 1);
      }
    }
    this.#queue = [];
  }

  /** Follows a link and its redirects up to a page not seen yet. */
  #visit(first: HostProfile, firstPath: string, depth: number): void {
    const options = this.#options;
    let host = first;
    let path = firstPath;
    // Each canonical URL is visited once, so a loop ends by itself; no chain has more than five hops.
    for (;;) {
      if (this.#inScope?.has(host.index) === false || !canAnswer(host.health)) return;
      if (!this.#late && robotsPlan(options, host, 0).kind === 'late') {
        this.#waiting.push({ host, path, depth });
        return;
      }
      if (!isAllowed(this.#rulesOf(host), this.#walk.userAgent, path)) return;
      const canonical = canonicalPath(path);
      const resource = resourceAt(options, host, canonical);
      const isPage = resource.kind === 'page';
      const key = isPage ? host.index * 2 ** 22 + resource.page : `${host.index}${canonical}`;
      if (this.#visited.has(key)) return;
      this.#visited.add(key);
      if (isPage) {
        this.#queue.push({ host, page: resource.page, depth });
        return;
      }
      if (resource.kind !== 'redirect' || resource.redirect.host < 0) return;
      path = resource.redirect.path;
      host = hostProfile(options, resource.redirect.host);
    }
  }

  #rulesOf(host: HostProfile): RobotsDecision {
    const known = this.#rules.get(host.source);
    if (known !== undefined) return known;
    const decision = robotsDecision(this.#options, host, this.#walk.atMs ?? 0);
    if (this.#rules.size > 10_000) this.#rules.clear();
    this.#rules.set(host.source, decision);
    return decision;
  }
}

function locate(options: WorldOptions, text: string): { host: HostProfile; path: string } | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const index = hostIndex(options, url.hostname);
  const port = url.port === '' ? 80 : Number(url.port);
  if (index < 0 || url.protocol !== 'http:' || port !== options.port) return null;
  return { host: hostProfile(options, index), path: url.pathname + url.search };
}

function statusOf(resource: Resource): number {
  switch (resource.kind) {
    case 'page':
    case 'trap':
      return 200;
    case 'redirect':
      return resource.redirect.status;
    case 'gone':
      return resource.status;
  }
}

function hopUrl(options: WorldOptions, hop: { host: number; path: string }): string | null {
  return hop.host < 0 ? null : hostOrigin(options, hop.host) + hop.path;
}

function duplicateOf(options: WorldOptions, host: HostProfile, resource: Resource): string | null {
  if (resource.kind !== 'page') return null;
  const content = contentPage(options, host, resource.page);
  if (content === resource.page && host.source === host.index) return null;
  return hostOrigin(options, host.source) + pagePath(options, host.source, content);
}
