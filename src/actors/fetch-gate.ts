// Step 9: the only holder of the fetch port. A request starts here and nowhere else, with a permit from the host's own pace and a slot
// that the shard reserved; a test proves that no other file reaches the port. Counts what is in flight per shard (I10) and asserts that a
// host has one request at most (I1).
//
// A request that has waited long costs a connection and nothing else, so it gives its slot on, up to SLOW_FACTOR slots' worth: otherwise a few
// hundred hosts that accept and never answer would hold every slot, and delay all others by their timeouts (measured: 714 mute hosts beside
// 686 healthy ones on 512 slots left these 26 % of their rate).

import { assert } from '../base/assert.ts';
import { Fifo } from '../base/fifo.ts';
import type { HostKey, MonotonicMs } from '../base/units.ts';
import type { FetchTenure } from './fetch-tenure.ts';
import type { FetchPermit } from './host-pace.ts';
import type { FetchOutcome, FetchPort, FetchPurpose, FetchRequest } from './ports.ts';
import { ResponseTimes } from './response-times.ts';

export interface GateRequest {
  readonly purpose: FetchPurpose;
  readonly url: string;
  /** Asked for by a page of another host. */
  readonly isForeign: boolean;
  readonly addresses: readonly string[];
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** From this age a request counts as slow, milliseconds: some ten times what answers take. */
export const SLOW_MS = 3_000;
/** Slow requests at most, in slots: connections are bounded too, some 12 KB each. */
export const SLOW_FACTOR = 3;
/** Requests watched for growing slow: those of the last SLOW_MS, whatever the rate. */
const WATCHED_MAX = 2 ** 20;

interface WatchedRequest {
  readonly hostKey: HostKey;
  readonly fetchId: number;
  readonly slowMs: number;
}

export class FetchGate {
  readonly #port: FetchPort;
  readonly #slotsMax: number;
  /** Told whenever a slot becomes free. */
  readonly #slotFreed: () => void;
  readonly #inFlight = new Map<HostKey, number>();
  /** Requests by their start; those that have ended stay until their time. */
  readonly #watched = new Fifo<WatchedRequest>(WATCHED_MAX);
  /** Ids of slow requests in flight. */
  readonly #slow = new Set<number>();
  /** Of requests that were answered; told by the hosts, who know what of a time was our own delay. */
  readonly responseTimes = new ResponseTimes();
  #reserved = 0;
  #nextFetchId = 1;

  /** @param slotsMax requests in flight at most, at least 1 */
  constructor(port: FetchPort, slotsMax: number, slotFreed: () => void) {
    assert(slotsMax >= 1, () => `slotsMax ${slotsMax}`);
    this.#port = port;
    this.#slotsMax = slotsMax;
    this.#slotFreed = slotFreed;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get slotsMax(): number {
    return this.#slotsMax;
  }

  /** Requests in flight that have given their slots on. */
  get slow(): number {
    return this.#slow.size;
  }

  /** True when no slot is free, as of the last `tryReserve`. */
  get isFull(): boolean {
    return this.#inFlight.size - this.#slow.size + this.#reserved >= this.#slotsMax;
  }

  /** When to look for a slot again at the latest, if none is free; a slot that becomes free by an end tells itself. */
  nextSlowMs(): number {
    return this.#watched.peek()?.slowMs ?? Infinity;
  }

  /** Sets a slot aside for a host that was told to take it. False when none is free. */
  tryReserve(nowMs: MonotonicMs): boolean {
    this.#findSlow(nowMs);
    if (this.isFull) return false;
    this.#reserved += 1;
    return true;
  }

  /** The host did not use its slot: others may. */
  returnSlot(): void {
    this.cancelReservation();
    this.#slotFreed();
  }

  /** The slot was not given to anybody after all. */
  cancelReservation(): void {
    assert(this.#reserved > 0, () => 'a slot came back that was not reserved');
    this.#reserved -= 1;
  }

  /** Starts a request in the reserved slot. `ended` is called once, later. */
  start(options: {
    hostKey: HostKey;
    permit: FetchPermit;
    tenure: FetchTenure;
    nowMs: MonotonicMs;
    request: GateRequest;
    ended: (outcome: FetchOutcome) => void;
  }): void {
    const { hostKey, request } = options;
    assert(this.#reserved > 0, () => 'a request without a slot');
    assert(!this.#inFlight.has(hostKey), () => `second request in flight for ${request.url}`);
    assert(request.addresses.length > 0, () => `no address for ${request.url}`);
    options.tenure.check(options.nowMs);
    options.permit.consume(options.nowMs);
    this.#reserved -= 1;
    const fetchId = this.#nextFetchId;
    this.#nextFetchId += 1;
    this.#inFlight.set(hostKey, fetchId);
    this.#watched.push({ hostKey, fetchId, slowMs: options.nowMs + SLOW_MS });
    const full: FetchRequest = { fetchId, ...request };
    this.#port.start(full, (outcome) => {
      assert(this.#inFlight.get(hostKey) === fetchId, () => `unknown end of ${request.url}`);
      this.#inFlight.delete(hostKey);
      this.#slow.delete(fetchId);
      options.ended(outcome);
      this.#slotFreed();
    });
  }

  /** Each request is looked at once, when it has its age. */
  #findSlow(nowMs: MonotonicMs): void {
    const slowMax = SLOW_FACTOR * this.#slotsMax;
    for (;;) {
      const oldest = this.#watched.peek();
      if (oldest === undefined || oldest.slowMs > nowMs) return;
      const isInFlight = this.#inFlight.get(oldest.hostKey) === oldest.fetchId;
      // Too many: it keeps its slot, and those behind it theirs, until others have ended.
      if (isInFlight && this.#slow.size >= slowMax) return;
      if (isInFlight) this.#slow.add(oldest.fetchId);
      this.#watched.shift();
    }
  }

  /** Ends requests to some hosts, whose partitions are another node's now. */
  abortWhere(isHost: (hostKey: HostKey) => boolean): void {
    for (const [hostKey, fetchId] of this.#inFlight) {
      if (isHost(hostKey)) this.#port.abort(fetchId);
    }
  }

  /** Ends everything in flight, for a stop that cannot wait. Each request still reports its end. */
  abortAll(): void {
    for (const fetchId of this.#inFlight.values()) this.#port.abort(fetchId);
  }
}
