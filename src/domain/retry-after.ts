// Retry-After (RFC 9110 §10.2.3; for 429: RFC 6585 §4): how long a server asks to be left alone. Read at step 9 of a URL's life, obeyed
// by the host's gap at step 8 (I2). A value that cannot be read is none: the host then backs off by our own rule (domain/failure.ts).

import type { WallMs } from '../base/units.ts';
import { headerValues } from './header-list.ts';
import { parseHttpDate } from './http-date.ts';

const SECONDS = /^\d+$/;

/** What bounds a wait. */
export interface RetryAfterBounds {
  /** The wall clock at the end of the answer; dates count from here. */
  readonly now: WallMs;
  /** Longest wait that is obeyed; a longer one is cut to this. Milliseconds. */
  readonly waitMsMax: number;
}

/**
 * Reads one Retry-After value.
 * @returns milliseconds to wait, 0 … waitMsMax (0 for a date in the past); undefined when it is neither delay-seconds nor an HTTP date
 */
export function parseRetryAfter(value: string, bounds: RetryAfterBounds): number | undefined {
  const text = value.trim();
  if (SECONDS.test(text)) return Math.min(Number(text) * 1_000, bounds.waitMsMax);
  const date = parseHttpDate(text);
  if (date === undefined) return undefined;
  return Math.min(Math.max(date - bounds.now, 0), bounds.waitMsMax);
}

/**
 * The wait an answer asks for: the longest of its readable Retry-After fields.
 * @param headers flat list of the answer's fields
 * @returns milliseconds, 0 … waitMsMax; undefined when there is no readable field
 */
export function retryAfterOf(
  headers: readonly string[],
  bounds: RetryAfterBounds,
): number | undefined {
  let longest: number | undefined;
  for (const value of headerValues(headers, 'retry-after')) {
    const wait = parseRetryAfter(value, bounds);
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}
