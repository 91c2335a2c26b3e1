// What an operator sees of the actors (DESIGN.md §10: `tree`, `top`, `state`, `mailbox`): plain rows read between turns. Reading never
// stops a shard: every answer is bounded by a limit, and the figures are those the dispatcher keeps anyway.
import type { ActorCell, CellState } from './actor-cell.ts';
import { abridge } from './dead-letters.ts';
import type { Dispatcher, DispatcherCounters } from './dispatcher.ts';
import type { TracedMessage } from './turn-records.ts';

/** One actor. */
export interface ActorRow {
  readonly path: string;
  readonly state: CellState;
  /** Messages waiting now, and the most that ever waited. */
  readonly mailbox: number;
  readonly mailboxPeak: number;
  readonly messagesHandled: number;
  readonly busyMs: number;
  /** Mean time in the run queue before a turn. */
  readonly waitMs: number;
  /** What the actor says it holds; 0 when it does not say. */
  readonly bytes: number;
  readonly restarts: number;
  readonly lastError: string;
}

/** One dispatcher with its driver. */
export interface DispatcherRow extends DispatcherCounters {
  readonly deadLetters: number;
  /** Milliseconds spent running actors; 0 in the simulator. */
  readonly busyMs: number;
  /** How late the event loop runs, smoothed, in milliseconds; 0 in the simulator. */
  readonly loopDelayMs: number;
}

/** By what `top` sorts, the largest first. */
export type TopOrder = 'mailbox' | 'busy' | 'mem' | 'wait';

/** The actors below a path (all for the empty path), in order of path. */
export function treeRows(dispatcher: Dispatcher, path: string, rowsMax: number): ActorRow[] {
  const rows: ActorRow[] = [];
  for (const cell of dispatcher.cells()) {
    if (path !== '' && cell.name !== path && !cell.name.startsWith(`${path}/`)) continue;
    if (rows.length >= rowsMax) break;
    rows.push(actorRow(cell));
  }
  return rows.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The `rowsMax` actors with most of something. Looks at every actor once. */
export function topRows(dispatcher: Dispatcher, order: TopOrder, rowsMax: number): ActorRow[] {
  const measure = MEASURES[order];
  let best: { readonly cell: ActorCell; readonly amount: number }[] = [];
  const sortAndCut = (): void => {
    best.sort((a, b) => b.amount - a.amount || a.cell.id - b.cell.id);
    best = best.slice(0, rowsMax);
  };
  for (const cell of dispatcher.cells()) {
    const amount = measure(cell);
    if (amount <= 0) continue;
    best.push({ cell, amount });
    if (best.length >= rowsMax * 2 + 64) sortAndCut();
  }
  sortAndCut();
  return best.map(({ cell }) => actorRow(cell));
}

/** What an actor tells about itself, with its row; undefined when there is none under the path. */
export function actorState(
  dispatcher: Dispatcher,
  path: string,
): { readonly row: ActorRow; readonly state: unknown } | undefined {
  const cell = dispatcher.find(path);
  if (cell === undefined) return undefined;
  try {
    return { row: actorRow(cell), state: cell.actor?.inspect?.() };
  } catch (thrown) {
    // A bug in an actor's own account must not end the thread that asked for it.
    return { row: actorRow(cell), state: { error: String(thrown).slice(0, 500) } };
  }
}

/** The first messages waiting for an actor, abridged; undefined when there is no such actor. */
export function mailboxRows(
  dispatcher: Dispatcher,
  path: string,
  rowsMax: number,
): string[] | undefined {
  const cell = dispatcher.find(path);
  if (cell === undefined) return undefined;
  const rows: string[] = [];
  for (const message of cell.mailbox?.messages() ?? []) {
    if (rows.length >= rowsMax) break;
    rows.push(abridge(message));
  }
  return rows;
}

/**
 * Tells each message that the actor under a path handles from now on, whether or not there is one yet, up to `eventsMax`.
 * @returns ends the trace
 */
export function traceActor(
  dispatcher: Dispatcher,
  path: string,
  eventsMax: number,
  tell: (message: TracedMessage) => void,
): () => void {
  const tracer = dispatcher.records.trace(path, eventsMax, tell);
  const cell = dispatcher.find(path);
  if (cell !== undefined) cell.tracer = tracer;
  return () => {
    dispatcher.records.untrace(path, tracer);
    const traced = dispatcher.find(path);
    if (traced?.tracer === tracer) traced.tracer = undefined;
  };
}

/** The row of a dispatcher; `driver` is the RealDispatcher around it, if any. */
export function dispatcherRow(
  dispatcher: Dispatcher,
  driver: { readonly busyMs: number; readonly loopDelayMs: number } = { busyMs: 0, loopDelayMs: 0 },
): DispatcherRow {
  return {
    ...dispatcher.counters,
    deadLetters: dispatcher.deadLetters.count,
    busyMs: driver.busyMs,
    loopDelayMs: driver.loopDelayMs,
  };
}

/** The row of one actor. */
export function actorRow(cell: ActorCell): ActorRow {
  return {
    path: cell.name,
    state: cell.state,
    mailbox: cell.mailboxSize,
    mailboxPeak: cell.mailbox?.countPeak ?? 0,
    messagesHandled: cell.messagesHandled,
    busyMs: cell.busyMs,
    waitMs: meanWaitMs(cell),
    bytes: cell.actor?.bytes?.() ?? 0,
    restarts: cell.restarts,
    lastError: cell.lastFailure?.error ?? '',
  };
}

const MEASURES: Readonly<Record<TopOrder, (cell: ActorCell) => number>> = {
  mailbox: (cell) => cell.mailboxSize,
  busy: (cell) => cell.busyMs,
  mem: (cell) => cell.actor?.bytes?.() ?? 0,
  wait: meanWaitMs,
};

function meanWaitMs(cell: ActorCell): number {
  return cell.turns === 0 ? 0 : cell.waitMs / cell.turns;
}
