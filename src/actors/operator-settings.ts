// What an operator has set for single hosts and addresses on one shard while it runs (steps 7 and 8; DESIGN.md §10): gaps, pauses, paused
// addresses. Kept beside the host actors and not in them, because a host may fall asleep and wake up again, and an operator's word holds
// for the whole run. It is not stored: the next run begins without it. Bounded (I10): it grows by an operator's words alone, and old ones
// go when there are too many.

import { unreachable } from '../base/assert.ts';
import { Lru } from '../base/lru.ts';
import { type MonotonicMs, monotonicMs } from '../base/units.ts';
import type { HostPace } from './host-pace.ts';
import type { HostParts } from './host-row.ts';
import type { HostOperation } from './messages.ts';

/** Hosts with a word of an operator's; far more than anybody types. */
const HOSTS_MAX = 100_000;
/** How soon a host whose address is paused looks again, milliseconds: so late it may go on after `resume ip`. */
const PAUSED_LOOK_MS = 5_000;

/** What holds for one host. */
interface HostWord {
  /** Undefined: the computed gap. */
  readonly gapMs: number | undefined;
  readonly blockedUntilMs: MonotonicMs;
}

const NO_WORD: HostWord = { gapMs: undefined, blockedUntilMs: monotonicMs(0) };

export class OperatorSettings {
  readonly #hosts = new Lru<string, HostWord>(HOSTS_MAX);
  readonly #pausedAddresses = new Set<string>();

  /** Nothing is asked of hosts that have this address, or, with false, something is again. */
  pauseAddress(address: string, isPaused: boolean): void {
    if (isPaused) this.#pausedAddresses.add(address);
    else this.#pausedAddresses.delete(address);
  }

  /** Until when a host with these addresses has to wait because one of them is paused; undefined when none is. */
  addressPausedUntil(addresses: readonly string[], nowMs: MonotonicMs): MonotonicMs | undefined {
    if (this.#pausedAddresses.size === 0) return undefined;
    if (!addresses.some((address) => this.#pausedAddresses.has(address))) return undefined;
    return monotonicMs(nowMs + PAUSED_LOOK_MS);
  }

  /** Gives a host that wakes up what was set for it. */
  apply(host: string, pace: HostPace): void {
    const word = this.#hosts.get(host);
    if (word === undefined) return;
    pace.override(word.gapMs);
    pace.block(word.blockedUntilMs);
  }

  /** Does what an operator asks of a host, and remembers what has to outlast its sleep. */
  operate(
    operation: HostOperation,
    on: Pick<HostParts, 'id' | 'pace' | 'robots' | 'addresses'>,
    nowMs: MonotonicMs,
  ): void {
    const { pace } = on;
    const { host } = on.id;
    const word = this.#hosts.get(host) ?? NO_WORD;
    switch (operation.kind) {
      case 'pause': {
        const blockedUntilMs = monotonicMs(nowMs + operation.forMs);
        this.#hosts.set(host, { ...word, blockedUntilMs });
        pace.block(blockedUntilMs);
        return;
      }
      case 'resume':
        this.#hosts.set(host, { ...word, blockedUntilMs: NO_WORD.blockedUntilMs });
        pace.resume();
        return;
      case 'set-gap':
        this.#hosts.set(host, { ...word, gapMs: operation.gapMs });
        pace.override(operation.gapMs);
        return;
      case 'refresh-robots':
        on.robots.refresh();
        return;
      case 'flush-addresses':
        on.addresses.flush();
        return;
      default:
        unreachable(operation);
    }
  }
}
