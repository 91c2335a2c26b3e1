import { deepStrictEqual, ok } from 'node:assert';
import { test } from 'node:test';
import { parseBase } from '../../src/domain/base-url.ts';
import { canonicalize } from '../../src/domain/canonical-url.ts';
import { resolveUrl } from '../../src/domain/resolve-url.ts';
import { loadCases } from '../support/cases.ts';

interface Case {
  readonly id: string;
  readonly kind: 'canonicalize' | 'resolve' | 'reject';
  readonly input: string;
  readonly base?: string | null;
  readonly policyExpected: string | null;
}

const cases = loadCases('canonicalize.json');
const skip = cases === undefined ? 'no conformance cases beside the project' : false;

function canonicalOf(input: string): string | null {
  const result = canonicalize(input);
  return result.kind === 'canonical' ? result.canonical : null;
}

function resolved(input: string, base: string | null | undefined): string | null {
  return resolveUrl(input, base == null ? undefined : parseBase(base)) ?? null;
}

// The `differs` cases are decided for the stated policy, so they are compared as well: sessions, directory indexes and `www` are part of
// an identity (dropping them is a guess about a server), escapes are upper-case, and IDN and empty paths are as the WHATWG href has them.
test('canonicalize gives what the policy expects of every case', { skip }, () => {
  const differences = [];
  for (const item of cases.cases as Case[]) {
    const actual =
      item.kind === 'resolve' ? resolved(item.input, item.base) : canonicalOf(item.input);
    if (actual !== item.policyExpected) {
      differences.push({ id: item.id, input: item.input, expected: item.policyExpected, actual });
    }
  }
  ok(cases.cases.length > 0);
  deepStrictEqual(differences, []);
});

test('resolveUrl agrees with the web platform tests', { skip }, () => {
  const differences = [];
  for (const { id, input, base, href } of cases.wptResolve) {
    const actual = resolved(input, base);
    if (actual !== href) differences.push({ id, input, base, href, actual });
  }
  for (const { id, input, base } of cases.wptFailure) {
    const actual = resolved(input, base);
    if (actual !== null) differences.push({ id, input, base, href: null, actual });
  }
  ok(cases.wptResolve.length > 0 && cases.wptFailure.length > 0);
  deepStrictEqual(differences, []);
});
