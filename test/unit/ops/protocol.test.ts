import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DebugRequest,
  readRequest,
  writeAnswer,
  writeEvent,
} from '../../../src/ops/debug-protocol.ts';
import { answered, refused } from '../../../src/ops/operator.ts';
import { boundedPlain } from '../../../src/ops/plain-value.ts';
import { splitWords } from '../../../src/ops/split-words.ts';
import { textOf } from '../../../src/ops/text-form.ts';

test('splitWords splits at blanks, keeps quoted text together and refuses an open quote', () => {
  assert.deepEqual(splitWords('  why\t"a b"  c\'d e\'f ""'), ['why', 'a b', 'cd ef', '']);
  assert.deepEqual(splitWords(' '), []);
  assert.equal(splitWords('why "a'), undefined);
});

test('readRequest takes JSON with args and options, and words', () => {
  assert.deepEqual(
    readRequest('{"id":7,"verb":"top","args":["busy",10],"options":{"for":5,"x":true}}'),
    {
      form: 'json',
      id: 7,
      verb: 'top',
      args: ['busy', '10', '--for=5', '--x'],
    } satisfies DebugRequest,
  );
  assert.deepEqual(readRequest(' top  busy 10 '), {
    form: 'text',
    id: null,
    verb: 'top',
    args: ['busy', '10'],
  } satisfies DebugRequest);
  assert.equal(readRequest('   '), undefined);
});

test('readRequest answers any malformed request in the form it was written in', () => {
  const bad = [
    '{',
    '{"verb":1}',
    '{"id":{},"verb":"top"}',
    '{"verb":"top","args":"busy"}',
    '{"verb":"top","args":[{}]}',
    '{"verb":"top","options":[1,{}]}',
    '{"verb":"top","options":null}',
    `{"id":"${'x'.repeat(201)}","verb":"top"}`,
  ];
  for (const line of bad) {
    const request = readRequest(line);
    assert.ok(request !== undefined && 'refusal' in request, line);
    assert.equal(request.form, 'json');
    assert.equal(request.refusal.code, 'usage');
  }
});

test('writeAnswer writes one JSON line, or text that an empty line ends and none interrupts', () => {
  const value = { a: 'x\n\ny', list: [], nested: { at: 0, text: '' } };
  const json = writeAnswer({ form: 'json', id: 3 }, answered(value));
  assert.deepEqual(JSON.parse(json), { id: 3, ok: true, value });
  assert.equal(json.indexOf('\n'), json.length - 1);
  const text = writeAnswer({ form: 'text', id: null }, answered(value));
  assert.equal(text, 'a: x\\u000a\\u000ay\nlist: (none)\nnested:\n  at: -\n  text:\n\n');
  const refusal = writeAnswer({ form: 'text', id: null }, refused('usage', 'no\nway'));
  assert.equal(refusal, 'error: no\\u000away (usage)\n\n');
});

test('writeAnswer bounds an answer of any size and says that it was cut', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => ({ index, text: 'x'.repeat(200) }));
  const json = writeAnswer({ form: 'json', id: 1 }, answered(rows));
  assert.ok(json.length < 1_300_000, `${json.length}`);
  const answer = JSON.parse(json) as { truncated?: boolean; value: unknown[] };
  assert.equal(answer.truncated, true);
  assert.ok(answer.value.length > 1_000);
  const text = writeAnswer({ form: 'text', id: null }, answered(rows));
  assert.ok(text.length < 1_100_000, `${text.length}`);
  assert.ok(text.endsWith('\n(truncated)\n\n'));
});

test('writeEvent writes an event with its id, or as one line', () => {
  const event = { at: 0, kind: 'pump', text: '{"a":1}', turnMs: 0.5 };
  assert.equal(
    writeEvent({ form: 'json', id: 'q' }, event),
    `{"id":"q","event":${JSON.stringify(event)}}\n`,
  );
  assert.equal(
    writeEvent({ form: 'text', id: null }, event),
    '1970-01-01T00:00:00.000Z 0.500 ms pump {"a":1}\n',
  );
});

test('boundedPlain makes what JSON cannot say plain, and stops at depth and size', () => {
  const { value } = boundedPlain(
    {
      key: 2n ** 64n - 1n,
      never: Infinity,
      gone: undefined,
      bytes: new Uint8Array(9),
      set: new Set([1]),
      error: new TypeError('x'),
    },
    10_000,
  );
  assert.deepEqual(value, {
    key: '18446744073709551615',
    never: 'Infinity',
    bytes: '9 bytes',
    set: [1],
    error: 'TypeError: x',
  });
  let deep: unknown = 1;
  for (let depth = 0; depth < 50_000; depth += 1) deep = { deep };
  const cut = boundedPlain(deep, 10_000);
  assert.equal(cut.truncated, true);
  assert.ok(JSON.stringify(cut.value).length < 300);
  assert.equal(boundedPlain('y'.repeat(100_000), 1_000_000).truncated, true);
});

test('textOf aligns a table, numbers to the right, and lets one long cell overflow alone', () => {
  const rows = [
    { path: 'a', mailbox: 5, note: 'x' },
    { path: 'long-path', mailbox: 1_000, note: 'y'.repeat(90) },
  ];
  assert.equal(
    textOf(rows),
    `path       mailbox  note\na                5  x\nlong-path     1000  ${'y'.repeat(90)}`,
  );
});

test('textOf never lets text of the web reach a terminal as a command', () => {
  const text = textOf({ url: '\u001b]0;owned\u0007', 'k\u009bey': '\u202egnp.exe' });
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.match(text, /\\u001b\]0;owned\\u0007/);
});
