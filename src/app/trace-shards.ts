// One trace of an actor for an operator (DESIGN.md §10, `trace`): over at the first of so many events, so long, or the asker's going away.
// An actor of one name may live on several shards (each has its `shard`): all of them are traced together.

import type { TraceBounds, TraceEvent } from '../ops/operator.ts';
import type { ShardQuestions } from './shard-questions.ts';

/** Traces until one of its bounds is met. @returns events told */
export async function traceShards(
  questions: ShardQuestions,
  shards: readonly number[],
  trace: TraceBounds & {
    readonly actor: string;
    readonly tell: (event: TraceEvent) => void;
  },
): Promise<number> {
  const { actor, eventsMax, forMs, signal, tell } = trace;
  let events = 0;
  let over: () => void = () => {};
  const whenOver = new Promise<void>((resolve) => {
    over = resolve;
  });
  const ends = shards.map((shard) =>
    questions.trace(shard, { actor, eventsMax }, (event) => {
      if (events >= eventsMax) return;
      events += 1;
      tell(event);
      if (events === eventsMax) over();
    }),
  );
  const timer = setTimeout(over, forMs);
  signal.addEventListener('abort', over);
  if (signal.aborted) over();
  await whenOver;
  clearTimeout(timer);
  signal.removeEventListener('abort', over);
  for (const end of ends) end();
  return events;
}
