// The render thread as the main thread has it (docs/RENDERING.md): started with the shards when the operator wants pages rendered, one port to
// each of them. It is no part of what a crawl needs to go on: when it ends, pages are parsed as they are, and the operator is told.

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { CrawlConfig } from '../config/options.ts';
import type { Log } from '../ops/log.ts';
import type { RenderNews, RenderSettings, RenderThreadGift } from '../render/render-messages.ts';
import { type ClockAnchor, RealAlarms } from '../runtime/real-clock.ts';
import { ThreadHost } from '../runtime/thread-host.ts';

/** How long the browser may take to end. */
const STOP_MS_MAX = 10_000;

export interface RenderCrew {
  /** The shard's end of its channel; to be transferred to it. */
  portOf(shard: number): MessagePort;
  /** Ends the browser and the thread. */
  stop(): Promise<void>;
}

/** @returns undefined when nothing is to be rendered */
export function startRenderCrew(
  config: CrawlConfig,
  anchor: ClockAnchor,
  told: (news: RenderNews) => void,
): RenderCrew | undefined {
  if (config.render === 'off') return undefined;
  const host = new ThreadHost({
    name: 'render',
    entry: new URL('../render/render-thread.js', import.meta.url),
    alarms: new RealAlarms(),
    onExit: ({ kind, error }) => {
      if (kind === 'failed') told({ kind: 'render-unavailable', detail: error });
    },
  });
  const channels = Array.from({ length: config.threads }, () => new MessageChannel());
  const news = new MessageChannel();
  news.port1.on('message', (message: RenderNews) => told(message));
  news.port1.unref();
  const ports = channels.map(({ port1 }) => port1);
  const gift: RenderThreadGift = {
    settings: settingsOf(config),
    anchor,
    ports,
    news: news.port2,
  };
  void host.start({ workerData: gift, transfer: [...ports, news.port2] });
  return {
    portOf: (shard) => (channels[shard] as MessageChannel).port2,
    stop: async () => {
      await host.stop(STOP_MS_MAX);
      await host.terminate();
      news.port1.close();
    },
  };
}

function settingsOf(config: CrawlConfig): RenderSettings {
  return {
    pagesMax: config.renderPagesMax,
    timeMs: config.renderTimeMs,
    requestsMax: config.renderRequestsMax,
    bytesMax: config.renderBytesMax,
    memoryBytes: config.renderMemoryBytes,
    browserPath: config.browserPath,
  };
}

/** One line of the log; that there is no browser is said once, and the crawl goes on. */
export function logRenderNews(log: Log, news: RenderNews): void {
  const { kind, detail } = news;
  const text =
    kind === 'render-unavailable'
      ? `no page is rendered in this run, and all are parsed as they are: ${detail}`
      : `the next page gets a new browser: ${detail}`;
  log.warn(kind, text, { ...news });
}
