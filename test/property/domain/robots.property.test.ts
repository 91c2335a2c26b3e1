// Robots rules against everything: arbitrary bytes, a tiny reference matcher, and doubled inputs.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchRobots } from '../../../src/domain/robots-matcher.ts';
import { parseRobotsDirectives, robotsHeaderSources } from '../../../src/domain/robots-meta.ts';
import { parseRobots } from '../../../src/domain/robots-parser.ts';
import { normalizeOctets } from '../../../src/domain/robots-path.ts';
import { decideRobots } from '../../../src/domain/robots-policy.ts';
import { selectRules } from '../../../src/domain/robots-rules.ts';
import { robotsRedirectTarget, robotsUrlOf } from '../../../src/domain/robots-url.ts';

const OPTIONS = { bytesMax: 512_000 };
const word = fc.string({ unit: fc.constantFrom('a', 'b', '/', '?', '=', '&'), maxLength: 6 });
const pattern = fc
  .tuple(
    fc.constantFrom('/', '*', '/a'),
    fc.array(word, { maxLength: 4 }),
    fc.constantFrom('', '$'),
  )
  .map(([start, words, end]) => start + words.join('*') + end);
const rule = fc.record({ allow: fc.boolean(), pattern });
const path = fc.array(word, { maxLength: 6 }).map((words) => `/${words.join('')}`);
const fileLine = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .tuple(
      fc.constantFrom(
        'User-agent',
        'Disallow',
        'Allow',
        'Crawl-delay',
        'Request-rate',
        'Sitemap',
        'x',
      ),
      fc.constantFrom(':', ' ', ' : ', '\0', '#'),
      fc.oneof(pattern, fc.string(), fc.constant('*')),
    )
    .map((parts) => parts.join('')),
);

/** The plainest matcher there is: recursion over the pattern, for short inputs only. */
function matches(glob: string, text: string): boolean {
  if (glob === '') return true;
  if (glob === '$') return text === '';
  if (glob.startsWith('*')) {
    for (let at = 0; at <= text.length; at++)
      if (matches(glob.slice(1), text.slice(at))) return true;
    return false;
  }
  return text.startsWith(glob[0] ?? '') && matches(glob.slice(1), text.slice(1));
}

test('parseRobots, selectRules and matchRobots never throw on any bytes', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc
      .tuple(fc.array(fileLine), fc.constantFrom('\n', '\r', '\r\n'))
      .map(([lines, end]) => Buffer.from(lines.join(end))),
  );
  fc.assert(
    fc.property(
      bytes,
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      (body, agent, url) => {
        const rules = selectRules(parseRobots(body, OPTIONS), agent);
        strictEqual(rules.patterns.length, rules.allows.length);
        strictEqual(rules.patterns.length, rules.lines.length);
        strictEqual(typeof matchRobots(rules, url).allowed, 'boolean');
        deepStrictEqual(structuredClone(rules), rules);
      },
    ),
    { numRuns: 500 },
  );
});

test('decideRobots, the URL functions and the directives never throw on any input', () => {
  fc.assert(
    fc.property(
      fc.integer(),
      fc.string({ unit: 'binary' }),
      fc.double(),
      (status, text, number) => {
        const decision = decideRobots(
          {
            kind: 'response',
            status,
            cacheControl: text,
            ageSeconds: number,
            retryAfterSeconds: number,
          },
          { ...OPTIONS, productToken: text, failures: number, unreachableMs: number },
        );
        ok(decision.expiresInMs >= 4_000 && decision.expiresInMs <= 86_400_000);
        robotsUrlOf(text);
        robotsRedirectTarget('http://a.test/', text);
        strictEqual(
          typeof parseRobotsDirectives(robotsHeaderSources([text]), text).noindex,
          'boolean',
        );
      },
    ),
  );
});

test('matchRobots agrees with a plain reference on every set of rules', () => {
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 90 }),
      fc.array(path, { minLength: 1 }),
      (rules, paths) => {
        const lines = rules.map((one) => `${one.allow ? 'Allow' : 'Disallow'}: ${one.pattern}`);
        const text = ['User-agent: *', ...lines].join('\n');
        const selected = selectRules(parseRobots(Buffer.from(text), OPTIONS), 'hostler');
        for (const one of paths) {
          let best = { allow: true, octets: -1 };
          for (const { allow, pattern: written } of rules) {
            const glob = written.replace(/\*+/g, '*');
            if (!matches(glob, one)) continue;
            if (glob.length > best.octets || (glob.length === best.octets && allow))
              best = { allow, octets: glob.length };
          }
          strictEqual(
            matchRobots(selected, `http://h${one}`).allowed,
            best.allow,
            `${text}\n${one}`,
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('matchRobots gives one answer for all equivalent spellings of a path', () => {
  const character = fc.constantFrom('a', '~', '-', '.', '[', '|', '"', 'ü', 'ツ', '*', '$', "'");
  const spelled = (text: string, choices: readonly boolean[]): string =>
    [...text].map((one, at) => (choices[at] ? percent(one) : one)).join('');
  fc.assert(
    fc.property(
      fc.array(character),
      fc.array(fc.boolean()),
      fc.array(fc.boolean()),
      (text, first, second) => {
        const one = normalizeOctets(spelled(text.join(''), first));
        strictEqual(one, normalizeOctets(spelled(text.join(''), second)));
        strictEqual(one, normalizeOctets(one));
        ok(/^[\x21-\x7e]*$/.test(one));
      },
    ),
  );
});

function percent(character: string): string {
  return [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('');
}

test('parseRobots and matchRobots take linear time: 16 times the input costs far under 256 times as much', () => {
  const inputs: ((size: number) => [string, string])[] = [
    (size) => [`Disallow: /${'*a'.repeat(size)}b`, `/${'a'.repeat(size)}`],
    (size) => [`Disallow: /*${'a'.repeat(size / 2)}b`, `/${'a'.repeat(size)}`],
    (size) => [`Disallow: /${'%4'.repeat(size)}`, `/${'%61'.repeat(size)}`],
    (size) => [`${'User-agent: a\n'.repeat(size / 8)}Disallow: /x`, '/x'],
    (size) => [`Disallow: /${'*'.repeat(size)}x`, `/${'?%3A'.repeat(size)}`],
  ];
  for (const [number, input] of inputs.entries()) {
    const small = Math.max(cost(input(8_192)), COST_FLOOR);
    const large = cost(input(131_072));
    ok(large < 80 * small, `input ${number}: ${small} µs, 16 times as much: ${large} µs`);
  }
});

/** Microseconds the smaller size may cost on a busy machine: 8,192 units of some 250 ns; a warm run may take a fifth of it. */
const COST_FLOOR = 2_000;

/** Least process CPU time of three runs, in microseconds. */
function cost([lines, target]: readonly [string, string]): number {
  const bytes = Buffer.from(`User-agent: *\n${lines}\n`);
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const before = process.cpuUsage();
    matchRobots(selectRules(parseRobots(bytes, OPTIONS), 'hostler'), `http://h${target}`);
    least = Math.min(least, process.cpuUsage(before).user);
  }
  return least;
}
