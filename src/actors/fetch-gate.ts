// Step 9: the only holder of the fetch port. A request starts here and nowhere else, with a permit from the host's own pace and a slot
// that the shard reserved; a test proves that no other file reaches the port. Counts what is in flight per shard (I10) and asserts that a
// host has one request at most (I1).

import { assert } from '../base/assert.ts';
import type { HostKey, MonotonicMs } from '../base/units.ts';
import type { FetchPermit } from './host-pace.ts';
import type { FetchOutcome, FetchPort, FetchPurpose, FetchRequest } from './ports.ts';

export interface GateRequest {
  readonly purpose: FetchPurpose;
  readonly url: string;
  readonly addresses: readonly string[];
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

export class FetchGate {
  readonly #port: FetchPort;
  readonly #slotsMax: number;
  /** Told whenever a slot becomes free. */
  readonly #slotFreed: () => void;
  readonly #inFlight = new Map<HostKey, number>();
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

  /** Sets a slot aside for a host that was told to take it. False when none is free. */
  tryReserve(): boolean {
    if (this.#inFlight.size + this.#reserved >= this.#slotsMax) return false;
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
    nowMs: MonotonicMs;
    request: GateRequest;
    ended: (outcome: FetchOutcome) => void;
  }): void {
    const { hostKey, request } = options;
    assert(this.#reserved > 0, () => 'a request without a slot');
    assert(!this.#inFlight.has(hostKey), () => `second request in flight for ${request.url}`);
    assert(request.addresses.length > 0, () => `no address for ${request.url}`);
    options.permit.consume(options.nowMs);
    this.#reserved -= 1;
    const fetchId = this.#nextFetchId;
    this.#nextFetchId += 1;
    this.#inFlight.set(hostKey, fetchId);
    const full: FetchRequest = { fetchId, ...request };
    this.#port.start(full, (outcome) => {
      assert(this.#inFlight.get(hostKey) === fetchId, () => `unknown end of ${request.url}`);
      this.#inFlight.delete(hostKey);
      options.ended(outcome);
      this.#slotFreed();
    });
  }

  /** Ends everything in flight, for a stop that cannot wait. Each request still reports its end. */
  abortAll(): void {
    for (const fetchId of this.#inFlight.values()) this.#port.abort(fetchId);
  }
}
