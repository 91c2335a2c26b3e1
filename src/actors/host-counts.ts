// The running totals of one host, as its stored row keeps them; they drive priorities, budgets and reports.

import type { HostCounts } from './rows.ts';

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
