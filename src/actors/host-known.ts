// What a host shows that is known already, beyond single pages (steps 5 and 6): that it answers any path with one page (domain/soft-404.ts),
// and that an origin of it shows what another one shows (domain/twin-origins.ts). Learns from the same word that the host's budget gets,
// `page-seen`; keeps its part of the host's row. Costs nothing for a page that repeats nothing on a host that never did.

import { repeatedPage, repeatedText, Soft404 } from '../domain/soft-404.ts';
import { areTwins, TwinOrigins, twinUrl } from '../domain/twin-origins.ts';
import type { HostRepeatsRow } from './rows.ts';
import type { HostServices } from './services.ts';

/** A page of the host was read, or found to be a copy of a known one. */
export interface PageSeen {
  readonly url: string;
  /** Its content is neither equal nor nearly equal to a known one. */
  readonly isNew: boolean;
  /** See domain/shape-table.ts, `FORM`. */
  readonly form: number;
  /** URL of the earlier page that it is equal or nearly equal to; empty for none, and for what was no answer with content. */
  readonly repeats: string;
  /** Its text is too short to be compared: whether it repeats another is told by its form. */
  readonly isShort: boolean;
}

/** A request that was answered 4xx: known content, and no copy of anything. */
export function refusedPage(url: string): PageSeen {
  return { url, isNew: false, form: 0, repeats: '', isShort: false };
}

/** What follows for a URL from what its origin shows: nothing, it comes last, or it is parked because a twin has it. */
export type TwinPlace = 'own' | 'last' | 'twin';

export class HostKnown {
  readonly #services: Pick<HostServices, 'seen' | 'keyOf' | 'stage'>;
  readonly #soft404: Soft404;
  readonly #twins: TwinOrigins;
  /** Whether a URL is in the seen set. */
  readonly #isSeen = (url: string): boolean => {
    const { seen, keyOf } = this.#services;
    return seen.has(keyOf(url));
  };

  constructor(
    services: Pick<HostServices, 'seen' | 'keyOf' | 'stage'>,
    row: HostRepeatsRow | undefined,
  ) {
    this.#services = services;
    this.#soft404 = new Soft404(row?.soft404);
    this.#twins = new TwinOrigins(row?.twins);
  }

  /** Learns from a page. @returns whether it is a soft 404, which is known content whatever its text */
  pageSeen(page: PageSeen): boolean {
    if (page.repeats !== '' || !this.#twins.isEmpty) this.#twins.pageSeen(page, this.#isSeen);
    const isShort = page.isShort && page.form !== 0;
    if (page.repeats === '' && !isShort) return false;
    const repeated = page.repeats === '' ? repeatedText(page.form) : repeatedPage(page.repeats);
    if (!this.#soft404.seen(page.url, repeated)) return false;
    this.#services.stage.count('pages.soft-404');
    return true;
  }

  /** Where a URL of the host belongs. */
  placeOf(url: string): TwinPlace {
    if (this.#twins.isEmpty) return 'own';
    const pair = this.#twins.yieldsTo(url);
    if (pair === undefined) return 'own';
    return areTwins(pair) && this.#isSeen(twinUrl(url, pair)) ? 'twin' : 'last';
  }

  /** Undefined while the host has repeated nothing. */
  row(): HostRepeatsRow | undefined {
    const soft404 = this.#soft404.stored();
    if (soft404.length === 0 && this.#twins.isEmpty) return undefined;
    return { soft404, twins: this.#twins.stored() };
  }
}
