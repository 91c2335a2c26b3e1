// Origins that show what another one shows (steps 5 and 6, DESIGN.md §7): http and https of one host, www and bare name, and mirrors, by
// one mechanism. A page that is equal or nearly equal to a page of another origin under the same path agrees with it. When several do,
// and of the pages that both have a good part, one of the two yields: its URLs come last, and where the two are but spellings of one site
// (twins), those that the other has as well are parked. So what only one of them has is still found. Invariants: pure; bounded memory;
// of two origins that agree at most one yields, as far as both have been looked at.

/** Pages that must agree. One shared licence text or script is none; five paths of a site are. */
export const AGREEMENTS_MIN = 5;
/** Of the pages that both origins have, the part that must agree: crawled at once, each is first with half of them. */
const SHARE_MIN = 0.3;
/** A part with which the origin is a copy, whichever of the two would else be preferred. */
const SHARE_COPY = 0.9;
/** Pairs remembered of a host. */
const ROWS_MAX = 4;

/** What is known of an origin of a host and another one. Plain data. */
export interface TwinRow {
  /** Scheme, host and port: an origin of the host whose row this is. */
  readonly own: string;
  readonly other: string;
  /** Pages of `own` that show what `other` had shown before under the same path. */
  readonly agreements: number;
  /** Pages of `own` whose path was known of `other`, too. */
  readonly compared: number;
}

interface Pair {
  readonly own: string;
  readonly other: string;
  agreements: number;
  compared: number;
}

export class TwinOrigins {
  readonly #pairs: Pair[];

  constructor(stored: readonly TwinRow[] | undefined) {
    this.#pairs = stored?.map((row) => ({ ...row })) ?? [];
  }

  /** False for nearly every host: nothing else need be asked then. */
  get isEmpty(): boolean {
    return this.#pairs.length === 0;
  }

  /** What is stored; a copy. */
  stored(): readonly TwinRow[] {
    return this.#pairs.map((pair) => ({ ...pair }));
  }

  /**
   * A page was looked at.
   * @param page.repeats URL of the earlier page that it is equal or nearly equal to; empty for none
   * @param isKnown whether a URL is in the seen set
   */
  pageSeen(
    page: { readonly url: string; readonly repeats: string },
    isKnown: (url: string) => boolean,
  ): void {
    const { url, repeats } = page;
    const own = originOf(url);
    const rest = url.slice(own.length);
    const other = repeats === '' ? '' : originOf(repeats);
    const agrees = other !== '' && other !== own && repeats.slice(other.length) === rest;
    if (agrees) this.#agreed(own, other);
    for (const pair of this.#pairs) {
      if (pair.own !== own || (agrees && pair.other === other)) continue;
      if (isKnown(pair.other + rest)) pair.compared += 1;
    }
  }

  /** The pair by which the origin of a URL yields to another one; undefined when it does not. */
  yieldsTo(url: string): TwinRow | undefined {
    for (const pair of this.#pairs) if (isUnder(url, pair.own) && yields(pair)) return pair;
    return undefined;
  }

  #agreed(own: string, other: string): void {
    const known = this.#pairs.find((pair) => pair.own === own && pair.other === other);
    if (known !== undefined) {
      known.agreements += 1;
      known.compared += 1;
      return;
    }
    if (this.#pairs.length === ROWS_MAX) this.#dropWeakest();
    this.#pairs.push({ own, other, agreements: 1, compared: 1 });
  }

  #dropWeakest(): void {
    const weakest = this.#pairs.reduce((least, pair) =>
      pair.agreements < least.agreements ? pair : least,
    );
    this.#pairs.splice(this.#pairs.indexOf(weakest), 1);
  }
}

/** The URL of the same page on the other origin of a pair. */
export function twinUrl(url: string, { own, other }: TwinRow): string {
  return other + url.slice(own.length);
}

/** True when the two are spellings of one site: they differ in scheme, in a leading `www.`, or in both. Mirrors have other names. */
export function areTwins({ own, other }: TwinRow): boolean {
  return bareHost(own) === bareHost(other);
}

function yields({ own, other, agreements, compared }: TwinRow): boolean {
  if (agreements < AGREEMENTS_MIN || agreements < compared * SHARE_MIN) return false;
  return agreements >= compared * SHARE_COPY || isPreferred(other, own);
}

/** https before http, then the shorter name, then by spelling: any total order would do, this is what owners mostly want. */
function isPreferred(a: string, b: string): boolean {
  const isSecureA = a.startsWith('https:');
  if (isSecureA !== b.startsWith('https:')) return isSecureA;
  return a.length !== b.length ? a.length < b.length : a < b;
}

/** Scheme, host and port of an absolute URL. */
function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end === -1 ? url : url.slice(0, end);
}

function isUnder(url: string, origin: string): boolean {
  return url.startsWith(origin) && (url.length === origin.length || url[origin.length] === '/');
}

function bareHost(origin: string): string {
  return origin.replace(/^https?:\/\/(?:www\.)?/, '');
}
