// The link scanner (step 11): one pass over a page's stored bytes that finds every link a complete tree builder would find. It walks
// from `<` to `<`, follows the HTML tokenizer's states, decodes only the values it keeps, and builds no tree; that is what makes it
// ten times as fast as parse5 (PERFORMANCE.md). Invariants: linear time and bounded memory on any bytes, never throws, and no link of
// the parse5 tree is lost (test/property/link-scanner.test.ts). Where the tree alone decides how the bytes must be read and it cannot
// be known without building it, both readings are followed and their links joined, at most ALTERNATIVES_MAX times a page.
import { type CharsetSource, detectCharset } from './charset.ts';
import { decodeSlice, isAsciiCompatible } from './charset-codec.ts';
import {
  endOfBogusComment,
  endOfCdata,
  endOfComment,
  endOfInstruction,
  endOfRawText,
  endOfScript,
  isCdataStart,
  nextLessThan,
} from './html-lexer.ts';
import { type ElementName, elementCode, elementTable } from './html-names.ts';
import type { Refresh } from './meta-refresh.ts';
import { type MetaRobots, PageFacts, type PageLink } from './page-facts.ts';
import { CUT_OFF, TagReader } from './tag-reader.ts';
import { TreeContext } from './tree-context.ts';

/** Takes the page's visible text, slice by slice, in the order of the page. */
export interface TextSink {
  /** @param bytes in UTF-8 or the page's own ASCII-compatible encoding; markup begins and ends the slice, so that it ends a word */
  addText(bytes: Uint8Array, start: number, end: number): void;
}

export interface ScanOptions {
  /** The charset parameter of Content-Type. */
  readonly charset?: string | undefined;
  /** True for XHTML served as XML: no raw text elements, CDATA everywhere. Default false. */
  readonly xml?: boolean;
  readonly text?: TextSink | undefined;
}

/** All that a page says, unresolved. */
export interface PageScan {
  /** The encoding's name under the Encoding standard. */
  readonly charset: string;
  readonly charsetSource: CharsetSource;
  /** The href of the first base element that has one. */
  readonly base: string | undefined;
  /** In the order of the page, repeats included; at most LINKS_PER_PAGE_MAX. */
  readonly links: readonly PageLink[];
  readonly metaRobots: readonly MetaRobots[];
  readonly canonical: string | undefined;
  readonly title: string | undefined;
  readonly refresh: Refresh | undefined;
  /** True when a bound left something out. */
  readonly truncated: boolean;
}

/** Second readings of one page. Each is one more linear pass at worst, so this also bounds the time. */
export const ALTERNATIVES_MAX = 16;

/**
 * Scans a page. Linear in its length; never throws.
 * @param bytes the decoded body (after Content-Encoding), any bytes
 */
export function scanLinks(bytes: Uint8Array, options: ScanOptions = {}): PageScan {
  const xml = options.xml === true;
  const detected = detectCharset(bytes, { header: options.charset, xml });
  const { facts, encoding } = scanAs(bytes, detected.encoding, detected.bomBytes, options);
  const declared = facts.declaredEncoding;
  if (xml || detected.source !== 'default' || declared === undefined || declared === encoding) {
    return report(facts, encoding, detected.source);
  }
  // A meta element beyond the prescan's reach: read again, as a browser would. HTML standard §13.2.3.4 "changing the encoding".
  const again = scanAs(bytes, declared, 0, { xml });
  return report(again.facts, declared, 'meta');
}

function report(facts: PageFacts, charset: string, charsetSource: CharsetSource): PageScan {
  const { base, links, metaRobots, canonical, title, refresh, truncated } = facts;
  return {
    charset,
    charsetSource,
    base,
    links,
    metaRobots,
    canonical,
    title,
    refresh,
    truncated,
  };
}

function scanAs(
  bytes: Uint8Array,
  encoding: string,
  start: number,
  options: ScanOptions,
): { facts: PageFacts; encoding: string } {
  if (isAsciiCompatible(encoding)) {
    const facts = new PageFacts(bytes, encoding);
    new MarkupWalk(bytes, facts, options).run(start);
    return { facts, encoding };
  }
  const converted = new TextEncoder().encode(decodeSlice(bytes, start, bytes.length, encoding));
  const facts = new PageFacts(converted, 'UTF-8');
  new MarkupWalk(converted, facts, options).run(0);
  return { facts, encoding };
}

const RAW_TEXT: readonly ElementName[] = [
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'plaintext',
];
/** Raw text elements that every tree builder takes for such inside a select as well. */
const RAW_IN_SELECT: readonly ElementName[] = ['script', 'textarea'];
const WITH_ATTRIBUTES: readonly ElementName[] = [
  'a',
  'area',
  'base',
  'link',
  'meta',
  'frame',
  'iframe',
  'template',
];
const TRACKED: readonly ElementName[] = [
  'svg',
  'math',
  'select',
  'template',
  'frameset',
  'col',
  'noscript',
  'table',
];

/** What a start tag of each element asks for, by element code. */
const IS_RAW_TEXT = flags(RAW_TEXT);
const IS_RAW_IN_SELECT = flags(RAW_IN_SELECT);
const HAS_ATTRIBUTES = flags(WITH_ATTRIBUTES);
const IS_TRACKED = flags(TRACKED);
const NOSCRIPT = elementCode('noscript');
const SCRIPT = elementCode('script');
const TITLE = elementCode('title');
const PLAINTEXT = elementCode('plaintext');

function flags(names: readonly ElementName[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const name of names) table[elementCode(name)] = 1;
  return table;
}

/** One walk over a page, with its second readings. */
class MarkupWalk {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #facts: PageFacts;
  readonly #tag: TagReader;
  readonly #xml: boolean;
  #text: TextSink | undefined;
  #context = new TreeContext();
  /** Where second readings begin. */
  readonly #alternatives: number[] = [];
  #branches = 0;
  /** One bit a byte: the `<` already read as tokens, kept once there is a second reading, which ends where it meets one. */
  #visited: Uint8Array | undefined;

  constructor(bytes: Uint8Array, facts: PageFacts, options: ScanOptions) {
    // A plain view: a Buffer's own indexOf and subarray are slower.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.length;
    this.#facts = facts;
    this.#tag = new TagReader(this.#bytes, bytes.length);
    this.#xml = options.xml === true;
    this.#text = options.text;
  }

  run(start: number): void {
    this.#walk(start);
    this.#text = undefined;
    this.#facts.linksOnly = true;
    for (let index = 0; index < this.#alternatives.length; index++) {
      this.#context = new TreeContext();
      this.#context.uncertain = true;
      this.#walk(this.#alternatives[index]!);
    }
  }

  #walk(start: number): void {
    const bytes = this.#bytes;
    const end = this.#end;
    let from = start;
    while (from < end) {
      const at = nextLessThan(bytes, from, end);
      if (this.#text !== undefined && at > from && !this.#context.hidden) {
        this.#text.addText(bytes, from, at);
      }
      if (at >= end) return;
      if (this.#visited !== undefined && this.#wasVisited(at)) return;
      from = this.#token(at);
    }
  }

  /** Marks the token at `at` as read; true when a reading before this one had read it. */
  #wasVisited(at: number): boolean {
    const visited = this.#visited!;
    const bit = 1 << (at & 7);
    const before = (visited[at >>> 3]! & bit) !== 0;
    visited[at >>> 3]! |= bit;
    return before;
  }

  /** Reads the token that begins with the `<` at `at`; answers where the data state goes on. HTML standard §13.2.5.6. */
  #token(at: number): number {
    const next = this.#bytes[at + 1]!;
    if (isLetter(next)) return this.#startTag(at);
    if (next === 0x2f) return this.#endTag(at);
    if (next === 0x21) return this.#declaration(at);
    if (next !== 0x3f) return at + 1;
    return this.#xml
      ? endOfInstruction(this.#bytes, at + 2, this.#end)
      : endOfBogusComment(this.#bytes, at + 2, this.#end);
  }

  #startTag(at: number): number {
    const tag = this.#tag;
    const nameEnd = tag.readName(at + 1);
    const { element } = tag;
    const context = this.#context;
    const nested = context.depth > 0;
    const wanted = nested || HAS_ATTRIBUTES[element] === 1;
    const from = wanted ? tag.readAttributes(nameEnd) : tag.skipAttributes(nameEnd);
    if (from === CUT_OFF) return this.#end;
    if (element === 0 && !nested) return from;
    const tracked = nested || IS_TRACKED[element] === 1 || context.inTemplate;
    const foreign = tracked && !this.#xml ? context.startTag(tag) : false;
    if (element === NOSCRIPT) this.#facts.inNoscript = true;
    if (HAS_ATTRIBUTES[element] === 1 && !context.hidden) {
      this.#facts.startTag(tag, { foreign, uncertain: context.uncertain });
    }
    return IS_RAW_TEXT[element] === 1 ? this.#rawText(element, from, foreign) : from;
  }

  /** After the start tag of a raw text element: where to go on, past its end tag if it is one here. */
  #rawText(element: number, start: number, foreign: boolean): number {
    if (this.#xml) {
      if (element === TITLE) this.#titleIn(start, nextLessThan(this.#bytes, start, this.#end));
      return start;
    }
    const context = this.#context;
    const uncertain = context.uncertain || (context.inSelect && IS_RAW_IN_SELECT[element] === 0);
    if (foreign && !(uncertain && this.#mayBranch)) return start;
    const close = this.#endOfContent(element, start);
    const name = elementTable.nameOf(element);
    const after = close >= this.#end ? CUT_OFF : this.#tag.skipAttributes(close + 2 + name.length);
    const past = after === CUT_OFF ? this.#end : after;
    if (!foreign && element === TITLE) this.#titleIn(start, close);
    if (!uncertain) return past;
    this.#alternative(foreign ? past : start);
    return foreign ? start : past;
  }

  #titleIn(start: number, end: number): void {
    if (!this.#facts.linksOnly && !this.#context.hidden) this.#facts.titleText(start, end);
  }

  #endOfContent(element: number, start: number): number {
    if (element === PLAINTEXT) return this.#end;
    if (element === SCRIPT) return endOfScript(this.#bytes, start, this.#end);
    return endOfRawText(this.#bytes, start, this.#end, elementTable.nameOf(element));
  }

  #endTag(at: number): number {
    const next = this.#bytes[at + 2];
    if (next === undefined) return this.#end;
    if (!isLetter(next)) return endOfBogusComment(this.#bytes, at + 2, this.#end);
    const tag = this.#tag;
    const from = tag.skipAttributes(tag.readName(at + 2));
    if (from === CUT_OFF) return this.#end;
    if (tag.element === NOSCRIPT) this.#facts.inNoscript = false;
    if (!this.#xml && (this.#context.depth > 0 || IS_TRACKED[tag.element] === 1)) {
      this.#context.endTag(tag);
    }
    return from;
  }

  /** `<!`: a comment, a CDATA section or what counts as a bogus comment. HTML standard §13.2.5.42. */
  #declaration(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at + 2] === 0x2d && bytes[at + 3] === 0x2d) {
      return endOfComment(bytes, at + 4, this.#end, this.#xml);
    }
    if (!isCdataStart(bytes, at)) return endOfBogusComment(bytes, at + 2, this.#end);
    if (this.#xml) return endOfCdata(bytes, at + 9, this.#end);
    const { foreign } = this.#context;
    const uncertain = this.#context.uncertain || this.#context.atIntegrationPoint;
    if (!uncertain || !this.#mayBranch) {
      return foreign
        ? endOfCdata(bytes, at + 9, this.#end)
        : endOfBogusComment(bytes, at + 2, this.#end);
    }
    const section = endOfCdata(bytes, at + 9, this.#end);
    const comment = endOfBogusComment(bytes, at + 2, this.#end);
    this.#alternative(foreign ? comment : section);
    return foreign ? section : comment;
  }

  /** Looking for the start of a second reading may cost a whole pass, so it ends when no more are followed. */
  get #mayBranch(): boolean {
    return this.#branches < ALTERNATIVES_MAX;
  }

  /** Remembers a second reading that begins at `start`. */
  #alternative(start: number): void {
    if (!this.#mayBranch) return;
    this.#branches++;
    if (start >= this.#end) return;
    this.#visited ??= new Uint8Array((this.#end >>> 3) + 1);
    this.#alternatives.push(start);
  }
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
