// Step 5 at the owner: does a discovered URL enter the host's queue? The rules in hand come first, since a spelling they deny must not enter
// the seen set: another spelling of the same URL may be the one they allow. Then the seen set decides, and the queue's band follows. And
// once more when its turn has come (step 8): may the head of the queue be sent now, later, or never?

import type { UrlKey, WallMs } from '../base/units.ts';
import { priorityBand } from '../domain/priority.ts';
import type { HostAddresses } from './host-addresses.ts';
import type { HostBudget } from './host-budget.ts';
import type { HostLedger } from './host-ledger.ts';
import type { HostQueues } from './host-queues.ts';
import type { Admission, HostRobots } from './host-robots.ts';
import type { HostVisits } from './host-visits.ts';
import type { HostPlaceIdentity, RoutedLink } from './messages.ts';
import { type Band, FRESHNESS, type QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';

interface AdmissionOwner {
  readonly services: HostServices;
  readonly id: HostPlaceIdentity;
  readonly robots: HostRobots;
  readonly queues: HostQueues;
  readonly ledger: HostLedger;
  readonly addresses: HostAddresses;
  readonly budget: HostBudget;
  readonly visits: HostVisits;
}

export class HostAdmission {
  readonly #owner: AdmissionOwner;

  constructor(owner: AdmissionOwner) {
    this.#owner = owner;
  }

  /** Takes a link in, or lets it end here. */
  admit(link: RoutedLink): void {
    const { robots, ledger, budget } = this.#owner;
    if (link.fromOtherHost) ledger.linkedFromOutside();
    const verdict = robots.knownVerdict(link.url);
    if (verdict !== undefined && !verdict.allowed) {
      ledger.refused();
      return;
    }
    // The rules that would refuse this spelling are not known yet: it must not stand in the way of another one (see prove).
    const isUnproven = verdict === undefined && link.isRespelled;
    const { services } = this.#owner;
    const urlKey = isUnproven ? services.spellingKeyOf(link.url) : link.urlKey;
    if (services.seen.addIfNew(urlKey)) {
      if (!isUnproven) ledger.discovered();
    } else {
      const mayReplace = !isUnproven && (link.isRespelled || link.hops > 0);
      if (!mayReplace && link.isReturned !== true) return;
      if (!this.#returns(link) && !this.#replacesDenied(urlKey)) {
        if (link.isRespelled) this.#keepSpare(link);
        return;
      }
    }
    const { url, depth, hops, purpose, isHome, isSuspect } = link;
    const { inLinkDomains } = budget;
    const band = priorityBand({ depth, inLinkDomains, isHome, isSuspect });
    budget.place(band, { url, urlKey, depth, attempts: 0, hops, purpose }, isSuspect);
  }

  /**
   * An allowed spelling of a URL whose canonical spelling is not allowed: that one may still stand in the queue, from before the rules were
   * known, and be denied when its turn comes. The spare comes after everything that is queued now, and then takes its place.
   */
  #keepSpare(link: RoutedLink): void {
    const { services, budget } = this.#owner;
    if (!this.#isCanonicalDenied(link.url)) return;
    const urlKey = services.spellingKeyOf(link.url);
    if (!services.seen.addIfNew(urlKey)) return;
    const { url, depth, hops, purpose, isSuspect } = link;
    budget.place(2, { url, urlKey, depth, attempts: 0, hops, purpose }, isSuspect);
  }

  /**
   * A spare whose turn has come before that of the spelling it is to replace: that one stands behind it, or is parked, until it is denied.
   * It goes behind what waits, and the second time it is parked too, so that two of them never keep a host busy with nothing but each other.
   */
  #keepWaiting(band: Band, spare: QueueEntry, urlKey: UrlKey): void {
    const { services, id, queues, budget } = this.#owner;
    if (!this.#isCanonicalDenied(spare.url)) return;
    // Another allowed spelling was fetched meanwhile.
    if (services.reader.page(id.hostKey, id.partition, urlKey) !== undefined) return;
    if (band < 2 && queues.parked === 0) queues.push(2, spare);
    else budget.setAside(spare);
  }

  /** True when the rules at hand deny the canonical spelling of a URL. */
  #isCanonicalDenied(url: string): boolean {
    const { services, robots } = this.#owner;
    return robots.knownVerdict(services.canonicalOf(url))?.allowed === false;
  }

  /** True for a link that another owner had queued, and that was not fetched here: it was seen here before only to be given away. */
  #returns(link: RoutedLink): boolean {
    const { services, id } = this.#owner;
    return link.isReturned === true && services.mayReturn(id, link.urlKey);
  }

  /**
   * Whether the head of the queue may be sent. An entry that may not is written down as what became of it.
   * @returns undefined when the entry is done: the caller advances the queue
   */
  judge(
    head: { readonly band: Band; readonly entry: QueueEntry },
    wallNow: WallMs,
  ): Exclude<Admission, { kind: 'denied' }> | undefined {
    const { services, id, robots, ledger, addresses, budget } = this.#owner;
    const { band, entry } = head;
    if (band === FRESHNESS) return this.#judgeVisit(entry, wallNow);
    if (services.isDoneAlready(id, entry.urlKey)) {
      services.stage.count('urls.discovered', -1);
      return undefined;
    }
    if (services.isOptedOut(id.host)) {
      ledger.optedOut(band, entry);
      return undefined;
    }
    if (addresses.forbidden) {
      ledger.forbidden(entry, wallNow);
      return undefined;
    }
    const admission = robots.admission(entry.url, wallNow);
    if (admission.kind === 'denied') ledger.denied(band, entry);
    else if (admission.kind !== 'allowed') return admission;
    else if (this.isUnproven(entry)) this.prove(band, entry);
    else if (!budget.isSpent(entry)) return admission;
    return undefined;
  }

  /** A page due for another visit: its row is the only thing written down about it when it may not be visited. */
  #judgeVisit(
    entry: QueueEntry,
    wallNow: WallMs,
  ): Exclude<Admission, { kind: 'denied' }> | undefined {
    const { services, id, robots, addresses, visits } = this.#owner;
    const isForbidden = services.isOptedOut(id.host) || addresses.forbidden;
    const admission = isForbidden ? undefined : robots.admission(entry.url, wallNow);
    if (admission === undefined || admission.kind === 'denied') visits.putOff(entry, wallNow);
    else if (visits.priorOf(FRESHNESS, entry, wallNow) !== undefined) return admission;
    return undefined;
  }

  /** True for an entry that was queued under the key of its spelling, before the rules were known. */
  isUnproven(entry: QueueEntry): boolean {
    return entry.urlKey !== this.#owner.services.keyOf(entry.url);
  }

  /**
   * An unproven entry has turned out to be allowed: only now its URL enters the seen set, unless another spelling did before, and the
   * queue. So a disallowed spelling never hides an allowed one (DESIGN.md §4).
   */
  prove(band: Band, unproven: QueueEntry): void {
    const { services, ledger, queues } = this.#owner;
    const urlKey = services.keyOf(unproven.url);
    if (!services.seen.addIfNew(urlKey) && !this.#replacesDenied(urlKey)) {
      this.#keepWaiting(band, unproven, urlKey);
      return;
    }
    ledger.discovered();
    const { sequence: _sequence, ...entry } = unproven;
    queues.push(band, { ...entry, urlKey });
  }

  /** True when the URL was denied in another spelling; that denial is then lifted. */
  #replacesDenied(urlKey: UrlKey): boolean {
    const { services, id } = this.#owner;
    if (!services.reader.isDenied(id.hostKey, id.partition, urlKey)) return false;
    services.stage.removeDenied(id.hostKey, id.partition, urlKey);
    return true;
  }
}
