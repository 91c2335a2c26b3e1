// `npm run sim -- --seed N [--world NAME] [--seeds COUNT] [--trace] [--shrink]`: runs simulations from the command line. A single run ends
// with its digest; a failing seed prints the command that repeats it and, with --shrink, the smallest set of faults that still fails.
import { parseArgs } from 'node:util';
import xxhash from 'xxhash-wasm';
import type { XxHash64 } from '../../../src/domain/url-key.ts';
import { drawPlan, type SimPlan, WORLDS } from './sim-plan.ts';
import { shrinkPlan } from './sim-shrink.ts';
import { type SimResult, simulate } from './simulate.ts';

const FAILED = 1;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      world: { type: 'string' },
      trace: { type: 'boolean', default: false },
      shrink: { type: 'boolean', default: false },
    },
  });
  const hash = await xxhash();
  const first = Number(values.seed);
  const count = Number(values.seeds);
  const worlds = values.world === undefined ? Object.keys(WORLDS) : [values.world];
  // A single run is one world: the first one unless another is named.
  const chosen = count === 1 && values.world === undefined ? worlds.slice(0, 1) : worlds;
  const tally = new Tally();
  const startedMs = performance.now();
  for (const world of chosen) {
    for (let seed = first; seed < first + count; seed += 1) {
      const plan = drawPlan(world, seed);
      const trace = values.trace ? (line: string) => console.log(line) : undefined;
      const result = simulate(plan, hash, trace);
      tally.add(world, seed, result);
      if (result.failure === undefined) continue;
      console.log(`FAILED ${result.failure}`);
      console.log(`  npm run sim -- --world ${world} --seed ${seed} --trace`);
      if (values.shrink) printShrunk(plan, hash);
    }
  }
  tally.print((performance.now() - startedMs) / 1000);
  if (count === 1) console.log(`digest ${tally.lastDigest}`);
  if (tally.failures > 0) process.exitCode = FAILED;
}

function printShrunk(plan: SimPlan, hash: XxHash64): void {
  const { plan: small, failure, tries } = shrinkPlan(plan, (one) => simulate(one, hash).failure);
  const { faults, crashes } = small;
  console.log(`  shrunk in ${tries} runs: ${failure}`);
  console.log(`  ${JSON.stringify({ ...small, faults: undefined, crashes: undefined })}`);
  console.log(`  faults ${JSON.stringify(faults)}\n  crashes ${JSON.stringify(crashes)}`);
}

/** What many runs come to. */
class Tally {
  failures = 0;
  lastDigest = '';
  readonly #worlds = new Map<string, { seeds: number; failed: number; events: number }>();
  readonly #reached = new Map<string, number>();
  #requests = 0;
  #runs = 0;

  add(world: string, _seed: number, result: SimResult): void {
    const sum = this.#worlds.get(world) ?? { seeds: 0, failed: 0, events: 0 };
    sum.seeds += 1;
    sum.events += result.events;
    if (result.failure !== undefined) sum.failed += 1;
    this.#worlds.set(world, sum);
    if (result.failure !== undefined) this.failures += 1;
    this.lastDigest = result.digest;
    this.#requests += result.requests;
    this.#runs += result.runs;
    for (const [name, count] of result.reached) {
      this.#reached.set(name, (this.#reached.get(name) ?? 0) + count);
    }
  }

  print(seconds: number): void {
    let events = 0;
    for (const [world, sum] of this.#worlds) {
      events += sum.events;
      console.log(`${world}: ${sum.seeds} seeds, ${sum.failed} failed, ${sum.events} events`);
    }
    const reached = [...this.#reached].sort(([a], [b]) => (a < b ? -1 : 1));
    console.log(`reached ${reached.map(([name, count]) => `${name} ${count}`).join(', ')}`);
    const rate = Math.round(events / seconds);
    console.log(
      `${this.#requests} requests, ${this.#runs} runs, ${events} events in ${seconds.toFixed(1)} s, ${rate}/s`,
    );
  }
}

await main();
