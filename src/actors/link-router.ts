// Steps 1 to 3 for one discovered link: canonicalise, apply the crawl's own bounds (scope, depth, traps), find the owner, and let the link
// die here if it is certainly known (PERFORMANCE.md: most links cost a microsecond and no message). What is left is a RoutedLink for its
// owner. Runs on the thread that parsed the page.

import { assert } from '../base/assert.ts';
import { Lru } from '../base/lru.ts';
import type { HostKey, PartitionIndex, UrlKey } from '../base/units.ts';
import { urlKey as brandUrlKey } from '../base/units.ts';
import type { BaseUrl } from '../domain/base-url.ts';
import type { IdentityRules } from '../domain/canonical-query.ts';
import { type DiscoveredUrl, discoverUrl } from '../domain/canonical-url.ts';
import type { Scope } from '../domain/scope.ts';
import { type TrapOptions, trapOf } from '../domain/traps.ts';
import type { UrlHasher } from '../domain/url-key.ts';
import { NO_ROW } from '../runtime/shared-tallies.ts';
import type { DomainAccount, DomainAccounts } from './domain-accounts.ts';
import type { RoutedLink } from './messages.ts';
import type { SeenCheck } from './seen-check.ts';

/** Hosts whose keys are remembered; links of a page go to few hosts, so this saves a hash for nearly every link. */
const HOSTS_REMEMBERED = 65_536;

/** A power of two. */
const VOTES_REMEMBERED = 64;

/** Where a host lives. */
export interface HostPlace {
  readonly hostKey: HostKey;
  readonly partition: PartitionIndex;
  /** The shard that owns the partition. */
  readonly shard: number;
}

/** What all links of one page have in common. */
export interface LinkSource {
  readonly base: BaseUrl;
  /** Host of the page itself (not of its base element). */
  readonly host: string;
  /** Depth of the links: that of the page plus one, or the page's own for a redirect. */
  readonly depth: number;
  readonly hops: number;
  readonly purpose: 'page' | 'sitemap';
  /** The page shows known content: its links are followed, and come last. */
  readonly isKnown?: boolean;
}

export interface RouterOptions {
  readonly rules: IdentityRules;
  readonly scope: Scope;
  /** True when the owner of a host asked not to be crawled. */
  readonly isOptedOut: (host: string) => boolean;
  readonly traps: TrapOptions;
  /** Links deeper than this are skipped; Infinity for no bound. */
  readonly depthMax: number;
  readonly hasher: UrlHasher;
  readonly partitionOf: (hostKey: HostKey) => PartitionIndex;
  readonly shardOf: (partition: PartitionIndex) => number;
  readonly seen: SeenCheck;
  readonly domains: DomainAccounts;
  /** Counts a link that ends here, by reason, for example `skipped.scope`. */
  readonly count: (name: string) => void;
}

export class LinkRouter {
  readonly #options: RouterOptions;
  readonly #places = new Lru<string, HostPlace>(HOSTS_REMEMBERED);
  /** Low half, high half of the canonical URL's key, then of the spelling's. */
  readonly #key = new Uint32Array(4);
  /** Hosts that the last voter was counted for. */
  readonly #voted = new Array<string>(VOTES_REMEMBERED).fill('');
  /** Whose links between hosts were routed last. */
  #voter: { readonly host: string; readonly domain: DomainAccount } = { host: '', domain: NO_ROW };

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  placeOf(host: string): HostPlace {
    const known = this.#places.get(host);
    if (known !== undefined) return known;
    const hostKey = this.#options.hasher.hostKey(host);
    const partition = this.#options.partitionOf(hostKey);
    const place = { hostKey, partition, shard: this.#options.shardOf(partition) };
    this.#places.set(host, place);
    return place;
  }

  partitionOf(hostKey: HostKey): PartitionIndex {
    return this.#options.partitionOf(hostKey);
  }

  /** Forgets where hosts live, after the ring has changed. */
  ringChanged(): void {
    this.#places.clear();
  }

  /**
   * Routes one reference of a page.
   * @returns the link and its owner's shard, or undefined when it ends here (and was counted)
   */
  route(reference: string, source: LinkSource): { link: RoutedLink; shard: number } | undefined {
    const { rules, count, depthMax } = this.#options;
    const found = discoverUrl(reference, source.base, rules);
    if (found.kind === 'rejected') return this.#skip(`skipped.${found.reason}`);
    count('links');
    if (source.depth > depthMax) return this.#skip('skipped.depth');
    const isRespelled = found.request !== found.canonical;
    if (this.#isKnown(found, isRespelled)) {
      if (found.host !== source.host) this.#vote(found.host, source);
      return this.#skip('links.known');
    }
    const outside = this.#options.scope.admits(found.canonical, found.host);
    if (outside !== undefined) return this.#skip('skipped.scope');
    if (this.#options.isOptedOut(found.host)) return this.#skip('skipped.opt-out');
    const trap = trapOf(found.canonical, this.#options.traps);
    if (trap?.isCertain === true) return this.#skip('skipped.trap');
    if (trap !== undefined) count('links.suspect');
    const place = this.placeOf(found.host);
    if (found.host !== source.host) this.#vote(found.host, source);
    return {
      link: this.#linkTo(found, place, source, {
        isRespelled,
        isSuspect: trap !== undefined || source.isKnown === true,
      }),
      shard: place.shard,
    };
  }

  /** A link between hosts speaks for the domain it leads to, be its URL known or new. */
  #vote(target: string, { host }: LinkSource): void {
    const { domains } = this.#options;
    if (host !== this.#voter.host) {
      this.#voter = { host, domain: domains.accountOf(host) };
      this.#voted.fill('');
    }
    // What a site links to it mostly links to from every page: a comparison, and no more, for a vote that was counted.
    const letters = target.charCodeAt(0) * 7 + target.charCodeAt(target.length >> 1) * 3;
    const slot = (target.length * 31 + letters + target.charCodeAt(5)) & (VOTES_REMEMBERED - 1);
    if (this.#voted[slot] === target) return;
    this.#voted[slot] = target;
    domains.linked(this.#voter.domain, domains.accountOf(target));
  }

  #skip(reason: string): undefined {
    this.#options.count(reason);
    return undefined;
  }

  #isKnown(found: DiscoveredUrl, isRespelled: boolean): boolean {
    const { hasher, seen } = this.#options;
    const key = this.#key;
    hasher.urlKeyInto(found.canonical, key, 0);
    if (!isRespelled) return seen.isCertainlyKnown(key[1] as number, key[0] as number);
    // Another spelling may be the one that robots.txt admits: only a spelling offered before dies here.
    hasher.urlKeyInto(found.request, key, 2);
    return seen.isCertainlyKnown(key[3] as number, key[2] as number);
  }

  #linkTo(
    found: DiscoveredUrl,
    place: HostPlace,
    source: LinkSource,
    marks: { readonly isRespelled: boolean; readonly isSuspect: boolean },
  ): RoutedLink {
    const fromOtherHost = found.host !== source.host;
    assert(source.hops >= 0, () => `hops ${source.hops}`);
    return {
      url: found.request,
      urlKey: this.#urlKey(),
      host: found.host,
      hostKey: place.hostKey,
      partition: place.partition,
      depth: source.depth,
      hops: source.hops,
      isHome: found.canonical.length === found.canonical.indexOf('/', 8) + 1,
      isRespelled: marks.isRespelled,
      isSuspect: marks.isSuspect,
      fromOtherHost,
      purpose: source.purpose,
    };
  }

  #urlKey(): UrlKey {
    return brandUrlKey((BigInt(this.#key[1] as number) << 32n) | BigInt(this.#key[0] as number));
  }
}
