// How many URLs a host and its registrable domain may have, and how many more of one shape: the last check of step 5 (DESIGN.md §1, §4). A
// budget is earned, by links from other domains and by pages whose content is new; a host that goes on showing known content earns less
// and less. This catches what no URL shows: soft 404s, ever new session ids, link farms on wildcard DNS. What is over budget is parked, not
// dropped: it is admitted when the budget has grown. Invariants: a decision depends on the tallies alone; bounded memory (`shapesMax` rows
// a host); what is stored is plain data. Which URLs share a shape is said by url-shape.ts.

import { assert } from '../base/assert.ts';
import {
  ALIKE_PAGES,
  FORM,
  FRESH_PAGES,
  NO_SHAPE,
  OTHER_FORM,
  PAGES,
  ShapeTable,
  URLS,
  WEIGHT,
} from './shape-table.ts';
import type { UrlShape } from './url-shape.ts';

/** What is counted of a host's URLs. */
interface Tally {
  /** Pages looked at: read, found to be a copy, or answered 4xx. */
  readonly pages: number;
  /** Of these, pages whose content was new: neither equal nor nearly equal to a known one. */
  readonly freshPages: number;
}

/** A registrable domain over all its hosts. */
export interface DomainTally extends Tally {
  readonly urls: number;
  readonly hosts: number;
  /** Registrable domains, other than its own, that link here. */
  readonly inLinkDomains: number;
}

/** What is stored of a host. Plain data. */
export interface HostTally extends Tally {
  /** Admitted to the frontier and not withdrawn. */
  readonly urls: number;
  /** URLs granted beyond what was earned, by reviews. */
  readonly granted: number;
  /** Rows of shape-table.ts: URLs that differ only in numbers and ids, or that one trap rule suspects. At most `shapesMax`. */
  readonly shapes: readonly number[];
}

export interface UrlBudgetOptions {
  /** URLs of a host that nobody else links to and of which nothing is known. */
  readonly urlsPerHost: number;
  /** URLs of a registrable domain that nobody else links to, over all its hosts. */
  readonly urlsPerDomain: number;
  /** Hosts of a registrable domain that nobody else links to. */
  readonly hostsPerDomain: number;
  /** URLs that a trap rule suspects, of one rule, before they need any yield. */
  readonly urlsPerSuspect: number;
  /** Pages of one trap rule before their yield says anything. */
  readonly pagesMin: number;
  /** The same of a shape that no trap rule suspects, and four times as many of a whole host: templates make honest pages look alike. */
  readonly ordinaryPagesMin: number;
  /** Share of new content at which the whole budget is earned. */
  readonly yieldFull: number;
  /** Share of new content under which a shape is given up. */
  readonly yieldMin: number;
  /** Further URLs that a new page earns its host at a full yield: an honest site of any size is crawled whole. */
  readonly urlsPerFreshPage: number;
  /** Shapes remembered for a host. */
  readonly shapesMax: number;
}

/**
 * 10,000 URLs is the budget that crawl operators commonly start from (IRLbot, WWW 2008: budgets per pay-level domain, raised by in-links).
 * A third of the URLs of an ordinary host show known content (Bar-Yossef, Keidar, Schonfeld, WWW 2007), so half is a full yield; a shape
 * that shows no more than one new page in ten is no list, and eight pages tell: a list with only half of its pages new would have as few
 * as one among eight in one case of thirty. Where not even the first four show anything new, they are another site's. That holds for
 * copies and errors, and for what a trap rule suspects already. Pages of a shape under no suspicion that only read alike are given 1,000: a
 * catalogue whose pages differ in a name and a number is a site like another, and what such a shape without end may cost its host is a fortieth
 * of its first budget.
 */
export const URL_BUDGET: UrlBudgetOptions = {
  urlsPerHost: 10_000,
  urlsPerDomain: 10_000,
  hostsPerDomain: 500,
  urlsPerSuspect: 4,
  pagesMin: 8,
  ordinaryPagesMin: 1_000,
  yieldFull: 0.5,
  yieldMin: 0.1,
  urlsPerFreshPage: 4,
  shapesMax: 16,
};

/** Why a URL is parked. `yield`: its shape shows known content. `suspect`: its trap rule has had its allowance. */
export type ParkReason = 'host-budget' | 'domain-budget' | 'domain-hosts' | 'yield' | 'suspect';

export const EMPTY_DOMAIN: DomainTally = {
  urls: 0,
  hosts: 0,
  pages: 0,
  freshPages: 0,
  inLinkDomains: 0,
};

/**
 * What has been earned of a budget.
 *
 * @param base what is given to a host or domain of which nothing is known
 * @returns `base` × (1 + √ in-link domains) × yield, and `urlsPerFreshPage` × yield for each new page; the yield falls from 1 at `yieldFull`
 *   to 0.05 at none. Rounded up.
 */
export function earnedBudget(
  base: number,
  tally: Tally & { readonly inLinkDomains: number },
  options: UrlBudgetOptions = URL_BUDGET,
): number {
  const { pages, freshPages, inLinkDomains } = tally;
  const share =
    pages < WHOLE_HOST * options.ordinaryPagesMin ? 1 : freshPages / pages / options.yieldFull;
  const worth = Math.min(1, Math.max(0.05, share));
  const given = base * (1 + Math.sqrt(inLinkDomains));
  return Math.ceil((given + options.urlsPerFreshPage * freshPages) * worth);
}

/** A host or domain is more than one shape: it is judged after so many times the pages. */
const WHOLE_HOST = 4;

/** The tallies of one host, raised in place: this runs for every new URL. */
export class UrlBudget {
  readonly #options: UrlBudgetOptions;
  #urls: number;
  #pages: number;
  #freshPages: number;
  #granted: number;
  readonly #shapes: ShapeTable;

  constructor(stored: HostTally | undefined, options: UrlBudgetOptions = URL_BUDGET) {
    this.#options = options;
    this.#urls = stored?.urls ?? 0;
    this.#pages = stored?.pages ?? 0;
    this.#freshPages = stored?.freshPages ?? 0;
    this.#granted = stored?.granted ?? 0;
    this.#shapes = new ShapeTable(stored?.shapes ?? [], options.shapesMax);
  }

  /** URLs admitted and not withdrawn. */
  get urls(): number {
    return this.#urls;
  }

  /** The tallies as they are stored; a copy. */
  stored(): HostTally {
    return {
      urls: this.#urls,
      pages: this.#pages,
      freshPages: this.#freshPages,
      granted: this.#granted,
      shapes: this.#shapes.stored(),
    };
  }

  /**
   * The decision about a URL that was not seen before, or is parked.
   * @returns why it is parked; undefined when it is admitted
   */
  judge(shape: UrlShape, domain: DomainTally): ParkReason | undefined {
    const options = this.#options;
    if (this.#urls === 0 && domain.hosts >= earnedBudget(options.hostsPerDomain, domain, options)) {
      return this.#granted > 0 ? undefined : 'domain-hosts';
    }
    const { inLinkDomains } = domain;
    const own = { pages: this.#pages, freshPages: this.#freshPages, inLinkDomains };
    const overHost = this.#urls - earnedBudget(options.urlsPerHost, own, options);
    if (overHost >= this.#granted) return 'host-budget';
    const overDomain = domain.urls - earnedBudget(options.urlsPerDomain, domain, options);
    if (overDomain >= this.#granted) return 'domain-budget';
    if (this.isSpent(shape)) return 'yield';
    return shape.isSuspect && this.#isUnproven(shape.shape) ? 'suspect' : undefined;
  }

  /** True when a shape shows known content: its URLs are parked, those that wait for their turn too. */
  isSpent({ shape, isSuspect }: UrlShape): boolean {
    const shapes = this.#shapes;
    const row = shapes.find(shape);
    if (row === NO_SHAPE) return false;
    const pages = shapes.get(row, PAGES);
    const freshPages = shapes.get(row, FRESH_PAGES);
    const { pagesMin, ordinaryPagesMin, yieldMin } = this.#options;
    const poorest = Math.max(1, pages * yieldMin);
    if (pages >= ordinaryPagesMin && freshPages <= poorest) return true;
    const goodPages = isSuspect ? freshPages : freshPages + shapes.get(row, ALIKE_PAGES);
    return goodPages === 0 ? pages >= pagesMin / 2 : pages >= pagesMin && goodPages <= poorest;
  }

  /** A suspect has to prove itself: beyond the allowance each URL needs a new page before it, besides the first, which is always new. */
  #isUnproven(shape: number): boolean {
    const shapes = this.#shapes;
    const row = shapes.find(shape);
    if (row === NO_SHAPE) return false;
    const proven = Math.max(shapes.get(row, FRESH_PAGES) - 1, 0);
    return shapes.get(row, URLS) >= this.#options.urlsPerSuspect + proven;
  }

  /** A URL enters the frontier. */
  admitted({ shape }: UrlShape): void {
    this.#urls += 1;
    const row = this.#shapes.take(shape);
    this.#shapes.add(row, URLS, 1);
    this.#shapes.add(row, WEIGHT, 1);
  }

  /** A URL that was admitted is parked before its turn. */
  withdrawn({ shape }: UrlShape): void {
    this.#urls = Math.max(this.#urls - 1, 0);
    const row = this.#shapes.find(shape);
    if (row !== NO_SHAPE) this.#shapes.add(row, URLS, -1);
  }

  /**
   * A page of the host was looked at.
   * @param page.isNew its content is neither equal nor nearly equal to a known one
   * @param page.form see shape-table.ts, `FORM`; 0 for a page without text
   * @returns whether its content counts as new
   */
  pageSeen({ shape }: UrlShape, page: { readonly isNew: boolean; readonly form: number }): boolean {
    const shapes = this.#shapes;
    const row = shapes.take(shape);
    const form = page.form | 0;
    const last = shapes.get(row, FORM);
    const isRepeated = form !== 0 && (form === last || form === shapes.get(row, OTHER_FORM));
    const isFresh = page.isNew && !isRepeated;
    if (form !== 0 && form !== last) {
      shapes.set(row, OTHER_FORM, last);
      shapes.set(row, FORM, form);
    }
    shapes.add(row, PAGES, 1);
    this.#pages += 1;
    if (!isFresh && form !== 0) shapes.add(row, ALIKE_PAGES, 1);
    if (!isFresh) return false;
    shapes.add(row, FRESH_PAGES, 1);
    this.#freshPages += 1;
    return true;
  }

  /** What was looked at of a shape, and how much of it was new; undefined when it is not remembered. */
  tallyOf(shape: number): Tally | undefined {
    const row = this.#shapes.find(shape);
    if (row === NO_SHAPE) return undefined;
    return { pages: this.#shapes.get(row, PAGES), freshPages: this.#shapes.get(row, FRESH_PAGES) };
  }

  /**
   * A review: what is known is half forgotten, so that a shape that was given up gets a few further trials, and the host further URLs.
   * @param count URLs granted
   */
  grant(count: number): void {
    assert(count >= 1, () => `a grant of ${count} URLs`);
    this.#granted += count;
    this.#shapes.halve();
  }
}
