// Step 11 for the usual page: from stored bytes to references, unresolved, ready for the router. HTML goes through the byte scanner, a
// redirect gives its Location, a sitemap its locations. Pure; what needs a rich parser goes to the guarded pool instead.

import { type BaseUrl, parseBase } from '../domain/base-url.ts';
import { encodeQuery, usesUtf8InQueries } from '../domain/charset-codec.ts';
import { headerValue, headerValues } from '../domain/header-list.ts';
import { scanLinks } from '../domain/link-scanner.ts';
import { redirectTarget } from '../domain/location.ts';
import { parseMediaType } from '../domain/media-type.ts';
import type { PageLink } from '../domain/page-facts.ts';
import { parseRobotsDirectives, robotsHeaderSources } from '../domain/robots-meta.ts';
import type { PageToParse } from './parse-stage.ts';

/** What a page leads to. */
export interface Outlinks {
  /** What the references are relative to: the page, or its base element. */
  readonly base: BaseUrl;
  readonly references: readonly string[];
  /** Counters to add, by name. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Relations of link elements that lead to pages (HTML standard §4.6.7); the others name resources. */
const PAGE_RELATIONS =
  /(?:^|\s)(?:canonical|alternate|next|prev|first|last|up|contents|index|help|license|search|author|amphtml)(?:\s|$)/;
const RESOURCE_RELATIONS =
  /(?:^|\s)(?:stylesheet|icon|preload|modulepreload|prefetch|preconnect|dns-prefetch|manifest|pingback)(?:\s|$)/;

/**
 * The references of one stored answer.
 * @param pageBase the page's own URL
 * @param productToken whose robots directives apply besides those for everybody
 */
export function outlinksOf(page: PageToParse, pageBase: BaseUrl, productToken: string): Outlinks {
  const redirect = redirectTarget(page.status, page.headers, page.url);
  if (redirect.kind === 'target') {
    return { base: pageBase, references: [redirect.url], counts: { redirects: 1 } };
  }
  if (redirect.kind === 'refused') {
    return {
      base: pageBase,
      references: [],
      counts: { [`skipped.redirect-${redirect.reason}`]: 1 },
    };
  }
  return htmlOutlinks(page, pageBase, productToken);
}

function htmlOutlinks(page: PageToParse, pageBase: BaseUrl, productToken: string): Outlinks {
  const type = parseMediaType(headerValue(page.headers, 'content-type') ?? '');
  const scan = scanLinks(page.body, {
    charset: type.charset,
    xml: type.essence === 'application/xhtml+xml',
  });
  const directives = parseRobotsDirectives(
    [...scan.metaRobots, ...robotsHeaderSources(headerValues(page.headers, 'x-robots-tag'))],
    productToken,
  );
  const base =
    (scan.base === undefined ? undefined : parseBase(resolved(scan.base, pageBase))) ?? pageBase;
  const references: string[] = [];
  if (scan.refresh !== undefined && scan.refresh.reference !== '') {
    references.push(scan.refresh.reference);
  }
  if (directives.nofollow)
    return { base, references, counts: { parsed: 1, 'skipped.nofollow': scan.links.length } };
  const isPlain = usesUtf8InQueries(scan.charset);
  let nofollow = 0;
  for (const link of scan.links) {
    if (link.nofollow) nofollow += 1;
    else if (leadsToPage(link)) {
      references.push(isPlain ? link.reference : withQueryIn(link.reference, scan.charset));
    }
  }
  const counts = nofollow === 0 ? PARSED : { parsed: 1, 'skipped.nofollow': nofollow };
  return { base, references, counts };
}

const PARSED = { parsed: 1 };

function leadsToPage(link: PageLink): boolean {
  if (link.kind !== 'link') return true;
  const rel = link.rel ?? '';
  return PAGE_RELATIONS.test(rel) && !RESOURCE_RELATIONS.test(rel);
}

/** A reference with its query in the bytes of the page's encoding (URL standard §4.4, query state). */
function withQueryIn(reference: string, charset: string): string {
  const hash = reference.indexOf('#');
  const end = hash === -1 ? reference.length : hash;
  const query = reference.indexOf('?');
  if (query === -1 || query > end) return reference;
  return reference.slice(0, query + 1) + encodeQuery(reference.slice(query + 1, end), charset);
}

function resolved(reference: string, base: BaseUrl): string {
  return URL.canParse(reference, base.href) ? new URL(reference, base.href).href : base.href;
}
