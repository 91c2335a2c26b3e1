// The prescan of a page's first 1,024 bytes for a meta element or an XML declaration that names its encoding (step 11). It is not
// the page's real parse: the HTML standard gives it its own small tokenizer, followed here to the letter, because browsers and
// therefore pages depend on its quirks. Bounded by the 1,024 bytes; what ends in the middle of a tag names nothing.
import { encodingOf } from './charset-labels.ts';

/** How far the prescan looks, in bytes. Source: HTML standard §13.2.3.2. */
export const PRESCAN_BYTES_MAX = 1_024;

interface Attribute {
  readonly name: string;
  readonly value: string;
}

/**
 * The encoding named by the first meta element that names a known one. Never throws.
 * @param bytes the page from its first byte
 * @returns an encoding's name; UTF-16 counts as UTF-8 there and x-user-defined as windows-1252, since the meta was readable as ASCII
 */
export function prescanMeta(bytes: Uint8Array): string | undefined {
  const reader = new PrescanReader(headOf(bytes));
  return reader.findMeta();
}

/**
 * The encoding of an XML declaration at the very start. Never throws. Source: HTML standard "get an XML encoding"
 * @param bytes the document from its first byte
 */
export function prescanXmlDeclaration(bytes: Uint8Array): string | undefined {
  const head = headOf(bytes);
  if (!head.startsWith('<?xml')) return undefined;
  const close = head.indexOf('>');
  if (close < 0) return undefined;
  const match = /encoding[\0- ]*=[\0- ]*(["'])([^\0- ]*?)\1/.exec(head.slice(0, close));
  return match === null ? undefined : asDeclared(encodingOf(match[2]!));
}

/**
 * The encoding in the content attribute of a meta element, for example `text/html; charset=utf-8`. Never throws.
 * @param content the attribute's value. Source: HTML standard §2.6.5 "extracting a character encoding from a meta element"
 */
export function encodingOfMetaContent(content: string): string | undefined {
  const lower = content.toLowerCase();
  let at = 0;
  for (;;) {
    const found = lower.indexOf('charset', at);
    if (found < 0) return undefined;
    at = skipBlanks(lower, found + 'charset'.length);
    if (lower[at] !== '=') continue;
    at = skipBlanks(lower, at + 1);
    const quote = lower[at];
    if (quote === '"' || quote === "'") {
      const end = lower.indexOf(quote, at + 1);
      return end < 0 ? undefined : encodingOf(lower.slice(at + 1, end));
    }
    let end = at;
    while (end < lower.length && !isBlank(lower[end]!) && lower[end] !== ';') end++;
    return encodingOf(lower.slice(at, end));
  }
}

/** What a name found inside a page means, given that it was read as ASCII. Source: HTML standard §13.2.3.2, step "processing". */
export function asDeclared(encoding: string | undefined): string | undefined {
  if (encoding?.startsWith('UTF-16')) return 'UTF-8';
  return encoding === 'x-user-defined' ? 'windows-1252' : encoding;
}

/** One character for each byte, so that the rules below can be written over text; at most 1,024 of them. */
function headOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, PRESCAN_BYTES_MAX));
}

class PrescanReader {
  readonly #text: string;
  readonly #lower: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lower = text.toLowerCase();
  }

  findMeta(): string | undefined {
    for (; this.#at < this.#text.length; this.#at++) {
      this.#at = this.#text.indexOf('<', this.#at);
      if (this.#at < 0) return undefined;
      if (this.#lower.startsWith('<!--', this.#at)) {
        const end = this.#text.indexOf('-->', this.#at + 2);
        if (end < 0) return undefined;
        this.#at = end + 2;
      } else if (/^<meta[\t\n\f\r /]/.test(this.#lower.slice(this.#at, this.#at + 6))) {
        this.#at += 5;
        const encoding = this.#readMeta();
        if (encoding !== undefined) return encoding;
      } else if (/^<\/?[a-z]/.test(this.#lower.slice(this.#at, this.#at + 3))) {
        while (this.#at < this.#text.length && !/[\t\n\f\r >]/.test(this.#text[this.#at]!)) {
          this.#at++;
        }
        while (this.#readAttribute() !== undefined);
      } else if (/^<[!/?]/.test(this.#text.slice(this.#at, this.#at + 2))) {
        const end = this.#text.indexOf('>', this.#at);
        if (end < 0) return undefined;
        this.#at = end;
      }
    }
    return undefined;
  }

  #readMeta(): string | undefined {
    const seen = new Set<string>();
    let pragma = false;
    let needPragma: boolean | undefined;
    let encoding: string | undefined;
    for (;;) {
      const attribute = this.#readAttribute();
      if (attribute === undefined) break;
      if (seen.has(attribute.name)) continue;
      seen.add(attribute.name);
      if (attribute.name === 'http-equiv') {
        pragma = attribute.value === 'content-type';
      } else if (attribute.name === 'charset') {
        encoding = encodingOf(attribute.value);
        needPragma = false;
      } else if (attribute.name === 'content' && needPragma === undefined) {
        encoding = encodingOfMetaContent(attribute.value);
        if (encoding !== undefined) needPragma = true;
      }
    }
    const ended = this.#at >= this.#text.length;
    if (ended || needPragma === undefined || (needPragma && !pragma)) return undefined;
    return asDeclared(encoding);
  }

  /** The next attribute, lower-cased; undefined at the end of the tag or of the bytes. Source: "get an attribute". */
  #readAttribute(): Attribute | undefined {
    const text = this.#lower;
    while (/[\t\n\f\r /]/.test(text[this.#at] ?? '')) this.#at++;
    if (this.#at >= text.length || text[this.#at] === '>') return undefined;
    const start = this.#at;
    if (text[this.#at] === '=') this.#at++;
    while (this.#at < text.length && !/[\t\n\f\r />=]/.test(text[this.#at]!)) this.#at++;
    const name = text.slice(start, this.#at);
    const equals = skipBlanks(text, this.#at);
    if (text[equals] !== '=') return { name, value: '' };
    this.#at = skipBlanks(text, equals + 1);
    return { name, value: this.#readValue() };
  }

  #readValue(): string {
    const text = this.#lower;
    const quote = text[this.#at];
    if (quote === '"' || quote === "'") {
      const start = this.#at + 1;
      const end = text.indexOf(quote, start);
      this.#at = end < 0 ? text.length : end + 1;
      return text.slice(start, end < 0 ? text.length : end);
    }
    const start = this.#at;
    while (this.#at < text.length && !/[\t\n\f\r >]/.test(text[this.#at]!)) this.#at++;
    return text.slice(start, this.#at);
  }
}

function isBlank(character: string): boolean {
  return /^[\t\n\f\r ]$/.test(character);
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (at < text.length && isBlank(text[at]!)) at++;
  return at;
}
