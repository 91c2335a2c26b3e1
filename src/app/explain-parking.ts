// Why a URL is parked (`why URL`, step 5): the decision of actors/host-budget.ts repeated from the host's stored row. What other hosts of
// the domain have used up stands in no row, so a domain's budget is named as the reason when no other one is.

import { cursorsOf, type HostRow, PARKED } from '../actors/rows.ts';
import type { CrawlConfig } from '../config/options.ts';
import { trapOptions } from '../domain/traps.ts';
import { EMPTY_DOMAIN, type ParkReason, URL_BUDGET, UrlBudget } from '../domain/url-budget.ts';
import { shapeOf } from '../domain/url-shape.ts';
import { estimateMarked } from '../runtime/shared-tallies.ts';
import { HostSettings } from './host-settings.ts';

export interface WhyParking {
  /** Undefined when nothing in the host's own row speaks against the URL: the frontier or its domain was full, or it has been earned since. */
  readonly reason: ParkReason | undefined;
  /** What of the URL's kind was looked at, and how much of it was new; of the whole host. */
  readonly ofShape: { readonly pages: number; readonly freshPages: number } | undefined;
  readonly ofHost: { readonly urls: number; readonly pages: number; readonly freshPages: number };
  /** Registrable domains that link to its own, roughly. */
  readonly inLinkDomains: number;
  /** URLs parked on the host. */
  readonly parked: number;
  /** When they are looked at again; 0 when that is not known yet. */
  readonly reviewAt: number;
}

/** @param year the calendar year, for the calendar trap */
export function parkingOf(
  config: CrawlConfig,
  row: HostRow,
  url: string,
  year: number,
): WhyParking | undefined {
  const { worth } = row;
  if (worth === undefined) return undefined;
  const budget = new UrlBudget(worth.tally, {
    ...URL_BUDGET,
    urlsPerHost: new HostSettings(config).urlsOf(row.host),
    ordinaryPagesMin: config.alikePagesMax,
    urlsPerDomain: config.domainUrls,
    hostsPerDomain: config.domainHosts,
  });
  const shape = shapeOf(url, trapOptions(year));
  const inLinkDomains = estimateMarked(worth.votes);
  const { head, tail } = cursorsOf(row, PARKED);
  return {
    reason: budget.judge(shape, { ...EMPTY_DOMAIN, inLinkDomains }),
    ofShape: budget.tallyOf(shape.shape),
    ofHost: worth.tally,
    inLinkDomains,
    parked: tail - head,
    reviewAt: worth.reviewAt,
  };
}

/** The reason for people. */
export function parkingText({ reason, ofShape, ofHost, inLinkDomains }: WhyParking): string {
  switch (reason) {
    case 'yield':
      return `of ${ofShape?.pages ?? 0} pages of its kind only ${ofShape?.freshPages ?? 0} had new content`;
    case 'suspect':
      return `it looks like one of a trap's, which has had its allowance (${ofShape?.freshPages ?? 0} new of ${ofShape?.pages ?? 0} pages)`;
    case 'host-budget':
      return (
        `its host has used up its budget (${ofHost.urls} URLs; ${ofHost.freshPages} of ${ofHost.pages} pages ` +
        `had new content, ${inLinkDomains} domains link there)`
      );
    case 'domain-hosts':
      return 'its domain has too many hosts for what links to it';
    default:
      return 'the frontier was full, or its domain has used up its budget, or the URL has been earned since';
  }
}
