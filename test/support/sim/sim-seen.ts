// Step 4 simulated: the real Bloom generations and the real table of recent keys, small enough that they err and forget; behind them an
// exact set, rebuilt after a crash from what the log committed. All shards of a node share the filter and the table, as threads do.
import { SeenCheck } from '../../../src/actors/seen-check.ts';
import { keyHi, keyLo, keyOf } from '../../../src/base/key64.ts';
import { BloomGenerations } from '../../../src/runtime/bloom-generations.ts';
import { RecentKeys } from '../../../src/runtime/recent-keys.ts';
import type { SimDisk } from './sim-disk.ts';
import type { SimPlan } from './sim-plan.ts';

/** The seen set of one run. */
export class SimSeen {
  readonly #known = new Set<bigint>();
  readonly #bloom: BloomGenerations;
  readonly #recent: RecentKeys;

  constructor(disk: SimDisk, plan: SimPlan) {
    const { bloomKeys, recentKeys } = plan;
    this.#bloom = emptyBloom(bloomKeys);
    this.#recent = RecentKeys.create(recentKeys);
    for (const key of disk.seenKeys) {
      this.#known.add(key);
      this.#add(keyHi(key), keyLo(key));
    }
  }

  /** True when the exact set has the key. */
  isKnown(key: bigint): boolean {
    return this.#known.has(key);
  }

  /** The check of one shard. */
  check(): SeenCheck {
    const filter = {
      mayHave: (high: number, low: number) => this.#bloom.mayHave(high, low),
      add: (high: number, low: number) => this.#add(high, low),
    };
    return new SeenCheck(filter, this.#recent, {
      has: (high, low) => this.#known.has(keyOf(high, low)),
      add: (high, low) => void this.#known.add(keyOf(high, low)),
    });
  }

  #add(high: number, low: number): boolean {
    // It grows once; after that it overflows and says "perhaps" ever more often, which must do no harm.
    if (this.#bloom.needsGrowth && this.#bloom.filters.length === 1) this.#bloom.grow();
    return this.#bloom.add(high, low);
  }
}

const RATE = 0.2;
/** Computing the size of a filter takes longer than the run of a small crawl: each is computed once and then copied. */
const empty = new Map<number, Uint8Array>();

function emptyBloom(expectedKeys: number): BloomGenerations {
  const options = { expectedKeys, falsePositiveRate: RATE };
  const known = empty.get(expectedKeys);
  if (known === undefined) {
    const made = BloomGenerations.create(options);
    empty.set(expectedKeys, new Uint8Array(made.handle.buffers[0] as SharedArrayBuffer).slice());
    return made;
  }
  const buffer = new SharedArrayBuffer(known.length);
  new Uint8Array(buffer).set(known);
  return BloomGenerations.attach({ ...options, buffers: [buffer] });
}
