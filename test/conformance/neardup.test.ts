// Fingerprints and their index against the near-duplicate cases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hammingDistance,
  isNearDuplicate,
  type Simhash,
  SimhashBuilder,
  simhashHex,
  simhashOfText,
} from '../../src/domain/simhash.ts';
import { SimhashIndex } from '../../src/domain/simhash-index.ts';
import { loadCases } from '../support/cases.ts';

interface NearCase {
  id: string;
  kind: 'combine' | 'find-all' | 'property';
  hashes?: string[];
  value?: string;
  pairs?: [string, string][];
  a?: string;
  b?: string;
  distance?: number;
  minDistance?: number;
  maxDistance?: number;
  nearDuplicate?: boolean;
}

const suite = loadCases('neardup.json') as { cases: NearCase[] } | undefined;

function halves(hex: string): Simhash {
  const value = BigInt(hex);
  return { high: Number(value >> 32n), low: Number(value & 0xffffffffn), features: 1 };
}

const checks: Readonly<Record<NearCase['kind'], (given: NearCase) => void>> = {
  combine(given) {
    const builder = new SimhashBuilder();
    for (const hash of given.hashes!) builder.addFeature(halves(hash).high, halves(hash).low);
    assert.equal(BigInt(`0x${simhashHex(builder.finish())}`), BigInt(given.value!));
  },
  'find-all'(given) {
    const index = new SimhashIndex(SimhashIndex.createMemory(1_000));
    const hashes = given.hashes!;
    for (const [id, hash] of hashes.entries())
      index.add(halves(hash), { hostKey: 0n, urlKey: BigInt(id) });
    const pairs = hashes.flatMap((hash, id) =>
      index
        .findAll(halves(hash))
        .filter(
          (match) =>
            BigInt(hash) < BigInt(hashes[Number(match.urlKey)]!) && Number(match.urlKey) !== id,
        )
        .map((match) => `${BigInt(hash)} ${BigInt(hashes[Number(match.urlKey)]!)}`),
    );
    assert.deepEqual(
      pairs.sort(),
      given.pairs!.map(([a, b]) => `${BigInt(a)} ${BigInt(b)}`).sort(),
    );
  },
  property(given) {
    const a = simhashOfText(Buffer.from(given.a!));
    const b = simhashOfText(Buffer.from(given.b!));
    const distance = hammingDistance(a, b);
    if (given.distance !== undefined) assert.equal(distance, given.distance);
    if (given.minDistance !== undefined) assert.ok(distance >= given.minDistance, `${distance}`);
    if (given.maxDistance !== undefined) assert.ok(distance <= given.maxDistance, `${distance}`);
    if (given.nearDuplicate !== undefined)
      assert.equal(isNearDuplicate(a, b), given.nearDuplicate, `${distance}`);
    if (given.a === '' && given.b === '') {
      assert.deepEqual([distance, isNearDuplicate(a, b)], [0, false]);
    }
  },
};

for (const given of suite?.cases ?? []) {
  test(`simhash conforms to ${given.id}`, () => checks[given.kind](given));
}

test('the near-duplicate cases are present', {
  skip: suite === undefined && 'no folder of cases',
}, () => {
  assert.ok((suite?.cases.length ?? 0) > 5);
});
