// The clients of the origins asked lately, least recently used ones closed first (step 9 of a URL's life). A client costs 2 KB, 12 KB with a
// connection (PERFORMANCE.md), so there is never one for each known host: the bound is I10, and keeps descriptors below the system's limit.
// A client with a request under way is never closed to make room; the number of those is bounded by the fetch slots.

import type { OriginClient } from './origin-client.ts';

/** Origin → client, in order of use. */
export class ClientCache {
  readonly #clientsMax: number;
  readonly #clients = new Map<string, OriginClient>();

  /** @param clientsMax idle ones above this number are closed; at least 1 */
  constructor(clientsMax: number) {
    this.#clientsMax = clientsMax;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** The client of an origin, now the most recently used; made by `make` when there is none that serves these addresses. */
  take(origin: string, addresses: readonly string[], make: () => OriginClient): OriginClient {
    const known = this.#clients.get(origin);
    if (known !== undefined) {
      this.#clients.delete(origin);
      if (known.isBusy || known.serves(addresses)) {
        this.#clients.set(origin, known);
        return known;
      }
      known.destroy();
    }
    const made = make();
    this.#clients.set(origin, made);
    this.#shrink(made);
    return made;
  }

  /** Closes the client of an origin unless it is busy. */
  release(origin: string): void {
    const client = this.#clients.get(origin);
    if (client === undefined || client.isBusy) return;
    this.#clients.delete(origin);
    client.destroy();
  }

  /** Closes all. */
  clear(): void {
    for (const client of this.#clients.values()) client.destroy();
    this.#clients.clear();
  }

  #shrink(newest: OriginClient): void {
    for (const [origin, client] of this.#clients) {
      if (this.#clients.size <= this.#clientsMax || client === newest) return;
      if (client.isBusy) continue;
      this.#clients.delete(origin);
      client.destroy();
    }
  }
}
