// The platform's URL parser, for what the fast path of resolve-url.ts leaves open (step 1, DESIGN.md §1), and the one rule in which it is
// behind the standard: since June 2026 an all-ASCII host is never a failure for its `xn--` labels, only lower-cased (whatwg/url #914);
// Node 20 still refuses those that are no Punycode. Such hosts are parsed with the prefix hidden and put back afterwards.
// Invariants: never throws, whatever the string (lone surrogates become U+FFFD); linear time.

/** The platform's parser; undefined for what is no URL. */
function parse(reference: string, base: string | undefined): string | undefined {
  try {
    return new URL(reference, base).href;
  } catch {
    return undefined;
  }
}

const AUTHORITY = /^([\0- ]*(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,})([^/\\?#]*)/i;
const ACE_LABEL = /(^|[.])xn--/gi;
const HIDDEN_LABEL = /(^|[.])zz--/g;

/**
 * Replaces `xn--` at the start of the host's labels by a prefix without meaning, so that the platform does not judge them.
 * @returns undefined when the host is no plain ASCII; the text itself when it names no host
 */
function hideAceLabels(url: string): string | undefined {
  const match = AUTHORITY.exec(url);
  if (match === null) return url;
  const [head, , authority = ''] = match;
  const hostAt = head.length - authority.length + authority.lastIndexOf('@') + 1;
  const host = url.slice(hostAt, head.length);
  // Only an all-ASCII domain passes unjudged. A host that already has the substitute could not be told from a hidden one.
  if (!/^[!-$&-~]*$/.test(host) || /(^|[.])zz--/i.test(host)) return undefined;
  return url.slice(0, hostAt) + host.replace(ACE_LABEL, '$1zz--') + url.slice(head.length);
}

/** What Node 20 refuses and the standard accepts: an all-ASCII host with `xn--` labels that are no Punycode (whatwg/url #914). */
function parseUnjudged(reference: string, base: string | undefined): string | undefined {
  const hasAce = /xn--/i;
  if (!hasAce.test(reference) && (base === undefined || !hasAce.test(base))) return undefined;
  const clean = reference.replace(/[\t\n\r]/g, '');
  const hidden = hideAceLabels(clean);
  const hiddenBase = base === undefined ? undefined : hideAceLabels(base);
  if (hidden === undefined || (base !== undefined && hiddenBase === undefined)) return undefined;
  const href = parse(hidden, hiddenBase);
  if (href === undefined) return undefined;
  const pathAt = href.indexOf('/', href.indexOf('//') + 2);
  const hostAt = Math.max(href.lastIndexOf('@', pathAt) + 1, href.indexOf('//') + 2);
  const host = href.slice(hostAt, pathAt).replace(HIDDEN_LABEL, '$1xn--');
  return href.slice(0, hostAt) + host + href.slice(pathAt);
}

/**
 * @param reference any string
 * @param base an absolute URL as this function returns it
 * @returns the WHATWG href, of any scheme, with its fragment; undefined for what the standard calls a failure
 */
export function parseByPlatform(reference: string, base: string | undefined): string | undefined {
  return parse(reference, base) ?? parseUnjudged(reference, base);
}
