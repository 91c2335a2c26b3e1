// The table of options and the texts made from it.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../../src/base/version.ts';
import { DomainSet, HostOverrides } from '../../../src/config/host-override.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { configTemplate, configurationPage } from '../../../src/config/option-texts.ts';
import { OPTION_LIST } from '../../../src/config/options.ts';
import { suggest } from '../../../src/config/suggest.ts';
import { inFolder, PROJECT_ROOT } from '../../support/command-line.ts';

const projectFile = (name: string): string => readFileSync(join(PROJECT_ROOT, name), 'utf8');

test('OPTIONS has defaults that its own kinds accept, and flags that differ', () => {
  const flags = new Set<string>();
  for (const [name, row] of OPTION_LIST) {
    if (row.presence === 'default') ok('value' in row.kind.read(row.default), name);
    else ok(row.example !== undefined && row.defaultText !== '', name);
    match(row.doc, /^\S.*\.$/, name);
    if (row.flag === undefined) continue;
    ok(!flags.has(row.flag), row.flag);
    flags.add(row.flag);
  }
  ok(flags.size >= 27, 'every option of the command line is there');
});

test('docs/CONFIGURATION.md is what the table gives (npm run docs)', () => {
  strictEqual(projectFile('docs/CONFIGURATION.md'), configurationPage());
});

test('cluster.config.ts names every key with its doc as the table has it', () => {
  // Operators edit the file, so only its comments are compared: a key may be set or not.
  const written = projectFile('cluster.config.ts');
  const missing = configTemplate()
    .split('\n')
    .filter((line) => {
      const key = /^ {2}\/\/ (\w+): /.exec(line)?.[1];
      if (key === undefined) return line.startsWith('  // ') && !written.includes(line);
      return !new RegExp(`^ *(?://)? *${key}:`, 'm').test(written);
    });
  deepStrictEqual(missing, []);
});

test('configTemplate with every line set is a configuration that loads', async () => {
  const set = configTemplate()
    .replaceAll(/^ {2}\/\/ (\w+: .*,)$/gm, '  $1')
    // With the limit of pages that the template sets, they are refused.
    .replaceAll(/^ {2}node(?:sFile|Name):.*$/gm, '')
    .replace("'ca.pem'", 'import.meta.filename');
  const config = await inFolder({ 'all.config.ts': set }, (folder) =>
    loadConfig({ configPath: join(folder, 'all.config.ts') }),
  );
  const configurable = OPTION_LIST.filter(([, row]) => row.isFlagOnly !== true);
  strictEqual(config.explicit.length, configurable.length - 2);
  strictEqual(config.maxPages, 10_000);
});

test('VERSION is that of package.json', () => {
  strictEqual(VERSION, JSON.parse(projectFile('package.json')).version);
});

test('HostOverrides.of prefers the exact host, then the nearest domain above', () => {
  const overrides = new HostOverrides([
    { pattern: '*.example.com', minGapMs: 2_000 },
    { pattern: '*.a.example.com', minGapMs: 3_000 },
    { pattern: 'www.example.com', minGapMs: 4_000 },
  ]);
  strictEqual(overrides.of('www.example.com')?.minGapMs, 4_000);
  strictEqual(overrides.of('x.y.example.com')?.minGapMs, 2_000);
  strictEqual(overrides.of('x.a.example.com')?.minGapMs, 3_000);
  strictEqual(overrides.of('example.com'), undefined);
  strictEqual(overrides.of('notexample.com'), undefined);
});

test('DomainSet.has holds a domain and everything below it', () => {
  const domains = new DomainSet(['example.com']);
  ok(domains.has('example.com'));
  ok(domains.has('a.b.example.com'));
  ok(!domains.has('notexample.com'));
  ok(!domains.has('com'));
});

test('suggest finds the near name and no far one', () => {
  const known = ['minGapMs', 'maxPages', 'maxDepth', 'seen'];
  strictEqual(suggest('min_gap_ms', known), 'minGapMs');
  strictEqual(suggest('maxPage', known), 'maxPages');
  strictEqual(suggest('colour', known), undefined);
  strictEqual(suggest('x'.repeat(10_000), known), undefined);
});
