// What one node knows of the bucket (CLUSTER.md, rules 3, 4 and 7): the newest record of each key, with its revision and when it was received. A
// view is taken in sessions: a fresh session sends every key again, and none of them may be older than what was known, since keys are never
// removed and revisions only grow: one that is older proves that the bus lost what it had acknowledged (rule 7). Within a session an older
// revision is only a watch that lags behind our own writes, and is passed over.

import {
  type BucketRecord,
  type LeaseRecord,
  leaseKey,
  type PartRecord,
  partKey,
  RING_KEY,
  type RingRecord,
  readRecord,
} from './records.ts';

/** A record with its place in time. */
export interface Seen<Record> {
  /** Undefined when the value could not be read: unknown, not absent. */
  readonly record: Record | undefined;
  readonly revision: number;
  /** When this revision was received, by our monotonic clock. */
  readonly receivedMs: number;
}

type Stored = Seen<BucketRecord>;

export class BucketView {
  readonly #known = new Map<string, Stored>();
  /** Keys that the session under way has not shown yet; undefined once it is whole. */
  #missing: Set<string> | undefined = new Set();
  #hasRegressed = false;

  /** True once every key of the bucket was shown. */
  get isWhole(): boolean {
    return this.#missing === undefined;
  }

  /** A session begins: every key is about to be shown again. */
  begin(): void {
    this.#missing = new Set(this.#known.keys());
    this.#hasRegressed = false;
  }

  /** The session has shown every key. @returns false when the bus lost data: the view is then empty, and another session is needed */
  end(): boolean {
    const lost = this.#hasRegressed || (this.#missing !== undefined && this.#missing.size > 0);
    this.#missing = undefined;
    if (lost) this.forget();
    return !lost;
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#known.clear();
    this.#missing = new Set();
    this.#hasRegressed = false;
  }

  /** Takes a value in. @returns true when it is newer than what was known */
  see(key: string, text: string, revision: number, nowMs: number): boolean {
    this.#missing?.delete(key);
    const before = this.#known.get(key);
    if (before !== undefined && revision <= before.revision) {
      if (revision < before.revision && this.#missing !== undefined) this.#hasRegressed = true;
      return false;
    }
    this.#known.set(key, { record: readRecord(key, text), revision, receivedMs: nowMs });
    return true;
  }

  /** The revision known of a key; 0 for a key that nobody wrote, as compare-and-set has it. */
  revisionOf(key: string): number {
    return this.#known.get(key)?.revision ?? 0;
  }

  lease(node: string): Seen<LeaseRecord> | undefined {
    const seen = this.#known.get(leaseKey(node));
    if (seen === undefined) return undefined;
    return { ...seen, record: seen.record?.kind === 'lease' ? seen.record.lease : undefined };
  }

  part(partition: number): Seen<PartRecord> | undefined {
    const seen = this.#known.get(partKey(partition));
    if (seen === undefined) return undefined;
    return { ...seen, record: seen.record?.kind === 'part' ? seen.record.part : undefined };
  }

  ring(): RingRecord | undefined {
    const record = this.#known.get(RING_KEY)?.record;
    return record?.kind === 'ring' ? record.ring : undefined;
  }

  /** Every node that ever had a lease, by name. */
  *leases(): Generator<{ readonly node: string; readonly seen: Seen<LeaseRecord> }> {
    for (const seen of this.#known.values()) {
      if (seen.record?.kind !== 'lease') continue;
      yield { node: seen.record.node, seen: { ...seen, record: seen.record.lease } };
    }
  }
}
