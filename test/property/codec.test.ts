// The codec's round trip over arbitrary plain data, and its refusal to be hurt by arbitrary or damaged bytes.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { Codec } from '../../src/runtime/codec.ts';

const anything = (value: unknown): value is unknown => value !== Codec;

/** Field names as messages have them; `__proto__` is no field of ours and msgpackr renames it. */
const field = fc
  .stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,15}$/)
  .filter((name) => name !== '__proto__');
const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double().map((each) => (Object.is(each, -0) ? 0 : each)),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.uint8Array({ maxLength: 100 }),
);
const { value: plain } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 6 },
    scalar,
    fc.array(tie('value'), { maxLength: 8 }),
    fc.dictionary(field, tie('value'), { maxKeys: 8, noNullPrototype: true }),
  ),
}));

test('Codec.decodeBatch gives back what encodeBatch packed', () => {
  const codec = new Codec();
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 30 }), (messages) => {
      const result = codec.decodeBatch(codec.encodeBatch(messages), anything);
      ok(
        result.kind === 'ok',
        JSON.stringify(result, (_, each) => String(each)),
      );
      deepStrictEqual(result.messages, messages);
    }),
    { numRuns: 200 },
  );
});

test('Codec.decodeBatch gives back batches with more shapes than there are record ids', () => {
  const codec = new Codec();
  const messages = Array.from({ length: 300 }, (_, index) => ({
    kind: 'shape',
    [`field${index % 150}`]: index,
    list: [{ [`inner${index % 90}`]: BigInt(index) }],
  }));
  const result = codec.decodeBatch(codec.encodeBatch(messages), anything);
  ok(result.kind === 'ok');
  deepStrictEqual(result.messages, messages);
});

test('Codec.decodeBatch survives arbitrary bytes: an answer, no throw, bounded', () => {
  const codec = new Codec();
  const token = fc.oneof(
    fc.nat(255),
    fc.constantFrom(0xd4, 0x72, 0x40, 0x41, 0x91, 0x92, 0xa1, 0xdc, 0xdd, 0xde, 0xc4, 0xc7, 0x00),
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 200 }), (bytes) => {
      const result = codec.decodeBatch(new Uint8Array([0x48, 1, ...bytes]), anything);
      ok(result.kind === 'ok' || result.kind === 'malformed' || result.kind === 'not-a-batch');
    }),
    { numRuns: 300 },
  );
});

test('Codec.decodeBatch survives damaged batches, and its next batch is unharmed', () => {
  const codec = new Codec();
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 10 }), damage, fc.nat(), (messages, hits, cut) => {
      const good = codec.encodeBatch(messages);
      const bad = good.slice(0, hits.length === 4 ? cut % (good.length + 1) : good.length);
      for (const [at, value] of hits)
        if (at % good.length < bad.length) bad[at % good.length] = value;
      codec.decodeBatch(bad, anything);
      strictEqual(codec.decodeBatch(good, anything).kind, 'ok');
    }),
    { numRuns: 300 },
  );
});
