// Step 8: which host comes next. Every host that wants a slot stands in exactly one heap, by the time it may next be asked: one heap for
// each band of its next URL, one for hosts in trouble, which wait for a retry, and one for hosts that have parked URLs only. Hosts that
// are due are taken band by band in proportion to the weights, so urgent hosts come first and the least urgent still move; hosts whose
// next URL is a page due for another visit get their share of the slots, no more and no less while both kinds wait (DESIGN.md §4, default
// 6:3:1 and 80:20). O(log n) each; a million waiting hosts cost a few dozen bytes each, whether their actors are awake or not.

import { assert } from '../base/assert.ts';
import { IndexedHeap } from '../base/heap.ts';
import type { HostKey, MonotonicMs } from '../base/units.ts';
import { hostKey as brandHostKey } from '../base/units.ts';
import { FreshnessSplit } from '../domain/split.ts';
import type { WaitReason } from './host-pace.ts';
import { BANDS, type Band, FRESHNESS } from './rows.ts';

/** Shares of the bands among the slots given out while all have hosts that are due; each at least 1. */
export type BandWeights = readonly [number, number, number];

const BACKOFF = 3;
const REVIEW = 5;
const HEAPS = 6;
/** The heaps but that of pages due for another visit; hosts in trouble have something to discover as a rule. */
const DISCOVERY: readonly number[] = [0, 1, 2, BACKOFF, REVIEW];
/** More due hosts than this in one heap are not counted: the front is then large enough for any rate. */
const DUE_COUNT_MAX = 10_000;

export interface ScheduleCounts {
  /** Hosts waiting for their ordinary gap or due now, by band. */
  readonly byBand: readonly [number, number, number, number];
  /** Hosts waiting for a retry after trouble. */
  readonly backingOff: number;
  /** Hosts that have parked URLs only and wait for their review. */
  readonly reviewing: number;
}

/** A host in the schedule. */
export interface NextHost {
  readonly hostKey: bigint;
  /** By the monotonic clock. */
  readonly atMs: number;
  /** Undefined for one that waits after trouble. */
  readonly band: Band | undefined;
}

export class HostSchedule {
  /** By band; those of hosts in trouble and under review are numbered beside them. */
  readonly #heaps: readonly IndexedHeap[];
  /** Which heap a host stands in is asked of the heaps themselves: no second index to keep true. */
  readonly #weights: readonly number[];
  readonly #split: FreshnessSplit;
  /** Credits of the weighted round; refilled when every band with a due host has used its own up. */
  readonly #credits: number[];

  /** @param freshnessShare percent of the slots for pages due for another visit, 1 … 99 */
  constructor(weights: BandWeights, freshnessShare: number) {
    for (const weight of weights) assert(weight >= 1, () => `band weight ${weight}`);
    this.#heaps = Array.from({ length: HEAPS }, () => new IndexedHeap());
    this.#weights = [...weights, 1, 0, 1];
    this.#credits = [...this.#weights];
    this.#split = new FreshnessSplit(freshnessShare);
  }

  get size(): number {
    return this.#heaps.reduce((sum, heap) => sum + heap.size, 0);
  }

  counts(): ScheduleCounts {
    const sizeOf = (at: number): number => this.#heap(at).size;
    const byBand = [sizeOf(0), sizeOf(1), sizeOf(2), sizeOf(FRESHNESS)] as const;
    return { byBand, backingOff: sizeOf(BACKOFF), reviewing: sizeOf(REVIEW) };
  }

  /** Places a host, or moves it. */
  put(hostKey: HostKey, atMs: MonotonicMs, band: Band, reason: WaitReason): void {
    const heap = reason === 'backoff' ? BACKOFF : reason === 'review' ? REVIEW : band;
    for (let other = 0; other < HEAPS; other += 1) {
      if (other !== heap) this.#heap(other).remove(hostKey);
    }
    this.#heap(heap).set(hostKey, atMs);
  }

  remove(hostKey: HostKey): void {
    for (const heap of this.#heaps) heap.remove(hostKey);
  }

  /** The band in whose turn a host waits; undefined when it waits for something else or for nothing. */
  bandOf(hostKey: HostKey): Band | undefined {
    return BANDS.find((band) => this.#heap(band).priorityOf(hostKey) !== undefined);
  }

  /** When a host may be asked, by the monotonic clock; undefined when it waits for no slot. */
  timeOf(hostKey: HostKey): number | undefined {
    for (const heap of this.#heaps) {
      const atMs = heap.priorityOf(hostKey);
      if (atMs !== undefined) return atMs;
    }
    return undefined;
  }

  /** Takes a host that may be asked now out of the schedule; undefined when none is due. Never one before its time (I2). */
  take(nowMs: MonotonicMs): HostKey | undefined {
    const heap = this.#choose(nowMs);
    if (heap === undefined) return undefined;
    assert(heap.peekPriority() <= nowMs, () => 'a host taken before its next fetch time');
    const taken = heap.pop();
    assert(taken !== undefined, () => 'a due host vanished');
    return brandHostKey(taken);
  }

  /** Hosts that may be asked now, counted up to DUE_COUNT_MAX. */
  countDue(nowMs: MonotonicMs): number {
    return this.#heaps.reduce((sum, heap) => sum + heap.countAtMost(nowMs, DUE_COUNT_MAX), 0);
  }

  /** Hosts by the time they may be asked, the first ones of each band and of those in trouble. @param countMax of each, at most some dozens */
  nextHosts(countMax: number): NextHost[] {
    return this.#heaps
      .flatMap((heap, at) =>
        heap.smallest(countMax).map(([hostKey, atMs]) => ({
          hostKey,
          atMs,
          band: at === BACKOFF ? undefined : (at as Band),
        })),
      )
      .sort((one, other) => one.atMs - other.atMs);
  }

  /** The earliest time any host may be asked; Infinity when none waits. */
  nextMs(): number {
    return Math.min(
      ...this.#heaps.map((heap) => (heap.size === 0 ? Infinity : heap.peekPriority())),
    );
  }

  /** The earliest time of a host that waits for its ordinary gap alone; Infinity when there is none. */
  nextGapMs(): number {
    let earliest = Infinity;
    for (const band of BANDS) {
      const heap = this.#heap(band);
      if (heap.size > 0) earliest = Math.min(earliest, heap.peekPriority());
    }
    return earliest;
  }

  #choose(nowMs: MonotonicMs): IndexedHeap | undefined {
    if (!this.#hasDue(FRESHNESS, nowMs)) return this.#chooseDiscovery(nowMs);
    if (DISCOVERY.some((at) => this.#hasDue(at, nowMs))) {
      const kind = this.#split.isFreshnessNext ? 'freshness' : 'discovery';
      this.#split.served(kind);
      if (kind === 'discovery') return this.#chooseDiscovery(nowMs);
    }
    return this.#heap(FRESHNESS);
  }

  #hasDue(at: number, nowMs: MonotonicMs): boolean {
    const heap = this.#heap(at);
    return heap.size > 0 && heap.peekPriority() <= nowMs;
  }

  #chooseDiscovery(nowMs: MonotonicMs): IndexedHeap | undefined {
    for (let round = 0; round < 2; round += 1) {
      let anyDue = false;
      for (const at of DISCOVERY) {
        if (!this.#hasDue(at, nowMs)) continue;
        anyDue = true;
        if ((this.#credits[at] as number) <= 0) continue;
        this.#credits[at] = (this.#credits[at] as number) - 1;
        return this.#heap(at);
      }
      if (!anyDue) return undefined;
      for (const at of DISCOVERY) this.#credits[at] = this.#weights[at] as number;
    }
    return undefined;
  }

  #heap(at: number): IndexedHeap {
    return this.#heaps[at] as IndexedHeap;
  }
}
