// Where the change feed goes: a sink takes documents in order and says when it has them. What it has said it has is not sent again, but for
// the last portion when the consumer dies before the cursor is kept: at least once, never less.

import type { FeedDocument } from './feed-document.ts';

/** Trouble at the other end that may pass: the same portion is delivered again after a wait. */
export class SinkBusy extends Error {
  override readonly name = 'SinkBusy';
  /** How long the other end asks to wait, milliseconds; 0 when it does not say. */
  readonly waitMs: number;

  constructor(message: string, waitMs = 0) {
    super(message);
    this.waitMs = waitMs;
  }
}

export interface Sink {
  /** For people. */
  readonly name: string;
  /** Documents taken at once, at most. */
  readonly portionMax: number;
  /**
   * Delivers a portion; resolves when the other end has it for good.
   * @param cursor the place after the last document, for sinks that keep it beside their own state
   * @throws SinkBusy when it may work later; CrawlError when it never will
   */
  deliver(documents: readonly FeedDocument[], cursor: string): Promise<void>;
  /** The cursor a sink kept itself; undefined when it keeps none, or has none yet. */
  keptCursor?(): string | undefined;
  close(): Promise<void>;
}
