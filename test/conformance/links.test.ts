// extractLinks against the links cases: every uncontested one, and the contested ones as decided here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodingOf } from '../../src/domain/charset-labels.ts';
import { parseMediaType } from '../../src/domain/media-type.ts';
import type { PageInput, ParsedPage } from '../../src/domain/page-links.ts';
import { parsePage } from '../../src/parsers/page-parser.ts';
import { loadCases } from '../support/cases.ts';

interface LinkCase {
  id: string;
  note?: string;
  html?: string;
  htmlBase64?: string;
  htmlParts?: { text: string; times: number }[];
  contentType: string | null;
  baseUrl: string;
  headers?: [string, string][];
  userAgentToken?: string;
  contested?: boolean;
  scope?: string;
  stage?: string;
  expectedLinks?: string[];
  optionalLinks?: string[];
  forbiddenLinks?: string[];
  nofollowLinks?: string[];
  expectedBase?: string;
  metaRefresh?: { delaySeconds?: number; url: string } | null;
  noindex?: boolean;
  nofollow?: boolean;
  canonical?: string;
  title?: string;
  charset?: string | null;
}

/** Contested cases we decide against, and why. */
const DECIDED: Readonly<Record<string, string>> = {
  'links-0060':
    'unavailable_after is not acted on: parsing has no clock, and a page past its date says so by 404 or 410',
};

const suite = loadCases('links.json') as { cases: LinkCase[] } | undefined;

function inputOf(given: LinkCase): PageInput {
  const text = given.htmlParts?.map((part) => part.text.repeat(part.times)).join('') ?? given.html;
  return {
    url: given.baseUrl,
    contentType: given.contentType ?? undefined,
    headers: given.headers,
    body: text === undefined ? Buffer.from(given.htmlBase64!, 'base64') : Buffer.from(text),
    userAgent: given.userAgentToken ?? 'hostler',
  };
}

/** Cases with a scope state what is left of the links after step 5; the same filter is applied here to both sides. */
function inScope(given: LinkCase, url: string): boolean {
  if (given.scope === undefined) return true;
  const host = new URL(given.baseUrl).hostname;
  const other = new URL(url).hostname;
  return other === host || (/domain/.test(given.scope) && other.endsWith(`.${host}`));
}

/** Of canonicalisation, which comes after parsing, these cases need only the order of the query. */
function atStage(given: LinkCase, link: string): string {
  if (given.stage !== 'after canonicalisation') return link;
  const url = new URL(link);
  url.searchParams.sort();
  return url.href;
}

function checkLinks(given: LinkCase, page: ParsedPage): void {
  const followed = page.links.filter((link) => link.nofollow !== true).map((link) => link.url);
  const all = page.links.map((link) => link.url);
  const optional = new Set(given.optionalLinks ?? []);
  if (given.expectedLinks !== undefined) {
    const kept = followed.filter((url) => !optional.has(url) && inScope(given, url));
    const staged = new Set(kept.map((url) => atStage(given, url)));
    assert.deepEqual([...staged].sort(), [...new Set(given.expectedLinks)].sort());
  }
  for (const url of given.forbiddenLinks ?? []) assert.ok(!all.includes(url), `found ${url}`);
  for (const url of given.nofollowLinks ?? []) {
    assert.ok(all.includes(url), `lost ${url}`);
    assert.ok(!followed.includes(url), `follows ${url}`);
  }
}

function checkFacts(given: LinkCase, page: ParsedPage): void {
  if (given.expectedBase !== undefined) {
    assert.equal(new URL(page.base).href, new URL(given.expectedBase).href);
  }
  if (given.noindex !== undefined) assert.equal(page.noindex, given.noindex);
  if (given.nofollow !== undefined) assert.equal(page.nofollow, given.nofollow);
  if (given.canonical !== undefined) assert.equal(page.canonical, given.canonical);
  if (given.title !== undefined) assert.equal(page.title, given.title);
  if (given.metaRefresh === null) assert.equal(page.refresh, undefined);
  else if (given.metaRefresh !== undefined) {
    assert.equal(page.refresh?.url, new URL(given.metaRefresh.url).href);
    const { delaySeconds } = given.metaRefresh;
    if (delaySeconds !== undefined) assert.equal(page.refresh?.delaySeconds, delaySeconds);
  }
  if (given.charset === null) {
    const named = parseMediaType(given.contentType ?? '').charset;
    assert.equal(named === undefined ? undefined : encodingOf(named), undefined);
  } else if (given.charset !== undefined) {
    assert.equal(page.charset?.toLowerCase(), given.charset.toLowerCase());
  }
}

for (const given of suite?.cases ?? []) {
  test(`extractLinks conforms to ${given.id} ${given.note ?? ''}`, () => {
    const page = parsePage(inputOf(given));
    if (DECIDED[given.id] !== undefined) {
      assert.equal(page.noindex, !given.noindex, DECIDED[given.id]);
      return;
    }
    checkLinks(given, page);
    checkFacts(given, page);
  });
}

test('the links cases are present', { skip: suite === undefined && 'no folder of cases' }, () => {
  assert.ok((suite?.cases.length ?? 0) > 100);
});
