// The judge's list of findings: every one is counted, only the first of each kind are kept with their details, so that a crawl that
// breaks a rule a million times is reported in a screenful.
import type { RequestEntry, Violation, ViolationKind } from './judge-types.ts';

/** Counts and bounded list of violations. */
export class JudgeLedger {
  readonly counts: Record<ViolationKind, number> = {
    overlap: 0,
    gap: 0,
    'retry-after': 0,
    'address-budget': 0,
    'address-gap': 0,
    'before-robots': 0,
    'stale-robots': 0,
    disallowed: 0,
    repeat: 0,
    'unknown-host': 0,
    missing: 0,
    unexpected: 0,
  };
  readonly violations: Violation[] = [];
  readonly #listedMax: number;

  /** @param listedMax findings of one kind that are kept, ≥ 0 */
  constructor(listedMax: number) {
    this.#listedMax = listedMax;
  }

  /** Findings of all kinds. */
  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  /** Notes a request that broke a rule, with the one it collides with. */
  add(
    kind: ViolationKind,
    entry: RequestEntry,
    detail: string,
    previous: RequestEntry | null = null,
  ): void {
    const { host, path, startMs } = entry;
    this.#note({ kind, host, path, detail, startMs, previous });
  }

  /** Notes a URL that no single request stands for. */
  addUrl(kind: ViolationKind, text: string, detail: string): void {
    const url = new URL(text);
    const path = url.pathname + url.search;
    this.#note({ kind, host: url.host, path, detail, startMs: null, previous: null });
  }

  #note(violation: Violation): void {
    if (this.counts[violation.kind]++ < this.#listedMax) this.violations.push(violation);
  }
}
