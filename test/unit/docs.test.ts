// The pages for people, held to the sources: files they name exist, links lead somewhere, decisions are numbered without holes, and every
// invariant names files with assertions in them (docs/INVARIANTS.md).
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const INVARIANTS = 13;

const pages: readonly string[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true })
    .map((name) => join('docs', String(name)))
    .filter((name) => name.endsWith('.md')),
];

/** File names of the sources without their folders: a page may shorten a path it has just given. */
const sourceNames = new Set(
  ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => basename(String(name))),
  ),
);

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** What stands between backticks and looks like one of our files. */
function filesNamed(text: string): string[] {
  const found = text.match(/(?<=`)(?:(?:src|test|bench|scripts|docs)\/)?[\w./-]+\.(?:ts|md)(?=`)/g);
  return found ?? [];
}

test('docs: every source file a page names exists', () => {
  ok(pages.length > 5);
  for (const page of pages) {
    const missing = filesNamed(read(page)).filter((name) =>
      name.includes('/') && !name.startsWith('./')
        ? !existsSync(join(ROOT, name)) && !existsSync(join(ROOT, 'src', name))
        : !existsSync(join(ROOT, name)) && !sourceNames.has(basename(name)),
    );
    deepStrictEqual(missing, [], page);
  }
});

test('docs: every relative link leads to a file', () => {
  for (const page of pages) {
    const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      (one) => `${one[1]}`,
    );
    const broken = targets.filter((target) => !existsSync(join(ROOT, dirname(page), target)));
    deepStrictEqual(broken, [], page);
  }
});

test('docs: decisions are numbered from 0001 without holes, in name and heading', () => {
  const names = readdirSync(join(ROOT, 'docs', 'decisions')).sort();
  for (const [at, name] of names.entries()) {
    const number = String(at + 1).padStart(4, '0');
    strictEqual(name.slice(0, 5), `${number}-`);
    ok(read(join('docs', 'decisions', name)).startsWith(`# ${number} `), name);
  }
});

test('docs/INVARIANTS.md names for each invariant its assertions, its checks and its mutant', () => {
  const rows = read('docs/INVARIANTS.md')
    .split('\n')
    .filter((line) => /^\| I\d+ /.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  deepStrictEqual(
    rows.map(([, number]) => number),
    Array.from({ length: INVARIANTS }, (_, at) => `I${at + 1}`),
  );
  for (const [, number, claim, assertedIn = '', checkedBy = '', mutant = ''] of rows) {
    ok(claim !== '', number);
    if (assertedIn !== 'none') ok(filesNamed(assertedIn).length > 0, `${number}: ${assertedIn}`);
    for (const file of filesNamed(assertedIn)) {
      ok(file.startsWith('src/') && /\bassert\(/.test(read(file)), `${number}: ${file}`);
    }
    const checks = filesNamed(checkedBy);
    ok(checks.length > 0 && checks.every((file) => file.startsWith('test/')), `${number}`);
    const patch = read(join('test', 'mutants', `${mutant.replaceAll('`', '')}.patch`));
    ok(patch.includes(`Invariant: ${number}\n`), `${number}: ${mutant}`);
  }
});
