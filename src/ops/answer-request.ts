// Answers one request to operate or look at the crawl: reads the verb, asks the Operator within the
// deadline, and has every change audited (DESIGN.md §10). Nothing here throws: a bug on the way
// becomes a refusal, so that a question never harms the crawl it is about.

import { ROWS_DEFAULT } from './look-verbs.ts';
import type { Operation, OperationEntry, OperationSource } from './operation.ts';
import {
  type Answer,
  type AskLimits,
  answered,
  type Operator,
  refused,
  type TraceEvent,
} from './operator.ts';
import type { Prepared } from './verb.ts';
import { helpLines, prepare } from './verb-table.ts';

/** Time for a question that takes no time by itself, milliseconds (DESIGN.md §10). */
export const ANSWER_TIMEOUT_MS = 5_000;

/** What answering needs. */
export interface AnswerServices {
  readonly operator: Operator;
  /** Told of every operation, done or refused. Must not throw. */
  readonly audited: (entry: OperationEntry) => void;
  readonly timeoutMs: number;
  readonly source: OperationSource;
}

/** What a trace needs of whoever asked for it. */
export interface TraceListener {
  readonly tell: (event: TraceEvent) => void;
  readonly signal: AbortSignal;
}

/** Answers a verb. Resolves within its deadline; never rejects. */
export async function answerRequest(
  services: AnswerServices,
  request: { readonly verb: string; readonly args: readonly string[] },
  listener: TraceListener,
): Promise<Answer<unknown>> {
  if (request.verb === 'help') {
    const lines = helpLines(request.args[0]);
    return 'kind' in lines ? lines : answered(lines);
  }
  const prepared = prepare(request.verb, request.args);
  if (prepared.kind === 'refused') return prepared;
  return answerPrepared(services, prepared, listener);
}

/**
 * The answer, or a refusal when it takes longer than `timeoutMs`, fails, or nobody waits for it any more. What comes later is dropped.
 * @param what names the question in the refusal
 * @param signal aborted when whoever asked is gone
 */
export async function withinDeadline<Value>(
  what: string,
  timeoutMs: number,
  ask: () => Promise<Answer<Value>>,
  signal?: AbortSignal,
): Promise<Answer<Value>> {
  let giveUp: (answer: Answer<Value>) => void = () => {};
  const givenUp = new Promise<Answer<Value>>((resolve) => {
    giveUp = resolve;
  });
  const late = `${what} was not answered within ${timeoutMs} ms; the crawl may be very busy`;
  const timer = setTimeout(() => giveUp(refused('timeout', late)), timeoutMs);
  const onAbort = (): void => giveUp(refused('timeout', `nobody waits for ${what} any more`));
  signal?.addEventListener('abort', onAbort);
  try {
    return await Promise.race([ask(), givenUp]);
  } catch (thrown) {
    return refused('internal', `${what} failed: ${String(thrown).slice(0, 500)}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function answerPrepared(
  services: AnswerServices,
  prepared: Prepared,
  { tell, signal }: TraceListener,
): Promise<Answer<unknown>> {
  const { operator, timeoutMs } = services;
  if (prepared.kind === 'operate') return operate(services, prepared.operation);
  if (prepared.kind === 'trace') {
    const { actor, bounds } = prepared;
    const traceMs = bounds.forMs + timeoutMs;
    // A trace ends by the signal itself.
    return withinDeadline('the trace', traceMs, () =>
      operator.trace(actor, { ...bounds, signal }, tell),
    );
  }
  const limits: AskLimits = { timeoutMs, rowsMax: prepared.rows ?? ROWS_DEFAULT };
  const deadlineMs = timeoutMs + (prepared.takesMs ?? 0);
  const ask = () => prepared.ask(operator, limits);
  return withinDeadline('the question', deadlineMs, ask, signal);
}

async function operate(
  { operator, audited, timeoutMs, source }: AnswerServices,
  operation: Operation,
): Promise<Answer<unknown>> {
  const limits: AskLimits = { timeoutMs, rowsMax: ROWS_DEFAULT };
  const answer = await withinDeadline('the operation', timeoutMs, () =>
    operator.operate(operation, limits),
  );
  const isDone = answer.kind === 'answered';
  audited({
    at: Date.now(),
    source,
    operation,
    outcome: isDone ? 'done' : answer.code,
    text: isDone ? answer.value.text : answer.reason,
  });
  return answer;
}
