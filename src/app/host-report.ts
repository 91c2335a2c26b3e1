// What an operator is told about hosts (DESIGN.md §10, `host` with why it is not ready, and lists of hosts): the actor's own words while it
// is awake, its stored row otherwise.

import type { AuditEntry } from '../actors/ports.ts';
import type { HostRow } from '../actors/rows.ts';
import { gapMsOf } from '../domain/politeness.ts';
import type { FetchLine, HostLine, HostOrder, HostReport } from '../ops/reports.ts';
import { HostSettings } from './host-settings.ts';
import type { OperatedCrawl } from './process-operator.ts';

/** Requests of a host that are told. */
const RECENT_MAX = 20;
/** Host rows looked at for one list. */
const ROWS_MAX = 200_000;

/** What a shard says of a host: shard-inspection.ts and HostActor.inspect. */
export interface LiveHost {
  readonly awake: boolean;
  readonly scheduledInMs: number | undefined;
  readonly nowMs: number;
  readonly state:
    | {
        readonly queued: readonly number[];
        readonly inFlight: string | undefined;
        readonly gapMs: number;
        readonly crawlDelayMs: number;
        readonly nextFetchMs: number;
        readonly waitsFor: 'gap' | 'backoff';
        readonly addresses: readonly string[];
        readonly addressesPending: boolean;
        readonly addressesExpireMs: number;
        readonly contact: string;
        readonly counts: HostRow['counts'];
      }
    | undefined;
}

/** @returns undefined when neither the shard nor the disk knows the host */
export function hostReport(known: {
  readonly host: string;
  readonly hostKey: bigint;
  readonly partition: number;
  readonly shard: number;
  readonly row: HostRow | undefined;
  readonly live: LiveHost | undefined;
  readonly settings: HostSettings;
  /** Its requests, oldest first. */
  readonly requests: Iterable<AuditEntry>;
}): Omit<HostReport, 'robots'> | undefined {
  const { host, row, live } = known;
  const state = live?.state;
  if (state === undefined && row === undefined) return undefined;
  const queued = state?.queued ?? row?.queues.map(({ head, tail }) => tail - head) ?? [];
  const nextInMs =
    state === undefined
      ? (live?.scheduledInMs ?? 0)
      : Math.max(state.nextFetchMs - (live?.nowMs ?? 0), 0);
  return {
    host,
    hostKey: known.hostKey.toString(16).padStart(16, '0'),
    partition: known.partition,
    shard: known.shard,
    node: 'local',
    state: state === undefined ? 'asleep' : 'active',
    whyNotReady: waitsOf(live, queued, nextInMs),
    nextInMs: Math.round(nextInMs),
    queuedByBand: queued,
    inFlight: state?.inFlight,
    gap: {
      gapMs: Math.round(state?.gapMs ?? (row === undefined ? 0 : storedGapMs(known.settings, row))),
      minGapMs: known.settings.gapPolicyOf(host).minGapMs,
      crawlDelayMs: state?.crawlDelayMs ?? row?.crawlDelayMs ?? 0,
      smoothedResponseMs: Math.round(row?.gap.smoothedMs ?? 0),
      penalty: row?.gap.penalty ?? 1,
      failuresInRow: row?.gap.failuresInRow ?? 0,
    },
    addresses: state?.addresses ?? [],
    counts: { ...(state?.counts ?? row?.counts) } as Record<string, number>,
    recent: recentOf(known.requests),
  };
}

/** The last of them, newest first. */
export function recentOf(requests: Iterable<AuditEntry>): FetchLine[] {
  const last: AuditEntry[] = [];
  for (const request of requests) {
    last.push(request);
    if (last.length > RECENT_MAX) last.shift();
  }
  return last.reverse().map(fetchLine);
}

/** A request of the audit log as it is told. */
export function fetchLine({ startedAt, endedAt, url, status, failure }: AuditEntry): FetchLine {
  return { at: startedAt, url, status, failure, tookMs: endedAt - startedAt };
}

/** The gap of a host as far as its row tells: its network and its address may make it longer. */
function storedGapMs(settings: HostSettings, { host, gap, crawlDelayMs }: HostRow): number {
  const { smoothedMs, penalty, failuresInRow } = gap;
  const state = { smoothedMs, penalty, failuresInRow, crawlDelayMs };
  return gapMsOf(state, settings.gapPolicyOf(host));
}

/** One sentence for each thing the host waits for. */
export function waitsOf(
  live: LiveHost | undefined,
  queued: readonly number[],
  nextInMs: number,
): string[] {
  const state = live?.state;
  const waits: string[] = [];
  if (state?.inFlight !== undefined) return waits;
  if (queued.every((count) => count === 0)) waits.push('no URL waits in its queue');
  if (state === undefined) {
    if (live?.scheduledInMs === undefined) waits.push('it is asleep and not in the schedule');
    else if (live.scheduledInMs > 0) waits.push(`its turn comes in ${seconds(live.scheduledInMs)}`);
    return waits;
  }
  if (state.addressesPending) waits.push('its address is being looked up');
  else if (state.addresses.length === 0) waits.push('its address is not known');
  if (state.contact === 'committing') waits.push('its first contact is being written down');
  if (nextInMs > 0) {
    const why =
      state.waitsFor === 'gap' ? `its gap of ${seconds(state.gapMs)}` : 'a pause after trouble';
    waits.push(`${why} ends in ${seconds(nextInMs)}`);
  }
  return waits;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Hosts by one of their figures, the greatest first; from the stored rows, so hosts contacted in the last instants may be missing. */
export function hostLines(
  { reading, shardOf }: Pick<OperatedCrawl, 'reading' | 'shardOf'>,
  by: HostOrder,
  rowsMax: number,
): HostLine[] {
  const amount = AMOUNTS[by];
  const settings = new HostSettings(reading.config);
  let best: HostLine[] = [];
  let looked = 0;
  for (const { partition, row } of reading.store.rows.hosts()) {
    looked += 1;
    if (looked > ROWS_MAX) break;
    best.push(lineOf(row, shardOf(partition), settings));
    if (best.length >= rowsMax * 2 + 64) best = cut(best, amount, rowsMax);
  }
  return cut(best, amount, rowsMax);
}

const AMOUNTS: Readonly<Record<HostOrder, (line: HostLine) => number>> = {
  fetched: (line) => line.fetched,
  queued: (line) => line.queued,
  failed: (line) => line.failed,
  gap: (line) => line.gapMs,
};

function cut(lines: HostLine[], amount: (line: HostLine) => number, rowsMax: number): HostLine[] {
  return lines.sort((one, other) => amount(other) - amount(one)).slice(0, rowsMax);
}

function lineOf(row: HostRow, shard: number, settings: HostSettings): HostLine {
  const queued = row.queues.reduce((sum, { head, tail }) => sum + tail - head, 0);
  const nowMs = Date.now();
  const pausedMs = Math.max(row.gap.pausedUntil - nowMs, 0);
  const gapMs = storedGapMs(settings, row);
  const dueMs = queued === 0 ? 0 : Math.max(row.lastEndedAt + gapMs - nowMs, 0);
  return {
    host: row.host,
    shard,
    fetched: row.counts.fetched,
    stored: row.counts.stored,
    failed: row.counts.failed,
    queued,
    gapMs: Math.round(gapMs),
    nextInMs: Math.round(Math.max(pausedMs, dueMs)),
    state: pausedMs > 0 ? 'backoff' : queued === 0 ? 'idle' : dueMs > 0 ? 'gap' : 'ready',
  };
}
