// How many URLs a host and its registrable domain may have, and how many more of one shape: the last check of step 5 (DESIGN.md §1, §4). A
// budget is earned, by links from other domains and by pages whose content is new; a host that goes on showing known content earns less
// and less. This catches what no URL shows: soft 404s, ever new session ids, link farms on wildcard DNS. What is over budget is parked, not
// dropped: it is admitted when the budget has grown. Invariants: a decision depends on the tallies alone; bounded memory (`shapesMax` rows
// a host); what is stored is plain data. Which URLs share a shape is said by url-shape.ts.

import { assert } from '../base/assert.ts';
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

/** URLs of one host that differ only in numbers and ids, or that one trap rule suspects. */
export interface ShapeTally extends Tally {
  readonly shape: number;
  /** Admitted and not withdrawn. */
  readonly urls: number;
  /** At least as many as its URLs: a row that takes the place of another inherits its weight (Metwally et al., ICDT 2005). */
  readonly weight: number;
  /** Pages, of those looked at, that were no copies and yet nothing new: they read like others. */
  readonly alikePages: number;
  /** Forms of its last two pages (simhash.ts, `form`); 0 for none. A page of the same form differs from them in numbers and ids at most. */
  readonly forms: readonly [number, number];
}

/** What is stored of a host. Plain data. */
export interface HostTally extends Tally {
  /** Admitted to the frontier and not withdrawn. */
  readonly urls: number;
  /** URLs granted beyond what was earned, by reviews. */
  readonly granted: number;
  /** At most `shapesMax`. */
  readonly shapes: readonly ShapeTally[];
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

const NO_FORMS: readonly [number, number] = [0, 0];

type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] };

/** The tallies of one host, raised in place: this runs for every new URL. */
export class UrlBudget {
  readonly #options: UrlBudgetOptions;
  #urls: number;
  #pages: number;
  #freshPages: number;
  #granted: number;
  readonly #shapes: Mutable<ShapeTally>[];

  constructor(stored: HostTally | undefined, options: UrlBudgetOptions = URL_BUDGET) {
    this.#options = options;
    this.#urls = stored?.urls ?? 0;
    this.#pages = stored?.pages ?? 0;
    this.#freshPages = stored?.freshPages ?? 0;
    this.#granted = stored?.granted ?? 0;
    this.#shapes = (stored?.shapes ?? []).map((row) => ({ ...row }));
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
      shapes: this.#shapes.map((row) => ({ ...row })),
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
    const row = this.#row(shape);
    if (row === undefined) return false;
    const { pages, freshPages, alikePages } = row;
    const { pagesMin, ordinaryPagesMin, yieldMin } = this.#options;
    const poorest = Math.max(1, pages * yieldMin);
    if (pages >= ordinaryPagesMin && freshPages <= poorest) return true;
    const goodPages = isSuspect ? freshPages : freshPages + alikePages;
    return goodPages === 0 ? pages >= pagesMin / 2 : pages >= pagesMin && goodPages <= poorest;
  }

  /** A suspect has to prove itself: beyond the allowance each URL needs a new page before it, besides the first, which is always new. */
  #isUnproven(shape: number): boolean {
    const row = this.#row(shape);
    if (row === undefined) return false;
    return row.urls >= this.#options.urlsPerSuspect + Math.max(row.freshPages - 1, 0);
  }

  /** A URL enters the frontier. */
  admitted({ shape }: UrlShape): void {
    this.#urls += 1;
    const row = this.#row(shape) ?? this.#newRow(shape);
    row.urls += 1;
    row.weight += 1;
  }

  /** A URL that was admitted is parked before its turn. */
  withdrawn({ shape }: UrlShape): void {
    this.#urls = Math.max(this.#urls - 1, 0);
    const row = this.#row(shape);
    if (row !== undefined) row.urls = Math.max(row.urls - 1, 0);
  }

  /**
   * A page of the host was looked at.
   * @param page.isNew its content is neither equal nor nearly equal to a known one
   * @param page.form see `ShapeTally.forms`; 0 for a page without text
   * @returns whether its content counts as new
   */
  pageSeen({ shape }: UrlShape, page: { readonly isNew: boolean; readonly form: number }): boolean {
    const row = this.#row(shape) ?? this.#newRow(shape);
    const [last, other] = row.forms;
    const isFresh = page.isNew && (page.form === 0 || (page.form !== last && page.form !== other));
    if (page.form !== 0 && page.form !== last) row.forms = [page.form, last];
    row.pages += 1;
    this.#pages += 1;
    if (!isFresh && page.form !== 0) row.alikePages += 1;
    if (!isFresh) return false;
    row.freshPages += 1;
    this.#freshPages += 1;
    return true;
  }

  /**
   * A review: what is known is half forgotten, so that a shape that was given up gets a few further trials, and the host further URLs.
   * @param count URLs granted
   */
  grant(count: number): void {
    assert(count >= 1, () => `a grant of ${count} URLs`);
    this.#granted += count;
    for (const row of this.#shapes) {
      row.urls >>= 1;
      row.pages >>= 1;
      row.freshPages = (row.freshPages + 1) >> 1;
      row.alikePages >>= 1;
    }
  }

  #row(shape: number): Mutable<ShapeTally> | undefined {
    const shapes = this.#shapes;
    // By index: this runs for every new URL, and an iterator would cost as much again.
    for (let at = 0; at < shapes.length; at += 1)
      if (shapes[at]?.shape === shape) return shapes[at];
    return undefined;
  }

  /** A full table forgets the lightest row, and the new one takes over its weight: a shape with many URLs cannot hide behind many small ones. */
  #newRow(shape: number): Mutable<ShapeTally> {
    const shapes = this.#shapes;
    const fresh = { shape, urls: 0, pages: 0, freshPages: 0, alikePages: 0 };
    if (shapes.length < this.#options.shapesMax) {
      const row: Mutable<ShapeTally> = { ...fresh, weight: 0, forms: NO_FORMS };
      shapes.push(row);
      return row;
    }
    let lightest = shapes[0] as Mutable<ShapeTally>;
    for (let at = 1; at < shapes.length; at += 1) {
      const row = shapes[at] as Mutable<ShapeTally>;
      if (row.weight < lightest.weight) lightest = row;
    }
    lightest.forms = NO_FORMS;
    return Object.assign(lightest, fresh);
  }
}
