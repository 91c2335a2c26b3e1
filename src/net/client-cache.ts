// The clients of the origins asked lately, least recently used ones closed first (step 9 of a URL's life). A client costs 2 KB, 12 KB with a
// connection (PERFORMANCE.md), so there is never one for each known host: the bound is I10, and keeps descriptors below the system's limit.
// A client with a request under way is never closed to make room; the number of those is bounded by the fetch slots.
// The order of use is a list threaded through the clients, not the order of a Map's keys: a Map whose keys are taken out and put in again at
// every fetch leaves a chain of dead tables behind, through which V8's young-generation collector keeps every request of the chain alive
// (measured: 12 µs of garbage collection a fetch against 1).

import type { OriginClient } from './origin-client.ts';

/** Origin → client, in order of use. */
export class ClientCache {
  readonly #clientsMax: number;
  readonly #clients = new Map<string, OriginClient>();
  #oldest: OriginClient | undefined;
  #newest: OriginClient | undefined;

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
      if (known.isBusy || known.serves(addresses)) {
        this.#unlink(known);
        this.#append(known);
        return known;
      }
      this.#remove(known);
    }
    const made = make();
    this.#clients.set(origin, made);
    this.#append(made);
    this.#shrink();
    return made;
  }

  /** Closes the client of an origin unless it is busy. */
  release(origin: string): void {
    const client = this.#clients.get(origin);
    if (client !== undefined && !client.isBusy) this.#remove(client);
  }

  /** Closes all. */
  clear(): void {
    for (const client of [...this.#clients.values()]) this.#remove(client);
  }

  #shrink(): void {
    let client = this.#oldest;
    while (client !== undefined && this.#clients.size > this.#clientsMax) {
      const { newer }: OriginClient = client;
      // The newest is about to be used.
      if (!client.isBusy && newer !== undefined) this.#remove(client);
      client = newer;
    }
  }

  #remove(client: OriginClient): void {
    this.#clients.delete(client.origin);
    this.#unlink(client);
    client.destroy();
  }

  #append(client: OriginClient): void {
    client.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = client;
    else this.#newest.newer = client;
    this.#newest = client;
  }

  #unlink(client: OriginClient): void {
    const { older, newer } = client;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    client.older = undefined;
    client.newer = undefined;
  }
}
