// An operator who now and then pauses and resumes, changes a gap, has robots rules and addresses looked up anew: commands at random times
// during the safety phase (DESIGN.md §10). Commands that take a promise back on purpose (ending a pause that a server asked for, a gap
// below the least one) are left out, since the judge holds the crawl to those promises.
import type { HostOperation } from '../../../src/actors/messages.ts';
import type { SeededRandom } from '../../../src/base/random.ts';
import type { World } from '../world/world.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { SimNode } from './sim-node.ts';
import type { SimPlan } from './sim-plan.ts';

/** Longest wait between two commands, ms. */
const IDLE_MS_MAX = 8_000;

export class SimOperator {
  readonly #kernel: SimKernel;
  readonly #world: World;
  readonly #plan: SimPlan;
  readonly #node: () => SimNode;
  readonly #random: SeededRandom;
  #isOn = false;
  #isPaused = false;

  constructor(kernel: SimKernel, world: World, plan: SimPlan, node: () => SimNode) {
    this.#kernel = kernel;
    this.#world = world;
    this.#plan = plan;
    this.#node = node;
    this.#random = kernel.stream('operator');
  }

  start(): void {
    this.#isOn = this.#plan.faults.operator > 0;
    this.#arm();
  }

  stop(): void {
    this.#isOn = false;
  }

  #arm(): void {
    const waitMs = 100 + this.#random.float() * IDLE_MS_MAX;
    this.#kernel.clock.after(waitMs, () => {
      if (!this.#isOn) return;
      if (this.#random.chance(this.#plan.faults.operator)) this.#act();
      this.#arm();
    });
  }

  #act(): void {
    const kind = this.#random.below(6);
    if (this.#isPaused || kind === 0) {
      this.#isPaused = !this.#isPaused;
      this.#kernel.count('operator.pause-all');
      this.#node().tellAll({ kind: this.#isPaused ? 'pause-all' : 'resume-all' });
      return;
    }
    const operation = this.#operation(kind);
    const host = this.#world.hostName(this.#random.below(this.#world.options.hosts));
    this.#kernel.count(`operator.${operation.kind}`);
    this.#kernel.note(`operate ${host} ${operation.kind}`);
    this.#node().operate(host, operation);
  }

  #operation(kind: number): HostOperation {
    const { minGapMs } = this.#plan;
    switch (kind) {
      case 1:
        return { kind: 'pause', forMs: this.#random.float() * 20_000 };
      case 2:
        return { kind: 'set-gap', gapMs: minGapMs * (1 + this.#random.below(3)) };
      case 3:
        return { kind: 'set-gap', gapMs: undefined };
      case 4:
        return { kind: 'refresh-robots' };
      default:
        return { kind: 'flush-addresses' };
    }
  }
}
