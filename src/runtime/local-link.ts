// A link (link.ts) inside one thread, for the simulator and for tests: the same batches, codec, credits and bulk lane, but frames are
// handed over by an alarm of the virtual clock after a chosen latency, in order. Transferred buffers are detached on the sending side by
// structuredClone, as a real port would do, so that code which goes on using them fails here too.
import { assert } from '../base/assert.ts';
import { Fifo } from '../base/fifo.ts';
import type { Alarms } from './clock.ts';
import { type Frame, LinkEnd, type LinkOptions } from './link.ts';

/** Frames under way in one direction, at most; credits keep it far below. */
const FRAMES_MAX = 1_000_000;

/** Two ends joined to each other. */
export interface LocalLinkPair<Left, Right> {
  /** Sends `Left`, gets `Right`. */
  readonly left: LinkEnd<Left, Right>;
  /** Sends `Right`, gets `Left`. */
  readonly right: LinkEnd<Right, Left>;
}

/** One direction: frames wait here until their alarm rings. */
class LocalWire {
  readonly #alarms: Alarms;
  readonly #latencyMs: () => number;
  readonly #frames = new Fifo<Frame>(FRAMES_MAX);
  #receiver: ((frame: Frame) => void) | undefined;

  constructor(alarms: Alarms, latencyMs: () => number) {
    this.#alarms = alarms;
    this.#latencyMs = latencyMs;
  }

  connect(receiver: (frame: Frame) => void): void {
    this.#receiver = receiver;
  }

  post(frame: Frame, transfer: ArrayBuffer[]): void {
    const fits = this.#frames.push(structuredClone(frame, { transfer }));
    assert(fits, () => `more than ${FRAMES_MAX} frames under way`);
    this.#alarms.after(this.#latencyMs(), () => {
      // The oldest frame, not the one this alarm was set for: latencies may differ, the order may not.
      const next = this.#frames.shift();
      if (next !== undefined) this.#receiver?.(next);
    });
  }

  /** Frames under way still arrive, as on a real port. */
  close(): void {}
}

/**
 * Joins two ends.
 * @param latencyMs draws the latency of each frame; default always 0
 */
export function localLinkPair<Left, Right>(
  leftOptions: LinkOptions<Right>,
  rightOptions: LinkOptions<Left>,
  latencyMs: () => number = () => 0,
): LocalLinkPair<Left, Right> {
  const toRight = new LocalWire(leftOptions.alarms, latencyMs);
  const toLeft = new LocalWire(rightOptions.alarms, latencyMs);
  const left = new LinkEnd<Left, Right>(toRight, leftOptions);
  const right = new LinkEnd<Right, Left>(toLeft, rightOptions);
  toRight.connect((frame) => right.accept(frame));
  toLeft.connect((frame) => left.accept(frame));
  return { left, right };
}
