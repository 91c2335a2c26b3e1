// Ctrl-C during `npm start`. The crawl runs in a process group of its own, since a terminal sends the signal to everybody in the foreground and
// npm sends it once more: the crawl would take the second for "stop at once". Here each key press is passed on once.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** A second interrupt within this time is the same key press. */
const SAME_INTERRUPT_MS = 500;

/** Interrupts of this process, passed on to the crawl, which stops in order at the first and at once at the second. */
export class Interrupts {
  seen = false;
  #lastMs = Number.NEGATIVE_INFINITY;
  #child: ChildProcess | undefined;

  constructor() {
    process.on('SIGINT', () => this.#interrupted());
    process.on('SIGTERM', () => this.#interrupted());
    // Whatever ends this process ends the crawl, which would otherwise go on alone.
    process.on('exit', () => this.#child?.kill('SIGKILL'));
  }

  /** @returns the child's exit status; null when a signal ended it */
  async guard(child: ChildProcess): Promise<number | null> {
    this.#child = child;
    if (this.seen) child.kill('SIGINT');
    const [status] = await once(child, 'exit');
    this.#child = undefined;
    return status;
  }

  #interrupted(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs < SAME_INTERRUPT_MS) return;
    this.#lastMs = nowMs;
    this.seen = true;
    this.#child?.kill('SIGINT');
  }
}
