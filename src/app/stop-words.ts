// Tells what an orderly stop waits for, once a second, so that nobody has to guess whether to interrupt it (DESIGN.md §9, §10).

import type { ShardStatus } from '../actors/shard-ports.ts';
import type { CrawlProcess } from './crawl-process.ts';

/** Between two lines; a stop that is quicker says nothing. */
const TELL_MS = 1_000;

/** Begins to tell. @returns a function that ends it */
export function tellWhatStops(
  crawl: Pick<CrawlProcess, 'refresh' | 'news'>,
  tell: (text: string) => void,
): () => void {
  let isAsking = false;
  const timer = setInterval(() => {
    tell(stopText(crawl.news().map(({ status }) => status)));
    if (isAsking) return;
    isAsking = true;
    // A shard that has ended answers no more; the last words of each are kept.
    void crawl.refresh().then(() => {
      isAsking = false;
    });
  }, TELL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** One line about what shards still have in hand. */
export function stopText(statuses: readonly ShardStatus[]): string {
  const sum = (of: (status: ShardStatus) => number): number =>
    statuses.reduce((total, status) => total + of(status), 0);
  const inFlight = sum((status) => status.inFlight);
  const kilobytes = Math.ceil(sum((status) => status.pendingBytes) / 1_000);
  const waits: string[] = [];
  if (inFlight > 0) waits.push(`${inFlight} requests in flight, cut after 5 s`);
  if (kilobytes > 0) waits.push(`${kilobytes} kB to be committed`);
  const what = waits.length === 0 ? 'files to be closed' : waits.join(', ');
  return `stopping: waiting for ${what}; once more to stop at once`;
}
