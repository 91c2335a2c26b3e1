// Whether a page forbids indexing or following its links (step 11): robots meta elements and X-Robots-Tag headers. Both may address
// one crawler by its product token. All that apply are joined, the stricter wins: a page that says `noindex` anywhere means it.
// There is no clock here, so `unavailable_after` is not acted on; a page past its date answers 404 or 410 if its owner means it.
import type { MetaRobots } from './page-facts.ts';

export interface RobotsDirectives {
  readonly noindex: boolean;
  readonly nofollow: boolean;
}

/** Names that stand before a colon in a directive and are therefore no crawler's token. */
const VALUED_DIRECTIVES = new Set([
  'unavailable_after',
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
]);

/** Directives read of one page, header and metas together. */
const DIRECTIVES_MAX = 1_000;

/**
 * What the page's metadata asks of us. Never throws.
 * @param metas of the page, names in lower case
 * @param headers the values of all X-Robots-Tag headers, in order
 * @param userAgent a product token or a whole User-Agent whose first product counts; case does not matter
 * @returns Source: Google's "Robots meta tag, data-nosnippet, and X-Robots-Tag specifications"; HTML has no rule of its own
 */
export function robotsDirectives(
  metas: readonly MetaRobots[],
  headers: readonly string[],
  userAgent: string,
): RobotsDirectives {
  const token = productToken(userAgent);
  const directives: string[] = [];
  for (const { agent, content } of metas) {
    if (agent === 'robots' || agent === token) directives.push(...content.split(/[,\s]+/));
  }
  for (const header of headers) directives.push(...headerDirectives(header, token));
  const names = new Set(directives.slice(0, DIRECTIVES_MAX).map((name) => name.toLowerCase()));
  const none = names.has('none');
  return { noindex: none || names.has('noindex'), nofollow: none || names.has('nofollow') };
}

/** `hostler` of `Hostler/1.0 (+https://example.org)`. */
function productToken(userAgent: string): string {
  return /^[^\s/;(]*/.exec(userAgent.trim())![0].toLowerCase();
}

/** `otherbot: noindex, nofollow` addresses one crawler until the next token on the same line. */
function headerDirectives(header: string, token: string): string[] {
  const directives: string[] = [];
  let addressed = true;
  for (const part of header.slice(0, 8_192).split(',')) {
    const match = /^\s*([A-Za-z_-]+)\s*:(.*)$/s.exec(part);
    const name = match?.[1]?.toLowerCase();
    if (name === undefined || VALUED_DIRECTIVES.has(name)) {
      if (addressed) directives.push(part.trim());
      continue;
    }
    addressed = name === token || name === 'robots' || name === '*';
    if (addressed) directives.push(match![2]!.trim());
  }
  return directives;
}
