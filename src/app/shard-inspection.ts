// Answers to an operator's questions about one shard thread, read at a turn boundary: bounded, plain data, never in the way of the crawl
// (DESIGN.md §10).

import type { NextHost } from '../actors/host-schedule.ts';
import type { RunningShard } from '../actors/shard-assembly.ts';
import { hostKey } from '../base/units.ts';
import type { Dispatcher } from '../runtime/dispatcher.ts';
import {
  actorState,
  dispatcherRow,
  mailboxRows,
  topRows,
  traceActor,
  treeRows,
} from '../runtime/inspection.ts';
import type { TracedMessage } from '../runtime/turn-records.ts';
import { profileThread } from './cpu-profile.ts';
import { heapReport } from './heap-report.ts';
import type { ShardQuery } from './thread-plan.ts';

/** A host next in turn. */
export interface NextHostRow extends Omit<NextHost, 'atMs'> {
  /** Time until it may be asked; 0 when now. */
  readonly inMs: number;
}

/** Hosts next in turn that are told of each band. */
const NEXT_HOSTS_MAX = 50;
/** Rows of one answer, at most. */
const ROWS_MAX = 1_000;

/** @returns the answer; of a question that takes its time a promise, which may reject */
export function answerQuery(
  dispatcher: Dispatcher,
  shard: RunningShard,
  query: ShardQuery,
  driver: { readonly busyMs: number; readonly loopDelayMs: number },
): unknown {
  switch (query.kind) {
    case 'shard':
      return { status: shard.status(), dispatcher: dispatcherRow(dispatcher, driver) };
    case 'host':
      return hostAnswer(dispatcher, shard, query.hostKey);
    case 'tree':
      return treeRows(dispatcher, query.path, Math.min(query.limit, ROWS_MAX));
    case 'top':
      return topRows(dispatcher, query.by, Math.min(query.limit, ROWS_MAX));
    case 'state':
      return actorState(dispatcher, query.actor);
    case 'mailbox':
      return mailboxRows(dispatcher, query.actor, ROWS_MAX);
    case 'next-hosts':
      return nextHosts(dispatcher, shard, Math.min(query.limit, NEXT_HOSTS_MAX));
    case 'slow-turns':
      return dispatcher.records.slow.longest();
    case 'cpu':
      return profileThread(`shard-${shard.status().shard}`, query.seconds);
    case 'heap':
      return heapReport(`shard-${shard.status().shard}`);
    case 'dead-letters':
      return {
        byReason: Object.fromEntries(dispatcher.deadLetters.countByReason()),
        recent: dispatcher.deadLetters.recent().slice(-100),
      };
  }
}

function nextHosts(dispatcher: Dispatcher, shard: RunningShard, limit: number): NextHostRow[] {
  const nowMs = dispatcher.clock.now();
  const rows = shard.shard.schedule.nextHosts(limit);
  return rows.map(({ atMs, ...host }) => ({ ...host, inMs: Math.max(atMs - nowMs, 0) }));
}

/** A host whose actor is awake tells itself; of one asleep the schedule knows when it is due. */
function hostAnswer(dispatcher: Dispatcher, shard: RunningShard, key: bigint): unknown {
  const nowMs = dispatcher.clock.now();
  const scheduledMs = shard.shard.schedule.timeOf(hostKey(key));
  const scheduledInMs = scheduledMs === undefined ? undefined : Math.max(scheduledMs - nowMs, 0);
  const state = actorState(dispatcher, `host:${key}`);
  return { awake: state !== undefined, scheduledInMs, nowMs, state: state?.state };
}

/** The traces that operators have open on this thread. */
export class ShardTraces {
  readonly #dispatcher: Dispatcher;
  readonly #tell: (id: number, event: TracedMessage) => void;
  readonly #ends = new Map<number, () => void>();

  constructor(dispatcher: Dispatcher, tell: (id: number, event: TracedMessage) => void) {
    this.#dispatcher = dispatcher;
    this.#tell = tell;
  }

  /** @param eventsMax bounded by the main thread (ops/look-verbs.ts) */
  begin(id: number, actor: string, eventsMax: number): void {
    const end = traceActor(this.#dispatcher, actor, eventsMax, (event) => this.#tell(id, event));
    this.#ends.set(id, end);
  }

  end(id: number): void {
    this.#ends.get(id)?.();
    this.#ends.delete(id);
  }
}
