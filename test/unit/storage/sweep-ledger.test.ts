import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { SweepLedger } from '../../../src/storage/sweep-ledger.ts';

test('SweepLedger.through is the last segment that every shard has both swept and covered', () => {
  const ledger = new SweepLedger();
  strictEqual(ledger.through(), 0);
  ledger.attach(0, 5);
  ledger.attach(1, 5);
  strictEqual(ledger.through(), 4);
  ledger.swept(0, 7);
  ledger.covered(0, 7);
  strictEqual(ledger.through(), 4);
  ledger.swept(1, 6);
  strictEqual(ledger.through(), 4);
  ledger.covered(1, 9);
  strictEqual(ledger.through(), 6);
});

test('SweepLedger marks never go back, and a shard attached again keeps its own', () => {
  const ledger = new SweepLedger();
  ledger.attach(0, 5);
  ledger.swept(0, 7);
  ledger.covered(0, 7);
  ledger.swept(0, 2);
  ledger.attach(0, 3);
  strictEqual(ledger.through(), 7);
});

test('SweepLedger.uncovered names the shards whose keys hold segments back', () => {
  const ledger = new SweepLedger();
  ledger.attach(0, 5);
  ledger.attach(1, 5);
  ledger.covered(1, 8);
  deepStrictEqual(ledger.uncovered(6), []);
  deepStrictEqual(ledger.uncovered(7), [0]);
});
