// Answers to an operator's questions about one shard thread, read at a turn boundary: bounded, plain data, never in the way of the crawl
// (DESIGN.md §10).

import type { RunningShard } from '../actors/shard-assembly.ts';
import { hostKey } from '../base/units.ts';
import type { Dispatcher } from '../runtime/dispatcher.ts';
import {
  actorState,
  dispatcherRow,
  mailboxRows,
  topRows,
  treeRows,
} from '../runtime/inspection.ts';
import { heapReport } from './heap-report.ts';
import type { ShardQuery } from './thread-plan.ts';

/** Rows of one answer, at most. */
const ROWS_MAX = 1_000;

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
    case 'heap':
      return heapReport(`shard-${shard.status().shard}`);
    case 'dead-letters':
      return {
        byReason: Object.fromEntries(dispatcher.deadLetters.countByReason()),
        recent: dispatcher.deadLetters.recent().slice(-100),
      };
  }
}

/** A host whose actor is awake tells itself; of one asleep the schedule knows when it is due. */
function hostAnswer(dispatcher: Dispatcher, shard: RunningShard, key: bigint): unknown {
  const nowMs = dispatcher.clock.now();
  const scheduledMs = shard.shard.schedule.timeOf(hostKey(key));
  const scheduledInMs = scheduledMs === undefined ? undefined : Math.max(scheduledMs - nowMs, 0);
  const state = actorState(dispatcher, `host:${key}`);
  return { awake: state !== undefined, scheduledInMs, nowMs, state: state?.state };
}
