// Which URLs of a host are of one kind: part of step 5 (DESIGN.md §4, yield). URLs that differ only in numbers and ids have one shape, and
// so have all that one trap rule suspects, since what they combine is endless in form as well. Budgets (url-budget.ts) are kept by shape.
// Invariants: pure; one linear pass, no copy; never throws.

import { type TrapOptions, trapOf } from './traps.ts';

export interface UrlShape {
  /** 32 bits, unsigned. */
  readonly shape: number;
  /** A trap rule suspects the URL. */
  readonly isSuspect: boolean;
}

/** The shape of a URL whose traps have been looked for, without success. */
export function ordinaryShape(url: string): UrlShape {
  return { shape: formHash(url, url.indexOf('/', url.indexOf('//') + 2)), isSuspect: false };
}

/**
 * The shape of any URL: scheme, userinfo and host left out, each run of letters and digits with a digit in it read as one id.
 * `/p;jsessionid=A0` and `/p;jsessionid=B17` have one shape, `/list?page=2` and `/list?sort=2` have two.
 */
export function shapeOf(url: string, options: TrapOptions): UrlShape {
  const trap = trapOf(url, options);
  return trap === undefined
    ? ordinaryShape(url)
    : { shape: formHash(trap.rule, 0), isSuspect: true };
}

/** A hash of a whole text, digits included: 32 bits, unsigned. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** A hash of a URL's path alone, its numbers and ids read as one: `/p/17?sid=1` and `/p/18` have the same. */
export function wordsHash(url: string): number {
  const question = url.indexOf('?');
  return ordinaryShape(question === -1 ? url : url.slice(0, question)).shape;
}

/** FNV-1a over the characters of the form (draft-eastlake-fnv): fast, and nobody gains by a collision on a single host. */
function formHash(text: string, from: number): number {
  let hash = 0x811c9dc5;
  let runHash = hash;
  let hasDigit = false;
  for (let at = from; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const isDigit = code >= 0x30 && code <= 0x39;
    const lower = code | 0x20;
    if (isDigit || (lower >= 0x61 && lower <= 0x7a)) {
      hasDigit ||= isDigit;
      runHash = Math.imul(runHash ^ code, 0x01000193);
      continue;
    }
    hash = hasDigit ? Math.imul(hash ^ 0x23, 0x01000193) : runHash;
    hash = Math.imul(hash ^ code, 0x01000193);
    runHash = hash;
    hasDigit = false;
  }
  return hash >>> 0;
}
