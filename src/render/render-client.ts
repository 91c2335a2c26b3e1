// The RenderPort of production on a shard thread: messages to the render thread and back (docs/RENDERING.md). Bodies are copied, since the
// archive holds them too; they are small, and few.

import type { MessagePort } from 'node:worker_threads';
import type {
  RenderJob,
  RenderOutcome,
  RenderPort,
  ResourceAnswer,
  WantedResource,
} from '../actors/render-port.ts';
import { unreachable } from '../base/assert.ts';
import type { FromRenderThread, ToRenderThread } from './render-messages.ts';

interface Told {
  readonly wanted: (resource: WantedResource) => void;
  readonly ended: (outcome: RenderOutcome) => void;
}

export class RenderClient implements RenderPort {
  readonly #port: MessagePort;
  readonly #told = new Map<number, Told>();

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: FromRenderThread) => this.#heard(message));
  }

  render(job: RenderJob, told: Told): void {
    this.#told.set(job.renderId, told);
    this.#send({ kind: 'render', job });
  }

  supply(resourceId: number, answer: ResourceAnswer): void {
    this.#send({ kind: 'supply', resourceId, answer });
  }

  /** Nothing more is heard. */
  close(): void {
    this.#told.clear();
    this.#port.close();
  }

  #send(message: ToRenderThread): void {
    this.#port.postMessage(message);
  }

  #heard(message: FromRenderThread): void {
    switch (message.kind) {
      case 'wanted':
        this.#told.get(message.resource.renderId)?.wanted(message.resource);
        return;
      case 'ended': {
        const told = this.#told.get(message.renderId);
        this.#told.delete(message.renderId);
        told?.ended(message.outcome);
        return;
      }
      default:
        unreachable(message);
    }
  }
}
