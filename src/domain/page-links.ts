// What the crawl learns from one stored page (step 11, leading to 12): its links as absolute URLs, and what it says of itself. This is
// the usual way of parsing, inline on a crawl thread: linear, synchronous, never throwing, bounded by the scanner's limits. HTML and
// XHTML are scanned; sitemaps and feeds are recognised by their content; other types have no links here but those of their headers.
// Links are resolved by the WHATWG rules, as a browser would request them, and left for step 1 to canonicalise.

import { unreachable } from '../base/assert.ts';
import { parseUrl } from '../base/parse-url.ts';
import { usesUtf8InQueries } from './charset-codec.ts';
import { parseLinkHeader } from './link-header.ts';
import { type PageScan, scanLinks } from './link-scanner.ts';
import { type MediaType, parseMediaType } from './media-type.ts';
import { parseRefresh, type Refresh } from './meta-refresh.ts';
import { hasToken, type LinkKind } from './page-facts.ts';
import { pageKindOf } from './page-kind.ts';
import { encodeReference, isPageRelation, withoutFragment } from './page-references.ts';
import { resolveReference } from './resolve-reference.ts';
import { parseRobotsDirectives, robotsHeaderSources } from './robots-meta.ts';
import { agentToken } from './robots-parser.ts';
import { type Simhash, SimhashBuilder, simhashHex } from './simhash.ts';
import { parseSitemap, type SitemapEntry, type SitemapKind } from './sitemap.ts';

/** A stored page as the parsers take it. */
export interface PageInput {
  /** The URL it was fetched from, absolute. */
  readonly url: string;
  readonly contentType?: string | undefined;
  /** Response headers; names in any case, repeats allowed. */
  readonly headers?: readonly (readonly [string, string])[] | undefined;
  /** After Content-Encoding. */
  readonly body: Uint8Array;
  /** Our product token or whole User-Agent, for robots metadata addressed to us. */
  readonly userAgent: string;
}

/** A link to follow, or with `nofollow` one only to know of. */
export interface ResolvedLink {
  /** Absolute http or https URL, fragment dropped, not canonicalised. */
  readonly url: string;
  readonly rel?: string;
  readonly nofollow?: true;
}

/** The answer of `node cluster.js parse` (DESIGN.md §9). */
export interface ParsedPage {
  /** Each URL once, in the order of the page. */
  readonly links: readonly ResolvedLink[];
  /** What relative references were resolved against. */
  readonly base: string;
  /** The encoding's name under the Encoding standard. */
  readonly charset?: string;
  readonly canonical?: string;
  readonly noindex: boolean;
  readonly nofollow: boolean;
  readonly title?: string;
  readonly refresh?: { readonly delaySeconds: number; readonly url: string };
  readonly sitemap?: readonly SitemapEntry[];
  readonly sitemapKind?: SitemapKind;
  /** Sixteen hexadecimal digits; all zero when there is no text. */
  readonly simhash: string;
  readonly fingerprint: Simhash;
  /** True when a bound left links out. */
  readonly truncated: boolean;
}

/**
 * Parses a stored page. Linear in its length; never throws.
 * @param page any body of any type
 */
export function extractLinks(page: PageInput): ParsedPage {
  const contentType = page.contentType ?? headersNamed(page, 'content-type')[0];
  const type = parseMediaType(contentType ?? '');
  const kind = pageKindOf(page.url, type, page.body);
  switch (kind) {
    case 'sitemap':
      return parsedSitemap(page, contentType);
    case 'html':
    case 'xhtml':
      return parsedHtml(page, type, kind === 'xhtml');
    case 'other':
      return parsedOther(page, type);
    default:
      return unreachable(kind);
  }
}

function parsedHtml(page: PageInput, type: MediaType, xml: boolean): ParsedPage {
  const builder = new SimhashBuilder();
  const scan = scanLinks(page.body, { charset: type.charset, xml, text: builder });
  return assemble(page, scan, builder.finish());
}

function parsedSitemap(page: PageInput, contentType: string | undefined): ParsedPage {
  const { kind, entries, truncated } = parseSitemap(page.body, { url: page.url, contentType });
  const parsed = parsedOther(page, parseMediaType(contentType ?? ''));
  if (kind === 'invalid') return parsed;
  const feed = kind === 'rss' || kind === 'atom';
  const links = feed
    ? [...parsed.links, ...entries.map(({ loc }) => ({ url: loc }))]
    : parsed.links;
  return { ...parsed, links, sitemap: entries, sitemapKind: kind, truncated };
}

/** A body that is not markup: only its headers have links, and only text has a fingerprint. */
function parsedOther(page: PageInput, type: MediaType): ParsedPage {
  const builder = new SimhashBuilder();
  if (type.essence.startsWith('text/')) builder.addText(page.body, 0, page.body.length);
  return assemble(page, undefined, builder.finish());
}

function assemble(page: PageInput, scan: PageScan | undefined, fingerprint: Simhash): ParsedPage {
  const encoding = scan?.charset ?? 'UTF-8';
  const base = baseOf(page.url, scan?.base, encoding);
  const robotsHeaders = headersNamed(page, 'x-robots-tag');
  const { noindex, nofollow } = parseRobotsDirectives(
    [...(scan?.metaRobots ?? []), ...robotsHeaderSources(robotsHeaders)],
    agentToken(page.userAgent),
  );
  const resolver = new LinkResolver(page.url, base, encoding, nofollow);
  for (const link of scan?.links ?? [])
    resolver.add(link.reference, link.kind, link.rel, link.nofollow);
  let canonical = scan?.canonical === undefined ? undefined : resolver.resolve(scan.canonical);
  for (const { reference, rel } of headersNamed(page, 'link').flatMap(parseLinkHeader)) {
    // A header's references are relative to the page itself, whatever its base element says. RFC 8288 §3.2
    const url = resolveReference(reference, page.url);
    if (url === undefined) continue;
    if (hasToken(rel, 'canonical')) canonical ??= url;
    if (isPageRelation(rel)) resolver.keep(url, rel, hasToken(rel, 'nofollow'));
  }
  const refresh = refreshOf(page, scan?.refresh, resolver);
  return {
    links: resolver.links(),
    base: parseUrl(base) === undefined ? page.url : base,
    ...(scan === undefined ? {} : { charset: scan.charset }),
    ...(canonical === undefined ? {} : { canonical }),
    noindex,
    nofollow,
    ...(scan?.title === undefined ? {} : { title: scan.title }),
    ...(refresh === undefined ? {} : { refresh }),
    simhash: simhashHex(fingerprint),
    fingerprint,
    truncated: scan?.truncated === true,
  };
}

/** Resolves the references of one page and keeps each URL once. */
class LinkResolver {
  readonly #page: string;
  readonly #base: string;
  readonly #encoding: string;
  readonly #utf8: boolean;
  readonly #nofollow: boolean;
  readonly #resolved = new Map<string, string | undefined>();
  readonly #links = new Map<string, ResolvedLink>();

  constructor(page: string, base: string, encoding: string, nofollow: boolean) {
    this.#page = resolveReference(page, page) ?? page;
    this.#base = base;
    this.#encoding = encoding;
    this.#utf8 = usesUtf8InQueries(encoding);
    this.#nofollow = nofollow;
  }

  add(reference: string, kind: LinkKind, rel: string | undefined, nofollow: boolean): void {
    if (kind === 'link' && !isPageRelation(rel ?? '')) return;
    const url = this.resolve(reference);
    if (url === undefined || (url === this.#page && isSameDocument(reference))) return;
    this.keep(url, rel, nofollow);
  }

  /** A link that is followed in one place and not in another is followed. */
  keep(url: string, rel: string | undefined, nofollow: boolean): void {
    const known = this.#links.get(url);
    const marked = nofollow || this.#nofollow;
    if (known !== undefined && (marked || known.nofollow === undefined)) return;
    const link = rel === undefined || rel === '' ? { url } : { url, rel };
    this.#links.set(url, marked ? { ...link, nofollow: true } : link);
  }

  resolve(whole: string): string | undefined {
    const reference = withoutFragment(whole);
    const known = this.#resolved.get(reference);
    if (known !== undefined || this.#resolved.has(reference)) return known;
    const encoded = this.#utf8 ? reference : encodeReference(reference, this.#encoding);
    const url = resolveReference(encoded, this.#base);
    this.#resolved.set(reference, url);
    return url;
  }

  links(): ResolvedLink[] {
    return [...this.#links.values()];
  }
}

/** Empty references and bare fragments lead to where we are. */
function isSameDocument(reference: string): boolean {
  return /^[\0- ]*(?:#|$)/.test(reference);
}

/**
 * The base of relative references. `data:` and `javascript:` bases are ignored (HTML standard §4.2.3); one that is no URL is kept, so
 * that relative references fail, which is what Chromium does.
 */
function baseOf(page: string, reference: string | undefined, encoding: string): string {
  if (reference === undefined) return page;
  const encoded = encodeReference(reference, encoding);
  const url = parseUrl(encoded, page);
  if (url === undefined) return '';
  const { href, protocol } = url;
  return protocol === 'data:' || protocol === 'javascript:' ? page : href;
}

function refreshOf(
  page: PageInput,
  meta: Refresh | undefined,
  resolver: LinkResolver,
): ParsedPage['refresh'] {
  const header = headersNamed(page, 'refresh')[0];
  const refresh = meta ?? (header === undefined ? undefined : parseRefresh(header));
  if (refresh === undefined) return undefined;
  const { delaySeconds, reference } = refresh;
  const url = reference === '' ? resolveReference(page.url, page.url) : resolver.resolve(reference);
  return url === undefined ? undefined : { delaySeconds, url };
}

function headersNamed(page: PageInput, name: string): string[] {
  return (page.headers ?? [])
    .filter(([key]) => key.toLowerCase() === name)
    .map(([, value]) => value);
}
