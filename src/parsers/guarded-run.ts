// Step 11 behind guards, on the pool's side: what one thread of the pool does with one page. Unpacks a packed sitemap, lets the first parser
// that accepts the page read it, and without one reads it as its shard would have. May throw, loop or exhaust memory: the pool around
// it turns each of these into a value.

import { Buffer } from 'node:buffer';
import { type Outlinks, outlinksOf } from '../actors/page-outlinks.ts';
import type { PageToParse } from '../actors/parse-stage.ts';
import { assert } from '../base/assert.ts';
import { type BaseUrl, parseBase } from '../domain/base-url.ts';
import { headerValue } from '../domain/header-list.ts';
import { isRedirectStatus } from '../domain/location.ts';
import { parseMediaType } from '../domain/media-type.ts';
import type { PageInput, ParsedPage } from '../domain/page-links.ts';
import { chooseParser, type Parser } from './parser.ts';
import { unpackSitemap } from './sitemap-bytes.ts';

/** A page on its way to the pool. */
export interface GuardedInput {
  readonly page: PageToParse;
  /** Whose robots metadata applies besides those for everybody. */
  readonly productToken: string;
}

/** The same answer as on the shard, its references in a list that can travel. */
export type GuardedOutlinks = Omit<Outlinks, 'references'> & {
  readonly references: readonly string[];
};

/**
 * The function a pool thread runs.
 * @param parsers in order of preference
 * @returns rejects with whatever the page makes a parser throw
 */
export function guardedRun(
  parsers: readonly Parser[],
): (input: GuardedInput) => Promise<GuardedOutlinks> {
  return async ({ page, productToken }) => {
    const base = parseBase(page.url);
    assert(base !== undefined, () => `a stored page without a URL: ${page.url}`);
    const outlinks = isRedirectStatus(page.status)
      ? outlinksOf(page, base, productToken)
      : await bodyOutlinks(parsers, page, base, productToken);
    return { ...outlinks, references: [...outlinks.references] };
  };
}

async function bodyOutlinks(
  parsers: readonly Parser[],
  page: PageToParse,
  base: BaseUrl,
  productToken: string,
): Promise<Outlinks> {
  const isPacked = page.body[0] === 0x1f && page.body[1] === 0x8b;
  const unpacked = isPacked ? unpackSitemap(page.body) : undefined;
  if (unpacked !== undefined && unpacked.kind !== 'ok') {
    const counts = { [`skipped.sitemap-${unpacked.kind}`]: 1 };
    return { base, references: [], purpose: 'page', counts };
  }
  const plain = unpacked === undefined ? page : { ...page, body: unpacked.bytes };
  const input = inputOf(plain, productToken);
  const { essence } = parseMediaType(input.contentType ?? '');
  const parser = chooseParser(parsers, essence, input);
  if (parser === undefined) return outlinksOf(plain, base, productToken);
  return followed(base, await parser.parse(input));
}

function inputOf(page: PageToParse, productToken: string): PageInput {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < page.headers.length; at += 2) {
    headers.push([page.headers[at] as string, page.headers[at + 1] as string]);
  }
  const contentType = headerValue(page.headers, 'content-type');
  const body = Buffer.from(page.body.buffer, page.body.byteOffset, page.body.byteLength);
  return { url: page.url, contentType, headers, body, userAgent: productToken };
}

/** A parser's links are absolute; those that must not be followed are counted. */
function followed(base: BaseUrl, parsed: ParsedPage): Outlinks {
  const references = parsed.links.filter(({ nofollow }) => nofollow !== true).map(({ url }) => url);
  const nofollow = parsed.links.length - references.length;
  const counts = nofollow === 0 ? { parsed: 1 } : { parsed: 1, 'skipped.nofollow': nofollow };
  // A parser tells nothing of the text's form; the fingerprint is enough to know a copy.
  const text = { simhash: parsed.fingerprint, form: 0 };
  return { base, references, purpose: 'page', counts, text };
}
