// Rows of the table of options (options.ts): what to crawl, how politely and under which name. Steps 5 to 8 of a URL's life (DESIGN.md §1, §4).

import { GAP_BOUNDS, HOST_OVERRIDE, LATENCY_FACTOR_BOUNDS } from './host-override.ts';
import { derived, option, optional } from './option.ts';
import {
  CONTACT,
  DOMAIN,
  MAIL_ADDRESS,
  NETWORK,
  PARAMETER_NAME,
  PATH,
  PATTERN,
  USER_AGENT,
} from './text-kinds.ts';
import { BOOLEAN, choice, decimal, integer, list } from './value-kind.ts';

const COUNT_MAX = Number.MAX_SAFE_INTEGER;
const DAY_S = 86_400;
/** Between two visits of a page, seconds: a second, so that a visit is durable before the next, to ten years. */
const INTERVAL_BOUNDS = { min: 1, max: 3_650 * DAY_S };

/** What to crawl. */
export const SCOPE_OPTIONS = {
  seedsFile: optional(
    { ...PATH, placeholder: 'FILE|-', expected: 'a file, or - for standard input' },
    {
      group: 'What to crawl',
      flag: '--seeds',
      doc: 'File of seed URLs, one a line, # starts a comment; - reads standard input.',
      defaultText: 'none',
      example: "'seeds.txt'",
    },
  ),
  scope: option(choice(['host', 'domain', 'prefix', 'all']), 'domain', {
    group: 'What to crawl',
    flag: '--scope',
    doc:
      "Which links are followed: the seeds' hosts, their registrable domains, what " +
      "lies below a seed's directory, or all.",
  }),
  include: option(list(PATTERN, { countMax: 1_000 }), [], {
    group: 'What to crawl',
    flag: '--include',
    doc: 'Only canonical URLs that match one of these are crawled (repeatable).',
  }),
  exclude: option(list(PATTERN, { countMax: 1_000 }), [], {
    group: 'What to crawl',
    flag: '--exclude',
    doc: 'Canonical URLs that match one of these are not crawled (repeatable).',
  }),
  maxPages: optional(integer({ min: 1, max: COUNT_MAX }), {
    group: 'What to crawl',
    flag: '--max-pages',
    doc: 'Stop when this many pages with status 200 are stored.',
    unit: 'pages',
    defaultText: 'no limit',
    example: '10_000',
  }),
  maxDepth: optional(integer({ min: 0, max: 1_000_000 }), {
    group: 'What to crawl',
    flag: '--max-depth',
    doc: 'Follow at most this many links away from a seed; 0 fetches the seeds only.',
    defaultText: 'no limit',
    example: '8',
  }),
  maxTimeSeconds: optional(decimal({ min: 0, max: 3_153_600_000 }, 'SECONDS'), {
    group: 'What to crawl',
    flag: '--max-time',
    doc: 'Stop in order after this time.',
    unit: 'seconds',
    defaultText: 'no limit',
    example: '3_600',
  }),
  lingerSeconds: option(decimal({ min: 0, max: 86_400 }, 'SECONDS'), 5, {
    group: 'What to crawl',
    flag: '--linger',
    doc:
      'The crawl is done when no URL becomes fetchable within this time; waiting hosts ' +
      'are kept for the next run.',
    unit: 'seconds',
  }),
  continuous: option(BOOLEAN, false, {
    group: 'What to crawl',
    flag: '--continuous',
    doc: 'Keep going: visit pages again when they are due, and wait for new work.',
  }),
  sitemaps: option(BOOLEAN, true, {
    group: 'What to crawl',
    doc: 'Read the sitemaps that robots.txt files name.',
  }),
  wellKnownSitemaps: option(BOOLEAN, false, {
    group: 'What to crawl',
    doc:
      'Ask each site for /sitemap.xml too, which robots.txt need not name; ' +
      'one more request a site, mostly answered 404.',
  }),
  alikePagesMax: option(integer({ min: 8, max: COUNT_MAX }), 1_000, {
    group: 'What to crawl',
    doc:
      'Pages whose URLs differ in numbers only and whose texts read alike, of one host, before further ones are parked. ' +
      'Fewer save requests on endless calendars and sessions, and cost pages of catalogues.',
    unit: 'pages',
  }),
  hostUrls: option(integer({ min: 1, max: COUNT_MAX }), 10_000, {
    group: 'What to crawl',
    doc:
      'URLs of a host to begin with; links from other domains and new content earn more, ' +
      'known content less. Further ones are parked.',
    unit: 'URLs',
  }),
  domainUrls: option(integer({ min: 1, max: COUNT_MAX }), 10_000, {
    group: 'What to crawl',
    doc: 'The same for all hosts of a registrable domain together.',
    unit: 'URLs',
  }),
  domainHosts: option(integer({ min: 1, max: COUNT_MAX }), 500, {
    group: 'What to crawl',
    doc: 'Hosts of a registrable domain to begin with; earned like URLs.',
    unit: 'hosts',
  }),
  frontierUrlsMax: option(integer({ min: 1_000, max: COUNT_MAX }), 100_000_000, {
    group: 'What to crawl',
    doc:
      'URLs waiting above which newly found ones of the lowest priority are parked, and ' +
      'from twice as many on those of middle priority.',
    unit: 'URLs',
  }),
  parkedReviewSeconds: option(decimal({ min: 1, max: 31_536_000 }, 'SECONDS'), 3_600, {
    group: 'What to crawl',
    doc:
      'Parked URLs of a host are looked at again after this time, then after twice as ' +
      'long each time, up to a week.',
    unit: 'seconds',
  }),
  stripSessions: option(BOOLEAN, true, {
    group: 'What to crawl',
    doc: 'Session identifiers are no part of the identity of a page.',
  }),
  trackingParameters: option(list(PARAMETER_NAME, { countMax: 10_000 }), [], {
    group: 'What to crawl',
    doc:
      'Query parameters that are no part of the identity of a page, besides the ' +
      'well-known ones (utm_*, gclid …).',
  }),
} as const;

/** When pages are visited again. */
export const FRESHNESS_OPTIONS = {
  recrawl: option(BOOLEAN, false, {
    group: 'Freshness',
    flag: '--recrawl',
    doc: 'Visit pages again that are due, and end when none is due within --linger.',
  }),
  recrawlFirstSeconds: option(decimal(INTERVAL_BOUNDS, 'SECONDS'), DAY_S, {
    group: 'Freshness',
    flag: '--recrawl-first',
    doc: 'Time from the first visit of a page to the second; then its own changes decide.',
    unit: 'seconds',
  }),
  recrawlLeastSeconds: option(decimal(INTERVAL_BOUNDS, 'SECONDS'), 3_600, {
    group: 'Freshness',
    flag: '--recrawl-least',
    doc: 'Least time between two visits of a page, however often it changes.',
    unit: 'seconds',
  }),
  recrawlLongestSeconds: option(decimal(INTERVAL_BOUNDS, 'SECONDS'), 90 * DAY_S, {
    group: 'Freshness',
    flag: '--recrawl-longest',
    doc: 'Longest time between two visits of a page that never changes.',
    unit: 'seconds',
  }),
  freshnessShare: option(integer({ min: 1, max: 99 }), 20, {
    group: 'Freshness',
    flag: '--freshness-share',
    doc:
      'Share of the requests for pages that are due again, while there is something new to ' +
      'fetch too; a guarantee for both.',
    unit: 'percent',
  }),
} as const;

/** How politely. */
export const POLITENESS_OPTIONS = {
  minGapMs: option(integer(GAP_BOUNDS, 'MS'), 1_000, {
    group: 'Politeness',
    flag: '--min-gap',
    doc:
      'Least time from the end of a request to a host to the start of the next; under ' +
      '250 only with --allow-net, for its addresses.',
    unit: 'milliseconds',
  }),
  addressGapMs: derived(integer(GAP_BOUNDS, 'MS'), {
    group: 'Politeness',
    flag: '--ip-gap',
    doc: 'Least time between requests to one IP address, whatever the host.',
    unit: 'milliseconds',
    defaultText: 'a quarter of --min-gap',
    example: '250',
  }),
  addressInFlightMax: option(integer({ min: 1, max: 64 }), 2, {
    group: 'Politeness',
    doc: 'Requests in flight to one IP address (to one host there is never more than one).',
    unit: 'requests',
  }),
  maxCrawlDelayMs: option(integer(GAP_BOUNDS), 30_000, {
    group: 'Politeness',
    doc: 'A longer Crawl-delay in robots.txt is reported and cut to this.',
    unit: 'milliseconds',
  }),
  latencyFactor: option(decimal(LATENCY_FACTOR_BOUNDS), 10, {
    group: 'Politeness',
    doc:
      'A host is left alone for this many times its smoothed response time, 60 s at ' +
      'most; 0 turns that off.',
  }),
  redirectsMax: option(integer({ min: 0, max: 20 }), 10, {
    group: 'Politeness',
    doc: 'Redirects followed for one page; each is a request that waits its gap.',
    unit: 'requests',
  }),
  robotsBytesMax: option(integer({ min: 512_000, max: 16_777_216 }), 524_288, {
    group: 'Politeness',
    doc: 'Bytes of a robots.txt that are read; RFC 9309 §2.5 asks for at least 500 KiB.',
    unit: 'bytes',
  }),
  hostOverrides: option(list(HOST_OVERRIDE, { countMax: 100_000 }), [], {
    group: 'Politeness',
    isSecret: true,
    doc:
      "Settings of some hosts: { pattern: '*.example.com', minGapMs?, maxCrawlDelayMs?, " +
      "latencyFactor?, hours?: '22:00-06:00' (UTC), urls?, headers?: { name: value }, " +
      "login?: 'user:password', cookies?: 'name=value', proxy?: 'http://ADDRESS:PORT' }; secrets are never shown.",
  }),
  optOut: option(list(DOMAIN, { countMax: 1_000_000 }), [], {
    group: 'Politeness',
    doc: 'Domains whose owners asked to be left alone: nothing on them or below is fetched.',
  }),
  optOutFile: optional(PATH, {
    group: 'Politeness',
    doc:
      'The same as a file that outlives crawls: one domain a line, # starts a comment; a ' +
      'change takes effect within a second.',
    defaultText: 'none',
    example: "'opt-out.txt'",
  }),
  asnTable: option(list(PATH, { countMax: 8 }), [], {
    group: 'Politeness',
    doc:
      'Files that tell the autonomous system of an address: .mmdb, or .csv rows start, end, ' +
      'number. Hosts of one in trouble are asked less. Replaced files are read anew.',
  }),
} as const;

/** Under which name, and where to. */
export const IDENTITY_OPTIONS = {
  contact: optional(CONTACT, {
    group: 'Identity',
    flag: '--contact',
    doc: 'How site owners reach you; goes into the User-Agent. Required for --scope all.',
    defaultText: 'none',
    example: "'https://example.com/bot'",
  }),
  userAgent: derived(USER_AGENT, {
    group: 'Identity',
    flag: '--user-agent',
    doc: 'The whole User-Agent. robots.txt is read for the product token hostler whatever it says.',
    defaultText: 'hostler/VERSION (+CONTACT)',
    example: "'hostler/0.1 (+https://example.com/bot)'",
  }),
  from: optional(MAIL_ADDRESS, {
    group: 'Identity',
    doc: 'Mail address sent in the From field of every request (RFC 9110 §10.1.2).',
    defaultText: 'none',
    example: "'crawl@example.com'",
  }),
  allowNets: option(list(NETWORK, { countMax: 1_000 }), [], {
    group: 'Network',
    flag: '--allow-net',
    doc: 'Private, loopback or reserved network that may be crawled (repeatable).',
    defaultText: 'none: public addresses only',
  }),
} as const;
