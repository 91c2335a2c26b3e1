// What one host writes down about its URLs (between steps 5 and 10): page checkpoints, denials, the audit line of each request, counters.
// Every entry of the ledger goes into the shard's open batch, so it commits together with the host's row (I8). Holds the host's totals.

import type { MonotonicMs, WallMs } from '../base/units.ts';
import { wallMs } from '../base/units.ts';
import {
  afterPassing,
  afterRender,
  NO_RENDERS,
  type RenderMemory,
} from '../domain/render-memory.ts';
import { ZERO_COUNTS } from './host-counts.ts';
import type { HostPlaceIdentity } from './messages.ts';
import { auditEntry, type PageVerdict } from './page-outcome.ts';
import { type Settlement, settlePage } from './page-settlement.ts';
import type { FetchOutcome, FetchPurpose } from './ports.ts';
import type { Band, HostCounts, HostRow, PageRow, QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';

export class HostLedger {
  readonly #services: HostServices;
  readonly #id: HostPlaceIdentity;
  #renders: RenderMemory | undefined;
  /** Raised in place, at every link and page; copied only when somebody asks. */
  readonly #counts: { -readonly [Name in keyof HostCounts]: HostCounts[Name] };

  constructor(services: HostServices, id: HostPlaceIdentity, row: HostRow | undefined) {
    this.#services = services;
    this.#id = id;
    this.#counts = { ...(row?.counts ?? ZERO_COUNTS) };
    this.#renders = row?.renders;
  }

  /** What rendering its pages has been worth; undefined while none was rendered. */
  get renders(): RenderMemory | undefined {
    return this.#renders;
  }

  /** The totals now; a copy. */
  get counts(): HostCounts {
    return { ...this.#counts };
  }

  /** Wall-clock time of a monotonic one of this process. */
  wallOf(ms: MonotonicMs): WallMs {
    return wallMs(this.#services.startedAt + (ms - this.#services.startedMs));
  }

  /** A link from another host points here. */
  linkedFromOutside(): void {
    this.#counts.inLinks += 1;
  }

  /** A new URL enters the queue. */
  discovered(): void {
    this.#services.stage.count('urls.discovered');
    this.#counts.discovered += 1;
  }

  /** A page was looked at, whose content is new or known. */
  seen(isFresh: boolean): void {
    if (!isFresh) this.#counts.duplicates += 1;
  }

  /** A page was rendered, or passed over. */
  rendered(result: 'gained' | 'nothing' | 'passed'): void {
    const memory = this.#renders ?? NO_RENDERS;
    this.#renders =
      result === 'passed' ? afterPassing(memory) : afterRender(memory, result === 'gained');
  }

  /** A link that the known rules deny: it does not enter the seen set, so another spelling still may. */
  refused(): void {
    this.#services.stage.count('skipped.robots');
    this.#counts.robotsDenied += 1;
  }

  /** A queued entry of a host whose owner asked to be left alone since: kept aside, in case the owner thinks better of it. */
  optedOut(band: Band, entry: QueueEntry): void {
    this.#services.stage.count('skipped.opt-out');
    this.#setAside(band, entry);
  }

  /** A queued entry that the rules deny now: kept aside, in case they change. */
  denied(band: Band, entry: QueueEntry): void {
    this.refused();
    this.#setAside(band, entry);
  }

  #setAside(band: Band, entry: QueueEntry): void {
    const { hostKey, partition } = this.#id;
    this.#services.stage.count('urls.settled');
    this.#services.stage.denied({ hostKey, partition, band, entry });
  }

  /** A page request ended. The caller appends `again`, if there is one, and advances the queue in the same turn. */
  settled(
    { entry, prior }: { readonly entry: QueueEntry; readonly prior: PageRow | undefined },
    outcome: FetchOutcome,
    verdict: PageVerdict,
  ): Settlement {
    const settlement = settlePage(this.#services, this.#id, entry, outcome, verdict, prior);
    this.#counts.fetched += 1;
    if (settlement.failed) this.#counts.failed += 1;
    if (settlement.stored) this.#counts.stored += 1;
    if (settlement.page !== undefined) {
      this.#services.stage.page(settlement.page);
      this.#services.stage.count(prior === undefined ? 'urls.settled' : 'visits');
    }
    this.#services.pages.settle(settlement.stored);
    return settlement;
  }

  /** An entry of a host none of whose addresses may be contacted (I13). */
  forbidden(entry: QueueEntry, wallNow: WallMs): void {
    this.#services.stage.count('failures.address-forbidden');
    this.#services.stage.count('urls.settled');
    this.#counts.failed += 1;
    const { urlKey, url, depth, hops, purpose } = entry;
    const { hostKey, partition } = this.#id;
    this.#services.stage.page({
      hostKey,
      partition,
      urlKey,
      url,
      depth,
      hops,
      purpose,
      fetchedAt: wallNow,
      response: undefined,
      failure: 'address-forbidden',
      redirectTo: undefined,
      parse: false,
      prior: undefined,
      parseCopy: false,
      render: undefined,
    });
  }

  /** Robots answers and what rendered pages wanted are archived like pages, but make no page row. */
  archived(url: string, outcome: FetchOutcome, purpose: 'robots' | 'resource'): void {
    if (outcome.kind !== 'response') return;
    const { hostKey, partition } = this.#id;
    this.#services.stage.page({
      hostKey,
      partition,
      urlKey: this.#services.keyOf(url),
      url,
      depth: 0,
      hops: 0,
      fetchedAt: this.wallOf(outcome.endedMs),
      response: outcome,
      failure: undefined,
      redirectTo: undefined,
      parse: false,
      purpose,
      prior: undefined,
      parseCopy: false,
      render: undefined,
    });
  }

  /** One request, for the audit. `robotsAt` is the fetch time of the rules it rests on, 0 for a robots request. */
  audited(request: {
    readonly url: string;
    readonly purpose: FetchPurpose;
    readonly gapMs: number;
    readonly robotsAt: WallMs;
    readonly outcome: FetchOutcome;
    readonly verdict: PageVerdict;
  }): void {
    const toWall = (ms: MonotonicMs): WallMs => this.wallOf(ms);
    const runStartedAt = this.#services.startedAt;
    this.#services.stage.audit(
      auditEntry({ host: this.#id.host, runStartedAt, toWall, ...request }),
    );
  }
}
