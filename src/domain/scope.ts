// Which URLs belong to this crawl: the first check of step 5 (DESIGN.md §1, §9 `--scope`, `--include`, `--exclude`). It sees every link that
// is new, so look-ups are by hash and prefixes are grouped by host. Operators' regular expressions come last and only meet URLs of bounded
// length: a pattern that backtracks is quadratic or worse, and a URL of 8,000 characters would stop the shard for minutes.
// Invariants: never throws after construction; a URL refused for its length is refused the same way on every machine.

import { CrawlError } from '../base/errors.ts';
import { hostOf } from './base-url.ts';
import { RegistrableDomains } from './registrable-domain.ts';

/** `host`: the seeds' hosts · `domain`: their registrable domains · `prefix`: below a seed's directory · `all`: everywhere. */
export type ScopeMode = 'host' | 'domain' | 'prefix' | 'all';

/** What is outside the scope, and by which rule. */
export type ScopeRefusal = 'scope' | 'include' | 'exclude';

export interface ScopeOptions {
  readonly mode: ScopeMode;
  /** Canonical URLs. */
  readonly seeds: readonly string[];
  /** Sources of regular expressions, flag `u`; when there are any, one must match the canonical URL. */
  readonly include?: readonly string[];
  /** Sources of regular expressions, flag `u`; none may match the canonical URL. */
  readonly exclude?: readonly string[];
  /** Longest URL that is shown to a regular expression; longer ones are refused. */
  readonly matchCharsMax?: number;
}

/** Twice the longest URL of practice (2,083, Internet Explorer's limit, to which sites still keep). */
const MATCH_CHARS_MAX = 4096;

/** Decides scope. Immutable; one per thread. */
export class Scope {
  readonly #mode: ScopeMode;
  readonly #hosts = new Set<string>();
  readonly #domains: RegistrableDomains;
  /** Host → prefixes without scheme: a site that moves to https stays in scope. */
  readonly #prefixes = new Map<string, string[]>();
  readonly #include: readonly RegExp[];
  readonly #exclude: readonly RegExp[];
  readonly #matchCharsMax: number;

  /**
   * @param options what the operator asked for
   * @param domains a cache of registrable domains to share
   * @throws CrawlError `config` on a regular expression that does not compile
   */
  constructor(options: ScopeOptions, domains: RegistrableDomains = new RegistrableDomains()) {
    this.#mode = options.mode;
    this.#domains = domains;
    this.#include = (options.include ?? []).map((source) => compile('include', source));
    this.#exclude = (options.exclude ?? []).map((source) => compile('exclude', source));
    this.#matchCharsMax = options.matchCharsMax ?? MATCH_CHARS_MAX;
    for (const seed of options.seeds) this.#addSeed(seed);
  }

  /**
   * @param canonicalUrl a canonical URL
   * @param host its host, without port
   * @returns undefined when the URL belongs to the crawl, else the rule that keeps it out
   */
  admits(canonicalUrl: string, host: string): ScopeRefusal | undefined {
    if (!this.#isInside(canonicalUrl, host)) return 'scope';
    const isLong = canonicalUrl.length > this.#matchCharsMax;
    if (this.#include.length > 0) {
      if (isLong || !this.#include.some((pattern) => pattern.test(canonicalUrl))) return 'include';
    }
    if (this.#exclude.length > 0) {
      if (isLong || this.#exclude.some((pattern) => pattern.test(canonicalUrl))) return 'exclude';
    }
    return undefined;
  }

  #addSeed(seed: string): void {
    const host = hostNameOf(seed);
    if (this.#mode === 'host') this.#hosts.add(host);
    if (this.#mode === 'domain') this.#hosts.add(this.#domains.of(host));
    if (this.#mode !== 'prefix') return;
    const path = withoutScheme(seed.split('?', 1)[0] as string);
    const prefix = path.slice(0, path.lastIndexOf('/') + 1);
    const prefixes = this.#prefixes.get(host);
    if (prefixes === undefined) this.#prefixes.set(host, [prefix]);
    else if (!prefixes.includes(prefix)) prefixes.push(prefix);
  }

  #isInside(canonicalUrl: string, host: string): boolean {
    switch (this.#mode) {
      case 'all':
        return true;
      case 'host':
        return this.#hosts.has(host);
      case 'domain':
        return this.#hosts.has(this.#domains.of(host));
      case 'prefix': {
        const prefixes = this.#prefixes.get(host);
        if (prefixes === undefined) return false;
        const path = withoutScheme(canonicalUrl);
        return prefixes.some((prefix) => path.startsWith(prefix));
      }
    }
  }
}

/** A canonical URL from behind its `//`. */
function withoutScheme(canonicalUrl: string): string {
  return canonicalUrl.slice(canonicalUrl.indexOf('//') + 2);
}

function hostNameOf(canonicalUrl: string): string {
  return hostOf(canonicalUrl, canonicalUrl.indexOf('/', 8));
}

function compile(option: 'include' | 'exclude', source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch (error) {
    throw new CrawlError('config', `${option}: ${source} is no regular expression`, {
      remedy: 'Write it as JavaScript does, with the flag u, and quote it for the shell.',
      cause: error,
    });
  }
}
