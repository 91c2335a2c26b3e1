// The requests of one host (steps 8 and 9): starts one when the address has room and the pace gives a permit, keeps what is in flight, and
// tells the pace how it ended. At most one at a time (I1); the permit goes straight from the pace to the gate.

import { assert } from '../base/assert.ts';
import type { MonotonicMs } from '../base/units.ts';
import type { ActorContext } from '../runtime/actor.ts';
import type { HostAddresses } from './host-addresses.ts';
import type { HostPace } from './host-pace.ts';
import type { HostMessage, HostPlaceIdentity } from './messages.ts';
import type { PageVerdict } from './page-outcome.ts';
import type { Band, FetchOutcome, QueueEntry } from './ports.ts';
import type { RobotsErrand } from './robots-errands.ts';
import type { HostServices } from './services.ts';

/** A request to make, or in flight. */
export type HostRequest =
  | { readonly kind: 'page'; readonly url: string; readonly band: Band; readonly entry: QueueEntry }
  | ({ readonly kind: 'robots' } & RobotsErrand);

interface RequestOwner {
  readonly services: HostServices;
  readonly id: HostPlaceIdentity;
  readonly pace: HostPace;
  readonly addresses: HostAddresses;
}

export class HostRequests {
  readonly #owner: RequestOwner;
  #inFlight: HostRequest | undefined;
  /** The gap that the permit of the request in flight was given under. */
  #gapMs = 0;
  /** A place at the host's address, promised for this time. */
  #ticketMs: MonotonicMs | undefined;

  constructor(owner: RequestOwner) {
    this.#owner = owner;
  }

  get inFlight(): HostRequest | undefined {
    return this.#inFlight;
  }

  /** Starts a request now. False when the address has no room: the pace then holds the host until its ticket is due. */
  start(request: HostRequest, context: ActorContext<HostMessage>): boolean {
    const { services, id, pace, addresses } = this.#owner;
    const now = context.now();
    const list = addresses.list;
    const address = list[0];
    assert(address !== undefined, () => `${id.host} has no address`);
    const place = services.addresses.tryTake(address, now, this.#ticketMs);
    if (place.kind === 'wait') {
      this.#ticketMs = place.ticketMs;
      pace.holdUntil(place.ticketMs);
      return false;
    }
    this.#ticketMs = undefined;
    const permit = pace.tryPermit(now);
    assert(permit !== undefined, () => `${id.host} was not ready after all`);
    this.#inFlight = request;
    this.#gapMs = permit.gapMs;
    const self = context.self;
    services.gate.start({
      hostKey: id.hostKey,
      permit,
      nowMs: now,
      request: {
        purpose: request.kind === 'page' ? request.entry.purpose : 'robots',
        url: request.url,
        addresses: list,
        etag: undefined,
        lastModified: undefined,
      },
      ended: (outcome) => {
        services.addresses.release(address);
        services.toHost(self, { kind: 'fetch-ended', outcome });
      },
    });
    return true;
  }

  /** Takes the end of the request in flight. @returns the request and the gap it was made under */
  ended(
    outcome: FetchOutcome,
    verdict: PageVerdict,
  ): { readonly request: HostRequest; readonly gapMs: number } {
    const request = this.#inFlight;
    assert(request !== undefined, () => `${this.#owner.id.host}: an end without a request`);
    this.#inFlight = undefined;
    this.#tellPace(outcome, verdict);
    return { request, gapMs: this.#gapMs };
  }

  #tellPace(outcome: FetchOutcome, verdict: PageVerdict): void {
    const { services, pace, addresses } = this.#owner;
    if (verdict.failure !== undefined) {
      pace.failed(verdict.failure, outcome.endedMs, verdict.retryAfterMs);
      addresses.suspect(verdict.failure);
      return;
    }
    const firstByteMs = outcome.kind === 'response' ? outcome.firstByteMs : outcome.endedMs;
    pace.succeeded(outcome.endedMs, firstByteMs - outcome.startedMs - services.loopDelayMs());
    if (verdict.retryAfterMs > 0) pace.pause(outcome.endedMs, verdict.retryAfterMs);
  }
}
