// The bucket of a simulated bus: compare-and-set over revisions that only grow, as JetStream's KV has it, and a restart that has lost the
// newest writes, as an unsynced server has after a power failure.

export class SimBucket {
  /** Changes with each restart, as a server's id does. */
  busId = 1;
  #log: {
    readonly key: string;
    readonly text: string;
    readonly revision: number;
    readonly atMs: number;
  }[] = [];
  readonly #newest = new Map<string, { readonly text: string; readonly revision: number }>();
  #revision = 0;

  write(
    key: string,
    expect: number,
    text: string,
    nowMs: number,
  ): { readonly kind: 'written'; readonly revision: number } | { readonly kind: 'conflict' } {
    if ((this.#newest.get(key)?.revision ?? 0) !== expect) return { kind: 'conflict' };
    this.#revision += 1;
    const revision = this.#revision;
    this.#newest.set(key, { text, revision });
    this.#log.push({ key, text, revision, atMs: nowMs });
    return { kind: 'written', revision };
  }

  /** The newest value of each key, in the order of revisions. */
  entries(): { readonly key: string; readonly text: string; readonly revision: number }[] {
    const all = [...this.#newest].map(([key, value]) => ({ key, ...value }));
    return all.sort((left, right) => left.revision - right.revision);
  }

  /** Comes back with what had reached the disk by `savedMs`. */
  restart(savedMs: number): void {
    this.busId += 1;
    this.#log = this.#log.filter(({ atMs }) => atMs <= savedMs);
    this.#newest.clear();
    for (const { key, text, revision } of this.#log) this.#newest.set(key, { text, revision });
    this.#revision = this.#log.at(-1)?.revision ?? 0;
  }
}
