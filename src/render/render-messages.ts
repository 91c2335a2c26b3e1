// What is said between the shard threads and the one thread that renders (docs/RENDERING.md). One MessagePort for each shard; plain data.

import type { MessagePort } from 'node:worker_threads';
import type {
  RenderJob,
  RenderOutcome,
  ResourceAnswer,
  WantedResource,
} from '../actors/render-port.ts';
import type { ClockAnchor } from '../runtime/real-clock.ts';

/** The operator's bounds. */
export interface RenderSettings {
  /** Pages in the browser at once. */
  readonly pagesMax: number;
  /** Of one page: longest time, requests let through, bytes of all answers, memory of its process. */
  readonly timeMs: number;
  readonly requestsMax: number;
  readonly bytesMax: number;
  readonly memoryBytes: number;
  /** Undefined to look for one on the PATH. */
  readonly browserPath: string | undefined;
}

/** workerData of the render thread. */
export interface RenderThreadGift {
  readonly settings: RenderSettings;
  readonly anchor: ClockAnchor;
  /** By shard. */
  readonly ports: readonly MessagePort[];
  /** Takes RenderNews. */
  readonly news: MessagePort;
}

export type ToRenderThread =
  | { readonly kind: 'render'; readonly job: RenderJob }
  | { readonly kind: 'supply'; readonly resourceId: number; readonly answer: ResourceAnswer };

export type FromRenderThread =
  | { readonly kind: 'wanted'; readonly resource: WantedResource }
  | { readonly kind: 'ended'; readonly renderId: number; readonly outcome: RenderOutcome };

/** To the main thread, for the operator. */
export type RenderNews =
  | { readonly kind: 'render-unavailable'; readonly detail: string }
  | { readonly kind: 'render-browser-replaced'; readonly detail: string };
