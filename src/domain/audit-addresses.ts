// The audit's proof for addresses (I1, second half): how many requests were open to one IP address at a time. Lines of the audit log come in
// the order of their commits, threads between one another, so they are put in the order of their starts first: a line is held back until no
// line with an earlier start can follow. Then one sweep counts what is open at each start.
// Memory is bounded by what is held back (requests of the last minutes) and by the addresses with an open request.

import { IndexedHeap } from '../base/heap.ts';

/** One request, as far as its address is concerned. */
export interface AddressUse {
  readonly address: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Lines held back at most; beyond that the earliest is swept before its time. */
const HELD_MAX = 262_144;
/** Addresses with requests remembered before those that are over are cleared away. */
const ADDRESSES_SWEPT = 65_536;

interface OpenUse {
  readonly endedAt: number;
  readonly ordinal: number;
}

/** Told of each request that was one too many. `open` counts it; `otherOrdinal` is the one still open that ends last. */
export type AddressOffence = (offence: {
  readonly ordinal: number;
  readonly otherOrdinal: number;
  readonly open: number;
}) => void;

/** Sweeps the requests of a log, see the head of this file. */
export class AddressSweep {
  readonly #openMax: number;
  readonly #horizonMs: number;
  readonly #toleranceMs: number;
  readonly #offence: AddressOffence;
  readonly #order = new IndexedHeap<number>({ keys: 'number' });
  readonly #held = new Map<number, AddressUse>();
  readonly #open = new Map<string, OpenUse[]>();
  #latestEnd = 0;
  #sweptTo = 0;
  #late = 0;
  #mostOpen = 0;

  /**
   * @param options.openMax requests open to one address, at most
   * @param options.horizonMs how much earlier than the latest end seen a later line may start: the longest request plus the longest
   *   time between an end and its commit
   */
  constructor(
    options: {
      readonly openMax: number;
      readonly horizonMs: number;
      readonly toleranceMs: number;
    },
    offence: AddressOffence,
  ) {
    this.#openMax = options.openMax;
    this.#horizonMs = options.horizonMs;
    this.#toleranceMs = options.toleranceMs;
    this.#offence = offence;
  }

  /** Lines that came too late to be put in order: about these nothing is proven. */
  get late(): number {
    return this.#late;
  }

  /** Most requests that were open to one address at a time. */
  get mostOpen(): number {
    return this.#mostOpen;
  }

  /** Takes a line in. @param ordinal its number in the log, each once */
  add(ordinal: number, use: AddressUse): void {
    if (use.address === '') return;
    if (use.startedAt < this.#sweptTo) {
      this.#late += 1;
      return;
    }
    this.#held.set(ordinal, use);
    this.#order.push(ordinal, use.startedAt);
    this.#latestEnd = Math.max(this.#latestEnd, use.endedAt);
    while (this.#order.size > 0) {
      const isDue = this.#order.peekPriority() < this.#latestEnd - this.#horizonMs;
      if (!isDue && this.#order.size <= HELD_MAX) break;
      this.#sweepOne();
    }
  }

  /** Sweeps what is still held back. */
  finish(): void {
    while (this.#order.size > 0) this.#sweepOne();
  }

  #sweepOne(): void {
    const ordinal = this.#order.pop();
    const use = ordinal === undefined ? undefined : this.#held.get(ordinal);
    if (ordinal === undefined || use === undefined) return;
    this.#held.delete(ordinal);
    this.#sweptTo = use.startedAt;
    if (this.#open.size > ADDRESSES_SWEPT) this.#clearClosed();
    const open = (this.#open.get(use.address) ?? []).filter((other) => this.#overlaps(other, use));
    const other = open.reduce<OpenUse | undefined>(
      (last, next) => (last === undefined || next.endedAt > last.endedAt ? next : last),
      undefined,
    );
    open.push({ endedAt: use.endedAt, ordinal });
    this.#open.set(use.address, open);
    this.#mostOpen = Math.max(this.#mostOpen, open.length);
    if (open.length > this.#openMax && other !== undefined) {
      this.#offence({ ordinal, otherOrdinal: other.ordinal, open: open.length });
    }
  }

  #overlaps(other: OpenUse, use: AddressUse): boolean {
    return other.endedAt > use.startedAt + this.#toleranceMs;
  }

  #clearClosed(): void {
    for (const [address, uses] of this.#open) {
      if (uses.every(({ endedAt }) => endedAt <= this.#sweptTo)) this.#open.delete(address);
    }
  }
}
