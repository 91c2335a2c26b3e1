// Paths of the shipped web: from a page's number to its canonical path and back, the canonical form of any spelling (DESIGN.md §1 step
// 1, stated independently of src/), and what a path leads to. The inverse needs no table: the number stands in the path, and a path
// is right when the number's own path equals it.
// Canonical here: fragment dropped, unreserved escapes decoded, other escapes upper-case, query sorted by key (stable), tracking
// parameters dropped. Dot segments are the client's business: a request that still has some is a 404.
import { fraction, mix, SALT } from './hash.ts';
import { type HostProfile, hostProfile } from './world-host.ts';
import type { WorldOptions } from './world-options.ts';

/** What a path of a host leads to. */
export type Resource =
  | { readonly kind: 'page'; readonly page: number }
  | { readonly kind: 'redirect'; readonly redirect: Redirect }
  | { readonly kind: 'gone'; readonly status: number }
  /** Leads on for ever: to ever new pages, or, without links, by a body that does not end. */
  | { readonly kind: 'trap'; readonly links: readonly string[]; readonly endless: boolean };

/** One hop. `host` is −1 when it leaves this web. */
export interface Redirect {
  readonly status: number;
  readonly host: number;
  readonly path: string;
  /** The Location header names the host, instead of the path alone. */
  readonly absolute: boolean;
}

/** A host that no web has: off-scope links lead there. */
export const OUTSIDE = 'http://outside.invalid';

/** 64 words for paths and anchors. */
export const WORDS =
  `amber basin cedar delta ember fjord grove haven inlet jetty knoll lagoon meadow
  north orchard prairie quarry ridge summit timber upland valley willow yonder anchor beacon
  canyon dune estuary forest glacier harbor island jungle kelp ledge marsh nectar oasis
  pebble quartz river shore tundra umbra vista wharf zenith acorn birch clover daisy
  elm fern garnet hazel iris jade lilac maple opal pine reed sage`.split(/\s+/);

const TRACKING = /^(utm_.*|gclid|gclsrc|fbclid|msclkid|mc_eid|mc_cid|_ga|_gl)$/;

/** The word number `hash & 63`. */
export function word(hash: number): string {
  return WORDS[hash & 63] ?? 'amber';
}

/**
 * The canonical path of page `page` on a host that shows the content of host `source`. Page 0 is `/`.
 * One page in eight has a query, one in sixteen each lives under /private/, under /docs/drafts/, below a folder with non-ASCII letters.
 */
export function pagePath(options: WorldOptions, source: number, page: number): string {
  if (page === 0) return '/';
  const hash = mix(options.seed, SALT.pathShape, source, page);
  const name = word(hash >>> 8);
  switch (hash & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return `/docs/${name}-${page}.html`;
    case 5:
    case 6:
    case 7:
      return `/news/${name}/${page}`;
    case 8:
      return `/wiki/${name}_${page}`;
    case 9:
    case 10:
      return `/list?id=${page}&view=${name}`;
    case 11:
      return `/private/${name}-${page}.html`;
    case 12:
      return `/docs/drafts/${name}-${page}.html`;
    case 13:
      return `/caf%C3%A9/${name}/${page}`;
    case 14:
      return `/~${name}/${page}/`;
    default:
      return `/item/${page}`;
  }
}

/** The canonical form of a path with query as it was sent. Linear in its length; never throws. */
export function canonicalPath(sent: string): string {
  if (!sent.includes('%') && !sent.includes('?') && !sent.includes('#')) return sent;
  const hash = sent.indexOf('#');
  const whole = normalizeEscapes(hash < 0 ? sent : sent.slice(0, hash));
  const mark = whole.indexOf('?');
  if (mark < 0) return whole;
  const kept = whole
    .slice(mark + 1)
    .split('&')
    .map((text) => ({ key: text.split('=', 1)[0] ?? '', text }))
    .filter(({ key }) => !TRACKING.test(key))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const query = kept.map(({ text }) => text).join('&');
  return query === '' ? whole.slice(0, mark) : `${whole.slice(0, mark)}?${query}`;
}

/** Decodes escapes of unreserved characters (RFC 3986 §2.3) and writes the others in upper case. */
export function normalizeEscapes(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%[0-9a-fA-F]{2}/g, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : triplet.toUpperCase();
  });
}

/** What a canonical path of a host leads to; an unknown one is `gone` with 404. */
export function resourceAt(options: WorldOptions, host: HostProfile, canonical: string): Resource {
  if (canonical === '/') return { kind: 'page', page: 0 };
  const page = lastNumber(canonical);
  if (page > 0 && page < host.pages && pagePath(options, host.source, page) === canonical) {
    return { kind: 'page', page };
  }
  const redirect = redirectAt(options, host, canonical);
  if (redirect !== null) return { kind: 'redirect', redirect };
  const links = trapLinks(options, host, canonical);
  if (links !== null) return { kind: 'trap', links, endless: false };
  if (canonical === ENDLESS_PATH && hasEndlessBody(options, host.source)) {
    return { kind: 'trap', links: [], endless: true };
  }
  const hash = mix(options.seed, SALT.redirect, host.source, page);
  const statuses = canonical.startsWith('/missing/')
    ? [404, 404, 404, 404, 404, 410, 403, 500]
    : [404];
  return { kind: 'gone', status: statuses[hash % statuses.length] ?? 404 };
}

/** Where a host's endless body stands. */
export const ENDLESS_PATH = '/endless';

/** True when a host has a body without an end. */
export function hasEndlessBody(options: WorldOptions, source: number): boolean {
  return fraction(mix(options.seed, SALT.endless, source)) < options.features.endless;
}

/** The path by which a host's trap is entered, or null when it has none. */
export function trapEntrance(options: WorldOptions, source: number): string | null {
  const hash = mix(options.seed, SALT.trap, source);
  if (fraction(hash) >= options.features.traps) return null;
  return ['/calendar/2026/01', '/cart?sid=00000001', '/deep/a'][hash % 3] ?? null;
}

function trapLinks(options: WorldOptions, host: HostProfile, path: string): string[] | null {
  const entrance = trapEntrance(options, host.source);
  if (entrance === null || path.length > 4000) return null;
  const calendar = /^\/calendar\/(\d{4,6})\/(\d\d)$/.exec(path);
  if (calendar !== null && entrance.startsWith('/calendar')) {
    const month = Number(calendar[1]) * 12 + Number(calendar[2]) - 1;
    return [month - 1, month + 1, month + 12].map(monthPath);
  }
  const session = /^\/cart\?sid=([0-9a-f]{8})$/.exec(path);
  if (session !== null && entrance.startsWith('/cart')) {
    const sid = Number.parseInt(session[1] ?? '', 16);
    return [1, 2, 3].map((n) => {
      const next = mix(options.seed, SALT.trap, sid, n);
      return `/cart?sid=${next.toString(16).padStart(8, '0')}`;
    });
  }
  if (entrance.startsWith('/deep') && /^\/deep(\/[ab])+$/.test(path)) {
    return [`${path}/a`, `${path}/b`];
  }
  return null;
}

function monthPath(month: number): string {
  return `/calendar/${Math.floor(month / 12)}/${String((month % 12) + 1).padStart(2, '0')}`;
}

function redirectAt(options: WorldOptions, host: HostProfile, path: string): Redirect | null {
  const match = /^\/(go|loop|out|away)\/(\d{1,9})$/.exec(path);
  if (match === null) return null;
  const n = Number(match[2]);
  const hash = mix(options.seed, SALT.redirect, host.source, n);
  const status = [301, 302, 303, 307, 308][hash % 5] ?? 302;
  const absolute = (hash & 64) !== 0;
  switch (match[1]) {
    case 'loop':
      return { status, host: host.index, path: `/loop/${n ^ 1}`, absolute };
    case 'out':
      return { status, host: host.index, path: `/private/secret-${n}.html`, absolute };
    case 'away':
      return { status, host: -1, path: `/${n}`, absolute: true };
  }
  // A chain has at most four hops: n counts down to a multiple of four.
  if (n % 4 > 0 && (hash & 128) !== 0) {
    return { status, host: host.index, path: `/go/${n - 1}`, absolute };
  }
  const crosses = hash >>> 30 === 0 && options.hosts > 1;
  const target = crosses
    ? hostProfile(options, mix(options.seed, SALT.redirect, hash, 1) % options.hosts)
    : host;
  const page = mix(options.seed, SALT.redirect, hash, 2) % target.pages;
  const targetPath = pagePath(options, target.source, page);
  return { status, host: target.index, path: targetPath, absolute: crosses || absolute };
}

function lastNumber(path: string): number {
  const match = /(\d{1,9})\D*$/.exec(path);
  return match === null ? -1 : Number(match[1]);
}
