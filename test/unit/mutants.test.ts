// The planted bugs of test/mutants/, held to their headers and to docs/INVARIANTS.md. Whether the suites find them is for `npm run mutants`.
import { deepStrictEqual, ok } from 'node:assert';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readMutants } from '../../scripts/mutant-patch.ts';
import { WORLDS } from '../support/sim/sim-plan.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SUITES = ['unit', 'property', 'conformance', 'integration', 'crawls', 'simulation', 'crash'];
const INVARIANTS = 13;
const mutants = readMutants(join(ROOT, 'test', 'mutants'), '');
const page = readFileSync(join(ROOT, 'docs', 'INVARIANTS.md'), 'utf8');

test('mutants: every invariant has one, and each names suites that exist and files that it changes', () => {
  const invariants = new Set(mutants.map(({ invariant }) => invariant));
  const all = Array.from({ length: INVARIANTS }, (_, at) => `I${at + 1}`);
  deepStrictEqual([...invariants].sort(), all.sort());
  for (const { name, killers, files } of mutants) {
    for (const file of files) ok(existsSync(join(ROOT, file)), `${name}: ${file}`);
    for (const killer of killers) {
      if (killer.kind === 'simulation') ok(killer.world in WORLDS, `${name}: ${killer.world}`);
      else ok(SUITES.includes(killer.suite), `${name}: ${killer.suite}`);
    }
  }
});

test('mutants: the tests that a header names exist', () => {
  for (const { name, killers } of mutants) {
    for (const killer of killers) {
      if (killer.kind === 'simulation') continue;
      const tests = readdirSync(join(ROOT, 'test', killer.suite), { recursive: true }).map(String);
      ok(
        tests.some((file) => file.endsWith('.test.ts') && file.includes(killer.only)),
        `${name}: ${killer.suite} ${killer.only}`,
      );
    }
  }
});

test('mutants: docs/INVARIANTS.md lists them by their invariants', () => {
  for (let at = 1; at <= INVARIANTS; at += 1) {
    const names = mutants.filter(({ invariant }) => invariant === `I${at}`).map(({ name }) => name);
    ok(page.includes(`\n- I${at}: ${names.join(', ')}\n`), `- I${at}: ${names.join(', ')}`);
  }
});
