// How long an answer may be taken for fresh (RFC 9111 §4.2): robots.txt at step 5 of a URL's life may be kept this long, within the
// 24 hours of RFC 9309 §2.4 that the caller imposes. We are a private cache: s-maxage does not concern us (RFC 9111 §5.2.2.10).

import type { WallMs } from '../base/units.ts';
import { headerValue, headerValues } from './header-list.ts';
import { parseHttpDate } from './http-date.ts';

const DIGITS = /^"?(\d+)"?$/;
/** Delta-seconds that overflow are taken as 2^31 (RFC 9111 §1.2.2). */
const DELTA_SECONDS_MAX = 2 ** 31;

/**
 * The freshness lifetime an answer states for itself, from its arrival on: max-age, else Expires − Date, less Age.
 * @param headers flat list of the answer's fields
 * @param receivedAt wall clock at its arrival, used when it has no readable Date
 * @returns milliseconds, 0 … 2^31 s; 0 for no-store, no-cache and an unreadable Expires; undefined when it states nothing
 */
export function freshnessLifetimeMs(
  headers: readonly string[],
  receivedAt: WallMs,
): number | undefined {
  const directives = cacheDirectives(headers);
  if (directives.has('no-store') || directives.has('no-cache')) return 0;
  const maxAge = directives.get('max-age');
  const stated = maxAge === undefined ? expiresLifetimeMs(headers, receivedAt) : deltaMs(maxAge, 0);
  if (stated === undefined) return undefined;
  return Math.max(stated - deltaMs(headerValue(headers, 'age') ?? '', 0), 0);
}

/** The directives of all Cache-Control fields, names in lower case; of a repeated one the first counts (RFC 9111 §4.2.1). */
function cacheDirectives(headers: readonly string[]): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (const field of headerValues(headers, 'cache-control')) {
    for (const directive of field.split(',')) {
      const equals = directive.indexOf('=');
      const name = (equals < 0 ? directive : directive.slice(0, equals)).trim().toLowerCase();
      const value = equals < 0 ? '' : directive.slice(equals + 1).trim();
      if (!directives.has(name)) directives.set(name, value);
    }
  }
  return directives;
}

function expiresLifetimeMs(headers: readonly string[], receivedAt: WallMs): number | undefined {
  const expires = headerValue(headers, 'expires');
  if (expires === undefined) return undefined;
  const expiresAt = parseHttpDate(expires);
  // An invalid date, "0" above all, means already expired (RFC 9111 §5.3).
  if (expiresAt === undefined) return 0;
  const date = parseHttpDate(headerValue(headers, 'date') ?? '') ?? receivedAt;
  return Math.min(Math.max(expiresAt - date, 0), DELTA_SECONDS_MAX * 1_000);
}

function deltaMs(text: string, otherwise: number): number {
  const digits = DIGITS.exec(text.trim());
  if (digits === null) return otherwise;
  return Math.min(Number(digits[1]), DELTA_SECONDS_MAX) * 1_000;
}
