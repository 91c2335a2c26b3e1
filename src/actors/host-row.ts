// The running totals of one host, and small pure helpers about its stored row.

import type { HostCounts } from './ports.ts';

export const ZERO_COUNTS: HostCounts = {
  discovered: 0,
  fetched: 0,
  stored: 0,
  duplicates: 0,
  failed: 0,
  robotsDenied: 0,
  trapped: 0,
  inLinks: 0,
};

/** `counts` with one of its totals raised. */
export function raised(counts: HostCounts, name: keyof HostCounts, by = 1): HostCounts {
  return { ...counts, [name]: counts[name] + by };
}

/** First value of a header in a flat raw list (name, value, …), names compared without case; undefined when absent. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const candidate = headers[at] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name) return headers[at + 1];
  }
  return undefined;
}
