// The outgoing links of a page: what stands in its href attributes and what each means, made together, so that the truth about a link
// is known by construction and not by parsing. Every page of a host is below page 0 in a tree, hence reachable unless robots, nofollow
// or an error stands in the way; the remaining links go anywhere.
// Spellings cover what canonicalisation (DESIGN.md §1 step 1) must undo: fragments, tracking parameters, case, escapes, dot segments,
// white space, entities, order of parameters, relative, protocol-relative and absolute forms.
import { choose, fraction, mix, SALT } from './hash.ts';
import { type HostProfile, hostOrigin, hostProfile } from './world-host.ts';
import type { WorldOptions } from './world-options.ts';
import { ENDLESS_PATH, hasEndlessBody, OUTSIDE, pagePath, trapEntrance } from './world-path.ts';

/** One `<a href>`. */
export interface WorldLink {
  /** The attribute's text, escaped as it stands in the page. */
  readonly href: string;
  /** The number of the host it leads to, −1 when it leaves this web or is no URL to fetch. */
  readonly host: number;
  /** Path and query as a client sends them, empty when `host` is −1. */
  readonly path: string;
  /** False when marked rel=nofollow. */
  readonly follow: boolean;
}

/** The page whose bytes page `page` shows: itself, or its left neighbour when it is an exact copy. */
export function contentPage(options: WorldOptions, host: HostProfile, page: number): number {
  return copyKind(options, host, page) === 'exact' ? page - 1 : page;
}

/** Whether a page copies its left neighbour's bytes, nearly its text, or nothing. Only odd pages from 3 on copy. */
export function copyKind(
  options: WorldOptions,
  host: HostProfile,
  page: number,
): 'exact' | 'near' | null {
  const { duplicates, nearDuplicates } = options.features;
  if (duplicates + nearDuplicates === 0 || page < 3 || page % 2 === 0 || page >= host.pages) {
    return null;
  }
  const x = fraction(mix(options.seed, SALT.duplicate, host.source, page)) / 2;
  if (x < duplicates) return 'exact';
  return x < duplicates + nearDuplicates ? 'near' : null;
}

/** Robots metadata of a page; page 0 never has any. */
export function pageMeta(options: WorldOptions, host: HostProfile, page: number) {
  const content = contentPage(options, host, page);
  const hash = mix(options.seed, SALT.meta, host.source, content);
  const marked = content > 0 && fraction(hash) < options.features.nofollow / 2;
  return { nofollow: marked && hash % 2 === 0, noindex: marked && hash % 3 < 2 };
}

/** All links of a page, in the order of the page; at most `linksPerPage` and a few. */
export function pageLinks(options: WorldOptions, host: HostProfile, page: number): WorldLink[] {
  const content = contentPage(options, host, page);
  const hasCopy = copyKind(options, host, content + 1) === 'exact';
  const place: Place = {
    options,
    host,
    content,
    // Two paths with the same bytes must not hold relative links: they would lead to different places.
    base: hasCopy ? null : pagePath(options, host.source, content),
  };
  const links: WorldLink[] = [];
  addChildren(place, content, links);
  if (hasCopy) addChildren(place, content + 1, links);
  for (const path of trapPaths(options, host, content)) {
    links.push({ href: path, host: host.index, path, follow: true });
  }
  while (links.length < options.linksPerPage) links.push(anyLink(place, links.length));
  return links;
}

/** Traps stand on the root and on one page in eight, an endless body on the root only. */
function trapPaths(options: WorldOptions, host: HostProfile, content: number): string[] {
  const paths: string[] = [];
  const hash = mix(options.seed, SALT.trap, host.source, content);
  const trap = content === 0 || hash % 8 === 0 ? trapEntrance(options, host.source) : null;
  if (trap !== null) paths.push(trap);
  if (content === 0 && hasEndlessBody(options, host.source)) paths.push(ENDLESS_PATH);
  return paths;
}

interface Place {
  readonly options: WorldOptions;
  readonly host: HostProfile;
  readonly content: number;
  readonly base: string | null;
}

function addChildren(place: Place, parent: number, links: WorldLink[]): void {
  const { options, host } = place;
  const width = Math.max(1, Math.min(10, Math.ceil(options.linksPerPage / 3)));
  const end = Math.min(host.pages, parent * width + width + 1);
  for (let child = parent * width + 1; child < end; child++) {
    links.push(spelled(place, host, pagePath(options, host.source, child), links.length, true));
  }
}

function anyLink(place: Place, position: number): WorldLink {
  const { options, host, content } = place;
  const { seed, features } = options;
  const hash = mix(seed, SALT.linkKind + (position << 5), host.source, content);
  const x = fraction(hash);
  const special = features.notFound + features.redirects + features.oddLinks;
  if (x < special) {
    const kind = choose<'missing' | 'redirect' | 'odd'>(
      x,
      [
        [features.notFound, 'missing'],
        [features.redirects, 'redirect'],
      ],
      'odd',
    );
    return specialLink(place, kind, mix(seed, hash, position));
  }
  const target = mix(seed, SALT.linkTarget, hash, position);
  const y = (x - special) / (1 - special);
  const follow = fraction(mix(seed, SALT.meta, hash, position)) >= features.nofollow;
  const other = y < options.crossHostLinks ? hostProfile(options, target % options.hosts) : host;
  const page = mix(target, SALT.linkTarget, position) % other.pages;
  return spelled(place, other, pagePath(options, other.source, page), position, follow);
}

function specialLink(
  { options, host }: Place,
  kind: 'missing' | 'redirect' | 'odd',
  hash: number,
): WorldLink {
  const own = (path: string) => ({ href: path, host: host.index, path, follow: true });
  const n = (hash >>> 8) % (2 * host.pages + 8);
  if (kind === 'missing') return own(`/missing/${n}`);
  if (kind === 'redirect') {
    return own(
      `/${choose(
        fraction(hash),
        [
          [0.7, 'go'],
          [0.1, 'loop'],
          [0.1, 'out'],
        ],
        'away',
      )}/${n}`,
    );
  }
  const hrefs = [
    'mailto:someone@example.invalid',
    'javascript:void(0)',
    'tel:+12025550123',
    '#top',
    `${OUTSIDE}/${hash % options.hosts}`,
    'http://[broken/',
    'data:text/html,hello',
  ];
  return { href: hrefs[hash % hrefs.length] ?? '#top', host: -1, path: '', follow: true };
}

function spelled(
  place: Place,
  target: HostProfile,
  path: string,
  position: number,
  follow: boolean,
): WorldLink {
  const { options, host, content } = place;
  const own = target.index === host.index;
  const spelling =
    options.features.spellings === 0
      ? 1
      : mix(options.seed, SALT.spelling + (position << 5), host.source, content);
  if (spelling !== 1 && fraction(spelling) < options.features.spellings) {
    return { ...respell(place, target, path, mix(spelling, SALT.spelling, position)), follow };
  }
  const href = own ? path : hostOrigin(options, target.index) + path;
  return { href, host: target.index, path, follow };
}

/** Another spelling of the same canonical URL. Absolute forms of the page's own host name the mirrored pair's source. */
function respell(place: Place, target: HostProfile, path: string, hash: number) {
  const { options, host } = place;
  const own = target.index === host.index;
  const named = own ? host.source : target.index;
  const origin = hostOrigin(options, named);
  const prefix = own ? '' : origin;
  const as = (href: string, sent = path) => ({ href, host: target.index, path: sent });
  switch (hash % 10) {
    case 0:
      return as(`${prefix}${path}#part-${hash & 15}`);
    case 1:
      return as(`${prefix}${tracked(path)}`, tracked(path));
    case 2:
      return { href: origin.toUpperCase() + path, host: named, path };
    case 3:
      return as(`${prefix}${escaped(path)}`, escaped(path));
    case 4:
      return as(`${prefix}/here/../.${path}`);
    case 5:
      return place.base !== null && own ? as(relative(place.base, path)) : as(`${prefix}${path}`);
    case 6:
      return as(`\n ${prefix}${path}\t`);
    case 7:
      return as(prefix + entities(path));
    case 8:
      return as(`${prefix}${reordered(path)}#x`, reordered(path));
    default:
      return { href: origin.slice('http:'.length) + path, host: named, path };
  }
}

function tracked(path: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}utm_source=feed`;
}

/** Writes the first letter as an escape that canonicalisation must decode. */
function escaped(path: string): string {
  const code = path.charCodeAt(1);
  return code >= 97 && code <= 122 ? `/%${code.toString(16)}${path.slice(2)}` : path;
}

function relative(base: string, path: string): string {
  const folder = base.split('?', 1)[0] ?? base;
  const depth = folder.split('/').length - 2;
  if (folder === '/list' && path.startsWith('/list?')) return path.slice('/list'.length);
  return depth === 0 ? `.${path}` : '../'.repeat(depth) + path.slice(1);
}

function entities(path: string): string {
  return path.replaceAll('&', '&amp;').replace('%C3%A9', '&eacute;').replace('/', '&#x2F;');
}

/** The same parameters in another order, escapes in lower case. */
function reordered(path: string): string {
  const mark = path.indexOf('?');
  if (mark < 0) return path.replace('%C3%A9', '%c3%a9');
  const parameters = path.slice(mark + 1).split('&');
  return `${path.slice(0, mark)}?${parameters.reverse().join('&')}`;
}
