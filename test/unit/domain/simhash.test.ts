import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hammingDistance,
  isNearDuplicate,
  type Simhash,
  SimhashBuilder,
  simhashHex,
  simhashOfText,
} from '../../../src/domain/simhash.ts';
import { SimhashIndex } from '../../../src/domain/simhash-index.ts';

const of = (text: string) => simhashOfText(Buffer.from(text));
const words = (count: number, seed: number) =>
  Array.from({ length: count }, (_, n) => `word${(n * n * (7919 + 2 * seed)) % 9973}`);

/** Numbers of 32 bits, the same for the same seed. */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    return (mixed ^ (mixed >>> 13)) >>> 0;
  };
}

test('SimhashBuilder.finish sets each bit that more than half of the features have', () => {
  const builder = new SimhashBuilder();
  const counts = new Array(64).fill(0);
  const draw = drawing(1);
  for (let n = 0; n < 1_001; n++) {
    const [high, low] = [draw(), draw()];
    for (let bit = 0; bit < 32; bit++) {
      counts[bit] += (low >>> bit) & 1;
      counts[bit + 32] += (high >>> bit) & 1;
    }
    builder.addFeature(high, low);
  }
  const expected = counts.reduce(
    (sum, count, bit) => (count > 500 ? sum | (1n << BigInt(bit)) : sum),
    0n,
  );
  assert.equal(BigInt(`0x${simhashHex(builder.finish())}`), expected);
});

test('simhashOfText is the same for other case and punctuation, near for small edits, far for other texts', () => {
  const text = words(600, 1);
  const edited = [...text];
  edited[300] = 'changed';
  assert.equal(hammingDistance(of(text.join(' ')), of(text.join(', ').toUpperCase())), 0);
  assert.ok(hammingDistance(of(text.join(' ')), of(edited.join(' '))) <= 6);
  assert.ok(hammingDistance(of(text.join(' ')), of(words(600, 2).join(' '))) > 12);
  assert.ok(
    hammingDistance(of('\u65e5\u672c\u8a9e\u306e\u6587'), of('\u4e2d\u6587\u7684\u53e5\u5b50')) > 3,
  );
});

test('isNearDuplicate holds of no page without text', () => {
  assert.equal(isNearDuplicate(of(''), of('')), false);
  assert.equal(isNearDuplicate(of('a b c'), of('a b c')), true);
});

const fingerprint = (high: number, low: number): Simhash => ({
  high: high >>> 0,
  low: low >>> 0,
  features: 9,
});

const indexOf = (capacity: number) => new SimhashIndex(SimhashIndex.createMemory(capacity));
const page = (id: number) => ({ hostKey: BigInt(id % 3), urlKey: BigInt(id) });

test('SimhashIndex.findNearest finds all fingerprints up to three bits away and none beyond', () => {
  const index = indexOf(1_000);
  index.add(fingerprint(0x12345678, 0x9abcdef0), page(7));
  for (let bit = 0; bit < 32; bit++) {
    const other = (bit + 11) % 32;
    const third = (bit + 17) % 32;
    const three = fingerprint(0x12345678 ^ (1 << bit), 0x9abcdef0 ^ (1 << other) ^ (1 << third));
    assert.deepEqual(index.findNearest(three), { ...page(7), distance: 3 });
    const four = fingerprint(three.high ^ (1 << ((bit + 1) % 32)), three.low);
    assert.equal(index.findNearest(four), undefined);
  }
});

test('SimhashIndex keeps its newest fingerprints and agrees with a list', () => {
  const index = indexOf(50);
  const all: Simhash[] = [];
  const draw = drawing(5);
  for (let id = 0; id < 400; id++) {
    // Few distinct values, so that chains are long and matches many.
    const next = fingerprint(draw() % 4, draw() % 16);
    index.add(next, page(id));
    all.push(next);
    const expected = all
      .map((simhash, at) => ({ id: at, distance: hammingDistance(simhash, next) }))
      .filter((match) => match.id > id - 50 && match.distance <= 3)
      .reverse();
    assert.deepEqual(
      index.findAll(next),
      expected.map(({ id: at, distance }) => ({ ...page(at), distance })),
    );
  }
  assert.equal(index.size, 50);
});

test('SimhashIndex takes no page without features', () => {
  const index = indexOf(10);
  index.add(of(''), page(1));
  assert.equal(index.size, 0);
  assert.equal(index.findNearest(of('')), undefined);
});

test('SimhashIndex serves several views of one memory', () => {
  const memory = SimhashIndex.createMemory(20);
  const [one, other] = [new SimhashIndex(memory), new SimhashIndex(memory)];
  one.add(fingerprint(1, 2), page(1));
  other.add(fingerprint(1, 3), page(2));
  assert.deepEqual(one.findNearest(fingerprint(1, 3)), { ...page(2), distance: 0 });
  assert.deepEqual(other.findNearest(fingerprint(1, 2)), { ...page(1), distance: 0 });
  assert.equal(one.size, 2);
});

test('SimhashBuilder.form is one for texts that differ in numbers and ids only', () => {
  const formOf = (text: string): number => {
    const builder = new SimhashBuilder();
    const bytes = Buffer.from(text);
    builder.addText(bytes, 0, bytes.length);
    return builder.form;
  };
  assert.equal(formOf('Day 1 of may, id a7'), formOf('Day 31 of may, id 00ff'));
  assert.notEqual(formOf('Day 1 of may'), formOf('Day 1 of june'));
  assert.notEqual(formOf('one two'), formOf('two one'));
  assert.equal(formOf('12 34'), 0);
});
