// Name resolution simulated: the web's own answers after a drawn time, with times to live from very short to long, failures, and names
// whose only address may not be contacted (I13). A host without an address in this web is one of those for every second name, so that
// the ground truth of what is reachable stays exact.
import type { ResolveOutcome, ResolvePort } from '../../../src/actors/ports.ts';
import type { SeededRandom } from '../../../src/base/random.ts';
import type { World } from '../world/world.ts';
import type { SimKernel } from './sim-kernel.ts';
import type { FaultRates } from './sim-plan.ts';

/** Failures drawn against one name at most. */
const FAULTS_PER_NAME_MAX = 3;

/** The resolver of one run. */
export class SimDns implements ResolvePort {
  readonly #kernel: SimKernel;
  readonly #world: World;
  readonly #faults: FaultRates;
  readonly #random: SeededRandom;
  readonly #faultsOf = new Map<string, number>();
  #isDead = false;

  constructor(kernel: SimKernel, world: World, faults: FaultRates, random: SeededRandom) {
    this.#kernel = kernel;
    this.#world = world;
    this.#faults = faults;
    this.#random = random;
  }

  kill(): void {
    this.#isDead = true;
  }

  resolve(host: string, answered: (outcome: ResolveOutcome) => void): void {
    const isSlow = this.#kernel.faultsOn && this.#random.chance(this.#faults.dnsSlow);
    const waitMs = this.#random.float() * (isSlow ? 4_000 : 60);
    const outcome = this.#outcome(host);
    this.#kernel.clock.after(waitMs, () => {
      if (this.#isDead) return;
      this.#kernel.note(`resolved ${host} ${outcome.kind}`);
      answered(outcome);
    });
  }

  #outcome(host: string): ResolveOutcome {
    const { faultsOn } = this.#kernel;
    const faults = this.#faultsOf.get(host) ?? 0;
    const drawsFault = this.#random.chance(this.#faults.dnsFailed);
    const isShort = this.#random.chance(this.#faults.dnsShortTtl);
    const ttlMs = 1_000 + this.#random.float() * (faultsOn && isShort ? 500 : 600_000);
    if (faultsOn && drawsFault && faults < FAULTS_PER_NAME_MAX) {
      this.#faultsOf.set(host, faults + 1);
      this.#kernel.count('fault.dns');
      return { kind: 'failed', detail: 'simulated' };
    }
    const answer = this.#world.resolve(host);
    switch (answer.kind) {
      case 'address':
        return { kind: 'resolved', addresses: [answer.address], ttlMs };
      case 'none':
        if (this.#world.hostIndex(host) % 2 === 0) return { kind: 'no-such-host', ttlMs };
        this.#kernel.count('dns.forbidden');
        return { kind: 'forbidden', addresses: ['10.0.0.1'], ttlMs };
      case 'servfail':
      case 'mute':
        return { kind: 'failed', detail: answer.kind };
    }
  }
}
