// What the tokenizer must know of the tree (step 11): whether the current node is foreign (SVG, MathML), since there `<style>` is not
// raw text and `<![CDATA[` is real; and whether we are in a template, whose content is no part of the page. A full tree builder would
// cost more than the whole scan, so only the open elements from an outermost <svg> or <math> inwards are kept. Where that is not
// enough to be sure (ill-nested foreign content, select, frameset), `uncertain` is set and the scanner reads on both ways.
// Invariant: whenever `uncertain` is false, `foreign` is what a complete tree builder would say.
import { attributeCode, type ElementName, elementCode } from './html-names.ts';
import type { TagReader } from './tag-reader.ts';

const SVG = 1;
const MATH = 2;
const HTML = 3;

/** How an open foreign element treats the tags inside it. HTML standard §13.2.6 "tree construction", integration points. */
const NO_INTEGRATION = 0;
const HTML_INTEGRATION = 1;
const TEXT_INTEGRATION = 2;
const ANNOTATION = 3;

/** Foreign elements kept open at once; deeper nesting makes the context uncertain instead of larger. */
const DEPTH_MAX = 512;

const codes = (...names: ElementName[]): ReadonlySet<number> => new Set(names.map(elementCode));

const ROOTS = codes('svg', 'math');
const MATH_TEXT = codes('mi', 'mo', 'mn', 'ms', 'mtext');
const SVG_INTEGRATION = codes('foreignobject', 'desc', 'title');
const NO_CONTENT = codes(
  'area',
  'base',
  'br',
  'col',
  'embed',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'param',
  'source',
  'track',
  'wbr',
  'frame',
  'bgsound',
  'keygen',
  'html',
  'head',
  'body',
  'frameset',
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'plaintext',
  'template',
);
/** Start tags that end foreign content. HTML standard §13.2.6.5. */
const BREAKOUT = codes(
  'b',
  'big',
  'blockquote',
  'body',
  'br',
  'center',
  'code',
  'dd',
  'div',
  'dl',
  'dt',
  'em',
  'embed',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'head',
  'hr',
  'i',
  'img',
  'li',
  'listing',
  'menu',
  'meta',
  'nobr',
  'ol',
  'p',
  'pre',
  'ruby',
  's',
  'small',
  'span',
  'strong',
  'strike',
  'sub',
  'sup',
  'table',
  'tt',
  'u',
  'ul',
  'var',
);
const GLYPHS = codes('mglyph', 'malignmark');
const SVG_ROOT = elementCode('svg');
const FONT = elementCode('font');
const ANNOTATION_XML = elementCode('annotation-xml');
const SELECT = elementCode('select');
const TEMPLATE = elementCode('template');
const FRAMESET = elementCode('frameset');
const TABLE = elementCode('table');
const COLUMN = elementCode('col');
const TABLE_PARTS = codes(
  'td',
  'th',
  'tr',
  'tbody',
  'thead',
  'tfoot',
  'caption',
  'colgroup',
  'col',
);
const PARAGRAPH = elementCode('p');
const BREAK = elementCode('br');
const SHADOW_ROOT = attributeCode('shadowrootmode');
const ENCODING = attributeCode('encoding');
/** Attributes that make a font element end foreign content. */
const FONT_ATTRIBUTES = [attributeCode('color'), attributeCode('face'), attributeCode('size')];

export class TreeContext {
  readonly #hashes: number[] = [];
  readonly #spaces: number[] = [];
  readonly #integrations: number[] = [];
  /** For each open template, the depth at its start; below it nothing can be closed from inside. */
  readonly #templates: number[] = [];
  readonly #templateHides: boolean[] = [];
  #hiding = 0;
  /** Tables open, counted no lower than they are. */
  #tables = 0;
  /** Open elements from the outermost foreign one; 0 outside foreign content. */
  depth = 0;
  /** True once the tree can no longer be told from here; stays so to the end of the page. */
  uncertain = false;
  /** True between a select's tags: older tree builders drop raw text elements there, newer ones do not. */
  inSelect = false;

  /** True when the current node is an SVG or MathML element. */
  get foreign(): boolean {
    return this.depth > this.#floor() && this.#spaces[this.depth - 1] !== HTML;
  }

  /** True inside a template: then every known tag is of interest. */
  get inTemplate(): boolean {
    return this.#templates.length > 0;
  }

  /** True right inside an integration point, where tree builders differ on whether `<![CDATA[` is one. */
  get atIntegrationPoint(): boolean {
    const integration = this.#integrations[this.depth - 1];
    return this.foreign && (integration === HTML_INTEGRATION || integration === TEXT_INTEGRATION);
  }

  /** True inside a template whose content is not shown, as far as that is certain; a declarative shadow root is shown. */
  get hidden(): boolean {
    return this.#hiding > 0 && !this.uncertain;
  }

  /**
   * Takes note of a start tag.
   * @param tag the tag, its attributes read when an element is open here or it is a template
   * @returns true when the rules for foreign content applied, so that the element is not an HTML one
   */
  startTag(tag: TagReader): boolean {
    if (this.depth > this.#floor() && !this.#htmlRulesApply(tag)) {
      if (!BREAKOUT.has(tag.element) && !isBreakingFont(tag)) {
        if (!tag.selfClosing) this.#openForeign(tag);
        return true;
      }
      this.#breakOut();
    }
    this.#startHtml(tag);
    return false;
  }

  /** Takes note of an end tag. Cheap when nothing is open. */
  endTag(tag: TagReader): void {
    if (tag.element === TEMPLATE && this.#templates.length > 0) this.#endTemplate(tag);
    else if (this.depth > this.#floor()) this.#endForeign(tag);
    else if (tag.element === TABLE && this.#templates.length === 0) {
      this.#tables = Math.max(0, this.#tables - 1);
    } else if (tag.element === SELECT && this.#templates.length === 0) this.inSelect = false;
  }

  #startHtml(tag: TagReader): void {
    const { element } = tag;
    if (element === TABLE) this.#tables++;
    else if (this.#templates.length > 0 && TABLE_PARTS.has(element)) this.#startPart(element);
    if (element === TEMPLATE) {
      const hides = !tag.has(SHADOW_ROOT);
      this.#templates.push(this.depth);
      this.#templateHides.push(hides);
      if (hides) this.#hiding++;
    } else if (element === SELECT) this.#startSelect();
    else if (element === FRAMESET) this.uncertain = true;
    else if (ROOTS.has(element)) {
      if (this.inSelect) this.uncertain = true;
      const space = element === SVG_ROOT ? SVG : MATH;
      if (!tag.selfClosing) this.#push(tag.nameHash, space, NO_INTEGRATION);
    } else if (this.depth > this.#floor() && !NO_CONTENT.has(element)) {
      this.#push(tag.nameHash, HTML, NO_INTEGRATION);
    }
  }

  /** A part of a table in a template: parse5 may take it for one of a table outside, and leave the template. */
  #startPart(element: number): void {
    if (this.#tables > 0 || element === COLUMN) this.uncertain = true;
  }

  #startSelect(): void {
    if (this.depth > this.#floor()) this.uncertain = true;
    this.inSelect = true;
  }

  /** The dispatcher of HTML standard §13.2.6, for a start tag while a foreign element is open. */
  #htmlRulesApply(tag: TagReader): boolean {
    const top = this.depth - 1;
    if (this.#spaces[top] === HTML) return true;
    const integration = this.#integrations[top];
    if (integration === HTML_INTEGRATION) return true;
    if (integration === TEXT_INTEGRATION) return !GLYPHS.has(tag.element);
    return integration === ANNOTATION && tag.element === SVG_ROOT;
  }

  #openForeign(tag: TagReader): void {
    const space = this.#spaces[this.depth - 1]!;
    let integration = NO_INTEGRATION;
    if (space === SVG && SVG_INTEGRATION.has(tag.element)) integration = HTML_INTEGRATION;
    if (space === MATH && MATH_TEXT.has(tag.element)) integration = TEXT_INTEGRATION;
    if (space === MATH && tag.element === ANNOTATION_XML) {
      integration = isHtmlAnnotation(tag) ? HTML_INTEGRATION : ANNOTATION;
    }
    this.#push(tag.nameHash, space, integration);
  }

  #push(hash: number, space: number, integration: number): void {
    if (this.depth >= DEPTH_MAX) {
      this.uncertain = true;
      return;
    }
    this.#hashes[this.depth] = hash;
    this.#spaces[this.depth] = space;
    this.#integrations[this.depth] = integration;
    this.depth++;
  }

  /** Closes elements up to an HTML element or an integration point. */
  #breakOut(): void {
    while (this.depth > this.#floor()) {
      const top = this.depth - 1;
      if (this.#spaces[top] === HTML) return;
      const integration = this.#integrations[top];
      if (integration === HTML_INTEGRATION || integration === TEXT_INTEGRATION) return;
      this.depth--;
    }
  }

  /** Elements below this depth are outside the innermost template. */
  #floor(): number {
    return this.#templates.at(-1) ?? 0;
  }

  #endTemplate(tag: TagReader): void {
    const floor = this.#floor();
    for (let index = this.depth - 1; index >= floor; index--) {
      if (this.#spaces[index] === HTML) break;
      if (this.#hashes[index] !== tag.nameHash) continue;
      this.depth = index;
      return;
    }
    this.depth = this.#templates.pop()!;
    if (this.#templateHides.pop() === true) this.#hiding--;
  }

  #endForeign(tag: TagReader): void {
    const top = this.depth - 1;
    const floor = this.#floor();
    if (this.#spaces[top] === HTML) {
      if (top >= floor && this.#hashes[top] === tag.nameHash) this.depth--;
      else this.#endUnmatched(tag);
      return;
    }
    if (tag.element === PARAGRAPH || tag.element === BREAK) {
      this.#breakOut();
      if (this.depth > floor) this.uncertain = true;
      return;
    }
    for (let index = top; index >= floor && this.#spaces[index] !== HTML; index--) {
      if (this.#hashes[index] !== tag.nameHash) continue;
      this.depth = index;
      return;
    }
    this.#endUnmatched(tag);
  }

  /** An end tag that closes nothing we hold: it may close an element further out, or nothing. */
  #endUnmatched(tag: TagReader): void {
    this.uncertain = true;
    const hashes = this.#hashes;
    for (let index = this.depth - 1; index >= this.#floor(); index--) {
      if (hashes[index] !== tag.nameHash) continue;
      this.depth = index;
      return;
    }
    if (BREAKOUT.has(tag.element) && this.#templates.length === 0) this.depth = 0;
  }
}

function isBreakingFont(tag: TagReader): boolean {
  return tag.element === FONT && FONT_ATTRIBUTES.some((attribute) => tag.has(attribute));
}

function isHtmlAnnotation(tag: TagReader): boolean {
  return tag.valueIs(ENCODING, 'text/html') || tag.valueIs(ENCODING, 'application/xhtml+xml');
}
