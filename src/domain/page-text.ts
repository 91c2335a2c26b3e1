// What a reader finds on a page (for those who follow the change feed): its visible text, title and language, and how many links it has. One
// pass of the link scanner, linear and bounded; never throws.

import { decodeSlice } from './charset-codec.ts';
import { headerValue, headerValues } from './header-list.ts';
import { decodeReferences } from './html-entities.ts';
import { scanLinks, type TextSink } from './link-scanner.ts';
import { parseMediaType } from './media-type.ts';
import { pageKindOf } from './page-kind.ts';
import { parseRobotsDirectives, robotsHeaderSources } from './robots-meta.ts';

/** Text that is kept of one page; bytes as they stand in it. Above nearly every page, low enough to bound a hostile one. */
export const TEXT_BYTES_MAX = 1_048_576;
/** How far into a page its html element is looked for. */
const LANGUAGE_BYTES = 4_096;
const HTML_LANGUAGE = /<html\b[^>]*?\slang\s*=\s*["']?([A-Za-z0-9-]{2,35})/i;
const CONTENT_LANGUAGE = /^\s*([A-Za-z0-9-]{2,35})/;

export interface PageText {
  readonly title: string | undefined;
  /** A language tag (RFC 5646) as the page gives it. */
  readonly language: string | undefined;
  /** Runs of blanks are one blank. */
  readonly text: string;
  /** Links of the page that may be followed, repeats included. */
  readonly outlinks: number;
  /** True when the page asks not to be indexed, by meta element or header. */
  readonly noindex: boolean;
}

/** A stored answer. */
export interface PageBody {
  readonly url: string;
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Uint8Array;
}

/** @returns undefined for what is no page of text */
export function pageText(page: PageBody, productToken: string): PageText | undefined {
  const { url, headers, body } = page;
  const contentType = headerValue(headers, 'content-type') ?? '';
  const type = parseMediaType(contentType);
  const kind = pageKindOf(url, type, body);
  if (kind !== 'html' && kind !== 'xhtml') {
    return type.essence === 'text/plain' ? plainText(page, type.charset, productToken) : undefined;
  }
  const slices = new TextSlices();
  const scan = scanLinks(body, { charset: type.charset, xml: kind === 'xhtml', text: slices });
  const directives = parseRobotsDirectives(
    [...scan.metaRobots, ...robotsHeaderSources(headerValues(headers, 'x-robots-tag'))],
    productToken,
  );
  const outlinks = directives.nofollow ? 0 : scan.links.filter((link) => !link.nofollow).length;
  return {
    title: scan.title === undefined ? undefined : oneLine(scan.title),
    language: languageOf(page),
    text: slices.text(body, scan.charset),
    outlinks,
    noindex: directives.noindex,
  };
}

function plainText(page: PageBody, charset: string | undefined, productToken: string): PageText {
  const { headers, body } = page;
  const sources = robotsHeaderSources(headerValues(headers, 'x-robots-tag'));
  const { noindex } = parseRobotsDirectives(sources, productToken);
  const end = Math.min(body.length, TEXT_BYTES_MAX);
  const isLatin = charset !== undefined && /8859-1$|1252$/.test(charset);
  const text = oneLine(decodeSlice(body, 0, end, isLatin ? 'windows-1252' : 'utf-8'));
  return { title: undefined, language: languageOf(page), text, outlinks: 0, noindex };
}

function languageOf({ headers, body }: PageBody): string | undefined {
  const head = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, LANGUAGE_BYTES));
  const stated = HTML_LANGUAGE.exec(head.toString('latin1'))?.[1];
  if (stated !== undefined) return stated;
  return CONTENT_LANGUAGE.exec(headerValue(headers, 'content-language') ?? '')?.[1];
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Collects where the visible text stands. */
class TextSlices implements TextSink {
  readonly #places: number[] = [];
  #bytes = 0;

  addText(_bytes: Uint8Array, start: number, end: number): void {
    if (this.#bytes >= TEXT_BYTES_MAX || end <= start) return;
    this.#places.push(start, end);
    this.#bytes += end - start;
  }

  text(bytes: Uint8Array, charset: string): string {
    const parts: string[] = [];
    for (let at = 0; at < this.#places.length; at += 2) {
      const [start, end] = [this.#places[at] as number, this.#places[at + 1] as number];
      parts.push(decodeReferences(decodeSlice(bytes, start, end, charset), 'text'));
    }
    return oneLine(parts.join(' '));
  }
}
