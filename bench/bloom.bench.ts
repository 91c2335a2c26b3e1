// What the shared tables cost: adding to and asking the Bloom filter, asking generations, and the table of recent keys. PERFORMANCE.md
// has the bar: at 1e9 entries an add of 581 ns and a look-up of 143–191 ns, most of it cache misses; smaller filters are faster.
import { SeededRandom } from '../src/base/random.ts';
import { BloomFilter } from '../src/runtime/bloom.ts';
import { BloomGenerations } from '../src/runtime/bloom-generations.ts';
import { RecentKeys } from '../src/runtime/recent-keys.ts';
import { measure, parameter } from './measure.ts';

const keys = parameter('keys', 100_000, 20_000_000);
const looks = parameter('looks', 50_000, 1_000_000);
const rounds = parameter('rounds', 3, 11);

const random = new SeededRandom(1);
const his = new Uint32Array(looks).map(() => random.uint32());
const los = new Uint32Array(looks).map(() => random.uint32());

/** Runs an operation over the drawn keys, turned by the round so that each round has keys of its own. */
function over(name: string, operation: (hi: number, lo: number) => boolean): void {
  measure({
    name,
    operations: looks,
    rounds,
    round: (index) => {
      const turn = Math.imul(index + 1, 0x9e3779b1);
      let hits = 0;
      for (let look = 0; look < looks; look++) {
        const hi = ((his[look] as number) ^ turn) >>> 0;
        if (operation(hi, los[look] as number)) hits += 1;
      }
      return hits;
    },
  });
}

const filter = BloomFilter.create({ expectedKeys: keys, falsePositiveRate: 0.01 });
const filling = new SeededRandom(2);
for (let key = 0; key < keys; key++) filter.add(filling.uint32(), filling.uint32());
const megabytes = (filter.bytes / 2 ** 20).toFixed(0);
over(`Bloom look-up, unknown, ${keys} keys, ${megabytes} MiB`, (hi, lo) => filter.mayHave(hi, lo));
over('Bloom add, new', (hi, lo) => filter.add(hi, lo));
over('Bloom add, known', (hi, lo) => filter.add(hi, lo));
over('Bloom look-up, known', (hi, lo) => filter.mayHave(hi, lo));

const generations = BloomGenerations.create({ expectedKeys: keys / 4, falsePositiveRate: 0.01 });
for (let key = 0; key < keys; key++) {
  generations.add(filling.uint32(), filling.uint32());
  if (generations.needsGrowth) generations.grow();
}
over(`look-up in ${generations.filters.length} generations, unknown`, (hi, lo) =>
  generations.mayHave(hi, lo),
);

const recent = RecentKeys.create(2 ** 20);
const addRecent = (hi: number, lo: number): boolean => {
  recent.add(hi, lo);
  return true;
};
over('recent keys add', addRecent);
over('recent keys has, mostly replaced', (hi, lo) => recent.has(hi, lo));
const few = RecentKeys.create(looks * 4);
for (let look = 0; look < looks; look++) few.add(his[look] as number, los[look] as number);
measure({
  name: 'recent keys has, present',
  operations: looks,
  rounds,
  round: () => {
    let hits = 0;
    for (let look = 0; look < looks; look++) {
      if (few.has(his[look] as number, los[look] as number)) hits += 1;
    }
    return hits;
  },
});
