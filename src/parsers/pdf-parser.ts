// The parser of PDF documents (step 11): the links that a reader could click, which are annotations with a URI action. Reads only the
// structure of the document, renders nothing. By pdf.js as the package unpdf ships it, in one file without native code; it is loaded
// with the first PDF of a pool thread. Addresses that merely stand in the text are not looked for.

import {
  extractLinks,
  type PageInput,
  type ParsedPage,
  type ResolvedLink,
} from '../domain/page-links.ts';
import { resolveReference } from '../domain/resolve-reference.ts';
import type { Parser } from './parser.ts';

const PDF_TYPES = new Set(['application/pdf', 'application/x-pdf']);

/** Pages of a document that are looked at; more are left out and told by `truncated`. */
export const PDF_PAGES_MAX = 2_000;
/** Links of a document, likewise. As the bound of a sitemap. */
export const PDF_LINKS_MAX = 50_000;

/** pdf.js's own errors about a document that is broken, encrypted or empty: the web's affair, not ours. */
const DOCUMENT_ERRORS = new Set([
  'InvalidPDFException',
  'PasswordException',
  'MissingPDFException',
  'FormatError',
  'UnknownErrorException',
]);

/** What is read of an annotation. `url` is absolute; `unsafeUrl` as written. */
interface LinkAnnotation {
  readonly url?: unknown;
  readonly unsafeUrl?: unknown;
}

/** See the head of this file. A document that pdf.js cannot read has the links of its headers only. */
export const pdfParser = {
  name: 'pdf',
  accepts: (essence: string) => PDF_TYPES.has(essence),
  parse: parsePdf,
} satisfies Parser;

async function parsePdf(page: PageInput): Promise<ParsedPage> {
  const parsed = extractLinks(page);
  const { references, truncated } = await referencesOf(page.body);
  const links = new Map<string, ResolvedLink>(parsed.links.map((link) => [link.url, link]));
  for (const reference of references) {
    const url = resolveReference(reference, page.url);
    if (url === undefined || links.has(url)) continue;
    links.set(url, parsed.nofollow ? { url, nofollow: true } : { url });
  }
  return { ...parsed, links: [...links.values()], truncated };
}

interface References {
  readonly references: ReadonlySet<string>;
  readonly truncated: boolean;
}

async function referencesOf(body: Uint8Array): Promise<References> {
  const { getDocumentProxy } = await import('unpdf');
  const references = new Set<string>();
  try {
    // The library takes the bytes for itself. Without verbosity 0 it writes its warnings to standard output.
    const document = await getDocumentProxy(new Uint8Array(body), { verbosity: 0 });
    const pages = Math.min(document.numPages, PDF_PAGES_MAX);
    for (let number = 1; number <= pages && references.size < PDF_LINKS_MAX; number += 1) {
      const page = await document.getPage(number);
      const annotations: readonly LinkAnnotation[] = await page.getAnnotations();
      for (const { url, unsafeUrl } of annotations) {
        const reference = typeof url === 'string' ? url : unsafeUrl;
        if (typeof reference === 'string') references.add(reference);
      }
      page.cleanup();
    }
    const truncated = pages < document.numPages || references.size >= PDF_LINKS_MAX;
    await document.loadingTask.destroy();
    return { references, truncated };
  } catch (error) {
    if (!(error instanceof Error) || !DOCUMENT_ERRORS.has(error.name)) throw error;
    return { references, truncated: false };
  }
}
