// The command line, taken apart.
import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { type ParsedArguments, parseArguments } from '../../../src/app/arguments.ts';
import { COMMANDS } from '../../../src/app/command-list.ts';

function parsed<Kind extends ParsedArguments['kind']>(
  kind: Kind,
  ...argv: string[]
): Extract<ParsedArguments, { kind: Kind }> {
  const result = parseArguments(argv);
  strictEqual(result.kind, kind);
  return result as Extract<ParsedArguments, { kind: Kind }>;
}

test('parseArguments takes seeds and flags of a crawl in any order', () => {
  const line = '--max-pages 5 a.com --include x --json b.com --include y --config f.ts'.split(' ');
  const { words, flags, configPath } = parsed('crawl', ...line);
  deepStrictEqual(words, ['a.com', 'b.com']);
  deepStrictEqual(flags, { maxPages: ['5'], include: ['x', 'y'], json: [''] });
  strictEqual(configPath, 'f.ts');
});

test('parseArguments keeps a value that begins with a hyphen, = and --', () => {
  const { words, flags } = parsed('crawl', '--seeds', '-', '--min-gap=0', '--', '--odd');
  deepStrictEqual(flags, { seedsFile: ['-'], minGapMs: ['0'] });
  deepStrictEqual(words, ['--odd']);
});

test('parseArguments gives a command its own options, and those of the table that it takes', () => {
  const { entry, words, options, flags } = parsed('command', 'audit', '--min-gap', '20', '--json');
  strictEqual(entry.name, 'audit');
  deepStrictEqual([words, options, flags], [[], { minGap: '20' }, { json: [''] }]);
  const why = parsed('command', '--data', 'd', 'why', 'https://a.com/');
  deepStrictEqual([why.words, why.flags], [['https://a.com/'], { dataDir: ['d'] }]);
});

test("parseArguments leaves an inspect verb's own options to the verb", () => {
  const line = 'inspect trace host:7 --max 10 --for 5 --data d --json'.split(' ');
  const { words, flags } = parsed('command', ...line);
  deepStrictEqual(words, ['trace', 'host:7', '--max', '10', '--for', '5']);
  deepStrictEqual(flags, { dataDir: ['d'], json: [''] });
});

const WRONG: Readonly<Record<string, RegExp>> = {
  '--max-page 5': /^unknown option --max-page; did you mean --max-pages\?$/,
  '--min-gap': /^option --min-gap <MS> argument missing$/,
  why: /^missing required argument url$/,
  'why a b': /^too many arguments for why/,
  'urls --batch': /^unknown option --batch$/,
  '--max-pages 3 why a': /^--max-pages is no option of why$/,
  '--min-gap 3 audit': /^--min-gap of audit must follow it$/,
};

test('parseArguments refuses a wrong line in one line, with what was meant', () => {
  for (const [line, message] of Object.entries(WRONG)) {
    throws(() => parseArguments(line.split(' ')), { code: 'usage', message });
  }
});

test('parseArguments hands back help and version as text, with examples and exit codes', () => {
  const help = parsed('text', '--help').text;
  for (const { name } of COMMANDS) match(help, new RegExp(`^  ${name} `, 'm'));
  match(help, /Politeness:\n {2}--min-gap <MS> /);
  match(help, /Examples:\n/);
  match(help, /Exit codes:\n/);
  ok(Math.max(...help.split('\n').map(({ length }) => length)) <= 120);
  match(parsed('text', 'robots', '--help').text, /Usage: node cluster\.js robots .*<verb>/);
  match(parsed('text', '--version').text, /^\d+\.\d+\.\d+\n$/);
});

test('COMMANDS lists every command that exists, and the crawl is the one without a name', () => {
  const folder = new URL('../../../src/app/', import.meta.url);
  const built = readdirSync(folder)
    .map((file) => /^command-(.*)\.js$/.exec(file)?.[1])
    .filter((name) => name !== undefined && name !== 'list' && name !== 'crawl');
  const listed: readonly string[] = COMMANDS.map(({ name }) => name);
  ok(built.length >= 3);
  for (const name of built) ok(listed.includes(name as string), name);
});
