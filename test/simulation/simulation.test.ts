// Whole crawls under faults, from seeds (DESIGN.md §11): seeds that failed once, then some dozens of each web. SIM_SEEDS sets how many; a
// failing seed prints the command that repeats it.
import { strictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import xxhash from 'xxhash-wasm';
import { drawPlan, WORLDS } from '../support/sim/sim-plan.ts';
import { simulate } from '../support/sim/simulate.ts';

const SEEDS = Number(process.env.SIM_SEEDS ?? 30);
const hash = await xxhash();

const command = (world: string, seed: number) => `npm run sim -- --world ${world} --seed ${seed}`;

function mustHold(world: string, seed: number): string {
  const { failure, digest } = simulate(drawPlan(world, seed), hash);
  strictEqual(failure, undefined, `${command(world, seed)}: ${failure}`);
  return digest;
}

interface Regression {
  readonly world: string;
  readonly seed: number;
  readonly found: string;
}

// The file stands beside the source; the compiled test runs from dist.
const file = fileURLToPath(new URL('../../../test/simulation/regressions.json', import.meta.url));
const regressions = JSON.parse(readFileSync(file, 'utf8')) as Regression[];

for (const { world, seed, found } of regressions) {
  test(`simulate ${world} ${seed} keeps every promise: ${found}`, () => {
    mustHold(world, seed);
  });
}

for (const world of Object.keys(WORLDS)) {
  test(`simulate keeps every promise in the ${world} web`, () => {
    // A deep web takes as long as five others.
    const seeds = world === 'deep' ? Math.ceil(SEEDS / 4) : SEEDS;
    for (let seed = 1_000; seed < 1_000 + seeds; seed += 1) mustHold(world, seed);
  });

  test(`simulate gives one digest for one seed in the ${world} web (I11)`, () => {
    strictEqual(mustHold(world, 7), mustHold(world, 7));
  });
}
