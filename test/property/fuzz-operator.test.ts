// What operators and their tools hand in: seeds, flags, config objects, lines for the debug socket and NDJSON. Wrong input is told in one
// sentence (a CrawlError, a refusal, an error line); it never throws otherwise and never costs more than linear time.
import { ok, strictEqual } from 'node:assert';
import fc from 'fast-check';
import { parseArguments } from '../../src/app/arguments.ts';
import { readSeed } from '../../src/app/seeds.ts';
import { CrawlError } from '../../src/base/errors.ts';
import { LineSplitter } from '../../src/base/line-splitter.ts';
import { OPTION_LIST } from '../../src/config/options.ts';
import { resolveConfig } from '../../src/config/resolve-config.ts';
import { readRequest, writeAnswer } from '../../src/ops/debug-protocol.ts';
import { answered } from '../../src/ops/operator.ts';
import { completionsOf, prepare, VERBS } from '../../src/ops/verb-table.ts';
import { fuzz } from '../support/fuzz/fuzz.ts';
import { checkLinear, shapes } from '../support/fuzz/linear.ts';

/** Runs something that may refuse, but only as it should. */
function refusing(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    ok(error instanceof CrawlError, String((error as Error)?.stack ?? error));
    ok(error.message.length > 0);
  }
}

const PIECES = [
  ...[
    ' ',
    '\t',
    '"',
    "'",
    '\\',
    '#',
    ' #',
    '/',
    '.',
    ':',
    '@',
    '[',
    ']',
    '[::1]',
    '%',
    '?',
    '=',
    '&',
  ],
  ...['a', 'a.', '0', '-', '--', '--for=', 'http://', 'https://a.test/', 'localhost', '\0', '\xe9'],
  ...[
    '{',
    '}',
    '{"verb":',
    '"args":[',
    '1',
    ',',
    'null',
    'true',
    '\u2028',
    '\ud800',
    '\u202e',
    '*',
    '|',
    '(',
  ],
];
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.constantFrom('1', '0', '-1', '1e9', '10.0.0.0/8', 'a.test', 'domain', 'always', ''),
);

fuzz('readSeed reads any line in linear time', shapes(PIECES), (shape) =>
  checkLinear(shape, readSeed),
);

fuzz('readSeed answers an absolute URL without fragment, or why not', words, (text) => {
  const seed = readSeed(text);
  if ('url' in seed) ok(/^https?:\/\/[^#]+$/.test(seed.url), seed.url);
  else ok(seed.problem.length > 0);
});

const chunks = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 30 }),
    fc.constantFrom(Buffer.from('\n'), Buffer.from('a\r\n')),
  ),
  { maxLength: 12 },
);

fuzz('LineSplitter gives the same lines however the bytes are cut', chunks, (parts) => {
  const read = (list: readonly Uint8Array[]): string => {
    const splitter = new LineSplitter(16);
    const lines: unknown[] = [];
    for (const part of list) lines.push(...splitter.push(Buffer.from(part)));
    lines.push(...splitter.finish());
    return JSON.stringify(lines);
  };
  strictEqual(read(parts), read([Buffer.concat(parts)]));
});

fuzz('readRequest takes linear time in its line', shapes(PIECES), (shape) =>
  checkLinear(shape, readRequest),
);

fuzz(
  'writeAnswer writes any text in linear time, without control characters',
  shapes(PIECES),
  (shape) => {
    checkLinear(shape, (text) => {
      const value = answered({ list: [{ a: text, b: [text] }], deep: { text } });
      writeAnswer({ form: 'json', id: null }, value);
      const shown = writeAnswer({ form: 'text', id: null }, value);
      ok(!/[\0-\x09\x0b-\x1f\x7f-\x9f]/.test(shown));
    });
  },
);

const verbs = fc.constantFrom(...VERBS.keys(), 'nonsense', '__proto__', 'constructor');

fuzz(
  'readRequest and prepare refuse what they do not understand',
  fc.tuple(verbs, fc.array(words)),
  ([verb, args]) => {
    const lines = [[verb, ...args].join(' '), JSON.stringify({ id: 1, verb, args }), args.join('')];
    for (const text of lines) {
      const request = readRequest(text);
      if (request === undefined || 'refusal' in request) continue;
      const prepared = prepare(request.verb, request.args);
      ok(typeof prepared.kind === 'string');
      ok(Array.isArray(completionsOf([request.verb, ...request.args])));
    }
  },
);

const json = fc.json({ maxDepth: 3 });

fuzz('readRequest answers any JSON line with a request or a refusal', json, (text) => {
  for (const line of [
    text,
    `{"verb":"top","args":${text}}`,
    `{"verb":${text},"options":${text}}`,
  ]) {
    const request = readRequest(line);
    if (request === undefined || 'refusal' in request) continue;
    ok(typeof request.verb === 'string' && request.args.every((word) => typeof word === 'string'));
  }
});

const optionNames = fc.constantFrom(
  ...OPTION_LIST.map(([name]) => name),
  'nonsense',
  '__proto__',
  '',
);
const anyValue = fc.oneof(words, fc.double(), fc.anything({ maxDepth: 2 }), fc.array(words));

fuzz(
  'resolveConfig completes or refuses any object and any flags',
  fc.tuple(
    fc.array(fc.tuple(optionNames, anyValue)),
    fc.array(fc.tuple(optionNames, fc.array(words))),
  ),
  ([file, flags]) => {
    refusing(() => resolveConfig({ file: Object.fromEntries(file) }));
    refusing(() => resolveConfig({ flags: Object.fromEntries(flags) }));
    refusing(() =>
      resolveConfig({ file: Object.fromEntries(file), flags: Object.fromEntries(flags) }),
    );
  },
);

fuzz('resolveConfig completes or refuses anything a file exports', fc.anything(), (file) => {
  refusing(() => resolveConfig({ file }));
});

const flagWords = fc.constantFrom(
  ...OPTION_LIST.flatMap(([, { flag }]) => (flag === undefined ? [] : [flag])),
  ...['inspect', 'why', 'robots', 'test', 'urls', 'parse', 'help', '--help', '--', '-x', '--json'],
);

fuzz(
  'parseArguments takes apart or refuses any words',
  fc.array(fc.oneof(flagWords, words)),
  (argv) => {
    refusing(() => parseArguments(argv));
  },
);
