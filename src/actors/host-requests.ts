// The requests of one host (steps 8 and 9): starts one when the hour is right, the network calm enough, the address has room and the pace
// gives a permit; keeps what is in flight, and tells pace and network how it ended. At most one at a time (I1); the permit goes straight
// from the pace to the gate.

import { assert } from '../base/assert.ts';
import { type MonotonicMs, monotonicMs } from '../base/units.ts';
import { networkVoice } from '../domain/asn-backoff.ts';
import { msUntilPermitted } from '../domain/permitted-hours.ts';
import type { ActorContext } from '../runtime/actor.ts';
import type { HostAddresses } from './host-addresses.ts';
import type { HostPace } from './host-pace.ts';
import type { HostMessage, HostPlaceIdentity, ResourceAsk } from './messages.ts';
import type { PageVerdict } from './page-outcome.ts';
import type { FetchOutcome } from './ports.ts';
import type { RobotsErrand } from './robots-errands.ts';
import type { Band, PageRow, QueueEntry } from './rows.ts';
import type { HostServices } from './services.ts';

/** A request to make, or in flight. */
export type HostRequest =
  | {
      readonly kind: 'page';
      readonly url: string;
      readonly band: Band;
      readonly entry: QueueEntry;
      /** The page as it is stored, when it is visited once more. */
      readonly prior: PageRow | undefined;
    }
  | ({ readonly kind: 'robots' } & RobotsErrand)
  | { readonly kind: 'resource'; readonly url: string; readonly ask: ResourceAsk };

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

  /** Starts a request now. False when it is not the time: the pace then holds the host until its hours, or its ticket, have come. */
  start(request: HostRequest, context: ActorContext<HostMessage>): boolean {
    const { services, id, pace, addresses } = this.#owner;
    const now = context.now();
    const list = addresses.list;
    const address = list[0];
    assert(address !== undefined, () => `${id.host} has no address`);
    if (!this.#isTimeFor(address, context)) return false;
    const tenure = services.tenures.tryTenure(id.partition, now);
    if (tenure === undefined) return false;
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
      tenure,
      nowMs: now,
      request: {
        purpose: request.kind === 'page' ? request.entry.purpose : request.kind,
        url: request.url,
        isForeign: request.kind === 'resource' && request.ask.isForeign,
        addresses: list,
        ...validatorsOf(request),
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
    this.#tellNetwork(outcome, verdict);
    return { request, gapMs: this.#gapMs };
  }

  /** False outside the host's hours, while an operator pauses its address, and while the trouble of its network asks for a longer gap than was arranged. */
  #isTimeFor(address: string, context: ActorContext<HostMessage>): boolean {
    const { services, pace } = this.#owner;
    const now = context.now();
    // Read anew each time: an operator may have set another pace meanwhile.
    const policy = services.gapPolicyOf(this.#owner.id.host);
    pace.follow(policy);
    const { hours } = policy;
    const closedMs = hours === undefined ? 0 : msUntilPermitted(hours, context.wallNow());
    if (closedMs > 0) {
      pace.holdUntil(monotonicMs(now + closedMs));
      return false;
    }
    const pausedMs = services.settings.addressPausedUntil(this.#owner.addresses.list, now);
    if (pausedMs !== undefined) {
      pace.block(pausedMs);
      return false;
    }
    const network = services.networks.networkOf(address);
    pace.setNetworkFactor(network === undefined ? 1 : services.networks.factorOf(network));
    return now >= pace.nextFetchMs();
  }

  #tellNetwork(outcome: FetchOutcome, verdict: PageVerdict): void {
    const { services, pace } = this.#owner;
    const network =
      outcome.address === undefined ? undefined : services.networks.networkOf(outcome.address);
    const voice = networkVoice(verdict.failure, pace.failuresInRow);
    if (network === undefined || voice === 'silent') return;
    services.networks.heard(network, voice);
    pace.setNetworkFactor(services.networks.factorOf(network));
  }

  #tellPace(outcome: FetchOutcome, verdict: PageVerdict): void {
    const { pace, addresses } = this.#owner;
    if (verdict.failure !== undefined) {
      pace.failed(verdict.failure, outcome.endedMs, verdict.retryAfterMs);
      addresses.suspect(verdict.failure);
      return;
    }
    const { endedMs, startedMs } = outcome;
    const responseMs = outcome.kind === 'response' ? outcome.responseMs : endedMs - startedMs;
    this.#owner.services.gate.responseTimes.add(responseMs);
    pace.succeeded(endedMs, responseMs);
    if (verdict.retryAfterMs > 0) pace.pause(outcome.endedMs, verdict.retryAfterMs);
  }
}

const NO_VALIDATORS = { etag: undefined, lastModified: undefined };

/** A conditional request is made about a whole stored copy only: "not modified" must not stand for a part, an error or nothing. */
function validatorsOf(request: HostRequest): Pick<PageRow, 'etag' | 'lastModified'> {
  const prior = request.kind === 'page' ? request.prior : undefined;
  if (prior?.status !== 200 || prior.pointer === undefined) return NO_VALIDATORS;
  if (prior.truncated !== undefined) return NO_VALIDATORS;
  return { etag: prior.etag, lastModified: prior.lastModified };
}
