// Rules of the operator for single hosts or whole domains: a slower or, with leave, a faster pace, another budget, what is sent beside the
// ordinary request; and the list of domains whose owners asked to be left alone. Part of steps 5, 8 and 9 of a URL's life, as look-ups:
// exact host first, then each parent domain, so that a list of 100,000 domains costs a few hash look-ups a host. Immutable; pure.

import { COOKIES, HEADERS, LOGIN, PROXY, type RequestHeaders } from './request-setting-kinds.ts';
import { DAY_HOURS, HOST_PATTERN } from './text-kinds.ts';
import { type Bounds, decimal, integer, type Reading, type ValueKind } from './value-kind.ts';

/** What may differ for a host. Absent: as everywhere. */
export interface HostOverride {
  /** `www.example.com` for one host, `*.example.com` for all below a domain. */
  readonly pattern: string;
  readonly minGapMs?: number;
  readonly maxCrawlDelayMs?: number;
  readonly latencyFactor?: number;
  /** `HH:MM-HH:MM` in UTC: the host is asked nothing outside. */
  readonly hours?: string;
  /** URLs of the host to begin with, in place of `hostUrls`. */
  readonly urls?: number;
  /** Further fields of each request; secret, as are the next two. */
  readonly headers?: RequestHeaders;
  /** `user:password` for HTTP Basic authentication (RFC 7617). */
  readonly login?: string;
  /** `name=value; name=value`, sent as they are; what a host sets is not kept. */
  readonly cookies?: string;
  /** `http://user:password@ADDRESS:PORT`: a proxy for all requests to the host; it may hold a password, so it is secret too. */
  readonly proxy?: string;
}

/** Bounds of the gap options, for the crawl as for a host. */
export const GAP_BOUNDS = { min: 0, max: 3_600_000 } as const satisfies Bounds;
export const LATENCY_FACTOR_BOUNDS = { min: 0, max: 100 } as const satisfies Bounds;

const FIELDS = {
  pattern: HOST_PATTERN,
  minGapMs: integer(GAP_BOUNDS),
  maxCrawlDelayMs: integer(GAP_BOUNDS),
  latencyFactor: decimal(LATENCY_FACTOR_BOUNDS),
  hours: DAY_HOURS,
  urls: integer({ min: 1, max: 100_000_000 }),
  headers: HEADERS,
  login: LOGIN,
  cookies: COOKIES,
  proxy: PROXY,
} as const satisfies Record<keyof HostOverride, ValueKind<unknown>>;

const EXPECTED = `an object { pattern, ${Object.keys(FIELDS).slice(1).join('?, ')}? }`;

/** Kind of one override. */
export const HOST_OVERRIDE: ValueKind<HostOverride> = {
  expected: EXPECTED,
  placeholder: '',
  isList: false,
  read: readOverride,
  readText: () => ({ expected: EXPECTED }),
};

function readOverride(value: unknown): Reading<HostOverride> {
  if (typeof value !== 'object' || value === null) return { expected: EXPECTED };
  const kept: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(FIELDS, name)) return { expected: `${EXPECTED}, without "${name}"` };
    if (given === undefined) continue;
    const kind: ValueKind<unknown> = FIELDS[name as keyof HostOverride];
    const reading = kind.read(given);
    if ('expected' in reading) {
      return { expected: `${EXPECTED} whose ${name} is ${reading.expected}` };
    }
    kept[name] = reading.value;
  }
  return typeof kept.pattern === 'string'
    ? { value: kept as unknown as HostOverride }
    : { expected: EXPECTED };
}

/** Finds the override of a host. */
export class HostOverrides {
  readonly #exact = new Map<string, HostOverride>();
  readonly #below = new Map<string, HostOverride>();

  /** @param overrides of two with one pattern the last counts */
  constructor(overrides: readonly HostOverride[]) {
    for (const override of overrides) {
      const { pattern } = override;
      if (pattern.startsWith('*.')) this.#below.set(pattern.slice(2), override);
      else this.#exact.set(pattern, override);
    }
  }

  /**
   * The override in force: the exact one, else that of the nearest domain above.
   * @param host lower-case host name without port
   */
  of(host: string): HostOverride | undefined {
    const exact = this.#exact.get(host);
    if (exact !== undefined || this.#below.size === 0) return exact;
    for (const domain of parentsOf(host)) {
      const override = this.#below.get(domain);
      if (override !== undefined) return override;
    }
    return undefined;
  }
}

/** A set of domains, each with all hosts below it. */
export class DomainSet {
  readonly #domains: ReadonlySet<string>;

  constructor(domains: readonly string[]) {
    this.#domains = new Set(domains);
  }

  /** @param host lower-case host name without port */
  has(host: string): boolean {
    return this.#domains.size > 0 && this.domainOf(host) !== undefined;
  }

  /** @returns the domain of the set that `host` is or lies below, the longest one; undefined when there is none */
  domainOf(host: string): string | undefined {
    if (this.#domains.has(host)) return host;
    for (const domain of parentsOf(host)) if (this.#domains.has(domain)) return domain;
    return undefined;
  }
}

/** The domains above a host, nearest first; a host name has at most 127 labels. */
function* parentsOf(host: string): IterableIterator<string> {
  let dot = host.indexOf('.');
  while (dot !== -1) {
    yield host.slice(dot + 1);
    dot = host.indexOf('.', dot + 1);
  }
}
