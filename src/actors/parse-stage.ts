// Steps 11 and 12: committed pages wait here for their parse, one page a turn, and stay in the unparsed log until their outlinks are
// durable at their owners (DESIGN.md §5). Pages are parsed from the bytes that were checkpointed; a crash parses them again and never
// fetches them again (I9). The backlog is bounded by what the shard lets in: it stops fetching above the high-water mark (I10).

import { assert } from '../base/assert.ts';
import type { HostKey, UrlKey, WallMs } from '../base/units.ts';
import type { CheckpointStage } from './checkpoint-stage.ts';
import type { ParsePurpose, UnparsedPage } from './ports.ts';

/** A committed page with its bytes. */
export interface PageToParse {
  readonly unparsedId: number;
  readonly hostKey: HostKey;
  readonly urlKey: UrlKey;
  readonly url: string;
  readonly depth: number;
  readonly hops: number;
  readonly purpose: ParsePurpose;
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** When the page was visited before; undefined on its first visit, and of pages of an earlier run. */
  readonly previousAt?: WallMs | undefined;
  /** Its body is that of an earlier page: known content, whatever its text. Not known of a page of an earlier run. */
  readonly isCopy?: boolean;
}

/** A parsed page whose outlinks are on their way. */
interface Departing {
  readonly unparsedId: number;
  /** Commit of this shard that holds its own outlinks; undefined until all host actors have staged them. */
  localSequence: number | undefined;
  /** For each other shard, the batch that holds the page's last link to it. */
  readonly marks: readonly number[];
}

/** What the stage needs to know of the outboxes: how far each receiver has committed. */
export type CommittedMarks = () => readonly number[];

export class ParseStage {
  readonly #stage: CheckpointStage;
  readonly #committedMarks: CommittedMarks;
  readonly #backlog: PageToParse[] = [];
  #backlogAt = 0;
  #backlogBytes = 0;
  readonly #departing: Departing[] = [];
  /** Pages that are being rendered stay in the unparsed log; true once their own links are durable. */
  readonly #held = new Map<number, boolean>();
  /** Pages of an earlier run, read back one by one when there is nothing newer to do. */
  #recovering: Iterator<UnparsedPage> | undefined;

  constructor(stage: CheckpointStage, committedMarks: CommittedMarks) {
    this.#stage = stage;
    this.#committedMarks = committedMarks;
  }

  /** Bytes of the pages waiting. */
  get backlogBytes(): number {
    return this.#backlogBytes;
  }

  get backlog(): number {
    return this.#backlog.length - this.#backlogAt;
  }

  /** Parsed pages whose outlinks are not yet durable. */
  get departing(): number {
    return this.#departing.length;
  }

  get isIdle(): boolean {
    return this.backlog === 0 && this.#departing.length === 0 && this.#recovering === undefined;
  }

  add(page: PageToParse): void {
    this.#backlog.push(page);
    this.#backlogBytes += page.body.byteLength;
  }

  /** Sets the pages of an earlier run to be parsed again. */
  recover(pages: Iterable<UnparsedPage>): void {
    this.#recovering = pages[Symbol.iterator]();
  }

  /** The next page of an earlier run, or undefined when there are no more. */
  nextUnparsed(): UnparsedPage | undefined {
    const next = this.#recovering?.next();
    if (next === undefined || next.done === true) {
      this.#recovering = undefined;
      return undefined;
    }
    return next.value;
  }

  get isRecovering(): boolean {
    return this.#recovering !== undefined;
  }

  take(): PageToParse | undefined {
    const page = this.#backlog[this.#backlogAt];
    if (page === undefined) return undefined;
    this.#backlogAt += 1;
    this.#backlogBytes -= page.body.byteLength;
    if (this.#backlogAt === this.#backlog.length) {
      this.#backlog.length = 0;
      this.#backlogAt = 0;
    } else if (this.#backlogAt > 1_024) {
      this.#backlog.splice(0, this.#backlogAt);
      this.#backlogAt = 0;
    }
    return page;
  }

  /**
   * A page's outlinks have left. @returns to be called when the last host actor has staged its part
   * @param marks for each other shard, the batch that holds the page's last link to it
   */
  departed(unparsedId: number, marks: readonly number[]): () => void {
    const departing: Departing = { unparsedId, localSequence: undefined, marks };
    this.#departing.push(departing);
    return () => {
      assert(departing.localSequence === undefined, () => `page ${unparsedId} staged twice`);
      // With nothing staged now, what the page has staged lies in an earlier batch; the next one may never come.
      const { hasOpen, openSequence } = this.#stage;
      departing.localSequence = hasOpen ? openSequence : openSequence - 1;
    };
  }

  /** Keeps a page in the unparsed log until `release`, whatever becomes of its links. @param isParsed it has none of its own to wait for */
  hold(unparsedId: number, isParsed: boolean): void {
    assert(!this.#held.has(unparsedId), () => `page ${unparsedId} is held twice`);
    this.#held.set(unparsedId, isParsed);
  }

  /** Ends a hold: in the turn that stages what the page was held for, so that both are one commit. */
  release(unparsedId: number): void {
    const isDurable = this.#held.get(unparsedId);
    assert(isDurable !== undefined, () => `page ${unparsedId} is not held`);
    this.#held.delete(unparsedId);
    if (isDurable) this.#stage.parsed(unparsedId);
  }

  /** Takes pages out of the unparsed log whose outlinks are durable everywhere. Call after commits and receipts. */
  settle(): void {
    const committed = this.#committedMarks();
    let settled = 0;
    for (const page of this.#departing) {
      const { localSequence } = page;
      if (localSequence === undefined || localSequence > this.#stage.committedThrough) break;
      if (page.marks.some((mark, peer) => mark > (committed[peer] ?? 0))) break;
      if (this.#held.has(page.unparsedId)) this.#held.set(page.unparsedId, true);
      else this.#stage.parsed(page.unparsedId);
      settled += 1;
    }
    if (settled > 0) this.#departing.splice(0, settled);
  }
}
