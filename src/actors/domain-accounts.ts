// What the hosts of one registrable domain have together (step 5, DESIGN.md §4): how many URLs and hosts it has, how many of its pages were
// new, and who links to it. Its hosts live on different shards, so the accounts stand in memory that the process shares; a host's row
// keeps the host's part, and each host enters it once a process, when it wakes (host-budget.ts). What sleeps since a restart is missing
// from the account until then: a domain may seem smaller than it is for a while, never larger. On several machines each keeps its own.

import type { HostKey } from '../base/units.ts';
import { registrableDomainOf } from '../domain/registrable-domain.ts';
import { type DomainTally, EMPTY_DOMAIN } from '../domain/url-budget.ts';
import { estimateMarked, NO_ROW, type SharedTallies } from '../runtime/shared-tallies.ts';

/** Hosts whose accounts are remembered, at least. */
const HOSTS_REMEMBERED = 16_384;

const URLS = 0;
const HOSTS = 1;
const PAGES = 2;
const FRESH_PAGES = 3;

/** The number of a domain's account; NO_ROW when there is no room for it: it then has no budget of its own, and its hosts theirs. */
export type DomainAccount = number;

export class DomainAccounts {
  readonly #tallies: SharedTallies;
  readonly #keyOf: (name: string) => HostKey;
  /** Accounts by host, in two generations: asked for every link between hosts, and a Map that is only read is the fastest. */
  #young = new Map<string, DomainAccount>();
  #old = new Map<string, DomainAccount>();

  /** @param keyOf the key of a name, evenly spread */
  constructor(tallies: SharedTallies, keyOf: (name: string) => HostKey) {
    this.#tallies = tallies;
    this.#keyOf = keyOf;
  }

  /** The account of a host's registrable domain. */
  accountOf(host: string): DomainAccount {
    const known = this.#young.get(host);
    if (known !== undefined) return known;
    const account =
      this.#old.get(host) ?? this.#tallies.rowOf(this.#keyOf(registrableDomainOf(host)));
    if (this.#young.size >= HOSTS_REMEMBERED) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(host, account);
    return account;
  }

  tallyOf(account: DomainAccount): DomainTally {
    if (account === NO_ROW) return EMPTY_DOMAIN;
    const tallies = this.#tallies;
    return {
      urls: tallies.get(account, URLS),
      hosts: tallies.get(account, HOSTS),
      pages: tallies.get(account, PAGES),
      freshPages: tallies.get(account, FRESH_PAGES),
      inLinkDomains: estimateMarked(tallies.marks(account)),
    };
  }

  /** Those that link to it, as 64 marks. */
  votesOf(account: DomainAccount): readonly [low: number, high: number] {
    return account === NO_ROW ? [0, 0] : this.#tallies.marks(account);
  }

  /** A page of the domain `from` links to the domain `to`. Cheap: it may be told of every such link. */
  linked(from: DomainAccount, to: DomainAccount): void {
    // Accounts are spread evenly, so their numbers serve as the marks of domains.
    if (from !== to && to !== NO_ROW) this.#tallies.mark(to, from);
  }

  /** A host, new or of an earlier run, and what it brings. */
  hostEntered(
    account: DomainAccount,
    part: {
      readonly urls: number;
      readonly pages: number;
      readonly freshPages: number;
      readonly votes: readonly [low: number, high: number];
    },
  ): void {
    if (account === NO_ROW) return;
    this.#tallies.add(account, HOSTS, 1);
    this.#tallies.add(account, URLS, part.urls);
    this.#tallies.add(account, PAGES, part.pages);
    this.#tallies.add(account, FRESH_PAGES, part.freshPages);
    this.#tallies.join(account, part.votes);
  }

  /** URLs were admitted, or, below 0, withdrawn. */
  urlsAdmitted(account: DomainAccount, by: number): void {
    if (account !== NO_ROW) this.#tallies.add(account, URLS, by);
  }

  pageSeen(account: DomainAccount, isFresh: boolean): void {
    if (account === NO_ROW) return;
    this.#tallies.add(account, PAGES, 1);
    if (isFresh) this.#tallies.add(account, FRESH_PAGES, 1);
  }
}
