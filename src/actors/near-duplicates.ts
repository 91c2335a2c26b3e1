// Near duplicates (step 11, DESIGN.md §7): a page whose visible text has nearly the fingerprint of an earlier page's. It is marked as that
// page's duplicate in its row, counts as known content, and its links are followed, but come last. The index is memory of one process
// (domain/simhash-index.ts): the newest fingerprints are kept, and a page that repeats one that fell out, or one of an earlier run, counts
// as new. The row of every page of text gets its fingerprint, so what was found can be looked at later.

import type { HostKey, UrlKey } from '../base/units.ts';
import { hostKey as brandHostKey, urlKey as brandUrlKey } from '../base/units.ts';
import { afterSameText } from '../domain/recrawl.ts';
import { isNearDuplicate, type Simhash, simhashHex, simhashOfHex } from '../domain/simhash.ts';
import type { SimhashIndex } from '../domain/simhash-index.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { HostPlaceIdentity } from './messages.ts';
import type { PageToParse } from './parse-stage.ts';
import type { StateReader } from './ports.ts';
import type { PageRow } from './rows.ts';

/** Shingles of a text below which its fingerprint says little: two short texts of one template are often near by chance. */
export const FEATURES_MIN = 24;

export interface NearDuplicateMeans {
  readonly index: SimhashIndex;
  readonly stage: CheckpointStage;
  readonly reader: Pick<StateReader, 'page'>;
  readonly partitionOf: (hostKey: HostKey) => HostPlaceIdentity['partition'];
}

export class NearDuplicates {
  readonly #means: NearDuplicateMeans;

  constructor(means: NearDuplicateMeans) {
    this.#means = means;
  }

  /**
   * Looks for an earlier page with nearly the same text, and writes down what was found.
   * @returns its URL; undefined when there is none
   */
  judge(page: PageToParse, simhash: Simhash): string | undefined {
    if (simhash.features < FEATURES_MIN) return undefined;
    const { index, stage } = this.#means;
    const { hostKey, urlKey } = page;
    const original = this.#earlier(urlKey, simhash);
    if (original === undefined) index.add(simhash, { hostKey, urlKey });
    else stage.count('duplicates.near');
    this.note(page, simhash, original);
    return original;
  }

  /** Writes a page's fingerprint into its row, and which page it nearly repeats. */
  note(page: PageToParse, simhash: Simhash, nearDuplicateOf?: string): void {
    const { hostKey, urlKey, previousAt } = page;
    const { stage, reader, partitionOf } = this.#means;
    const partition = partitionOf(hostKey);
    const row = reader.page(hostKey, partition, urlKey);
    if (row === undefined || simhash.features < FEATURES_MIN) return;
    // A row whose body has not found its place yet must not be written without it.
    if (row.pointer === undefined) return;
    const visit = this.#visitOf(row, simhash, previousAt !== undefined);
    const found = { ...row, simhash: simhashHex(simhash), nearDuplicateOf, visit };
    stage.pageRow({ hostKey, partition, urlKey }, found);
  }

  /** A page that was visited once more, and whose text is nearly what it was, has not changed. */
  #visitOf(row: PageRow, simhash: Simhash, isVisit: boolean): PageRow['visit'] {
    if (!isVisit || row.visit === undefined || row.simhash === undefined) return row.visit;
    if (!isNearDuplicate(simhashOfHex(row.simhash), simhash)) return row.visit;
    this.#means.stage.count('visits.same-text');
    return afterSameText(row.visit);
  }

  /** URL of the nearest earlier page; its own row is asked once more, since the index is shared without a lock. */
  #earlier(urlKey: UrlKey, simhash: Simhash): string | undefined {
    const { index, reader, partitionOf } = this.#means;
    const match = index.findNearest(simhash);
    if (match === undefined || match.urlKey === urlKey) return undefined;
    const hostKey = brandHostKey(match.hostKey);
    const row = reader.page(hostKey, partitionOf(hostKey), brandUrlKey(match.urlKey));
    if (row === undefined) return undefined;
    const isProven =
      row.simhash === undefined || isNearDuplicate(simhashOfHex(row.simhash), simhash);
    return isProven ? row.url : undefined;
  }
}
