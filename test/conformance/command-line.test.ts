// The conformance cases once more, through the NDJSON commands: what a script that drives `node cluster.js` gets.
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { loadCases } from '../support/cases.ts';
import { runCommand } from '../support/command-line.ts';

type Row = Readonly<Record<string, unknown>> & { readonly id: string };

const robots = loadCases('robots.json') as { readonly cases: readonly Row[] } | undefined;
const urls = loadCases('canonicalize.json') as
  | Readonly<Record<'cases' | 'wptResolve' | 'wptFailure', readonly Row[]>>
  | undefined;
const skip = robots === undefined ? 'the folder ../shared/cases is absent' : false;

/** Sends objects to a command and gives its answers, one for each. */
async function ask(argv: readonly string[], inputs: readonly object[]): Promise<Row[]> {
  const input = inputs.map((one) => JSON.stringify(one)).join('\n');
  const { status, stdout, stderr } = await runCommand(argv, { input });
  deepStrictEqual([status, stderr], [0, '']);
  const answers = stdout.trimEnd().split('\n');
  strictEqual(answers.length, inputs.length);
  return answers.map((line) => JSON.parse(line) as Row);
}

/** Fields in which an answer is not what a case expects; fields without expectation are not compared. */
function differences(one: Row, answer: Row, expected: Readonly<Record<string, unknown>>): object[] {
  return Object.entries(expected)
    .filter(([name, value]) => {
      return value !== undefined && JSON.stringify(answer[name]) !== JSON.stringify(value);
    })
    .map(([name, value]) => ({ id: one.id, name, expected: value, actual: answer[name] }));
}

test('robots test --batch gives the expected answer in every uncontested case of robots.json', {
  skip,
}, async () => {
  const cases = robots?.cases.filter(({ contested }) => contested !== true) ?? [];
  const answers = await ask(
    ['robots', 'test', '--batch'],
    cases.map(({ robotsTxt, robotsTxtBase64, userAgent, url, robotsUrl }) => {
      return { robotsTxt, robotsTxtBase64, userAgent, url, robotsUrl };
    }),
  );
  const wrong = cases.flatMap((one, index) => {
    const { allowed, crawlDelay, governed } = one;
    return differences(one, answers[index] as Row, { allowed, crawlDelay, governed });
  });
  deepStrictEqual(wrong, []);
  ok(cases.length > 1_000);
});

test('urls gives the canonical URL or the resolved one in every case of canonicalize.json', {
  skip,
}, async () => {
  const cases = urls?.cases ?? [];
  const answers = await ask(
    ['urls'],
    cases.map(({ base, input }) => ({ base, input })),
  );
  const wrong = cases.flatMap((one, index) => {
    const field = one.kind === 'resolve' ? 'resolved' : 'canonical';
    // A rejected URL has no such field.
    const actual = answers[index]?.[field] ?? null;
    const expected = one.policyExpected;
    return actual === expected ? [] : [{ id: one.id, input: one.input, expected, actual }];
  });
  deepStrictEqual(wrong, []);
  ok(cases.length > 100);
});

test('urls resolves as the web platform tests do', { skip }, async () => {
  const cases = [...(urls?.wptResolve ?? []), ...(urls?.wptFailure ?? [])];
  const answers = await ask(
    ['urls'],
    cases.map(({ base, input }) => ({ base, input })),
  );
  const wrong = cases.flatMap((one, index) => {
    const actual = answers[index]?.resolved ?? null;
    const expected = one.href ?? null;
    return actual === expected ? [] : [{ id: one.id, input: one.input, expected, actual }];
  });
  deepStrictEqual(wrong, []);
});
