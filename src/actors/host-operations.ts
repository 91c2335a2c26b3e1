// What an operator does to one host (DESIGN.md §10, verbs pause, resume, delay, robots refresh, dns --flush): carried out in the host's own turn,
// by the part that it concerns. None of these can break a promise: a gap of the operator's own is never below a Crawl-delay (host-pace.ts).

import { unreachable } from '../base/assert.ts';
import { type MonotonicMs, monotonicMs } from '../base/units.ts';
import type { HostParts } from './host-row.ts';
import type { HostOperation } from './messages.ts';

/** Carries an operation out. The caller stages the host's row. */
export function operateHost(
  operation: HostOperation,
  { pace, robots, addresses }: Pick<HostParts, 'pace' | 'robots' | 'addresses'>,
  nowMs: MonotonicMs,
): void {
  switch (operation.kind) {
    case 'pause':
      pace.block(monotonicMs(nowMs + operation.forMs));
      return;
    case 'resume':
      pace.resume();
      return;
    case 'set-gap':
      pace.override(operation.gapMs);
      return;
    case 'refresh-robots':
      robots.refresh();
      return;
    case 'flush-addresses':
      addresses.flush();
      return;
    default:
      unreachable(operation);
  }
}
