// Step 5 at the owner: does a discovered URL enter the host's queue? The rules in hand come first, since a spelling they deny must not enter
// the seen set: another spelling of the same URL may be the one they allow. Then the seen set decides, and the queue's band follows.

import { priorityBand } from '../domain/priority.ts';
import type { HostLedger } from './host-ledger.ts';
import type { HostQueues } from './host-queues.ts';
import type { HostRobots } from './host-robots.ts';
import type { HostPlaceIdentity, RoutedLink } from './messages.ts';
import type { HostServices } from './services.ts';

interface AdmissionOwner {
  readonly services: HostServices;
  readonly id: HostPlaceIdentity;
  readonly robots: HostRobots;
  readonly queues: HostQueues;
  readonly ledger: HostLedger;
}

export class HostAdmission {
  readonly #owner: AdmissionOwner;

  constructor(owner: AdmissionOwner) {
    this.#owner = owner;
  }

  /** Takes a link in, or lets it end here. */
  admit(link: RoutedLink): void {
    const { robots, ledger, queues } = this.#owner;
    if (link.fromOtherHost) ledger.linkedFromOutside();
    const verdict = robots.knownVerdict(link.url);
    if (verdict !== undefined && !verdict.allowed) {
      ledger.refused();
      return;
    }
    if (!this.#isNewOrReplaces(link)) return;
    const { url, urlKey, depth, hops, purpose, isHome, isSuspect } = link;
    const inLinkHosts = ledger.counts.inLinks;
    const band = priorityBand({ depth, inLinkHosts, isHome, isSuspect });
    queues.push(band, { url, urlKey, depth, attempts: 0, hops, purpose });
  }

  /** True for a URL never seen, and for an admitted spelling of one that was denied. */
  #isNewOrReplaces(link: RoutedLink): boolean {
    const { services, id, ledger } = this.#owner;
    if (services.seen.addIfNew(link.urlKey)) {
      ledger.discovered();
      return true;
    }
    const mayReplace = link.isRespelled || link.hops > 0;
    if (!mayReplace) return false;
    if (!services.reader.isDenied(id.hostKey, id.partition, link.urlKey)) return false;
    services.stage.removeDenied(id.hostKey, id.partition, link.urlKey);
    return true;
  }
}
