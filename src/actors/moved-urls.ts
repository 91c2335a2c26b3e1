// What a shard remembers of URLs that moved with their partitions, so that a move costs no second fetch (I5; steps 4 and 5 in a cluster). The seen
// set alone cannot tell: a URL that was queued here, given away and comes back is in it, and so is one that stands in the queue. So what
// comes back is let in unless this node has fetched it, and when a queued URL's turn comes, it is asked once more whether it was fetched
// meanwhile. Kept in memory and bounded: after a restart, or beyond the bound, a page may be fetched once more.

import type { UrlKey } from '../base/units.ts';
import type { HostPlaceIdentity } from './messages.ts';
import type { StateReader } from './ports.ts';

/** Keys kept of each kind: some 10 MB. */
const KEYS_MAX = 100_000;

export class MovedUrls {
  readonly #reader: Pick<StateReader, 'page'>;
  /** An owner before this node has settled them; they may stand in a queue here. */
  readonly #settledElsewhere = new Set<UrlKey>();
  /** Let in though they were in the seen set; each may stand in a queue twice. */
  readonly #returned = new Set<UrlKey>();

  constructor(reader: Pick<StateReader, 'page'>) {
    this.#reader = reader;
  }

  /** An owner before this node has settled a URL that is in the seen set here. */
  settledElsewhere(urlKey: UrlKey): void {
    if (this.#settledElsewhere.size < KEYS_MAX) this.#settledElsewhere.add(urlKey);
  }

  /** A URL comes from another owner's queue, and is in the seen set here. @returns true when it should be queued */
  mayReturn(host: HostPlaceIdentity, urlKey: UrlKey): boolean {
    if (this.#settledElsewhere.has(urlKey) || this.#isFetched(host, urlKey)) return false;
    if (this.#returned.size < KEYS_MAX) this.#returned.add(urlKey);
    return true;
  }

  /** True for a queued URL that is no work any more. */
  isDone(host: HostPlaceIdentity, urlKey: UrlKey): boolean {
    if (this.#settledElsewhere.has(urlKey)) return true;
    return this.#returned.has(urlKey) && this.#isFetched(host, urlKey);
  }

  #isFetched({ hostKey, partition }: HostPlaceIdentity, urlKey: UrlKey): boolean {
    return this.#reader.page(hostKey, partition, urlKey) !== undefined;
  }
}
