import { deepStrictEqual, strictEqual, throws } from 'node:assert';
import { test } from 'node:test';
import { FetchGate, SLOW_FACTOR, SLOW_MS } from '../../../src/actors/fetch-gate.ts';
import { ALWAYS_OURS, type FetchTenure, TenureBook } from '../../../src/actors/fetch-tenure.ts';
import { HostPace } from '../../../src/actors/host-pace.ts';
import type { FetchOutcome, FetchPort, FetchRequest } from '../../../src/actors/ports.ts';
import { hostKey, partitionIndex } from '../../../src/base/units.ts';
import { at, HOST, responseOf } from '../../support/actors-fixtures.ts';

/** A port that ends its requests when told. */
class HeldFetches implements FetchPort {
  readonly open = new Map<number, (outcome: FetchOutcome) => void>();
  readonly requests: FetchRequest[] = [];
  readonly aborted: number[] = [];

  start(request: FetchRequest, ended: (outcome: FetchOutcome) => void): void {
    this.requests.push(request);
    this.open.set(request.fetchId, ended);
  }

  abort(fetchId: number): void {
    this.aborted.push(fetchId);
  }

  release(): void {}
}

const REQUEST = {
  purpose: 'page' as const,
  url: 'http://h.test/',
  isForeign: false,
  addresses: ['192.0.2.1'],
  etag: undefined,
  lastModified: undefined,
};

function tenureOf(): FetchTenure {
  const tenure = new TenureBook(ALWAYS_OURS).tryTenure(partitionIndex(0), at(0));
  if (tenure === undefined) throw new Error('one machine owns every partition');
  return tenure;
}

function gateOf(slotsMax: number) {
  const port = new HeldFetches();
  const freed: number[] = [];
  const gate = new FetchGate(port, slotsMax, () => freed.push(gate.inFlight));
  const pace = HostPace.fresh({ minGapMs: 1, maxCrawlDelayMs: 1, latencyFactor: 0 });
  const permit = pace.tryPermit(at(0));
  if (permit === undefined) throw new Error('a fresh host has a permit');
  const ended: string[] = [];
  const start = () =>
    gate.start({
      ...{ hostKey: HOST, permit, tenure: tenureOf(), nowMs: at(0), request: REQUEST },
      ended: (outcome) => ended.push(outcome.kind),
    });
  return { gate, port, freed, ended, start };
}

test('FetchGate.tryReserve counts slots set aside and requests in flight (I10)', () => {
  const { gate, port, freed, ended, start } = gateOf(1);
  strictEqual(gate.tryReserve(at(0)), true);
  strictEqual(gate.tryReserve(at(0)), false);
  start();
  strictEqual(gate.inFlight, 1);
  strictEqual(gate.tryReserve(at(0)), false);
  port.open.get(1)?.(responseOf(''));
  deepStrictEqual([ended, freed, gate.inFlight], [['response'], [0], 0]);
  strictEqual(gate.tryReserve(at(0)), true);
  gate.returnSlot();
  strictEqual(freed.length, 2);
});

test('FetchGate.start takes a slot and a permit, and one request a host (I1)', () => {
  const { gate, start } = gateOf(4);
  throws(start, /a request without a slot/);
  gate.tryReserve(at(0));
  gate.tryReserve(at(0));
  start();
  throws(start, /second request in flight/);
  throws(() => {
    gate.cancelReservation();
    gate.cancelReservation();
  }, /not reserved/);
});

test('FetchGate.abortAll aborts what is in flight', () => {
  const { gate, port, start } = gateOf(2);
  gate.tryReserve(at(0));
  start();
  gate.abortAll();
  deepStrictEqual(port.aborted, [1]);
});

/** A request of its own host. */
function startAt(gate: FetchGate, host: bigint, ms: number): void {
  const pace = HostPace.fresh({ minGapMs: 1, maxCrawlDelayMs: 1, latencyFactor: 0 });
  const permit = pace.tryPermit(at(ms));
  if (permit === undefined) throw new Error('a fresh host has a permit');
  const options = {
    hostKey: hostKey(host),
    permit,
    tenure: tenureOf(),
    nowMs: at(ms),
    request: REQUEST,
  };
  gate.start({ ...options, ended: () => {} });
}

test('FetchGate.tryReserve gives the slot of a request on that has waited long', () => {
  const { gate, port } = gateOf(1);
  strictEqual(gate.tryReserve(at(0)), true);
  startAt(gate, 1n, 0);
  strictEqual(gate.nextSlowMs(), SLOW_MS);
  strictEqual(gate.tryReserve(at(SLOW_MS - 1)), false);
  strictEqual(gate.tryReserve(at(SLOW_MS)), true);
  startAt(gate, 2n, SLOW_MS);
  strictEqual(gate.tryReserve(at(SLOW_MS)), false);
  port.open.get(1)?.(responseOf(''));
  deepStrictEqual([gate.inFlight, gate.slow], [1, 0]);
  strictEqual(gate.tryReserve(at(SLOW_MS + 1)), false);
});

test('FetchGate.tryReserve bounds slow requests, and takes up again when they end (I10)', () => {
  const { gate, port } = gateOf(1);
  for (let round = 0; round <= SLOW_FACTOR; round += 1) {
    strictEqual(gate.tryReserve(at(round * SLOW_MS)), true, `round ${round}`);
    startAt(gate, BigInt(round + 1), round * SLOW_MS);
  }
  const later = at(100 * SLOW_MS);
  strictEqual(gate.tryReserve(later), false);
  deepStrictEqual([gate.inFlight, gate.slow], [SLOW_FACTOR + 1, SLOW_FACTOR]);
  port.open.get(2)?.(responseOf(''));
  strictEqual(gate.tryReserve(later), true);
});
