// Entry of the one thread that renders, beside the crawl (docs/RENDERING.md): it drives the browser for all shards. It has nothing on the disk
// and may be ended at any time. Its priority, which the browser's processes inherit, is low (low-priority.ts).

import { workerData } from 'node:worker_threads';
import { RealClock } from '../runtime/real-clock.ts';
import { onThreadStop, threadReady } from '../runtime/thread-entry.ts';
import { lowerSession, lowerThread } from './low-priority.ts';
import type { FromRenderThread, RenderThreadGift, ToRenderThread } from './render-messages.ts';
import { RenderPool } from './render-pool.ts';

lowerThread();
const { settings, anchor, ports, news: newsPort } = workerData as RenderThreadGift;
const pool = new RenderPool({
  settings,
  clock: new RealClock(anchor),
  news: (news) => newsPort.postMessage(news),
  started: lowerSession,
});
for (const port of ports) {
  const send = (message: FromRenderThread): void => port.postMessage(message);
  port.on('message', (message: ToRenderThread) => {
    if (message.kind === 'supply') {
      pool.supply(message.resourceId, message.answer);
      return;
    }
    const { job } = message;
    pool.submit({
      job,
      wanted: (resource) => send({ kind: 'wanted', resource }),
      ended: (outcome) => send({ kind: 'ended', renderId: job.renderId, outcome }),
    });
  });
}
onThreadStop(() => {
  void pool.close().finally(() => {
    for (const port of [...ports, newsPort]) port.close();
  });
});
threadReady();
