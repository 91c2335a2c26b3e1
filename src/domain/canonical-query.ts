// The query of a canonical URL (step 1, DESIGN.md §1): parameters sorted by name, stable, without empty and tracking ones and, when asked,
// without session identifiers. URLSearchParams would cost 8 µs and rewrite `+` and escapes, so the text is worked on as it is.
// One pass over the characters proves most queries canonical already: names ascend by their first characters, nothing is empty or
// escaped, and no name has the first letter and length of one that may be dropped. Invariants: idempotent; the pass never wrongly passes.

import { isSessionParameter, SESSION_NAMES, stripSessionSuffix } from './session-identifiers.ts';
import { TrackingParameters } from './tracking-parameters.ts';
import { normalizeEscapes } from './url-escapes.ts';

/** What decides identity, fixed for a crawl: crawls of different rules have different seen sets. */
export interface IdentityRules {
  readonly tracking: TrackingParameters;
  /** Strip session identifiers too (session-identifiers.ts): a trap defence, no part of the canonical policy. */
  readonly stripSessions: boolean;
  /** Longest URL, in characters. RFC 9110 §4.1 asks for at least 8,000 octets. */
  readonly urlCharsMax: number;
  /** By the code of a lower-case first letter: bit n is set when a name of n letters (31: or more) may be dropped. */
  readonly suspects: Uint32Array;
}

const LENGTH_BIT_MAX = 31;
const URL_CHARS_MAX = 8192;

/**
 * Fixes the rules of identity.
 *
 * @param options `tracking` defaults to the built-in lists and `urlCharsMax` to 8,192
 */
export function createIdentityRules(options: {
  readonly stripSessions: boolean;
  readonly tracking?: TrackingParameters;
  readonly urlCharsMax?: number;
}): IdentityRules {
  const tracking = options.tracking ?? new TrackingParameters();
  const suspects = new Uint32Array(128);
  const suspect = (name: string): void => {
    const isPrefix = name.endsWith('*');
    const length = isPrefix ? name.length - 1 : name.length;
    // An empty pattern or one that starts outside ASCII could be any name: then nothing passes the quick look.
    const isAny = length === 0 || name.charCodeAt(0) >= 128;
    for (let first = 0; first < 128; first += 1) {
      if (!isAny && first !== name.charCodeAt(0)) continue;
      const bit = isAny ? 0 : Math.min(length, LENGTH_BIT_MAX);
      const bits = isPrefix || isAny ? -1 << bit : 1 << bit;
      suspects[first] = (suspects[first] as number) | bits;
    }
  };
  for (const name of tracking.droppedNames()) suspect(name);
  if (options.stripSessions) for (const name of SESSION_NAMES) suspect(name);
  return {
    tracking,
    stripSessions: options.stripSessions,
    urlCharsMax: options.urlCharsMax ?? URL_CHARS_MAX,
    suspects,
  };
}

/**
 * The canonical form of a query.
 *
 * @param url a WHATWG href without fragment
 * @param from index behind its `?`
 * @param host its host, for per-host rules
 * @returns undefined when the query is canonical as it stands; else its canonical form, empty when nothing is left
 */
export function canonicalQuery(
  url: string,
  from: number,
  host: string,
  rules: IdentityRules,
): string | undefined {
  if (isPlainlyCanonical(url, from, rules.suspects)) return undefined;
  return rewriteQuery(url.slice(from), host, rules);
}

/** One pass that proves a query canonical; false only means that it was not proven. */
function isPlainlyCanonical(url: string, from: number, suspects: Uint32Array): boolean {
  let nameAt = from;
  let inName = true;
  let previousFirst = 0;
  for (let at = from; at <= url.length; at += 1) {
    const code = at < url.length ? url.charCodeAt(at) : 0x26;
    if (code === 0x25 || code === 0x3b) return false;
    if (code !== 0x26 && (code !== 0x3d || !inName)) continue;
    if (inName) {
      // An empty parameter, a nameless one, or a name that does not sort behind its predecessor for certain.
      if (at === nameAt) return false;
      const first = url.charCodeAt(nameAt);
      if (first <= previousFirst) return false;
      previousFirst = first;
      const lower = first >= 0x41 && first <= 0x5a ? first | 0x20 : first;
      const length = Math.min(at - nameAt, LENGTH_BIT_MAX);
      if ((((suspects[lower] as number) >>> length) & 1) === 1) return false;
      inName = false;
    }
    if (code === 0x26) {
      nameAt = at + 1;
      inName = true;
    }
  }
  return true;
}

/** Sorts and filters a query. */
function rewriteQuery(text: string, host: string, rules: IdentityRules): string {
  const query = normalizeEscapes(text);
  if (!query.includes('&')) return canonicalParameter(query, host, rules);
  const kept: string[] = [];
  let sorted = true;
  let previous = '';
  for (const written of query.split('&')) {
    const parameter = canonicalParameter(written, host, rules);
    if (parameter.length === 0) continue;
    const name = nameOf(parameter);
    if (name < previous) sorted = false;
    previous = name;
    kept.push(parameter);
  }
  // Compared by name in code units after escapes are normalised; Array.prototype.sort is stable (ECMA-262 §23.1.3.30).
  if (!sorted) kept.sort(byName);
  return kept.join('&');
}

/** A parameter as it stays in the canonical URL; empty when it is dropped. */
function canonicalParameter(parameter: string, host: string, rules: IdentityRules): string {
  if (parameter.length === 0) return parameter;
  const kept = rules.stripSessions ? stripSessionSuffix(parameter) : parameter;
  const name = nameOf(kept);
  if (rules.tracking.isTracking(name, host)) return '';
  if (!rules.stripSessions) return kept;
  return isSessionParameter(name, kept.slice(name.length + 1)) ? '' : kept;
}

function nameOf(parameter: string): string {
  const equals = parameter.indexOf('=');
  return equals === -1 ? parameter : parameter.slice(0, equals);
}

function byName(left: string, right: string): number {
  const leftName = nameOf(left);
  const rightName = nameOf(right);
  return leftName < rightName ? -1 : leftName > rightName ? 1 : 0;
}
