// The addresses of one host as its owner keeps them: the last DNS answer, until when it holds, and whether one is awaited (steps 7 and 8;
// DESIGN.md §4: own cache by record time to live, resolved ahead of fetch time, a failed resolution pauses the host).

import type { MonotonicMs } from '../base/units.ts';
import type { FailureKind } from '../domain/failure.ts';
import type { ResolveOutcome } from './ports.ts';

/** Failures that make an address doubtful: it is looked up again before the next request. */
const DOUBTFUL: ReadonlySet<FailureKind> = new Set([
  'connect-refused',
  'connect-timeout',
  'connect-failed',
]);

export class HostAddresses {
  #list: readonly string[] = [];
  #forbidden = false;
  #expiresMs = -1;
  #pending = false;

  /** Addresses in the order to be tried; empty while unknown. */
  get list(): readonly string[] {
    return this.#list;
  }

  /** True when every address of the host is one that must not be contacted (I13). */
  get forbidden(): boolean {
    return this.#forbidden;
  }

  /** True while an answer is awaited. */
  get pending(): boolean {
    return this.#pending;
  }

  /** Until when the last answer holds, by the monotonic clock; negative when it does not. */
  get expiresMs(): number {
    return this.#expiresMs;
  }

  /** Whether the last answer still holds at a time. */
  usable(atMs: MonotonicMs): boolean {
    return (this.#list.length > 0 || this.#forbidden) && atMs < this.#expiresMs;
  }

  asked(): void {
    this.#pending = true;
  }

  /** Takes an answer over. Returns the failure it stands for, if it is one; the addresses known before are kept then. */
  answered(outcome: ResolveOutcome, nowMs: MonotonicMs): FailureKind | undefined {
    this.#pending = false;
    switch (outcome.kind) {
      case 'resolved':
        this.#list = outcome.addresses;
        this.#forbidden = false;
        this.#expiresMs = nowMs + outcome.ttlMs;
        return undefined;
      case 'forbidden':
        this.#list = [];
        this.#forbidden = true;
        this.#expiresMs = nowMs + outcome.ttlMs;
        return undefined;
      case 'no-such-host':
        return 'dns-no-such-host';
      case 'failed':
        return 'dns-failed';
    }
  }

  /** A request failed: an address that does not answer is looked up again. */
  suspect(failure: FailureKind): void {
    if (DOUBTFUL.has(failure)) this.#expiresMs = -1;
  }

  /** Forgets what is known, on an operator's word. */
  flush(): void {
    this.#expiresMs = -1;
  }
}
