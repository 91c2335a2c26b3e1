// What a URL's host shows that is known already (`why URL`, steps 5 and 6): read from the host's stored row, by the very rules that its actor
// goes by (actors/host-known.ts). Of a page whose text is too short for a fingerprint nothing is stored that it could be compared by, so
// it is not called a soft 404 here although it was counted as one.

import type { HostRow, PageRow } from '../actors/rows.ts';
import { repeatedPage, Soft404 } from '../domain/soft-404.ts';
import { areTwins, TwinOrigins, type TwinRow, twinUrl } from '../domain/twin-origins.ts';

export interface WhyRepeats {
  /** The page is one that its host shows under unrelated paths. */
  readonly isSoft404: boolean;
  /** The origin that the URL's own yields to, and on how many pages they agreed; undefined when it yields to none. */
  readonly yieldsTo: TwinRow | undefined;
  /** The URL's own twin, which it is parked for; undefined for none, and for mirrors, which only come last. */
  readonly twin: string | undefined;
}

/** @param url as it would be sent @param page its row, if it was fetched */
export function repeatsOf(row: HostRow, url: string, page: PageRow | undefined): WhyRepeats {
  const repeats = row.worth?.repeats;
  const yieldsTo = new TwinOrigins(repeats?.twins).yieldsTo(url);
  const original = page?.duplicateOf ?? page?.nearDuplicateOf;
  const isSoft404 =
    original !== undefined && new Soft404(repeats?.soft404).has(repeatedPage(original));
  const isTwin = yieldsTo !== undefined && areTwins(yieldsTo);
  return { isSoft404, yieldsTo, twin: isTwin ? twinUrl(url, yieldsTo) : undefined };
}

/** What an origin yields for, for people. */
export function yieldText({ own, other, agreements, compared }: TwinRow): string {
  return `${own} shows what ${other} shows: ${agreements} of ${compared} pages agreed`;
}
