// When a page is visited again (DESIGN.md §1, from step 10 back to 6; §7): from how earlier visits ended follows the time of the next one.
// Pure. The interval halves after three visits that found a change and doubles after ten that found none, within bounds; what changes
// often is looked at often, and a page that never changes costs a request every few months. Counts start anew with each adjustment, so a
// page settles where about 3 of 13 visits find something new. Pages that are gone are asked for at growing distances, then no more.

import type { WallMs } from '../base/units.ts';
import { wallMs } from '../base/units.ts';

/** Bounds of the time between two visits of one page, milliseconds; least ≤ first ≤ longest. */
export interface RecrawlPolicy {
  readonly firstMs: number;
  readonly leastMs: number;
  readonly longestMs: number;
}

/** What earlier visits of a page say about the next; kept in its row. Plain data. */
export interface VisitState {
  /** When it is due; 0: never again. */
  readonly dueAt: WallMs;
  readonly intervalMs: number;
  /** Visits since the interval was last adjusted that found a change … */
  readonly changed: number;
  /** … and that found none. */
  readonly unchanged: number;
  /** Visits in a row that found nothing: gone, refused or failed. */
  readonly missed: number;
  /** When a visit last found something new; the first visit counts. 0 when none ever did. */
  readonly changedAt: WallMs;
  /** True for a sitemap: it is visited as one. */
  readonly sitemap: boolean;
}

/** How a visit ended, compared with what was stored before. */
export type VisitOutcome = 'new' | 'changed' | 'unchanged' | 'gone' | 'failed';

/** Visits with a change after which the interval halves (DESIGN.md §7). */
export const CHANGED_TO_HALVE = 3;
/** Visits without one after which it doubles (DESIGN.md §7). */
export const UNCHANGED_TO_DOUBLE = 10;
/** Visits in a row that find a page gone, after which it is not asked for again. */
export const GONE_VISITS_MAX = 8;
/** A visit may come later than its interval by this part of it, so that pages that are due together share a row on disk. */
const LATE_PART = 16;

/** What is compared to tell how a visit ended. */
export interface VisitFacts {
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** True when it counts as a failure after its last try. */
  readonly hasFailed: boolean;
  /** Hex digest of the body; empty when there is none. */
  readonly contentDigest: string;
  readonly redirectTo: string | undefined;
}

/**
 * Tells how a visit ended.
 * @param before the page as stored; undefined on a first visit
 */
export function visitOutcome(before: VisitFacts | undefined, now: VisitFacts): VisitOutcome {
  if (now.status === 404 || now.status === 410) return 'gone';
  if (now.hasFailed || now.status >= 400 || now.status === 0) return 'failed';
  const isStored = before !== undefined && isResult(before);
  if (now.status === 304) return isStored ? 'unchanged' : 'failed';
  if (!isStored) return 'new';
  const isSame =
    now.status === before.status &&
    now.contentDigest === before.contentDigest &&
    now.redirectTo === before.redirectTo;
  return isSame ? 'unchanged' : 'changed';
}

/** True when there is a copy to compare with: an answer below 400. Failures since then leave it as it is. */
function isResult({ status }: VisitFacts): boolean {
  return status >= 200 && status < 400;
}

/** One visit that has ended. */
export interface EndedVisit {
  readonly outcome: VisitOutcome;
  readonly at: WallMs;
  /** How long the answer says it stays fresh (RFC 9111 §4.2), if it says so. A hint: it puts the next visit off, to twice the interval at most. */
  readonly freshForMs: number | undefined;
  readonly sitemap: boolean;
}

/** The state after a visit. @param before undefined after a first visit */
export function afterVisit(
  policy: RecrawlPolicy,
  before: VisitState | undefined,
  visit: EndedVisit,
): VisitState {
  const { outcome, at, sitemap } = visit;
  const known = before ?? firstState(policy, sitemap);
  if (outcome === 'gone' || outcome === 'failed') return afterMiss(policy, known, visit);
  const changed = known.changed + (outcome === 'changed' ? 1 : 0);
  const unchanged = known.unchanged + (outcome === 'unchanged' ? 1 : 0);
  const factor = changed >= CHANGED_TO_HALVE ? 0.5 : unchanged >= UNCHANGED_TO_DOUBLE ? 2 : 1;
  const intervalMs = clamp(policy, known.intervalMs * factor);
  const hintMs = Math.min(visit.freshForMs ?? 0, 2 * intervalMs, policy.longestMs);
  return {
    dueAt: dueAfter(at, Math.max(intervalMs, hintMs)),
    intervalMs,
    changed: factor === 1 ? changed : 0,
    unchanged: factor === 1 ? unchanged : 0,
    missed: 0,
    changedAt: outcome === 'unchanged' ? known.changedAt : at,
    sitemap,
  };
}

/**
 * The last visit found other bytes, but the text is nearly the same (its fingerprint is): it counts as one that found no change. What the
 * change did to the interval is taken back; the next visit stays where it is.
 */
export function afterSameText(state: VisitState): VisitState {
  const unchanged = state.unchanged + 1;
  if (state.changed > 0) return { ...state, changed: state.changed - 1, unchanged };
  // It was the change that halved the interval.
  return { ...state, intervalMs: state.intervalMs * 2, changed: CHANGED_TO_HALVE - 1, unchanged };
}

/** A page becomes due at once, because somebody who should know says that it has changed (a sitemap's lastmod). */
export function dueNow(state: VisitState, at: WallMs): VisitState {
  return { ...state, dueAt: wallMs(Math.ceil(at)) };
}

function firstState({ firstMs }: RecrawlPolicy, sitemap: boolean): VisitState {
  const dueAt = wallMs(0);
  const counts = { changed: 0, unchanged: 0, missed: 0 };
  return { dueAt, intervalMs: firstMs, ...counts, changedAt: wallMs(0), sitemap };
}

/** The distance doubles with each miss in a row; a page that stays gone is given up, one that only fails never is. */
function afterMiss(policy: RecrawlPolicy, known: VisitState, visit: EndedVisit): VisitState {
  const missed = known.missed + 1;
  const waitMs = Math.min(known.intervalMs * 2 ** Math.min(missed, 32), policy.longestMs);
  const isRetired = visit.outcome === 'gone' && missed >= GONE_VISITS_MAX;
  return { ...known, missed, dueAt: isRetired ? wallMs(0) : dueAfter(visit.at, waitMs) };
}

function clamp({ leastMs, longestMs }: RecrawlPolicy, ms: number): number {
  return Math.min(Math.max(ms, leastMs), longestMs);
}

/** The end of the wait, rounded up to a multiple of a power of two that is at most a sixteenth of it. */
function dueAfter(at: WallMs, waitMs: number): WallMs {
  const widthMs = 2 ** Math.max(Math.floor(Math.log2(Math.max(waitMs, 1) / LATE_PART)), 0);
  return wallMs(Math.ceil((at + waitMs) / widthMs) * widthMs);
}
