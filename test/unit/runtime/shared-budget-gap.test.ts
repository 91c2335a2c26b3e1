import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import type { MonotonicMs } from '../../../src/base/units.ts';
import { createBudgetMemory, SharedBudget } from '../../../src/runtime/shared-budget.ts';

const at = (ms: number) => ms as MonotonicMs;

test('SharedBudget.tryTake keeps a gap even when a ticket is used late', () => {
  const memory = createBudgetMemory({ rows: 8, threads: 1 });
  const budget = new SharedBudget(memory, { thread: 0, gapMs: 100, openMax: 9 });
  const key = '192.0.2.1';
  strictEqual(budget.tryTake(key, at(1000), undefined).kind, 'taken');
  const first = budget.tryTake(key, at(1000), undefined);
  const second = budget.tryTake(key, at(1000), undefined);
  deepStrictEqual(first, { kind: 'wait', ticketMs: 1100 });
  deepStrictEqual(second, { kind: 'wait', ticketMs: 1200 });
  // The first comes 80 ms later than arranged, the second in time: they must not start 20 ms apart.
  strictEqual(budget.tryTake(key, at(1180), at(1100)).kind, 'taken');
  deepStrictEqual(budget.tryTake(key, at(1200), at(1200)), { kind: 'wait', ticketMs: 1280 });
  strictEqual(budget.tryTake(key, at(1280), at(1280)).kind, 'taken');
});
