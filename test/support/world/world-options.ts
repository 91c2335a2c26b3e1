// What a shipped web is made of: its size, its page shape and which oddities it has, each as a fraction of hosts, pages or links.
// Defaults give a plain, healthy web (every feature 0), which is what benchmarks want; `VARIED_FEATURES` has a little of everything,
// which is what tests want. Options are plain data: they travel on a command line, in a log's first line and in a simulation's seed.

/** Oddities. Each is a fraction 0 … 1 of the things named. */
export interface WorldFeatures {
  /** Hosts that have robots rules; the others answer 404 or an empty file. */
  readonly robots: number;
  /** Hosts whose robots.txt is 403, 500, 503 at first, redirected or never answered (takes precedence over `robots`). */
  readonly robotsTrouble: number;
  /** Hosts with rules that change every `robotsPeriodMs`. */
  readonly robotsChanges: number;
  /** Hosts with rules that name a Crawl-delay. */
  readonly crawlDelays: number;
  /** Links that lead to a redirect: same host, other host, chain, loop, into a disallowed area, off the web. */
  readonly redirects: number;
  /** Links that lead to 404, 410 or a permanent 500. */
  readonly notFound: number;
  /** Hosts that are one of a pair with the same content. */
  readonly mirrors: number;
  /** Pages that are a byte-for-byte copy of their neighbour. */
  readonly duplicates: number;
  /** Pages whose visible text is nearly their neighbour's, with other links. */
  readonly nearDuplicates: number;
  /** Hosts with an endless calendar, session ids or ever deeper folders. */
  readonly traps: number;
  /** Hosts that answer late and send slowly. */
  readonly slowHosts: number;
  /** Hosts that reset every connection. */
  readonly brokenHosts: number;
  /** Hosts that accept and never answer. */
  readonly muteHosts: number;
  /** Hosts that have no address: NXDOMAIN, SERVFAIL or a silent name server. */
  readonly dnsFailures: number;
  /** Time windows of a host in which its pages answer 429 or 503, mostly with Retry-After. */
  readonly errorsByTime: number;
  /** Page answers that are reset or cut short; drawn anew each `errorWindowMs` and attempt. */
  readonly flaky: number;
  /** Pages whose text (never their links) changes, each with its own period. */
  readonly changingPages: number;
  /** Links written in another spelling of the same URL. */
  readonly spellings: number;
  /** Links marked nofollow, and half as many pages with nofollow or noindex metadata. */
  readonly nofollow: number;
  /** Links that are no page of this web: mailto, javascript, off-scope hosts. */
  readonly oddLinks: number;
  /** Hosts that compress when the client accepts gzip. */
  readonly compressed: number;
  /** Hosts whose root links to a body without an end. */
  readonly endless: number;
  /** Answers after which the server closes the connection. */
  readonly closing: number;
}

/** The size, shape and clock of a web. */
export interface WorldOptions {
  /** Any integer. The same options give the same bytes everywhere. */
  readonly seed: number;
  /** 1 … 1,000,000 host names. */
  readonly hosts: number;
  /** Mean pages of a host, 1 … 1,000,000. */
  readonly pagesPerHost: number;
  /** Pages per host follow a bounded Pareto law (α = 1.5, at most 300 × the mean) instead of mean ± 50 %. */
  readonly powerLaw: boolean;
  /** Links of a page, 1 … 1,000. */
  readonly linksPerPage: number;
  /** Bytes of a page; its links may need more. */
  readonly pageBytes: number;
  /** Fraction of links that go to another host. */
  readonly crossHostLinks: number;
  readonly features: WorldFeatures;
  /** Last label of all host names. */
  readonly domain: string;
  /** Port in every URL; 80 is left out. */
  readonly port: number;
  /** Hosts that share one address, ≥ 1. */
  readonly hostsPerAddress: number;
  /** Response time of a healthy host: uniform between the two, ms. */
  readonly latencyMs: readonly [number, number];
  /** Response time of a slow host, ms; its bodies take as long again. */
  readonly slowMs: readonly [number, number];
  /** Crawl-delay values, seconds. */
  readonly crawlDelaySeconds: readonly [number, number];
  /** A 503-at-first robots.txt works from this time of the world on, ms. */
  readonly robotsLateMs: number;
  readonly robotsPeriodMs: number;
  readonly errorWindowMs: number;
  /** Mean period of a changing page, ms; a page has a quarter to four times of it. */
  readonly changePeriodMs: number;
  /** Wall time at the world's time 0, ms since the epoch: for Date, Last-Modified and Retry-After dates. */
  readonly epochMs: number;
}

/** No oddity at all. */
export const PLAIN_FEATURES: WorldFeatures = {
  robots: 0,
  robotsTrouble: 0,
  robotsChanges: 0,
  crawlDelays: 0,
  redirects: 0,
  notFound: 0,
  mirrors: 0,
  duplicates: 0,
  nearDuplicates: 0,
  traps: 0,
  slowHosts: 0,
  brokenHosts: 0,
  muteHosts: 0,
  dnsFailures: 0,
  errorsByTime: 0,
  flaky: 0,
  changingPages: 0,
  spellings: 0,
  nofollow: 0,
  oddLinks: 0,
  compressed: 0,
  endless: 0,
  closing: 0,
};

/** A little of everything that leaves the ground truth exact whatever order a crawl takes (no time-dependent errors). */
export const VARIED_FEATURES: WorldFeatures = {
  ...PLAIN_FEATURES,
  robots: 0.6,
  robotsTrouble: 0.12,
  crawlDelays: 0.2,
  redirects: 0.06,
  notFound: 0.04,
  mirrors: 0.1,
  duplicates: 0.06,
  nearDuplicates: 0.06,
  traps: 0.1,
  slowHosts: 0.05,
  brokenHosts: 0.03,
  muteHosts: 0.02,
  dnsFailures: 0.03,
  spellings: 0.3,
  nofollow: 0.04,
  oddLinks: 0.04,
  compressed: 0.3,
  endless: 0.03,
  closing: 0.05,
};

const DEFAULTS: WorldOptions = {
  seed: 1,
  hosts: 20,
  pagesPerHost: 20,
  powerLaw: false,
  linksPerPage: 12,
  pageBytes: 4096,
  crossHostLinks: 0.2,
  features: PLAIN_FEATURES,
  domain: 'test',
  port: 80,
  hostsPerAddress: 1,
  latencyMs: [0, 0],
  slowMs: [200, 1000],
  crawlDelaySeconds: [1, 3],
  robotsLateMs: 2000,
  robotsPeriodMs: 24 * 3600_000,
  errorWindowMs: 10_000,
  changePeriodMs: 3600_000,
  epochMs: Date.UTC(2026, 0, 1),
};

/** Options as a caller writes them: anything left out has its default, features too. */
export type PartialWorldOptions = Partial<Omit<WorldOptions, 'features'>> & {
  readonly features?: Partial<WorldFeatures>;
};

/**
 * Fills in the defaults.
 * @throws RangeError when a size or a fraction is out of its bounds
 */
export function completeWorldOptions(partial: PartialWorldOptions): WorldOptions {
  const features = { ...PLAIN_FEATURES, ...partial.features };
  const options: WorldOptions = { ...DEFAULTS, ...partial, features };
  between('hosts', options.hosts, 1, 1_000_000);
  between('pagesPerHost', options.pagesPerHost, 1, 1_000_000);
  between('linksPerPage', options.linksPerPage, 1, 1000);
  between('pageBytes', options.pageBytes, 0, 64 << 20);
  between('hostsPerAddress', options.hostsPerAddress, 1, 1_000_000);
  between('crossHostLinks', options.crossHostLinks, 0, 1);
  for (const [name, value] of Object.entries(features)) between(name, value, 0, 1);
  return options;
}

function between(name: string, value: number, low: number, high: number): void {
  if (!(value >= low && value <= high)) {
    throw new RangeError(`world option ${name} must be ${low} … ${high}, not ${value}`);
  }
}
