// What the recrawl policy achieves on pages whose change rates it does not know, held against fixed policies with as many visits. The figures of
// `bench/freshness.bench.ts --full` on a tenth of its pages; they do not depend on the machine.
import { ok } from 'node:assert';
import { test } from 'node:test';
import {
  adaptiveFreshness,
  bestFreshness,
  changeRates,
  DAY_MS,
  uniformFreshness,
} from '../../support/freshness.ts';
import { RECRAWL } from '../../support/recrawl-policy.ts';

const rates = changeRates(600, 1);
const adaptive = adaptiveFreshness(RECRAWL, rates, { days: 365, seed: 2 });
const uniform = uniformFreshness(rates, adaptive.visitsPerDay);
const best = bestFreshness(rates, adaptive.visitsPerDay);

test('afterVisit keeps more pages up to date than as many visits spread evenly', () => {
  const told = JSON.stringify({ adaptive, uniform, best });
  ok(adaptive.upToDate > 0.93, told);
  ok(adaptive.upToDate > uniform.upToDate + 0.01, told);
  // A quarter of the way at least to what one could do who knows the rates.
  const gained = adaptive.upToDate - uniform.upToDate;
  ok(gained > 0.25 * (best.upToDate - uniform.upToDate), told);
});

test('afterVisit keeps the mean age of what is not up to date within hours', () => {
  ok(adaptive.ageDays < 0.4, `${adaptive.ageDays} days`);
});

test('bestFreshness is no policy that ours could beat: the measure is sound', () => {
  ok(best.upToDate > adaptive.upToDate);
  ok(best.upToDate > uniform.upToDate);
});

test('adaptiveFreshness agrees with the closed form where the policy may not adapt', () => {
  // Bounds that leave one interval only: a day, and what rounding adds.
  const fixed = { firstMs: DAY_MS, leastMs: DAY_MS, longestMs: DAY_MS };
  const simulated = adaptiveFreshness(fixed, rates, { days: 365, seed: 3 });
  const computed = uniformFreshness(rates, simulated.visitsPerDay);
  const far = Math.abs(simulated.upToDate - computed.upToDate);
  ok(far < 0.01, JSON.stringify({ simulated, computed }));
  ok(
    Math.abs(simulated.ageDays - computed.ageDays) < 0.05,
    JSON.stringify({ simulated, computed }),
  );
});
