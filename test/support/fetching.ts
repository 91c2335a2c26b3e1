// A fetcher allowed on loopback, and its outcomes as promises: shorthand for the tests of step 9.

import type {
  FetchFailure,
  FetchOutcome,
  FetchRequest,
  FetchResponse,
} from '../../src/actors/ports.ts';
import { monotonicMs } from '../../src/base/units.ts';
import { AddressGuard } from '../../src/net/address-guard.ts';
import { UndiciFetcher, type UndiciFetcherOptions } from '../../src/net/undici-fetcher.ts';

export const USER_AGENT = 'hostler/0.0 (+https://example.org/contact)';

let lastId = 0;

/** A fetcher that may contact loopback. */
export function loopbackFetcher(options: Partial<UndiciFetcherOptions> = {}): UndiciFetcher {
  return new UndiciFetcher({
    guard: new AddressGuard(['127.0.0.0/8', '::1/128']),
    now: () => monotonicMs(performance.now()),
    userAgent: USER_AGENT,
    ...options,
  });
}

/** A request for a URL at 127.0.0.1. */
export function requestFor(url: string, more: Partial<FetchRequest> = {}): FetchRequest {
  lastId += 1;
  return {
    fetchId: lastId,
    purpose: 'page',
    url,
    addresses: ['127.0.0.1'],
    etag: undefined,
    lastModified: undefined,
    ...more,
  };
}

/** Fetches and waits; rejects when the outcome comes twice. */
export function fetchOnce(
  fetcher: UndiciFetcher,
  url: string,
  more: Partial<FetchRequest> = {},
): Promise<FetchOutcome> {
  return new Promise((resolve, reject) => {
    let isEnded = false;
    fetcher.start(requestFor(url, more), (outcome) => {
      if (isEnded) reject(new Error('ended twice'));
      isEnded = true;
      resolve(outcome);
    });
  });
}

/** The outcome as a response; throws with the failure's text otherwise. */
export function responseOf(outcome: FetchOutcome): FetchResponse {
  if (outcome.kind === 'response') return outcome;
  throw new Error(`${outcome.failure}: ${outcome.detail}`);
}

/** The outcome as a failure; throws otherwise. */
export function failureOf(outcome: FetchOutcome): FetchFailure {
  if (outcome.kind === 'failed') return outcome;
  throw new Error(`response ${outcome.status}, truncated ${outcome.truncated}`);
}
