// When a crawl over several nodes is done (CLUSTER.md): two rounds of asking find every live node quiet, every partition owned by one of them, and
// nothing done between the rounds. One node decides, the first by name of those alive, and all others hear of it; if it dies, the next one
// finds the same. Pure; times are the deciding node's monotonic clock.

import type { StateEnvelope } from './envelopes.ts';

/** A node's word older than this says nothing. */
const FRESH_MS = 3_000;
/** Least time between two rounds: longer than a message takes. */
const ROUND_MS = 1_000;

export class CrawlEnd {
  readonly #states = new Map<string, { readonly state: StateEnvelope; readonly heardMs: number }>();
  #quietSinceMs: number | undefined;
  #vector = '';

  heard(state: StateEnvelope, nowMs: number): void {
    this.#states.set(state.node, { state, heardMs: nowMs });
  }

  /** Why a live node ends the crawl, if one does. */
  endingOf(live: readonly string[]): string | undefined {
    for (const node of live) {
      const ending = this.#states.get(node)?.state.ending;
      if (ending !== undefined) return ending;
    }
    return undefined;
  }

  /** To be asked by the deciding node about once a second. */
  isDone(live: readonly string[], areAllOwned: boolean, nowMs: number): boolean {
    const words: string[] = [];
    for (const node of live) {
      const heard = this.#states.get(node);
      if (heard === undefined || nowMs - heard.heardMs > FRESH_MS || !heard.state.isQuiet) {
        this.#quietSinceMs = undefined;
        return false;
      }
      words.push(`${node} ${heard.state.run} ${heard.state.activity}`);
    }
    const vector = words.join(',');
    if (!areAllOwned || live.length === 0 || vector !== this.#vector) {
      this.#vector = vector;
      this.#quietSinceMs = areAllOwned ? nowMs : undefined;
      return false;
    }
    this.#quietSinceMs ??= nowMs;
    return nowMs - this.#quietSinceMs >= ROUND_MS;
  }
}
