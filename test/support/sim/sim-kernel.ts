// The heart of the deterministic simulator (DESIGN.md §11): the only clock, the only source of chance, the order of everything. All shards
// of a node run on this thread, each on its own virtual dispatcher over one clock; ports set alarms on that clock. Each turn of an actor
// is one step, so a crash can fall between any two turns. What happens goes into a digest: the same seed gives the same one (I11).
// Streams of chance are named and independent: leaving one fault out does not change what another part draws, which makes shrinking work.
import { SeededRandom } from '../../../src/base/random.ts';
import type { UrlHasher, XxHash64 } from '../../../src/domain/url-key.ts';
import { createHasher } from '../../../src/domain/url-key.ts';
import { VirtualClock } from '../../../src/runtime/virtual-clock.ts';
import type { VirtualDispatcher } from '../../../src/runtime/virtual-dispatcher.ts';

/** A promise that was broken. Carries what the run was doing. */
export class SimFailure extends Error {
  override readonly name = 'SimFailure';
}

/** Turns at one instant after which actors are taken to chase each other for ever. */
const TURNS_AT_ONE_TIME_MAX = 100_000;

/** Turns and alarms of a simulation after which something is taken to repeat for ever. */
const EVENTS_MAX = 1_500_000;

/** Why `run` came back. */
export type StopReason = 'stopped' | 'time' | 'nothing-left';

/** Clock, chance, order and record of one simulation. */
export class SimKernel {
  readonly clock: VirtualClock;
  readonly hasher: UrlHasher;
  readonly seed: number;
  /** How often each rare branch was reached, by name. */
  readonly reached = new Map<string, number>();
  /** True while faults are drawn. */
  faultsOn = true;
  /** Turns of actors and alarms so far. */
  events = 0;
  readonly #xxhash: XxHash64;
  readonly #trace: ((line: string) => void) | undefined;
  readonly #order: SeededRandom;
  #digest = 0n;
  #stop = false;

  constructor(options: {
    readonly seed: number;
    readonly wallStartMs: number;
    readonly xxhash: XxHash64;
    readonly trace?: ((line: string) => void) | undefined;
  }) {
    this.seed = options.seed;
    this.clock = new VirtualClock(options.wallStartMs);
    this.#xxhash = options.xxhash;
    this.#trace = options.trace;
    this.#order = this.stream('order');
    this.hasher = createHasher(options.xxhash, BigInt(options.seed));
  }

  /** Milliseconds since the simulation began. */
  get nowMs(): number {
    return this.clock.now();
  }

  /** Sixteen hexadecimal digits over everything noted so far. */
  get digest(): string {
    return this.#digest.toString(16).padStart(16, '0');
  }

  /** The stream of chance of one part of the simulation; the same name gives the same draws. */
  stream(name: string): SeededRandom {
    return new SeededRandom(Number(this.#xxhash.h64(name, BigInt(this.seed)) & 0x1fffffffffffffn));
  }

  /** Enters something that happened into the digest and the trace. */
  note(text: string): void {
    const line = `${this.nowMs.toFixed(3)} ${text}`;
    this.#digest = this.#xxhash.h64(line, this.#digest);
    this.#trace?.(line);
  }

  /** Counts a rare branch. */
  count(name: string, by = 1): void {
    this.reached.set(name, (this.reached.get(name) ?? 0) + by);
  }

  /** @throws SimFailure always */
  fail(text: string): never {
    throw new SimFailure(`at ${this.nowMs.toFixed(3)} ms: ${text}`);
  }

  /** Ends `run` before the next turn. */
  stop(): void {
    this.#stop = true;
  }

  /**
   * Runs turns and alarms in order.
   * @param shards one dispatcher each
   * @param untilMs stops when nothing is left to do before this time, with the clock there
   * @param pause called whenever time is about to move on, with the time it moves to; true ends the run
   */
  run(
    shards: readonly VirtualDispatcher[],
    untilMs: number,
    pause: (nextMs: number) => boolean,
  ): StopReason {
    this.#stop = false;
    for (;;) {
      this.#turnsAtThisTime(shards);
      if (this.#stop) return 'stopped';
      let next = this.clock.nextAlarmAt;
      for (const shard of shards) next = Math.min(next, shard.nextEventTime());
      if (next > this.nowMs && pause(next)) return 'stopped';
      if (next > untilMs || next === Infinity) {
        if (untilMs === Infinity) return 'nothing-left';
        this.clock.advanceTo(untilMs);
        return next === Infinity ? 'nothing-left' : 'time';
      }
      this.events += 1;
      if (this.events > EVENTS_MAX) this.fail('more events than any crawl of this size needs');
      this.clock.advanceTo(next);
      if (this.#stop) return 'stopped';
    }
  }

  #turnsAtThisTime(shards: readonly VirtualDispatcher[]): void {
    for (let turns = 0; ; turns += 1) {
      const ready = shards.filter((shard) => shard.nextEventTime() <= this.nowMs);
      if (ready.length === 0 || this.#stop) return;
      if (turns > TURNS_AT_ONE_TIME_MAX) this.fail('actors chase each other without end');
      const shard = ready[ready.length === 1 ? 0 : this.#order.below(ready.length)];
      shard?.dispatcher.fireTimers();
      shard?.dispatcher.runUntilIdle(1);
      this.events += 1;
    }
  }
}
