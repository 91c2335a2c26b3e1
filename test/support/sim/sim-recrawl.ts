// A simulated crawl that visits pages again: it never ends by itself, so it is watched for a while without faults, told to drain, and then no
// visit may be long overdue (I6 for visits). That none is made twice, or too early, is seen where requests are made (sim-fetch.ts).
import { BANDS, FRESHNESS, PARKED } from '../../../src/actors/rows.ts';
import type { UrlKey } from '../../../src/base/units.ts';
import { liveEntries } from './sim-checks.ts';
import type { SimDisk } from './sim-disk.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { SimNode } from './sim-node.ts';

/** How long it is watched, and how late a visit may then be, ms: a host's pages are few and its gap is short. */
const WATCHED_MS = 900_000;
const LATE_MS_MAX = 600_000;
const DRAIN_MS_MAX = 120_000;
/** By so much the gap of a host is longer whose visits may be late. */
const PENALTY_EXCUSED = 2;

/** What the watch needs of the simulation. */
export interface RecrawlWatch {
  readonly kernel: SimKernel;
  readonly node: SimNode;
  readonly disk: SimDisk;
  readonly runUntil: (untilMs: number, isDone: () => boolean) => void;
  /** True for a host that cannot be asked. */
  readonly isHopeless: (host: string) => boolean;
}

/** Watches and judges. */
export function watchRecrawl(watch: RecrawlWatch): void {
  const { kernel, node, disk } = watch;
  watch.runUntil(kernel.nowMs + WATCHED_MS, () => false);
  const overdue = overdueVisits(disk, kernel.clock.wallNow());
  node.tellAll({ kind: 'drain' });
  const isOver = (): boolean => node.isQuiet && node.fetch.inFlight === 0;
  watch.runUntil(kernel.nowMs + DRAIN_MS_MAX, isOver);
  if (!isOver()) kernel.fail('a drained recrawl does not come to rest');
  checkScheduled(kernel, disk);
  const late = overdue.filter(({ host }) => !watch.isHopeless(host));
  if (late[0] === undefined) return;
  kernel.fail(`I6: ${late.length} visits overdue, ${late[0].url} by ${late[0].lateMs} ms`);
}

/**
 * True when a page that was not fetched is not lost (decision 0013): its URL stands in its host's queue, be it parked, or it was never seen, and
 * others that may lead to it stand there. The watch ends at its time, and a host that timeouts or visits keep busy is not done by then.
 */
export function isStillWaiting(
  { kernel, disk, isHopeless }: RecrawlWatch,
  keyOf: (url: string) => UrlKey,
  url: string,
): boolean {
  const urlKey = keyOf(url);
  let isOtherWaiting = false;
  for (const hostKey of disk.hosts.keys()) {
    if (isHopeless(disk.hostName(hostKey))) continue;
    for (const lane of [...BANDS, PARKED] as const) {
      const entries = liveEntries(kernel, disk, hostKey, lane);
      if (entries.some((entry) => keyOf(entry.url) === urlKey)) return true;
      isOtherWaiting ||= entries.length > 0;
    }
  }
  return isOtherWaiting && !disk.seenKeys.has(urlKey);
}

/** Every page that is due one day stands in the schedule for that time, or in its host's queue. */
function checkScheduled(kernel: SimKernel, disk: SimDisk): void {
  const known = new Set<string>();
  for (const { urlKey, dueAt } of disk.due.pages()) known.add(`${urlKey} ${dueAt}`);
  const queued = new Set<bigint>();
  for (const hostKey of disk.hosts.keys()) {
    for (const { urlKey } of liveEntries(kernel, disk, hostKey, FRESHNESS)) queued.add(urlKey);
  }
  for (const [urlKey, { url, visit }] of disk.pages) {
    if (visit === undefined || visit.dueAt === 0 || queued.has(urlKey)) continue;
    if (known.has(`${urlKey} ${visit.dueAt}`)) continue;
    kernel.fail(`I6: nobody knows that ${url} is due at ${visit.dueAt}`);
  }
}

function overdueVisits(disk: SimDisk, wallNow: number) {
  const overdue: { readonly url: string; readonly host: string; readonly lateMs: number }[] = [];
  for (const [urlKey, { url, visit }] of disk.pages) {
    if (visit === undefined || visit.dueAt === 0) continue;
    // A host that was slowed down by its failures has more due than it may be asked for.
    const hostKey = disk.pageHosts.get(urlKey);
    const host = hostKey === undefined ? undefined : disk.hosts.get(hostKey);
    if ((host?.gap.penalty ?? 1) > PENALTY_EXCUSED) continue;
    const lateMs = wallNow - visit.dueAt;
    if (lateMs > LATE_MS_MAX) overdue.push({ url, host: new URL(url).hostname, lateMs });
  }
  return overdue;
}
