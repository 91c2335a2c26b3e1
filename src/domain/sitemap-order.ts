// In which order the pages of a sitemap enter their host's queue (step 12): what the site itself thinks of first comes first, and of equals
// what has changed last. It orders the pages of one host among each other and never one host before another, since priorities of different
// sites say nothing about each other (sitemaps.org, `priority`). Pure.

import type { SitemapEntry } from './sitemap.ts';

/** sitemaps.org: "The default priority of a page is 0.5." */
const PRIORITY_DEFAULT = 0.5;

/**
 * Orders entries by priority, greatest first, then by lastmod, latest first; equals keep the order of the file. O(n log n).
 * @param entries of one sitemap; not changed
 */
export function inSiteOrder(entries: readonly SitemapEntry[]): readonly SitemapEntry[] {
  const hasHints = entries.some(
    ({ priority, lastmod }) => priority !== undefined || lastmod !== undefined,
  );
  if (!hasHints) return entries;
  const ranked = entries.map((entry) => ({
    entry,
    priority: entry.priority ?? PRIORITY_DEFAULT,
    changedAt: (entry.lastmod === undefined ? Number.NaN : Date.parse(entry.lastmod)) || 0,
  }));
  ranked.sort((a, b) => b.priority - a.priority || b.changedAt - a.changedAt);
  return ranked.map(({ entry }) => entry);
}
