// The lease of this node (CLUSTER.md, rules 1, 2, 6): when it may be claimed, renewed, and until when it holds. The deadline counts from before
// the renewal was SENT, so whoever watches us counts from later. A lease that was lost once is never mended: a late answer changes nothing,
// the next one begins with a new incarnation. Pure; times are the node's monotonic clock.

import type { Seen } from './bucket-view.ts';
import type { LeaseTimes } from './lease-times.ts';
import type { LeaseRecord } from './records.ts';

/** What the node is and how it draws incarnations. */
export interface LeaseOwner {
  readonly weight: number;
  readonly region: string | undefined;
  readonly times: LeaseTimes;
  /** A fresh random name, never drawn before. */
  readonly drawIncarnation: () => string;
}

/** Renewals whose answers are awaited, at most: older ones can no longer prolong anything. */
const BEATS_OPEN_MAX = 16;

export class OwnLease {
  readonly #owner: LeaseOwner;
  /** Incarnations of this process, this one last: what it wrote itself is no other process. */
  readonly #mine = new Set<string>();
  #incarnation: string;
  #beat = 0;
  /** When each renewal of this incarnation was sent, by its beat. */
  readonly #sentMs = new Map<number, number>();
  #deadlineMs = Number.NEGATIVE_INFINITY;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  /** Revisions of a foreign process under our name. */
  #foreignSeen = 0;
  #foreignRevision = 0;
  #state: LeaseRecord['state'] = 'live';

  constructor(owner: LeaseOwner) {
    this.#owner = owner;
    this.#incarnation = owner.drawIncarnation();
    this.#mine.add(this.#incarnation);
  }

  get incarnation(): string {
    return this.#incarnation;
  }

  /** Rule 1: nothing may be started or in flight from here on. */
  get deadlineMs(): number {
    return this.#deadlineMs;
  }

  get state(): LeaseRecord['state'] {
    return this.#state;
  }

  /** True while fetching is allowed. */
  holds(nowMs: number): boolean {
    return nowMs < this.#deadlineMs;
  }

  /** True when this incarnation had a lease and its deadline has passed (rule 2). */
  hasLapsed(nowMs: number): boolean {
    return this.#deadlineMs !== Number.NEGATIVE_INFINITY && nowMs >= this.#deadlineMs;
  }

  /** Rules 2 and 7: what was held is held no longer, whatever answers still come. */
  lose(): void {
    this.#incarnation = this.#owner.drawIncarnation();
    this.#mine.add(this.#incarnation);
    this.#beat = 0;
    this.#sentMs.clear();
    this.#deadlineMs = Number.NEGATIVE_INFINITY;
    this.#lastSentMs = Number.NEGATIVE_INFINITY;
  }

  /** The node hands over and goes: other nodes see it with the next renewal. */
  leave(): void {
    if (this.#state === 'live') this.#state = 'leaving';
    this.#lastSentMs = Number.NEGATIVE_INFINITY;
  }

  /** Nothing is owned any more. */
  left(): void {
    this.#state = 'left';
    this.#lastSentMs = Number.NEGATIVE_INFINITY;
  }

  /** True when a value of our key was written by another process, which may be alive. */
  isForeign(record: LeaseRecord | undefined): boolean {
    return record !== undefined && !this.#mine.has(record.incarnation);
  }

  /** Rule 6: another process under our name goes on renewing. To be asked with each revision of our key. */
  isNameTaken(seen: Seen<LeaseRecord>): boolean {
    const { record, revision } = seen;
    if (!this.isForeign(record) || record?.state === 'dead' || record?.state === 'left') {
      this.#foreignSeen = 0;
      return false;
    }
    if (revision > this.#foreignRevision) this.#foreignSeen += 1;
    this.#foreignRevision = Math.max(revision, this.#foreignRevision);
    // The first may be the last word of a process that has died.
    return this.#foreignSeen >= 3;
  }

  /** True when a claim or a renewal should be sent now. */
  isDue(seen: Seen<LeaseRecord> | undefined, nowMs: number): boolean {
    if (nowMs - this.#lastSentMs < this.#owner.times.heartbeatMs) return false;
    if (seen === undefined) return true;
    const { record, receivedMs } = seen;
    // Unknown is not dead: what cannot be read is waited out too.
    const mayLive = record === undefined || (this.isForeign(record) && isAlive(record));
    return !mayLive || nowMs - receivedMs >= this.#owner.times.deadMs;
  }

  /** The next value of our key, noted as sent now. */
  next(nowMs: number): LeaseRecord {
    this.#beat += 1;
    this.#lastSentMs = nowMs;
    this.#sentMs.set(this.#beat, nowMs);
    this.#sentMs.delete(this.#beat - BEATS_OPEN_MAX);
    const { weight, region } = this.#owner;
    const incarnation = this.#incarnation;
    return { incarnation, beat: this.#beat, weight, region, state: this.#state };
  }

  /** A renewal is known to be in the bucket: by its answer, or because it was seen there. */
  confirmed(incarnation: string, beat: number): void {
    const sentMs = incarnation === this.#incarnation ? this.#sentMs.get(beat) : undefined;
    if (sentMs === undefined) return;
    this.#deadlineMs = Math.max(this.#deadlineMs, sentMs + this.#owner.times.leaseMs);
  }

  /** The renewal was refused or got lost: the next may follow at once. */
  refused(nowMs: number): void {
    const { heartbeatMs } = this.#owner.times;
    this.#lastSentMs = Math.min(this.#lastSentMs, nowMs - heartbeatMs * RETRY_SHARE);
  }
}

/** A lost renewal is repeated after half a heartbeat. */
const RETRY_SHARE = 0.5;

/** True for a lease whose node may own partitions. */
export function isAlive(record: LeaseRecord): boolean {
  return record.state === 'live' || record.state === 'leaving';
}
