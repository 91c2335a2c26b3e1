// `node cluster.js parse`: what step 11 finds in a page, as NDJSON (DESIGN.md §9), by the parser the crawl uses. Links are resolved by the
// WHATWG rules and not canonicalised; those that must not be followed are flagged.

import { parseUrl } from '../base/parse-url.ts';
import { PRODUCT_TOKEN } from '../base/version.ts';
import type { PageInput, ParsedPage } from '../domain/page-links.ts';
import { parsePage } from '../parsers/page-parser.ts';
import {
  answerLines,
  BadInput,
  bytesField,
  type InputObject,
  requiredText,
  textField,
} from './ndjson.ts';

/** A body of 50 MiB (`decodedBytesMax`) in base64, and room for headers. */
const LINE_BYTES_MAX = 72 * 1_048_576;

/** Answers {url, contentType?, headers?, body | bodyBase64, userAgent?} by the page's links and facts. */
export async function commandParse(): Promise<number> {
  await answerLines(answerPage, {
    input: process.stdin,
    output: process.stdout,
    lineBytesMax: LINE_BYTES_MAX,
  });
  return 0;
}

function answerPage(input: InputObject): object {
  const url = requiredText(input, 'url');
  if (parseUrl(url) === undefined) throw new BadInput('url is no absolute URL');
  const page: PageInput = {
    url,
    contentType: textField(input, 'contentType'),
    headers: headersOf(input.headers),
    body: bytesField(input, 'body'),
    userAgent: textField(input, 'userAgent') ?? PRODUCT_TOKEN,
  };
  return plain(parsePage(page));
}

/** Everything but the simhash in its inner form, which its sixteen digits say already. */
function plain({ fingerprint: _, ...page }: ParsedPage): object {
  return page;
}

/** Headers as pairs [name, value], or as an object whose values are texts or lists of texts. */
function headersOf(headers: unknown): [string, string][] | undefined {
  if (headers === undefined || headers === null) return undefined;
  if (typeof headers !== 'object') throw badHeaders();
  const pairs: [unknown, unknown][] = Array.isArray(headers)
    ? headers.map((pair: unknown) => {
        if (!Array.isArray(pair) || pair.length !== 2) throw badHeaders();
        return [pair[0], pair[1]];
      })
    : Object.entries(headers).flatMap(([name, value]: [string, unknown]) =>
        (Array.isArray(value) ? value : [value]).map((each): [unknown, unknown] => [name, each]),
      );
  return pairs.map(([name, value]) => {
    if (typeof name !== 'string' || typeof value !== 'string') throw badHeaders();
    return [name, value];
  });
}

function badHeaders(): BadInput {
  return new BadInput('headers must be a list of [name, value], or an object of texts');
}
