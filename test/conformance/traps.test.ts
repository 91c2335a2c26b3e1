import { deepStrictEqual, ok } from 'node:assert';
import { test } from 'node:test';
import { CRAWL_RULES, canonicalize, POLICY_RULES } from '../../src/domain/canonical-url.ts';
import { registrableDomainOf } from '../../src/domain/registrable-domain.ts';
import { type TrapOptions, trapOf, trapOptions } from '../../src/domain/traps.ts';
import {
  type DomainTally,
  EMPTY_DOMAIN,
  URL_BUDGET,
  UrlBudget,
} from '../../src/domain/url-budget.ts';
import { shapeOf } from '../../src/domain/url-shape.ts';
import { loadCases } from '../support/cases.ts';

interface Case {
  readonly id: string;
  readonly kind: string;
  readonly source: string;
  readonly urls: readonly string[];
  readonly trap: boolean;
  readonly contested: boolean;
  readonly sameAs?: string;
  readonly firstTrapIndex?: number;
}

const loaded = loadCases('traps.json');
const skip = loaded === undefined ? 'no conformance cases beside the project' : false;
const cases: readonly Case[] = loaded?.cases ?? [];
const YEAR = 2026;

/** Kinds that no URL shows: they are judged by what the pages hold, or by the domain. */
const BY_CONTENT = new Set(['soft-404', 'link-farm']);
const isByContent = ({ kind, trap, sameAs }: Case): boolean =>
  BY_CONTENT.has(kind) || (kind === 'session-id' && trap && sameAs === undefined);

function canonicalOf(url: string, rules = POLICY_RULES): string {
  const result = canonicalize(url, rules);
  ok(result.kind === 'canonical', url);
  return result.canonical;
}

function optionsFor({ source }: Case): TrapOptions {
  const lengthMax = /maxLength (\d+)/.exec(source)?.[1];
  const options = trapOptions(YEAR);
  return lengthMax === undefined ? options : { ...options, urlCharsMax: Number(lengthMax) };
}

/** How many of `count` URLs of the form are admitted when every page of the host shows known content after the first. */
function admittedOf(urlAt: (index: number) => string, count: number, isNew: boolean): number {
  const budget = new UrlBudget(undefined);
  let admitted = 0;
  for (let index = 0; index < count; index += 1) {
    const shape = shapeOf(canonicalOf(urlAt(index), CRAWL_RULES), trapOptions(YEAR));
    if (budget.judge(shape, EMPTY_DOMAIN) !== undefined) continue;
    admitted += 1;
    budget.admitted(shape);
    budget.pageSeen(shape, { isNew: isNew || index === 0, form: 0 });
  }
  return admitted;
}

test('trapOf finds a trap in every set of URLs that is one, and in no other', { skip }, () => {
  const wrong = [];
  for (const item of cases) {
    if (item.kind === 'session-id' || isByContent(item)) continue;
    const flags = item.urls.map((url) => trapOf(canonicalOf(url), optionsFor(item)) !== undefined);
    const first = item.firstTrapIndex;
    const isRight =
      flags.includes(true) === item.trap && (first === undefined || flags.indexOf(true) === first);
    if (!isRight) wrong.push({ id: item.id, urls: item.urls, flags });
  }
  ok(cases.length > 0);
  deepStrictEqual(wrong, []);
});

// Contested: the stated policy keeps session parameters. Decided: the policy's canonical URL does keep them, and a crawl's identity, a
// step further, drops those whose name and value both have the known shape; `sid=xyz` stays a key.
test('CRAWL_RULES collapse session identifiers and keep their look-alikes', { skip }, () => {
  const wrong = [];
  for (const item of cases) {
    if (item.kind !== 'session-id' || isByContent(item)) continue;
    for (const url of item.urls) {
      const expected = canonicalOf(item.sameAs ?? url);
      const actual = canonicalOf(url, CRAWL_RULES);
      if (actual !== expected) wrong.push({ id: item.id, url, expected, actual });
      if (!item.trap && trapOf(actual, trapOptions(YEAR)) !== undefined)
        wrong.push({ id: item.id });
    }
  }
  deepStrictEqual(wrong, []);
});

test('UrlBudget.judge bounds traps that only the pages show and follows lists with new content', {
  skip,
}, () => {
  let judged = 0;
  for (const item of cases) {
    const [first = ''] = item.urls;
    const digitsAt = /^(.*?)(\d+)([^\d]*)$/.exec(first);
    if (digitsAt === null || item.kind === 'link-farm') continue;
    const [, head = '', , tail = ''] = digitsAt;
    if (isByContent(item)) {
      judged += 1;
      const admitted = admittedOf((index) => `${head}${index}${tail}`, 500, false);
      ok(admitted <= URL_BUDGET.pagesMin, `${item.id}: ${admitted}`);
    } else if (item.kind === 'infinite-pagination' && !item.trap) {
      judged += 1;
      deepStrictEqual(
        admittedOf((index) => `${head}${index}${tail}`, 500, true),
        500,
        item.id,
      );
    }
  }
  ok(judged > 0);
});

test('UrlBudget.judge bounds a link farm by its registrable domain', { skip }, () => {
  let judged = 0;
  for (const item of cases) {
    if (item.kind !== 'link-farm') continue;
    const [first = ''] = item.urls;
    let domain: DomainTally = EMPTY_DOMAIN;
    const domains = new Set<string>();
    let admitted = 0;
    for (let index = 0; index < 2_000; index += 1) {
      const url = canonicalOf(first.replace(/\d+/, String(index)));
      domains.add(registrableDomainOf(new URL(url).hostname));
      const verdict = new UrlBudget(undefined).judge(shapeOf(url, trapOptions(YEAR)), domain);
      if (verdict !== undefined) continue;
      admitted += 1;
      domain = { ...domain, urls: domain.urls + 1, hosts: domain.hosts + 1 };
    }
    judged += 1;
    deepStrictEqual(domains.size, 1, item.id);
    deepStrictEqual(admitted, URL_BUDGET.hostsPerDomain, item.id);
  }
  ok(judged > 0);
});
