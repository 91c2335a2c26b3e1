// NDJSON commands: order, bad lines, bounds, backpressure.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { answerLines, BadInput, bytesField } from '../../../src/app/ndjson.ts';

async function answers(
  input: Iterable<Buffer>,
  answer: (object: Readonly<Record<string, unknown>>) => object,
  lineBytesMax = 1_000,
): Promise<Record<string, unknown>[]> {
  let text = '';
  const output = new Writable({
    highWaterMark: 1,
    decodeStrings: false,
    write(chunk: string, _, done) {
      text += chunk;
      setImmediate(done);
    },
  });
  await answerLines(answer, { input: Readable.from(input), output, lineBytesMax });
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('answerLines answers one line for each line, in order, bad ones by an error', async () => {
  const text = '\uFEFF{"n":1}\n\n[]\nnull\n{"n":2}\r\n{"bad":1}\n{"n":3}';
  const chunks = [...Buffer.from(text)].map((byte) => Buffer.of(byte));
  const given = await answers(chunks, ({ n }) => {
    if (n === undefined) throw new BadInput('n is missing');
    return { n };
  });
  deepStrictEqual(
    given.map((one) => one.n ?? (one.error as string).slice(0, 8)),
    [1, 'not JSON', 'not a JS', 'not a JS', 2, 'n is mis', 3],
  );
});

test('answerLines skips a line that is too long, answers it by an error, and goes on', async () => {
  const input = Buffer.from(`${'x'.repeat(5_000)}\n{"n":1}\n`);
  const given = await answers([input.subarray(0, 900), input.subarray(900)], (one) => one);
  match(given[0]?.error as string, /more than 1000 bytes/);
  deepStrictEqual(given[1], { n: 1 });
});

test('answerLines waits for a slow reader and loses nothing', async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `{"n":${n}}\n`).join('');
  const given = await answers([Buffer.from(lines)], (one) => ({ ...one, text: 'x'.repeat(50) }));
  strictEqual(given.length, 20_000);
  ok(given.every((one, index) => one.n === index));
});

test('bytesField reads text or base64, and neither both nor none', () => {
  deepStrictEqual(bytesField({ body: 'ü' }, 'body'), Buffer.from('ü'));
  deepStrictEqual(bytesField({ bodyBase64: '/w==' }, 'body'), Buffer.of(255));
  for (const input of [{}, { body: 'a', bodyBase64: '' }, { body: 1 }, { bodyBase64: '{}' }]) {
    let error: unknown;
    try {
      bytesField(input, 'body');
    } catch (caught) {
      error = caught;
    }
    ok(error instanceof BadInput, JSON.stringify(input));
  }
});
