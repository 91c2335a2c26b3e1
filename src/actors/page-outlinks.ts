// Step 11 for the usual page: from stored bytes to references, unresolved, ready for the router. HTML goes through the byte scanner, a
// redirect gives its Location, a sitemap its locations. Pure; what needs a rich parser goes to the guarded pool instead.

import { type BaseUrl, parseBase } from '../domain/base-url.ts';
import { usesUtf8InQueries } from '../domain/charset-codec.ts';
import { headerValue, headerValues } from '../domain/header-list.ts';
import { parseLinkHeader } from '../domain/link-header.ts';
import { scanLinks } from '../domain/link-scanner.ts';
import { redirectTarget } from '../domain/location.ts';
import { type MediaType, parseMediaType } from '../domain/media-type.ts';
import { hasToken } from '../domain/page-facts.ts';
import { pageKindOf } from '../domain/page-kind.ts';
import { encodeReference, isPageRelation, withoutFragment } from '../domain/page-references.ts';
import { resolveDocument } from '../domain/resolve-url.ts';
import { parseRobotsDirectives, robotsHeaderSources } from '../domain/robots-meta.ts';
import { type Simhash, SimhashBuilder } from '../domain/simhash.ts';
import { parseSitemap, type SitemapEntry } from '../domain/sitemap.ts';
import { inSiteOrder } from '../domain/sitemap-order.ts';
import type { PageToParse } from './parse-stage.ts';

/** A page that has changed, by its sitemap's word. */
export interface ChangedPage {
  readonly url: string;
  readonly changedAt: number;
}

/** What a page leads to. */
export interface Outlinks {
  /** What the references are relative to: the page, or its base element. */
  readonly base: BaseUrl;
  /** Each once. */
  readonly references: Iterable<string>;
  /** What the references lead to. */
  readonly purpose: 'page' | 'sitemap';
  /** Pages that a sitemap, visited once more, says have changed since. */
  readonly changed?: readonly ChangedPage[];
  /** Counters to add, by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** What its visible text is like; undefined for what is no page of text. */
  readonly text?: PageText;
}

/** A page's visible text, as duplicates and traps are told by it. */
export interface PageText {
  readonly simhash: Simhash;
  /** See SimhashBuilder.form. */
  readonly form: number;
}

/**
 * The references of one stored answer.
 * @param pageBase the page's own URL
 * @param productToken whose robots directives apply besides those for everybody
 */
export function outlinksOf(page: PageToParse, pageBase: BaseUrl, productToken: string): Outlinks {
  const redirect = redirectTarget(page.status, page.headers, page.url);
  if (redirect.kind === 'target') {
    const purpose = page.purpose === 'sitemap' ? 'sitemap' : 'page';
    return { base: pageBase, references: [redirect.url], purpose, counts: { redirects: 1 } };
  }
  if (redirect.kind === 'refused') {
    return nothing(pageBase, { [`skipped.redirect-${redirect.reason}`]: 1 });
  }
  const contentType = headerValue(page.headers, 'content-type');
  const type = parseMediaType(contentType ?? '');
  const kind = page.purpose === 'sitemap' ? 'sitemap' : pageKindOf(page.url, type, page.body);
  switch (kind) {
    case 'html':
      return markupOutlinks(page, pageBase, { type, xml: false, productToken });
    case 'xhtml':
      return markupOutlinks(page, pageBase, { type, xml: true, productToken });
    case 'sitemap':
      return sitemapOutlinks(page, pageBase, contentType);
    case 'other':
      return nothing(pageBase, {});
  }
}

function nothing(base: BaseUrl, counts: Readonly<Record<string, number>>): Outlinks {
  return { base, references: [], purpose: 'page', counts };
}

function sitemapOutlinks(
  page: PageToParse,
  base: BaseUrl,
  contentType: string | undefined,
): Outlinks {
  const { kind, entries } = parseSitemap(page.body, { url: page.url, contentType });
  const purpose = kind === 'index' ? 'sitemap' : 'page';
  const references = inSiteOrder(entries).map(({ loc }) => loc);
  const changed = kind === 'index' ? [] : changedSince(page, base, entries);
  return { base, references, purpose, counts: { 'links.sitemap': references.length }, changed };
}

const DAY_MS = 86_400_000;

/** Those entries of a sitemap whose lastmod lies behind the visit before; a date without time may mean its end. */
function changedSince(
  { previousAt }: PageToParse,
  base: BaseUrl,
  entries: readonly SitemapEntry[],
): ChangedPage[] {
  if (previousAt === undefined) return [];
  return entries.flatMap(({ loc, lastmod }) => {
    const statedAt = lastmod === undefined ? Number.NaN : Date.parse(lastmod);
    const changedAt = statedAt + (lastmod?.includes('T') === true ? 0 : DAY_MS);
    if (!(changedAt > previousAt)) return [];
    const url = resolveDocument(loc, base);
    const isOwn = url !== undefined && parseBase(url)?.host === base.host;
    return isOwn ? [{ url, changedAt }] : [];
  });
}

interface Reading {
  readonly type: MediaType;
  readonly xml: boolean;
  readonly productToken: string;
}

function markupOutlinks(page: PageToParse, pageBase: BaseUrl, reading: Reading): Outlinks {
  const builder = new SimhashBuilder();
  const { charset } = reading.type;
  const scan = scanLinks(page.body, { charset, xml: reading.xml, text: builder });
  const directives = parseRobotsDirectives(
    [...scan.metaRobots, ...robotsHeaderSources(headerValues(page.headers, 'x-robots-tag'))],
    reading.productToken,
  );
  const base = baseOf(scan.base, pageBase);
  const isUtf8 = usesUtf8InQueries(scan.charset);
  const references = new Set<string>();
  const add = (reference: string): void => {
    const document = withoutFragment(reference);
    references.add(isUtf8 ? document : encodeReference(document, scan.charset));
  };
  let nofollow = 0;
  if (scan.refresh !== undefined && scan.refresh.reference !== '') add(scan.refresh.reference);
  for (const link of scan.links) {
    if (link.nofollow || directives.nofollow) nofollow += 1;
    else if (link.kind !== 'link' || isPageRelation(link.rel ?? '')) add(link.reference);
  }
  if (!directives.nofollow) addHeaderLinks(page, pageBase, references);
  references.delete('');
  const counts = nofollow === 0 ? PARSED : { parsed: 1, 'skipped.nofollow': nofollow };
  const text = { simhash: builder.finish(), form: builder.form };
  return { base, references, purpose: 'page', counts, text };
}

const PARSED = { parsed: 1 };

/** Links in headers are relative to the page itself, whatever its base element says (RFC 8288 §3.2). */
function addHeaderLinks(page: PageToParse, pageBase: BaseUrl, references: Set<string>): void {
  for (const { reference, rel } of headerValues(page.headers, 'link').flatMap(parseLinkHeader)) {
    if (!isPageRelation(rel) || hasToken(rel, 'nofollow')) continue;
    const url = resolveDocument(reference, pageBase);
    if (url !== undefined) references.add(url);
  }
}

/** The base element's URL, or the page's own when there is none or it is none that a reference could be relative to. */
function baseOf(reference: string | undefined, pageBase: BaseUrl): BaseUrl {
  const resolved = reference === undefined ? undefined : resolveDocument(reference, pageBase);
  return (resolved === undefined ? undefined : parseBase(resolved)) ?? pageBase;
}
