// How many URLs a host and its registrable domain may have, and how many more of one shape: the last check of step 5 (DESIGN.md §1, §4). A
// budget is earned, by links from other domains and by pages whose content is new; a host that goes on showing known content earns less
// and less. This catches what no URL shows: soft 404s, ever new session ids, link farms on wildcard DNS. What is over budget is parked, not
// dropped: it can be admitted when the budget has grown. Invariants: plain data in, plain data out (it is stored with the host and sent to
// other machines); bounded memory (`shapesMax` rows a host); a decision depends on its arguments alone.

import type { Trap } from './traps.ts';

/** What is counted for a host, and in the same way for a registrable domain. Plain data. */
export interface UrlTally {
  /** URLs admitted to the frontier, ever. */
  readonly urls: number;
  /** Hosts admitted; of use for a domain. */
  readonly hosts: number;
  /** Pages fetched with a body. */
  readonly pages: number;
  /** Of these, pages whose content was new: neither equal nor nearly equal to a known one. */
  readonly freshPages: number;
  /** Registrable domains, other than its own, that link here. */
  readonly inLinkDomains: number;
}

/** URLs of one host that differ only in numbers and ids, or that one trap rule suspects. */
export interface ShapeTally {
  /** `shapeOf` of the URLs and of what was suspected of them. */
  readonly shape: number;
  readonly urls: number;
  readonly pages: number;
  readonly freshPages: number;
}

/** What is kept for each host. Plain data. */
export interface HostUrlStatistics {
  readonly tally: UrlTally;
  /** At most `shapesMax`, most recently used last. */
  readonly shapes: readonly ShapeTally[];
}

export interface UrlBudgetOptions {
  /** URLs of a host that nobody else links to. */
  readonly urlsPerHost: number;
  /** URLs of a registrable domain that nobody else links to, over all its hosts. */
  readonly urlsPerDomain: number;
  /** Hosts of a registrable domain that nobody else links to. */
  readonly hostsPerDomain: number;
  /** URLs of one shape before its yield is looked at, and of suspects before they need any. */
  readonly urlsPerShape: number;
  /** Pages before a yield says anything. */
  readonly pagesMin: number;
  /** Share of new content at which the whole budget is earned. */
  readonly yieldFull: number;
  /** Share of new content under which a shape is given up. */
  readonly yieldMin: number;
  /** Shapes remembered for a host. */
  readonly shapesMax: number;
}

/**
 * 10,000 URLs is the budget that crawl operators commonly start from (IRLbot, WWW 2008: budgets per pay-level domain, raised by in-links).
 * A third of the URLs of an ordinary host show known content (Bar-Yossef, Keidar, Schonfeld, WWW 2007), so half is a full yield; a shape
 * that shows less than one new page in ten after ten pages is no list.
 */
export const URL_BUDGET: UrlBudgetOptions = {
  urlsPerHost: 10_000,
  urlsPerDomain: 10_000,
  hostsPerDomain: 500,
  urlsPerShape: 20,
  pagesMin: 10,
  yieldFull: 0.5,
  yieldMin: 0.1,
  shapesMax: 32,
};

/** Why a URL is not admitted now. */
export type ParkReason =
  | 'trap'
  | 'suspect'
  | 'host-budget'
  | 'domain-budget'
  | 'domain-hosts'
  | 'yield';

export type UrlVerdict =
  | { readonly kind: 'admitted'; readonly isSuspect: boolean }
  | { readonly kind: 'parked'; readonly reason: ParkReason }
  /** A certain trap: never admitted. */
  | { readonly kind: 'refused'; readonly rule: Trap['rule'] };

export const EMPTY_TALLY: UrlTally = {
  urls: 0,
  hosts: 0,
  pages: 0,
  freshPages: 0,
  inLinkDomains: 0,
};

export const EMPTY_HOST_STATISTICS: HostUrlStatistics = { tally: EMPTY_TALLY, shapes: [] };

/**
 * What a tally has earned of a budget.
 *
 * @param base the budget of a host that nobody links to and whose pages are all new
 * @param tally of the host or the domain
 * @returns `base` × (1 + √ in-link domains) × yield, where yield falls from 1 at `yieldFull` to 0.05 at none; rounded up
 */
export function earnedBudget(base: number, tally: UrlTally, options: UrlBudgetOptions): number {
  const reputation = 1 + Math.sqrt(tally.inLinkDomains);
  if (tally.pages < options.pagesMin) return Math.ceil(base * reputation);
  const share = tally.freshPages / tally.pages / options.yieldFull;
  return Math.ceil(base * reputation * Math.min(1, Math.max(0.05, share)));
}

/**
 * The decision about a URL that was not seen before.
 *
 * @param url a canonical URL
 * @param trap what `trapOf` says of it
 * @param host statistics of its host; `EMPTY_HOST_STATISTICS` for a new one
 * @param domain tally of its registrable domain
 */
export function judgeUrl(
  url: string,
  trap: Trap | undefined,
  host: HostUrlStatistics,
  domain: UrlTally,
  options: UrlBudgetOptions = URL_BUDGET,
): UrlVerdict {
  if (trap?.isCertain === true) return { kind: 'refused', rule: trap.rule };
  const { tally } = host;
  if (tally.urls === 0 && domain.hosts >= earnedBudget(options.hostsPerDomain, domain, options)) {
    return { kind: 'parked', reason: 'domain-hosts' };
  }
  if (tally.urls >= earnedBudget(options.urlsPerHost, tally, options)) {
    return { kind: 'parked', reason: 'host-budget' };
  }
  if (domain.urls >= earnedBudget(options.urlsPerDomain, domain, options)) {
    return { kind: 'parked', reason: 'domain-budget' };
  }
  const shape = shapeOf(url, trap);
  const row = host.shapes.find((candidate) => candidate.shape === shape);
  if (row !== undefined && row.urls >= options.urlsPerShape) {
    const isKnown = row.pages >= options.pagesMin && row.freshPages < row.pages * options.yieldMin;
    if (isKnown) return { kind: 'parked', reason: 'yield' };
    // A suspect has to prove itself: each further URL needs a new page before it.
    if (trap !== undefined && row.urls >= options.urlsPerShape + row.freshPages) {
      return { kind: 'parked', reason: 'suspect' };
    }
  }
  return { kind: 'admitted', isSuspect: trap !== undefined };
}

/** The host's statistics after a URL was admitted. */
export function withUrl(
  host: HostUrlStatistics,
  url: string,
  trap: Trap | undefined,
  options: UrlBudgetOptions = URL_BUDGET,
): HostUrlStatistics {
  const shapes = countShape(
    host.shapes,
    shapeOf(url, trap),
    { urls: 1, pages: 0, fresh: 0 },
    options,
  );
  return { tally: { ...host.tally, urls: host.tally.urls + 1 }, shapes };
}

/**
 * The host's statistics after one of its pages was fetched.
 * @param isFresh its content was new
 */
export function withPage(
  host: HostUrlStatistics,
  url: string,
  trap: Trap | undefined,
  isFresh: boolean,
  options: UrlBudgetOptions = URL_BUDGET,
): HostUrlStatistics {
  const change = { urls: 0, pages: 1, fresh: isFresh ? 1 : 0 };
  return {
    tally: tallyPage(host.tally, isFresh),
    shapes: countShape(host.shapes, shapeOf(url, trap), change, options),
  };
}

/** A tally after a page was fetched. */
export function tallyPage(tally: UrlTally, isFresh: boolean): UrlTally {
  return {
    ...tally,
    pages: tally.pages + 1,
    freshPages: tally.freshPages + (isFresh ? 1 : 0),
  };
}

/** A domain's tally after one of its URLs was admitted, the first of its host or a further one. */
export function tallyUrl(tally: UrlTally, isNewHost: boolean): UrlTally {
  return { ...tally, urls: tally.urls + 1, hosts: tally.hosts + (isNewHost ? 1 : 0) };
}

function countShape(
  shapes: readonly ShapeTally[],
  shape: number,
  change: { readonly urls: number; readonly pages: number; readonly fresh: number },
  options: UrlBudgetOptions,
): readonly ShapeTally[] {
  const row = shapes.find((candidate) => candidate.shape === shape) ?? {
    shape,
    urls: 0,
    pages: 0,
    freshPages: 0,
  };
  const others = shapes.filter((candidate) => candidate.shape !== shape);
  // A full table forgets the row with the fewest URLs, so that an endless shape cannot hide behind many small ones.
  if (others.length >= options.shapesMax) {
    let least = 0;
    for (const [at, candidate] of others.entries()) {
      if (candidate.urls < (others[least] as ShapeTally).urls) least = at;
    }
    others.splice(least, 1);
  }
  const counted = {
    shape,
    urls: row.urls + change.urls,
    pages: row.pages + change.pages,
    freshPages: row.freshPages + change.fresh,
  };
  return [...others, counted];
}

/**
 * A 32-bit hash of a URL's form: scheme, userinfo and host left out, each run of letters and digits with a digit in it read as one id.
 * `/p;jsessionid=A0` and `/p;jsessionid=B17` have one shape, `/list?page=2` and `/list?sort=2` have two. All suspects of one trap
 * rule have one shape, since what they combine is endless in form as well.
 *
 * @param url a canonical URL
 * @param trap what `trapOf` says of it
 */
export function shapeOf(url: string, trap: Trap | undefined): number {
  if (trap !== undefined) return formHash(trap.rule, 0);
  return formHash(url, url.indexOf('/', url.indexOf('//') + 2));
}

/** FNV-1a over the characters of the form (draft-eastlake-fnv): fast, and nobody gains by a collision on a single host. */
function formHash(text: string, from: number): number {
  let hash = 0x811c9dc5;
  let runHash = hash;
  let hasDigit = false;
  for (let at = from; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const isDigit = code >= 0x30 && code <= 0x39;
    const lower = code | 0x20;
    if (isDigit || (lower >= 0x61 && lower <= 0x7a)) {
      hasDigit ||= isDigit;
      runHash = Math.imul(runHash ^ code, 0x01000193);
      continue;
    }
    hash = hasDigit ? Math.imul(hash ^ 0x23, 0x01000193) : runHash;
    hash = Math.imul(hash ^ code, 0x01000193);
    runHash = hash;
    hasDigit = false;
  }
  return hash >>> 0;
}
