// What a page says of itself and of others, gathered while its markup is scanned (step 11): links, base, robots metadata, canonical
// address, title, refresh. Everything stays as the page wrote it, decoded but not resolved; page-links.ts gives it meaning. Each list
// and each text has a bound, so that a hostile page costs bounded memory; what is cut is reported by `truncated`.
import { decodeSlice } from './charset-codec.ts';
import { encodingOf } from './charset-labels.ts';
import { asDeclared, encodingOfMetaContent } from './charset-prescan.ts';
import { decodeReferences } from './html-entities.ts';
import { attributeCode, elementCode } from './html-names.ts';
import { parseRefresh, type Refresh } from './meta-refresh.ts';
import type { TagReader } from './tag-reader.ts';

/** Links kept of one page. Far above honest pages (109 on average, PERFORMANCE.md), low enough to bound a hostile one. */
export const LINKS_PER_PAGE_MAX = 50_000;
/** Longer references are dropped, as no server takes them. RFC 9110 §4.1 recommends support for 8,000 octets. */
export const REFERENCE_BYTES_MAX = 8_192;
/** Values of content, name and rel attributes beyond this are cut. */
export const VALUE_BYTES_MAX = 4_096;
/** Bytes of a title that are looked at, and characters of it that are kept. */
export const TITLE_BYTES_MAX = 8_192;
export const TITLE_CHARACTERS_MAX = 1_024;
/** Robots meta elements kept of one page. */
export const ROBOTS_METAS_MAX = 64;

export type LinkKind = 'a' | 'area' | 'frame' | 'iframe' | 'link';

/** One link as the page wrote it. */
export interface PageLink {
  /** The attribute's value, character references decoded, at most REFERENCE_BYTES_MAX bytes of source; may be empty. */
  readonly reference: string;
  readonly kind: LinkKind;
  /** The rel attribute in lower case, when there is one. */
  readonly rel?: string;
  /** True when rel holds the token `nofollow`. */
  readonly nofollow: boolean;
}

/** One robots meta element: `<meta name="robots" content="noindex">`. */
export interface MetaRobots {
  /** The name, lower case: `robots`, or a crawler's own token. */
  readonly agent: string;
  readonly content: string;
}

const HREF = attributeCode('href');
const XLINK_HREF = attributeCode('xlink:href');
const SRC = attributeCode('src');
const REL = attributeCode('rel');
const NAME = attributeCode('name');
const CONTENT = attributeCode('content');
const HTTP_EQUIV = attributeCode('http-equiv');
const CHARSET = attributeCode('charset');

const A = elementCode('a');
const AREA = elementCode('area');
const FRAME = elementCode('frame');
const IFRAME = elementCode('iframe');
const LINK = elementCode('link');
const BASE = elementCode('base');
const META = elementCode('meta');

/** Names of meta elements that speak of other things than robots; all others are kept, as any may be a crawler's token. */
const OTHER_METAS = new Set(
  'viewport description keywords author generator theme-color color-scheme referrer application-name'.split(
    ' ',
  ),
);

export class PageFacts {
  /** As a Buffer, whose slices become strings fastest. */
  readonly #bytes: Buffer;
  readonly #encoding: string;
  readonly links: PageLink[] = [];
  readonly metaRobots: MetaRobots[] = [];
  base: string | undefined;
  canonical: string | undefined;
  title: string | undefined;
  refresh: Refresh | undefined;
  /** The encoding a meta element in the tree names, wherever it stands. */
  declaredEncoding: string | undefined;
  /** True when a link was left out by a bound. */
  truncated = false;
  /** Set on a reading of the page that may be wrong: it may add links but states nothing about the page. */
  linksOnly = false;
  /** Set inside noscript: a refresh there is meant for visitors without scripts, not for us. */
  inNoscript = false;

  /**
   * @param bytes the page, in an encoding in which ASCII bytes are ASCII characters
   * @param encoding of its slices, as encodingOf names it
   */
  constructor(bytes: Uint8Array, encoding: string) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#encoding = encoding;
  }

  /**
   * Takes what a start tag says.
   * @param tag read with its attributes
   * @param place.foreign an SVG or MathML element: only its links count
   * @param place.uncertain it may be one: xlink:href counts
   */
  startTag(tag: TagReader, place: { foreign: boolean; uncertain: boolean }): void {
    const { foreign } = place;
    const { element } = tag;
    if (element === A) {
      if (tag.has(HREF)) this.#addLink(tag, HREF, 'a');
      if ((foreign || place.uncertain) && tag.has(XLINK_HREF)) this.#addLink(tag, XLINK_HREF, 'a');
    } else if (element === AREA) this.#addLink(tag, HREF, 'area');
    else if (element === FRAME) this.#addLink(tag, SRC, 'frame');
    else if (element === IFRAME) this.#addLink(tag, SRC, 'iframe');
    else if (element === LINK) this.#addLinkElement(tag, this.linksOnly || foreign);
    else if (this.linksOnly || foreign) return;
    else if (element === BASE) {
      if (this.base === undefined && tag.has(HREF)) this.base = this.#reference(tag, HREF);
    } else if (element === META) this.#addMeta(tag);
  }

  /** Takes the text of a title element; the first one counts. */
  titleText(start: number, end: number): void {
    if (this.title !== undefined) return;
    const cut = Math.min(end, start + TITLE_BYTES_MAX);
    const text = decodeReferences(decodeSlice(this.#bytes, start, cut, this.#encoding), 'text');
    const title = text.replace(/[\t\n\f\r ]+/g, ' ').trim();
    this.title = title.slice(0, TITLE_CHARACTERS_MAX);
  }

  #addLink(tag: TagReader, attribute: number, kind: LinkKind): void {
    if (!tag.has(attribute)) return;
    const reference = this.#reference(tag, attribute);
    if (reference === undefined) return;
    if (this.links.length >= LINKS_PER_PAGE_MAX) {
      this.truncated = true;
      return;
    }
    if (!tag.has(REL)) {
      this.links.push({ reference, kind, nofollow: false });
      return;
    }
    const rel = this.#value(tag, REL).toLowerCase();
    this.links.push({ reference, kind, rel, nofollow: hasToken(rel, 'nofollow') });
  }

  #addLinkElement(tag: TagReader, linksOnly: boolean): void {
    if (!tag.has(HREF) || !tag.has(REL)) return;
    this.#addLink(tag, HREF, 'link');
    if (linksOnly || this.canonical !== undefined) return;
    if (!hasToken(this.#value(tag, REL).toLowerCase(), 'canonical')) return;
    this.canonical = this.#reference(tag, HREF);
  }

  #addMeta(tag: TagReader): void {
    if (this.declaredEncoding === undefined) this.#readEncoding(tag);
    if (!tag.has(CONTENT)) return;
    if (tag.valueIs(HTTP_EQUIV, 'refresh')) {
      if (this.inNoscript || this.refresh !== undefined) return;
      this.refresh = parseRefresh(this.#value(tag, CONTENT, REFERENCE_BYTES_MAX));
    }
    if (!tag.has(NAME) || this.metaRobots.length >= ROBOTS_METAS_MAX) return;
    const agent = this.#value(tag, NAME).trim().toLowerCase();
    if (agent === '' || agent.includes(':') || OTHER_METAS.has(agent)) return;
    this.metaRobots.push({ agent, content: this.#value(tag, CONTENT) });
  }

  /** Source: HTML standard §13.2.6.4.4 "in head", a start tag whose tag name is meta. */
  #readEncoding(tag: TagReader): void {
    let encoding: string | undefined;
    if (tag.has(CHARSET)) encoding = encodingOf(this.#value(tag, CHARSET));
    else if (tag.valueIs(HTTP_EQUIV, 'content-type') && tag.has(CONTENT)) {
      encoding = encodingOfMetaContent(this.#value(tag, CONTENT));
    }
    this.declaredEncoding = asDeclared(encoding);
  }

  /** A URL attribute, or undefined when it is too long to be one. */
  #reference(tag: TagReader, attribute: number): string | undefined {
    const start = tag.valueStart(attribute);
    const end = tag.valueEnd(attribute);
    if (end - start > REFERENCE_BYTES_MAX) {
      this.truncated = true;
      return undefined;
    }
    return this.#decode(start, end);
  }

  #value(tag: TagReader, attribute: number, bytesMax = VALUE_BYTES_MAX): string {
    const start = tag.valueStart(attribute);
    return this.#decode(start, Math.min(tag.valueEnd(attribute), start + bytesMax));
  }

  #decode(start: number, end: number): string {
    const text = decodeSlice(this.#bytes, start, end, this.#encoding);
    const decoded = text.includes('&') ? decodeReferences(text, 'attribute') : text;
    return decoded.includes('\0') ? decoded.replaceAll('\0', '\ufffd') : decoded;
  }
}

/** True when a list of tokens separated by ASCII whitespace holds `token`. HTML standard §2.3.7. */
export function hasToken(list: string, token: string): boolean {
  return list.includes(token) && list.split(/[\t\n\f\r ]+/).includes(token);
}
