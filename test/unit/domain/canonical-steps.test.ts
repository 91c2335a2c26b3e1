// The words in which `why` says how a URL became canonical.
import { deepStrictEqual } from 'node:assert';
import { test } from 'node:test';
import { canonicalSteps } from '../../../src/domain/canonical-steps.ts';
import { CRAWL_RULES, canonicalize } from '../../../src/domain/canonical-url.ts';
import { resolveDocument } from '../../../src/domain/resolve-url.ts';

/** An input with the rules that change it. */
const CASES: readonly (readonly [input: string, steps: readonly string[]])[] = [
  ['http://a.test/x?a=1', []],
  ['http://a.test/x#top', ['fragment dropped']],
  ['HTTP://A.test:80/x/../y', ['resolved as a browser does']],
  ['http://a.test/%7ex', ['percent escapes of the path normalised']],
  ['http://a.test/x?utm_source=f&a=1', ['tracking parameter utm_source dropped']],
  ['http://a.test/x?utm_source=f', ['tracking parameter utm_source dropped']],
  ['http://a.test/x?b=1&a=2', ['parameters sorted by name']],
  ['http://a.test/x?a=1&&b=2', ['empty parameter dropped']],
  ['http://a.test/x?', ['empty query dropped']],
  [
    'http://a.test/x;jsessionid=0123456789ABCDEF0123456789ABCDEF',
    ['session identifier dropped from the path'],
  ],
  [
    'http://a.test/x?PHPSESSID=0123456789abcdef0123456789abcdef&a=1',
    ['session identifier dropped from PHPSESSID'],
  ],
];

test('canonicalSteps names the rules that changed a URL, and none for a canonical one', () => {
  for (const [input, expected] of CASES) {
    const found = canonicalize(input, CRAWL_RULES);
    if (found.kind === 'rejected') throw new Error(`${input} is rejected`);
    const request = resolveDocument(input, undefined) ?? '';
    const { canonical, host } = found;
    const steps = canonicalSteps(input, { request, canonical, host }, CRAWL_RULES);
    deepStrictEqual(steps, expected, `${input} → ${canonical}`);
  }
});
