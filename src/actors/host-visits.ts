// From step 10 back to 6 for one host: pages that the schedule says are due enter the host's queue of due pages, and at their turn it is asked
// once more whether they are. The schedule and the queue are hints and may say a thing twice, after a crash for one; the page's own row
// says when it is due, and a visit moves that time, so each is made once (I5).

import type { WallMs } from '../base/units.ts';
import { afterVisit, dueNow } from '../domain/recrawl.ts';
import type { HostQueues } from './host-queues.ts';
import type { HostMessage, HostPlaceIdentity } from './messages.ts';
import type { ChangedPage } from './page-outlinks.ts';
import { type Band, FRESHNESS, type PageRow, type QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';

type VisitMessage = Extract<HostMessage, { kind: 'visit-pages' | 'pages-changed' }>;

interface VisitOwner {
  readonly services: Pick<HostServices, 'reader' | 'stage' | 'policy' | 'keyOf'>;
  readonly id: HostPlaceIdentity;
  readonly queues: HostQueues;
}

export class HostVisits {
  readonly #owner: VisitOwner;

  constructor(owner: VisitOwner) {
    this.#owner = owner;
  }

  heard(message: VisitMessage, wallNow: WallMs): void {
    if (message.kind === 'visit-pages') this.take(message);
    else this.hasten(message.pages, wallNow);
  }

  /** Takes pages that are due into the queue. While the last visit of one is not durable, all must be offered once more. */
  take({ urlKeys, dueAt, token }: Extract<VisitMessage, { kind: 'visit-pages' }>): void {
    const { services, id, queues } = this.#owner;
    for (const urlKey of urlKeys) {
      const row = services.reader.page(id.hostKey, id.partition, urlKey);
      if (row === undefined || isUnderWay(row)) token.refused();
      else if (row.visit?.dueAt === dueAt) {
        const { url, depth, visit } = row;
        const purpose = visit.sitemap ? ('sitemap' as const) : ('page' as const);
        queues.push(FRESHNESS, { url, urlKey, depth, attempts: 0, hops: 0, purpose });
      }
    }
    token.applied();
  }

  /**
   * Makes pages due now that have changed since their last visit, by their sitemap's word. A site may say so of all its pages at all times: none
   * is visited sooner than the least interval after its last visit.
   */
  hasten(pages: readonly ChangedPage[], wallNow: WallMs): void {
    const { services, id } = this.#owner;
    const { hostKey, partition } = id;
    const { leastMs } = services.policy.recrawl;
    for (const { url, changedAt } of pages) {
      const urlKey = services.keyOf(url);
      const row = services.reader.page(hostKey, partition, urlKey);
      if (row?.visit === undefined || row.visit.dueAt <= wallNow || isUnderWay(row)) continue;
      if (changedAt <= row.fetchedAt || wallNow - row.fetchedAt < leastMs) continue;
      const visit = dueNow(row.visit, wallNow);
      services.stage.count('visits.hastened');
      services.stage.pageRow({ hostKey, partition, urlKey }, { ...row, visit });
      services.stage.due({ hostKey, partition, urlKey, dueAt: visit.dueAt });
    }
  }

  /** The row of a queued page that is due; undefined when it was visited since, and for what waits for its first visit. */
  priorOf(band: Band, entry: QueueEntry, wallNow: WallMs): PageRow | undefined {
    if (band !== FRESHNESS) return undefined;
    const { services, id } = this.#owner;
    const row = services.reader.page(id.hostKey, id.partition, entry.urlKey);
    if (row?.visit === undefined || row.visit.dueAt === 0 || isUnderWay(row)) return undefined;
    return row.visit.dueAt <= wallNow ? row : undefined;
  }

  /** The rules, the owner or our own guard forbid the visit now: it is put off as one that failed, without a request. */
  putOff(entry: QueueEntry, wallNow: WallMs): void {
    const { services, id } = this.#owner;
    const { hostKey, partition } = id;
    const { urlKey } = entry;
    const row = this.priorOf(FRESHNESS, entry, wallNow);
    if (row?.visit === undefined) return;
    const { sitemap } = row.visit;
    const ended = { outcome: 'failed' as const, at: wallNow, freshForMs: undefined, sitemap };
    const visit = afterVisit(services.policy.recrawl, row.visit, ended);
    services.stage.count('visits.put-off');
    services.stage.pageRow({ hostKey, partition, urlKey }, { ...row, visit });
    services.stage.due({ hostKey, partition, urlKey, dueAt: visit.dueAt });
  }
}

/** True while the place of the page's stored bytes is not known here: its commit is on its way. */
function isUnderWay({ pointer, bodyBytes, status }: PageRow): boolean {
  return pointer === undefined && status !== 0 && bodyBytes > 0;
}
