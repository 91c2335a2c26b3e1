// `node cluster.js urls`: what step 1 makes of references, as NDJSON (DESIGN.md §9). It shows the very functions the crawl uses, under the
// stated policy: session identifiers stay, and keys are seeded with 0, so that answers do not depend on a crawl.

import xxhash from 'xxhash-wasm';
import { parseBase } from '../domain/base-url.ts';
import { canonicalize } from '../domain/canonical-url.ts';
import { resolveUrl } from '../domain/resolve-url.ts';
import { createHasher, type UrlHasher } from '../domain/url-key.ts';
import { answerLines, BadInput, type InputObject, requiredText, textField } from './ndjson.ts';

/** A URL is refused from 8,192 characters on; the rest is room for JSON escapes and a base. */
const LINE_BYTES_MAX = 1_048_576;

/** Answers {base?, input} by {canonical, key, resolved} or {reason, resolved?}. */
export async function commandUrls(): Promise<number> {
  const hasher = createHasher(await xxhash(), 0n);
  await answerLines((input) => answerUrl(input, hasher), {
    input: process.stdin,
    output: process.stdout,
    lineBytesMax: LINE_BYTES_MAX,
  });
  return 0;
}

function answerUrl(input: InputObject, hasher: UrlHasher): object {
  const reference = requiredText(input, 'input');
  const baseText = textField(input, 'base');
  const base = baseText === undefined ? undefined : parseBase(baseText);
  if (baseText !== undefined && base === undefined) {
    throw new BadInput('base is no absolute http, https or ftp URL');
  }
  // As a browser resolves it, before canonicalisation: what the web platform tests compare.
  const resolved = resolveUrl(reference, base);
  if (resolved === undefined) return { reason: 'invalid' };
  const url = canonicalize(resolved);
  if (url.kind === 'rejected') return { reason: url.reason, resolved };
  return { canonical: url.canonical, key: hex(hasher.urlKey(url.canonical)), resolved };
}

/** Sixteen hexadecimal digits. */
function hex(key: bigint): string {
  return key.toString(16).padStart(16, '0');
}
