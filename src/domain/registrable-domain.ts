// The registrable domain of a host: what one owner registered below a public suffix, private suffixes such as github.io included. It bounds
// the scope `domain`, carries a budget for all its hosts, and tells links from outside from links from home (DESIGN.md §1 step 5, §9).
// A look-up in the suffix list costs about a microsecond and most links stay on few hosts, so answers are kept in two generations: when
// the young one is full it becomes the old one. Invariant: memory is bounded by twice the capacity; the answer never depends on the cache.

import { getDomain } from 'tldts';
import { assert } from '../base/assert.ts';

const OPTIONS = {
  // Two users of github.io are two owners (DESIGN.md §9).
  allowPrivateDomains: true,
  // Hosts come from canonical URLs and need no extraction; underscores and such exist (heritrix #718) and are nobody's error.
  extractHostname: false,
  validateHostname: false,
};

/** Computes and remembers registrable domains. One per thread. */
export class RegistrableDomains {
  readonly #capacity: number;
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /** @param capacity hosts remembered at least; at most twice as many are held */
  constructor(capacity = 8192) {
    assert(capacity >= 1, () => `a cache for ${capacity} hosts`);
    this.#capacity = capacity;
  }

  /**
   * @param host lower-case host of a canonical URL, without port
   * @returns the registrable domain; the host itself for an IP address, a name without a dot, or a public suffix
   */
  of(host: string): string {
    const known = this.#young.get(host);
    if (known !== undefined) return known;
    const domain = this.#old.get(host) ?? registrableDomainOf(host);
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(host, domain);
    return domain;
  }
}

/** As `RegistrableDomains.of`, computed each time. Never throws. */
export function registrableDomainOf(host: string): string {
  // An IPv4 address in a canonical URL is dotted decimal, and no top-level domain ends in a digit (URL Standard §3.5).
  const last = host.charCodeAt(host.length - 1);
  if (host.charCodeAt(0) === 0x5b || (last >= 0x30 && last <= 0x39)) return host;
  return getDomain(host, OPTIONS) ?? host;
}
