// From step 10 back to 6 for one shard: reads pages that are due from the schedule on disk, in the order of their times, and deals them out to
// their hosts. A row leaves the schedule when all of its pages are in their hosts' queues, in the same commit or a later one; a crash in
// between deals it out again, and the hosts pass over what was visited since. Memory is bounded: so many rows on their way, so many due
// pages in queues; the rest waits on disk (I10).

import { assert } from '../base/assert.ts';
import type { HostKey, PartitionIndex, UrlKey, WallMs } from '../base/units.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { HostMessage } from './messages.ts';
import type { DueRow, DueRowPlace, StateReader } from './ports.ts';
import type { Residency } from './residency.ts';
import { CountdownToken } from './work-token.ts';

/** Rows read at once, and on their way at most. */
const ROWS_MAX = 64;
/** Due pages in the queues of a shard's hosts above which no more are read. */
const WAITING_MAX = 50_000;
/** Time to the next look, milliseconds: after one that found something, and after one that found nothing. */
const BUSY_LOOK_MS = 100;
const IDLE_LOOK_MS = 500;

export interface RecrawlDeskOptions {
  readonly stage: CheckpointStage;
  readonly residency: Residency;
  readonly reader: Pick<StateReader, 'due'>;
  offerHost(hostKey: HostKey, message: HostMessage): boolean;
}

export class RecrawlDesk {
  readonly #options: RecrawlDeskOptions;
  /** Partitions of this shard; undefined while the crawl does not visit pages again. */
  #owns: ((partition: PartitionIndex) => boolean) | undefined;
  readonly #taken = new Set<string>();
  #nextAt = 0;

  constructor(options: RecrawlDeskOptions) {
    this.#options = options;
  }

  /** Begins to look for due pages. */
  open(owns: (partition: PartitionIndex) => boolean): void {
    assert(this.#owns === undefined, () => 'a recrawl begun twice');
    this.#owns = owns;
  }

  get isOpen(): boolean {
    return this.#owns !== undefined;
  }

  /** When the next page is due, as far as the last look told; Infinity when none is, or none is looked for. */
  dueInMs(wallNow: WallMs): number {
    if (this.#owns === undefined) return Infinity;
    return this.#taken.size > 0 ? 0 : Math.max(this.#nextAt - wallNow, 0);
  }

  /** Deals out what is due. @returns when to look again, milliseconds from now */
  look(wallNow: WallMs): number {
    const { reader, residency } = this.#options;
    const rowsMax = Math.min(ROWS_MAX - this.#taken.size, ROWS_MAX);
    if (this.#owns === undefined || rowsMax <= 0 || residency.visits >= WAITING_MAX) {
      return BUSY_LOOK_MS;
    }
    const { rows, nextAt } = reader.due(this.#owns, {
      now: wallNow,
      rowsMax,
      isTaken: (row) => this.#taken.has(nameOf(row)),
    });
    this.#nextAt = nextAt;
    for (const row of rows) this.#dealOut(row);
    return rows.length > 0 ? BUSY_LOOK_MS : IDLE_LOOK_MS;
  }

  #dealOut(row: DueRow): void {
    const { stage, offerHost } = this.#options;
    const { partition, dueAt, number } = row;
    const name = nameOf(row);
    this.#taken.add(name);
    let isWhole = true;
    const refused = (): void => {
      isWhole = false;
    };
    const countdown = new CountdownToken(() => {
      if (!isWhole) {
        this.#taken.delete(name);
        return;
      }
      stage.dueTaken({ partition, dueAt, number, count: row.pages.length });
      stage.afterCommit(() => this.#taken.delete(name));
    });
    const token = { applied: () => countdown.applied(), refused };
    for (const [hostKey, urlKeys] of byHost(row)) {
      countdown.expect();
      if (offerHost(hostKey, { kind: 'visit-pages', dueAt, urlKeys, token })) continue;
      refused();
      countdown.applied();
    }
    countdown.applied();
  }
}

function nameOf({ partition, dueAt, number }: DueRowPlace): string {
  return `${partition}/${dueAt}/${number}`;
}

function byHost({ pages }: DueRow): Map<HostKey, UrlKey[]> {
  const hosts = new Map<HostKey, UrlKey[]>();
  for (const { hostKey, urlKey } of pages) {
    const urlKeys = hosts.get(hostKey);
    if (urlKeys === undefined) hosts.set(hostKey, [urlKey]);
    else urlKeys.push(urlKey);
  }
  return hosts;
}
