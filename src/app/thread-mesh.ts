// Channels between the shard threads of one process, made by the main thread before it starts them: links go from thread to thread and never
// through the main one (steps 3 and 12).

import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** A port from each thread to each other one; null at its own place. Both ends of a channel are the same pair, `[a][b]` and `[b][a]`. */
export function meshOf(threads: number): (MessagePort | null)[][] {
  const rows = Array.from({ length: threads }, () =>
    new Array<MessagePort | null>(threads).fill(null),
  );
  for (let one = 0; one < threads; one += 1) {
    for (let other = one + 1; other < threads; other += 1) {
      const { port1, port2 } = new MessageChannel();
      (rows[one] as (MessagePort | null)[])[other] = port1;
      (rows[other] as (MessagePort | null)[])[one] = port2;
    }
  }
  return rows;
}
