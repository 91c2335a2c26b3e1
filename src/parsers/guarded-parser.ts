// The real guarded pool of one shard thread (step 11, DESIGN.md §5): hands pages to threads with a limit on time and memory and answers what
// came of it. One pool for each shard, since a body then travels once and no other thread has to pass it on; its single thread starts
// with the first page that needs it and ends when idle. The thread holds no LMDB and may be terminated (DESIGN.md §3).

import { IN_HAND_MAX } from '../actors/guarded-parsing.ts';
import type { PageToParse } from '../actors/parse-stage.ts';
import type { GuardedParseOutcome, GuardedParsePort } from '../actors/ports.ts';
import { assert } from '../base/assert.ts';
import type { Alarms } from '../runtime/clock.ts';
import { type RunOutcome, WorkerPool, type WorkerPoolCounters } from '../runtime/pool.ts';
import type { GuardedInput, GuardedOutlinks } from './guarded-run.ts';

/** Time of one parse, the start of its thread included. 50 MiB of sitemap or HTML take one second of a CPU, here four of a loaded machine. */
const RUN_MS_MAX = 20_000;
/** Heap of the thread: 50 MiB as text of two bytes a character, packed or not, are parsed within it. */
const HEAP_MIB_MAX = 320;
/** Characters of a parser's error that are kept. */
const DETAIL_CHARACTERS_MAX = 200;

export interface GuardedParserOptions {
  readonly alarms: Alarms;
  readonly productToken: string;
  /** Compiled module with `run`; default the pool's own entry. */
  readonly entry?: URL;
  readonly runMsMax?: number;
  readonly heapMiBMax?: number;
}

export class GuardedParser implements GuardedParsePort {
  readonly #pool: WorkerPool<GuardedInput, GuardedOutlinks>;
  readonly #productToken: string;
  #isClosed = false;

  constructor(options: GuardedParserOptions) {
    this.#productToken = options.productToken;
    this.#pool = new WorkerPool({
      entry: options.entry ?? new URL('./pool-entry.js', import.meta.url),
      alarms: options.alarms,
      threadsMax: 1,
      queueMax: IN_HAND_MAX,
      runMsMax: options.runMsMax ?? RUN_MS_MAX,
      heapMiBMax: options.heapMiBMax ?? HEAP_MIB_MAX,
    });
  }

  get counters(): WorkerPoolCounters {
    return this.#pool.counters;
  }

  /** See GuardedParsePort. The page's body is copied: it is wanted again when the try fails. */
  parse(page: PageToParse, answered: (outcome: GuardedParseOutcome) => void): void {
    const body = new Uint8Array(page.body);
    const input = { page: { ...page, body }, productToken: this.#productToken };
    const running = this.#pool.run(input, { transfer: [body.buffer] });
    assert(running !== undefined || this.#isClosed, () => 'more pages than the pool has room for');
    void running?.then((outcome) => {
      // What a closing pool leaves behind says nothing about the page, which stays in the unparsed log.
      if (!this.#isClosed) answered(outcomeOf(outcome));
    });
  }

  /** Ends the pool's thread at once. Pages in its hands are not answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.close();
  }
}

function outcomeOf(outcome: RunOutcome<GuardedOutlinks>): GuardedParseOutcome {
  switch (outcome.kind) {
    case 'ok':
      return { kind: 'parsed', outlinks: outcome.value };
    case 'failed':
      return { kind: 'failed', detail: outcome.error.slice(0, DETAIL_CHARACTERS_MAX) };
    default:
      return outcome;
  }
}
