// Retry-After (RFC 9110 §10.2.3; for 429: RFC 6585 §4): how long a server asks to be left alone. Read at step 9 of a URL's life, obeyed
// by the host's gap at step 8 (I2). A value that cannot be read is none: the host then backs off by our own rule (domain/failure.ts).

import type { WallMs } from '../base/units.ts';
import { headerValues } from './header-list.ts';
import { parseHttpDate } from './http-date.ts';

const SECONDS = /^\d+$/;

/** Longest wait that is obeyed unless the caller says otherwise: one day, the longest a robots.txt may be kept (RFC 9309 §2.4). */
export const RETRY_AFTER_MAX_MS = 86_400_000;

/**
 * Reads one Retry-After value.
 * @param now the wall clock at the end of the answer; dates count from here
 * @param waitMsMax longest wait that is obeyed, milliseconds; a longer one is cut to this
 * @returns milliseconds to wait, 0 … waitMsMax (0 for a date in the past); undefined when it is neither delay-seconds nor an HTTP date
 */
export function parseRetryAfter(
  value: string,
  now: WallMs,
  waitMsMax = RETRY_AFTER_MAX_MS,
): number | undefined {
  const text = value.trim();
  if (SECONDS.test(text)) return Math.min(Number(text) * 1_000, waitMsMax);
  const date = parseHttpDate(text);
  if (date === undefined) return undefined;
  return Math.min(Math.max(date - now, 0), waitMsMax);
}

/**
 * The wait an answer asks for: the longest of its readable Retry-After fields.
 * @param headers flat list of the answer's fields
 * @param now as for parseRetryAfter
 * @returns milliseconds, 0 … waitMsMax; undefined when there is no readable field
 */
export function retryAfterOf(
  headers: readonly string[],
  now: WallMs,
  waitMsMax = RETRY_AFTER_MAX_MS,
): number | undefined {
  let longest: number | undefined;
  for (const value of headerValues(headers, 'retry-after')) {
    const wait = parseRetryAfter(value, now, waitMsMax);
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}
