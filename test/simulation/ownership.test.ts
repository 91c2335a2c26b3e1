// Ownership of partitions under faults (CLUSTER.md, rules 1 to 7; I4): many seeds of virtual time. OWNERSHIP_SEEDS sets how many.
import { ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { simulateOwnership } from '../support/sim/ownership-sim.ts';

const SEEDS = Number(process.env.OWNERSHIP_SEEDS ?? 48);

test('Ownership never lets two nodes fetch one partition, and every partition finds its owner (I4)', () => {
  const reached = new Map<string, number>();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const result = simulateOwnership(seed);
    strictEqual(result.failure, undefined, `seed ${seed}: ${result.failure}`);
    for (const [name, count] of result.reached) {
      reached.set(name, (reached.get(name) ?? 0) + count);
    }
  }
  // A simulation that never comes to what it is about proves nothing.
  for (const name of ['gained', 'lost', 'hand-over', 'left', 'pause', 'cut', 'kill', 'bus-loss']) {
    ok((reached.get(name) ?? 0) > SEEDS / 10, `${name}: ${reached.get(name) ?? 0}`);
  }
  ok((reached.get('view.bus-lost-data') ?? 0) > 0);
  ok((reached.get('name-taken') ?? 0) > 0);
});
