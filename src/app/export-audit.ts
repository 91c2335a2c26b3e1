// `export audit` (DESIGN.md §9, step 9's record): every request of a crawl as a line, and as the last line what `audit` proves of them, so that the
// proof of politeness can be kept, and checked again, beside the archive it belongs to.

import type { LineOutput } from './line-output.ts';
import { provePoliteness } from './prove-politeness.ts';
import type { CrawlReading } from './read-crawl.ts';

/** Offences that come with their lines; all are counted, and all lines are there. */
const OFFENCES_MAX = 50;

/** Writes `{kind: 'request', …}` for each request, oldest first, times as ISO 8601 in UTC, then `{kind: 'proof', …}`. */
export async function exportAudit(reading: CrawlReading, output: LineOutput): Promise<void> {
  for (const entry of reading.store.audit()) {
    const { startedAt, endedAt, robotsAt, runStartedAt, ...rest } = entry;
    const times = {
      startedAt: timeOf(startedAt),
      endedAt: timeOf(endedAt),
      robotsAt: robotsAt === 0 ? null : timeOf(robotsAt),
      runStartedAt: timeOf(runStartedAt),
    };
    await output.write(JSON.stringify({ kind: 'request', ...rest, ...times }));
  }
  const proof = provePoliteness(reading, { offencesMax: OFFENCES_MAX });
  const { crawlId } = reading.store.identity;
  await output.write(JSON.stringify({ kind: 'proof', crawlId, ...proof }));
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
