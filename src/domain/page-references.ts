// References as pages write them (step 11), before they are resolved: which relations lead to pages, and what a reference becomes in a page
// that is not written in UTF-8. Shared by the crawl's own reading of a page and by `node cluster.js parse`.

import { encodeQuery } from './charset-codec.ts';
import { hasToken } from './page-facts.ts';

/** Relations of link elements and Link headers that lead to pages; others are resources, or hints that no crawler needs. */
const PAGE_RELATIONS = ['canonical', 'next', 'prev', 'previous', 'alternate', 'amphtml'];

/** Whether one of the relations of a link element leads to a page. `rel` in lower case. */
export function isPageRelation(rel: string): boolean {
  return PAGE_RELATIONS.some((relation) => hasToken(rel, relation));
}

/** Many links of a page differ in their fragments alone; a blank before the `#` stays, as it is part of the URL only there. */
export function withoutFragment(reference: string): string {
  const hash = reference.indexOf('#');
  if (hash < 0 || (hash > 0 && reference.charCodeAt(hash - 1) <= 0x20)) return reference;
  return reference.slice(0, hash);
}

/** A reference with its query in the page's encoding; the rest of it is always UTF-8. URL standard §4.4 "query state" */
export function encodeReference(reference: string, encoding: string): string {
  const question = reference.indexOf('?');
  if (question < 0) return reference;
  const hash = reference.indexOf('#');
  if (hash >= 0 && hash < question) return reference;
  const end = hash < 0 ? reference.length : hash;
  const query = encodeQuery(reference.slice(question + 1, end), encoding);
  return reference.slice(0, question + 1) + query + reference.slice(end);
}
