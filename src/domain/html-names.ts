// The names of elements and attributes that the link scanner acts on, found in a page's bytes without making a string (step 11).
// Most tags are none of them, so the look-up must cost a few nanoseconds: a rolling hash of the lower-cased bytes leads to at most
// one candidate, whose bytes are then compared, so that no other name is ever taken for it.

/** Elements by their codes; 0 is any other element. */
export const ELEMENTS = [
  '',
  'a',
  'area',
  'base',
  'link',
  'meta',
  'frame',
  'iframe',
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'noembed',
  'noframes',
  'plaintext',
  'template',
  'svg',
  'math',
  'select',
  'frameset',
  'noscript',
  'col',
  'foreignobject',
  'desc',
  'mi',
  'mo',
  'mn',
  'ms',
  'mtext',
  'annotation-xml',
  'mglyph',
  'malignmark',
  'font',
  'p',
  'br',
  'area',
  'embed',
  'hr',
  'img',
  'input',
  'param',
  'source',
  'track',
  'wbr',
  'b',
  'big',
  'blockquote',
  'body',
  'center',
  'code',
  'dd',
  'div',
  'dl',
  'dt',
  'em',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'head',
  'i',
  'li',
  'listing',
  'menu',
  'nobr',
  'ol',
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
  'html',
  'bgsound',
  'keygen',
  'td',
  'th',
  'tr',
  'tbody',
  'thead',
  'tfoot',
  'caption',
  'colgroup',
] as const;

export type ElementName = (typeof ELEMENTS)[number];

/** Attributes by their codes; 0 is any other attribute. */
export const ATTRIBUTES = [
  '',
  'href',
  'src',
  'rel',
  'name',
  'content',
  'http-equiv',
  'charset',
  'xlink:href',
  'encoding',
  'color',
  'face',
  'size',
  'shadowrootmode',
] as const;

export type AttributeName = (typeof ATTRIBUTES)[number];

const SLOTS = 1_024;

/** One step of the rolling hash. Bit 0x20 makes letters lower case; what else it maps together, the comparison tells apart. */
export function hashStep(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + (byte | 0x20)) | 0;
}

/** Finds which of a fixed list of names a slice of bytes is, in any case. */
export class NameTable {
  readonly #codes = new Uint8Array(SLOTS);
  readonly #hashes = new Int32Array(SLOTS);
  readonly #names: readonly Uint8Array[];

  /** @param names lower case; the first is the empty name of everything else */
  constructor(names: readonly string[]) {
    this.#names = names.map((name) => Uint8Array.from(name, (letter) => letter.charCodeAt(0)));
    for (let code = this.#names.length - 1; code > 0; code--) {
      const hash = this.#names[code]!.reduce(hashStep, 0);
      let slot = slotOf(hash);
      while (this.#codes[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) % SLOTS;
      this.#codes[slot] = code;
      this.#hashes[slot] = hash;
    }
  }

  /**
   * The code (index in the list) of the name in `bytes[start, end)`, or 0.
   * @param hash of those bytes by hashStep, begun with 0
   */
  codeOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    let slot = slotOf(hash);
    for (let code = this.#codes[slot]!; code !== 0; code = this.#codes[slot]!) {
      if (this.#hashes[slot] === hash) return this.#isName(bytes, start, end, code) ? code : 0;
      slot = (slot + 1) % SLOTS;
    }
    return 0;
  }

  /** The bytes of a name, lower case. */
  nameOf(code: number): Uint8Array {
    return this.#names[code]!;
  }

  #isName(bytes: Uint8Array, start: number, end: number, code: number): boolean {
    const name = this.#names[code]!;
    if (name.length !== end - start) return false;
    for (let index = 0; index < name.length; index++) {
      const byte = bytes[start + index]!;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
      if (lower !== name[index]) return false;
    }
    return true;
  }
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 10) ^ (hash >>> 20)) & (SLOTS - 1);
}

export const elementTable = new NameTable(ELEMENTS);
export const attributeTable = new NameTable(ATTRIBUTES);

/** The code of an element, for switches and tables that are built once. */
export function elementCode(name: ElementName): number {
  return ELEMENTS.indexOf(name);
}

/** The code of an attribute. */
export function attributeCode(name: AttributeName): number {
  return ATTRIBUTES.indexOf(name);
}
