// The Prometheus metrics: one table of name, kind, help text, labels and where the value comes from
// (docs/METRICS.md lists the same, and a test compares). Names are `hostler_<step>_<what>_<unit>`:
// the step is that of DESIGN.md §1, two digits and its word, so that a list in order of names is in
// order of a URL's life. Label values come from fixed lists or are shard numbers: a web of any kind
// adds no series.

import { RENDER_FAILURES } from '../actors/render-port.ts';
import type { FailureKind } from '../domain/failure.ts';
import { FAILURE_TABLE } from '../domain/failure.ts';
import type { CrawlOverview, ShardOverview } from './overview.ts';
import { frontReach, type OverviewRates } from './overview-rates.ts';

/** One value with its label. */
export interface MetricSample {
  readonly label: string;
  readonly value: number;
}

/** One metric. `label` is the name of its only label; undefined when it has none. */
export interface Metric {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  readonly label?: string;
  readonly read: (overview: CrawlOverview, rates: OverviewRates) => readonly MetricSample[];
}

/** Values of `class` beside 1xx … 5xx. */
const OTHER = 'other';
const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];
/** Why URLs are not taken up: src/domain/canonical-url.ts and scope.ts, robots, and the shard's own depth, traps and budgets. */
const SKIP_REASONS = [
  ...['not-http', 'invalid', 'too-long', 'host-too-long', 'scope', 'include', 'exclude'],
  ...['depth', 'robots', 'trap', 'budget', 'frontier', 'twin'],
];
const FAILURE_KINDS = Object.keys(FAILURE_TABLE) as FailureKind[];
/** Why pages that seemed to need a browser got none: src/actors/render-desk.ts. */
const RENDER_PASSES = ['no-gain', 'full', 'unavailable'];
const STATES = ['starting', 'running', 'paused', 'draining', 'stopping'];
const BANDS = ['q1', 'q2', 'q3'];

/** All metrics but the response-time histogram, `RESPONSE_TIME`. */
export const METRICS: readonly Metric[] = [
  counter('01_canonicalise_links_total', 'Links read from pages.', (o) => o.links),
  counter('04_seen_urls_total', 'New URLs that entered a queue.', (o) => o.discovered),
  gauge('04_seen_keys', 'URL keys in the seen set.', (o) => o.seenSet.keys),
  gauge('04_seen_filter_fill_ratio', 'Keys held against keys planned for.', fillRatio),
  gauge(
    '04_seen_filter_generations',
    'Generations of the Bloom filter.',
    (o) => o.seenSet.generations,
  ),
  counter(
    '04_seen_confirmed_total',
    'Look-ups that went to the exact store.',
    (o) => o.seenSet.confirmed,
  ),
  counter(
    '04_seen_false_positives_total',
    'Look-ups in which the filter was wrong.',
    (o) => o.seenSet.falsePositives,
  ),
  labelled('counter', '05_admit_skipped_total', 'URLs not taken up, by reason.', 'reason', (o) =>
    grouped(o.skipped, SKIP_REASONS, (name) => name),
  ),
  labelled('gauge', '06_front_queued_urls', 'URLs in back queues, by band.', 'band', (o) =>
    BANDS.map((label, band) => ({ label, value: o.queuedByBand[band] ?? 0 })),
  ),
  gauge(
    '06_front_discovered_per_request_ratio',
    'New URLs for each request, over the whole crawl.',
    (o) => (o.fetched === 0 ? 0 : o.discovered / o.fetched),
  ),
  gauge('06_front_parked_urls', 'URLs set aside as of low value.', (o) => o.parked),
  labelled(
    'gauge',
    '08_schedule_hosts',
    'Hosts with work, by what they wait for.',
    'state',
    ({ hosts }) => [
      { label: 'ready', value: hosts.ready },
      { label: 'waiting', value: hosts.waiting },
      { label: 'backing-off', value: hosts.backingOff },
    ],
  ),
  gauge('08_schedule_known_hosts', 'Hosts ever queued.', (o) => o.hosts.known),
  gauge('08_schedule_active_hosts', 'Host actors awake.', (o) => o.hosts.active),
  gauge(
    '08_schedule_needed_hosts',
    'Hosts that would keep every slot busy: slots × (response + least gap) / response.',
    (o, rates) => frontReach(o, rates).hostsNeeded,
  ),
  gauge(
    '08_schedule_reachable_requests_per_second',
    'The most that the hosts at hand can take, by their gaps.',
    (o, rates) => frontReach(o, rates).requestsPerSecondMax,
  ),
  gauge('09_fetch_in_flight_requests', 'Requests in flight.', (o) => o.inFlight),
  gauge('09_fetch_slots', 'Requests that may be in flight.', (o) => o.slots),
  counter('09_fetch_requests_total', 'Requests that ended with an answer.', (o) => o.fetched),
  counter('09_fetch_received_bytes_total', 'Body bytes received.', (o) => o.bytes),
  labelled('counter', '09_fetch_answers_total', 'Answers by class of status.', 'class', (o) =>
    grouped(o.statuses, STATUS_CLASSES, (status) => `${status.charAt(0)}xx`),
  ),
  labelled('counter', '09_fetch_failures_total', 'URLs given up, by kind.', 'kind', (o) =>
    grouped(o.failures, FAILURE_KINDS, (name) => name),
  ),
  labelled('counter', '09_fetch_retries_total', 'Requests to be repeated, by kind.', 'kind', (o) =>
    grouped(o.retries, FAILURE_KINDS, (name) => name),
  ),
  counter('10_checkpoint_pages_total', '200 pages stored.', (o) => o.pages),
  labelled('counter', '10_checkpoint_duplicates_total', 'Duplicate pages.', 'kind', (o) => [
    { label: 'exact', value: o.duplicates.exact },
    { label: 'near', value: o.duplicates.near },
  ]),
  counter(
    '10_checkpoint_soft_404_total',
    'Pages that their host shows under unrelated paths.',
    (o) => o.soft404,
  ),
  counter('10_checkpoint_commits_total', 'Group commits.', (o) => o.storage.groups),
  counter('10_checkpoint_written_bytes_total', 'Bytes of packed batches.', (o) => o.storage.bytes),
  gauge(
    '10_checkpoint_queued_bytes',
    'Bytes waiting for their commit.',
    (o) => o.storage.queuedBytes,
  ),
  gauge(
    '10_checkpoint_sync_p50_seconds',
    'fdatasync, median of recent commits.',
    (o) => o.storage.syncP50Ms / 1e3,
  ),
  gauge(
    '10_checkpoint_sync_max_seconds',
    'fdatasync, worst of recent commits.',
    (o) => o.storage.syncMaxMs / 1e3,
  ),
  gauge(
    '10_checkpoint_commit_p50_seconds',
    'Whole commit, median of recent.',
    (o) => o.storage.commitP50Ms / 1e3,
  ),
  gauge(
    '10_checkpoint_commit_max_seconds',
    'Whole commit, worst of recent.',
    (o) => o.storage.commitMaxMs / 1e3,
  ),
  gauge(
    '10_checkpoint_frontier_segments',
    'Frontier log segments kept.',
    (o) => o.storage.frontierSegments,
  ),
  gauge(
    '10_checkpoint_disk_free_bytes',
    'Free space for the data directory.',
    (o) => o.storage.diskFreeBytes,
  ),
  byShard('gauge', '11_parse_backlog_pages', 'Pages waiting to be parsed.', (s) => s.parseBacklog),
  gauge('11_render_waiting_pages', 'Pages waiting for the browser or in it.', (o) => o.rendering),
  counter('11_render_pages_total', 'Pages rendered.', (o) => o.render.pages ?? 0),
  counter('11_render_gained_total', 'Renderings that showed more.', (o) => o.render.gained ?? 0),
  counter('11_render_requests_total', 'Requests of rendered pages.', (o) => o.render.requests ?? 0),
  counter(
    '11_render_seconds_total',
    'Time of pages in the browser.',
    (o) => (o.render.ms ?? 0) / 1e3,
  ),
  labelled('counter', '11_render_failures_total', 'Failed renderings, by kind.', 'kind', (o) =>
    RENDER_FAILURES.map((label) => ({ label, value: o.render[`failed.${label}`] ?? 0 })),
  ),
  labelled('counter', '11_render_passed_total', 'Pages not rendered, by why.', 'reason', (o) =>
    RENDER_PASSES.map((label) => ({ label, value: o.render[`passed.${label}`] ?? 0 })),
  ),
  byShard(
    'gauge',
    '12_outlinks_waiting_urls',
    'Links on their way to another shard.',
    (s) => s.linksWaiting,
  ),
  byShard(
    'counter',
    'shard_busy_seconds_total',
    'Time spent running actors.',
    (s) => s.busyMs / 1e3,
  ),
  byShard(
    'gauge',
    'shard_loop_delay_seconds',
    'Lateness of the event loop.',
    (s) => s.loopDelayMs / 1e3,
  ),
  byShard('gauge', 'shard_connections', 'Connections open.', (s) => s.connections),
  byShard(
    'counter',
    'shard_dead_letters_total',
    'Messages that reached nobody.',
    (s) => s.deadLetters,
  ),
  labelled('gauge', 'process_memory_bytes', 'RssAnon and RssShmem.', 'kind', ({ memory }) => [
    { label: 'anonymous', value: memory.anonBytes },
    { label: 'shared', value: memory.sharedBytes },
  ]),
  counter('process_cpu_seconds_total', 'User and system time.', (o) => o.cpuSeconds),
  gauge('process_start_time_seconds', 'When the process began.', (o) => o.startedAt / 1e3),
  labelled('gauge', 'crawl_state_info', '1 for the state the crawl is in.', 'state', ({ state }) =>
    STATES.map((label) => ({ label, value: label === state ? 1 : 0 })),
  ),
  labelled('gauge', 'cluster_partitions', 'Partitions by node.', 'node', ({ nodes }) =>
    nodes.map(({ name, partitions }) => ({ label: name, value: partitions })),
  ),
];

/** The response-time histogram. Its bounds are those of the overview. */
export const RESPONSE_TIME = {
  name: 'hostler_09_fetch_response_seconds',
  help: 'Time to the first byte of an answer.',
} as const;

type Reader = (overview: CrawlOverview, rates: OverviewRates) => number;

function counter(name: string, help: string, read: Reader): Metric {
  return single('counter', name, help, read);
}

function gauge(name: string, help: string, read: Reader): Metric {
  return single('gauge', name, help, read);
}

function single(kind: Metric['kind'], name: string, help: string, read: Reader): Metric {
  return {
    name: `hostler_${name}`,
    kind,
    help,
    read: (overview, rates) => [{ label: '', value: read(overview, rates) }],
  };
}

function labelled(
  kind: Metric['kind'],
  name: string,
  help: string,
  label: string,
  read: (overview: CrawlOverview) => readonly MetricSample[],
): Metric {
  return { name: `hostler_${name}`, kind, help, label, read };
}

function byShard(
  kind: Metric['kind'],
  name: string,
  help: string,
  read: (shard: ShardOverview) => number,
): Metric {
  return labelled(kind, name, help, 'shard', ({ shards }) =>
    shards.map((shard) => ({ label: String(shard.shard), value: read(shard) })),
  );
}

/** Counts under the known labels; those of all other names together under `other`. Known ones appear even at 0. */
function grouped(
  counts: Readonly<Record<string, number>>,
  known: readonly string[],
  labelOf: (name: string) => string,
): readonly MetricSample[] {
  const sums = new Map<string, number>([...known, OTHER].map((label) => [label, 0]));
  for (const [name, count] of Object.entries(counts)) {
    const label = labelOf(name);
    const place = sums.has(label) ? label : OTHER;
    sums.set(place, (sums.get(place) ?? 0) + count);
  }
  return [...sums].map(([label, value]) => ({ label, value }));
}

function fillRatio({ seenSet }: CrawlOverview): number {
  return seenSet.capacity === 0 ? 0 : seenSet.keys / seenSet.capacity;
}
