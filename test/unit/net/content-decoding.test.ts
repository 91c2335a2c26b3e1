import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import * as zlib from 'node:zlib';
import type { ContentCoding, Decoded } from '../../../src/net/content-coding.ts';
import { contentCodings, decodeContent } from '../../../src/net/content-decoding.ts';

const MIB = 1_048_576;
const TEXT = Buffer.from(
  '<p>some text that repeats, and some that does not: 0123456789</p>\n'.repeat(400),
);
/** Does not compress: damage and cuts then hit real content. */
const NOISE = noise(40_000);

/** Bytes of a linear congruential generator (Numerical Recipes), the same in every run. */
function noise(length: number): Buffer {
  let state = 1;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

function decode(
  payload: Uint8Array,
  codings: readonly ContentCoding[],
  bytesMax = 16 * MIB,
): Promise<Decoded> {
  return new Promise((resolve) => decodeContent(payload, codings, bytesMax, resolve));
}
const encoders: readonly [ContentCoding, (input: Uint8Array) => Buffer][] = [
  ['gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['deflate', zlib.deflateRawSync],
  ['br', zlib.brotliCompressSync],
];

test('contentCodings lists codings in the order of undoing, and none if one is unknown', () => {
  const of = (...values: string[]) =>
    contentCodings(values.flatMap((value) => ['content-ENCODING', value]));
  deepStrictEqual(of(), []);
  deepStrictEqual(of('GZIP'), ['gzip']);
  deepStrictEqual(of(' x-gzip , br'), ['br', 'gzip']);
  deepStrictEqual(of('gzip', 'deflate'), ['deflate', 'gzip']);
  deepStrictEqual(of('identity, , gzip'), ['gzip']);
  deepStrictEqual(of('gzip, rot13'), []);
  deepStrictEqual(of('constructor'), []);
  strictEqual(of('gzip,gzip,gzip,gzip,gzip'), undefined);
});

test('decodeContent undoes every coding, small at once and large later', async () => {
  for (const [coding, encode] of encoders) {
    for (const plain of [TEXT, Buffer.from('x'), Buffer.concat([NOISE, NOISE, NOISE, NOISE])]) {
      const { body, state } = await decode(encode(plain), [coding]);
      strictEqual(state, 'whole');
      ok(plain.equals(body), `${coding} ${plain.length}`);
    }
  }
});

test('decodeContent undoes nested codings and takes an empty payload for empty', async () => {
  const nested = zlib.brotliCompressSync(zlib.gzipSync(zlib.gzipSync(TEXT)));
  ok(TEXT.equals((await decode(nested, ['br', 'gzip', 'gzip'])).body));
  deepStrictEqual(await decode(new Uint8Array(0), ['gzip', 'br']), {
    body: new Uint8Array(0),
    state: 'whole',
  });
});

test('decodeContent ignores what follows a complete stream (field bug N1)', async () => {
  for (const [coding, encode] of encoders) {
    for (const rest of ['JUNKJUNK', '\0\0\0\0', '\x1e\x8b\x08', encode(TEXT).toString('latin1')]) {
      const payload = Buffer.concat([encode(TEXT), Buffer.from(rest, 'latin1')]);
      const { body, state } = await decode(payload, [coding]);
      strictEqual(state, 'whole', `${coding} ${rest.slice(0, 8)}`);
      // A second gzip member belongs to the stream (RFC 1952 §2.2).
      const twice = coding === 'gzip' && rest.length > 8;
      ok((twice ? Buffer.concat([TEXT, TEXT]) : TEXT).equals(body), `${coding} ${rest.length}`);
    }
  }
});

test('decodeContent gives what a cut stream holds and says that it is cut', async () => {
  for (const [coding, encode] of encoders) {
    const whole = encode(NOISE);
    for (const length of [whole.length - 1, whole.length - 9, Math.floor(whole.length / 2)]) {
      const { body, state } = await decode(whole.subarray(0, length), [coding]);
      strictEqual(state, 'cut', `${coding} ${length}`);
      ok(body.length > NOISE.length / 3, `${coding} kept ${body.length}`);
      ok(NOISE.subarray(0, body.length).equals(body));
    }
  }
});

test('decodeContent keeps the sound beginning of a damaged stream, and nothing of what is none', async () => {
  for (const [coding, encode] of encoders.slice(0, 2)) {
    const damaged = encode(Buffer.concat([TEXT, NOISE, TEXT]));
    damaged.fill(0xff, Math.floor(damaged.length / 2));
    const { body, state } = await decode(damaged, [coding]);
    strictEqual(state, 'damaged');
    ok(TEXT.equals(body.subarray(0, TEXT.length)), coding);
  }
  for (const [coding] of encoders) {
    const { body, state } = await decode(Buffer.from('<html>this is plain</html>'), [coding]);
    strictEqual(state, 'damaged', coding);
    strictEqual(body.length, 0, coding);
  }
});

test('decodeContent takes a wrong checksum for damage', async () => {
  const payload = zlib.gzipSync(TEXT);
  payload[payload.length - 6]! ^= 1;
  const { body, state } = await decode(payload, ['gzip']);
  strictEqual(state, 'damaged');
  ok(TEXT.equals(body));
});

test('decodeContent reads gzip headers with name, comment, extra field and sum', async () => {
  const plain = zlib.gzipSync(TEXT);
  const fields = Buffer.from('\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x02\0xyname\0comment\0ab', 'latin1');
  const payload = Buffer.concat([fields, plain.subarray(10), Buffer.from('rubbish')]);
  const { body, state } = await decode(payload, ['gzip']);
  strictEqual(state, 'whole');
  ok(TEXT.equals(body));
  for (let length = 1; length < fields.length; length += 1) {
    strictEqual((await decode(fields.subarray(0, length), ['gzip'])).state, 'cut', `${length}`);
  }
});

test('decodeContent cuts bombs at its bound, each stage of them (field bug N3)', async () => {
  const zeros = Buffer.alloc(64 * MIB);
  for (const [coding, encode] of encoders) {
    const { body, state } = await decode(encode(zeros), [coding], MIB);
    strictEqual(state, 'length', coding);
    strictEqual(body.length, MIB, coding);
  }
  const nested = zlib.gzipSync(zlib.gzipSync(zeros));
  const { body, state } = await decode(nested, ['gzip', 'gzip'], 2 * MIB);
  strictEqual(state, 'length');
  strictEqual(body.length, 2 * MIB);
  const exact = await decode(zlib.gzipSync(zeros.subarray(0, MIB)), ['gzip'], MIB);
  strictEqual(exact.state, 'whole');
});

test('decodeContent bounds the number of gzip members', async () => {
  const member = zlib.gzipSync('');
  const damaged = Buffer.concat([...Array.from({ length: 5_000 }, () => member), Buffer.from('!')]);
  const { state } = await decode(damaged, ['gzip']);
  strictEqual(state, 'length');
});
