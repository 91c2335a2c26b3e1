// Reads one tag at a time from a page's bytes (step 11): its name and, where asked for, the positions of the attributes the scanner
// knows. The attribute states of the HTML standard are followed exactly, since a quote that is misread swallows the links after it.
// One reader serves a whole page; its fields describe the tag read last. Nothing is decoded and nothing is allocated here.
import { endsName, isBlank } from './html-lexer.ts';
import { ATTRIBUTES, attributeTable, elementTable, hashStep } from './html-names.ts';

/** Answered for a tag that the page's end cuts off: the standard drops such a tag. */
export const CUT_OFF = -1;

export class TagReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #valueStarts = new Int32Array(ATTRIBUTES.length);
  readonly #valueEnds = new Int32Array(ATTRIBUTES.length);
  #present = 0;
  /** Code of the element (html-names.ts), 0 when it is none of the known ones. */
  element = 0;
  /** Hash of the name, equal for names that differ in case alone. */
  nameHash = 0;
  /** True when the tag ended in `/>`. */
  selfClosing = false;

  constructor(bytes: Uint8Array, end: number) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Reads the name that begins at `start` and answers the position after it. HTML standard §13.2.5.8 "tag name state". */
  readName(start: number): number {
    const bytes = this.#bytes;
    let hash = 0;
    let at = start;
    for (; at < this.#end; at++) {
      const byte = bytes[at]!;
      if (byte <= 0x3e && endsName(byte)) break;
      hash = hashStep(hash, byte);
    }
    this.nameHash = hash;
    this.element = elementTable.codeOf(bytes, start, at, hash);
    return at;
  }

  /**
   * Passes over the attributes and answers the position after the tag's `>`, or CUT_OFF.
   * HTML standard §13.2.5.32 to §13.2.5.40.
   */
  skipAttributes(start: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    this.selfClosing = false;
    this.#present = 0;
    let at = start;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte === 0x3e) return at + 1;
      if (byte === 0x2f) {
        if (bytes[at + 1] === 0x3e) {
          this.selfClosing = true;
          return at + 2;
        }
        at++;
      } else if (isBlank(byte)) {
        at++;
      } else {
        at = this.#endOfName(at);
        const equals = this.#skipBlanks(at);
        if (bytes[equals] !== 0x3d) continue;
        at = this.#skipBlanks(equals + 1);
        const first = bytes[at];
        if (first === 0x22 || first === 0x27) {
          at = this.#closingQuote(at + 1, first);
          if (at === CUT_OFF) return CUT_OFF;
          at++;
        } else at = this.#endOfUnquoted(at);
      }
    }
    return CUT_OFF;
  }

  /** As skipAttributes, and keeps where the values of known attributes are; of two with one name, the first. */
  readAttributes(start: number): number {
    const bytes = this.#bytes;
    this.selfClosing = false;
    this.#present = 0;
    let at = start;
    while (at < this.#end) {
      const byte = bytes[at]!;
      if (byte === 0x3e) return at + 1;
      if (byte === 0x2f) {
        this.selfClosing = bytes[at + 1] === 0x3e;
        at++;
      } else if (isBlank(byte)) {
        at++;
      } else {
        at = this.#readAttribute(at);
        if (at === CUT_OFF) return CUT_OFF;
      }
    }
    return CUT_OFF;
  }

  /** True when the tag read last has the attribute, with or without a value. @param code see html-names.ts */
  has(code: number): boolean {
    return (this.#present & (1 << code)) !== 0;
  }

  /** First byte of the attribute's value; meaningful only when has(code). */
  valueStart(code: number): number {
    return this.#valueStarts[code]!;
  }

  /** One after the last byte of the attribute's value. */
  valueEnd(code: number): number {
    return this.#valueEnds[code]!;
  }

  /** True when the attribute's raw value is `expected` (lower case ASCII) in any case. */
  valueIs(code: number, expected: string): boolean {
    const start = this.#valueStarts[code]!;
    if (!this.has(code) || this.#valueEnds[code]! - start !== expected.length) return false;
    for (let index = 0; index < expected.length; index++) {
      const byte = this.#bytes[start + index]!;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
      if (lower !== expected.charCodeAt(index)) return false;
    }
    return true;
  }

  #readAttribute(start: number): number {
    const bytes = this.#bytes;
    const nameEnd = this.#endOfName(start);
    let hash = 0;
    for (let at = start; at < nameEnd; at++) hash = hashStep(hash, bytes[at]!);
    const code = attributeTable.codeOf(bytes, start, nameEnd, hash);
    let at = this.#skipBlanks(nameEnd);
    if (bytes[at] !== 0x3d) {
      this.#keep(code, nameEnd, nameEnd);
      return at;
    }
    at = this.#skipBlanks(at + 1);
    const first = bytes[at];
    if (first === 0x22 || first === 0x27) {
      const close = this.#closingQuote(at + 1, first);
      if (close === CUT_OFF) return CUT_OFF;
      this.#keep(code, at + 1, close);
      return close + 1;
    }
    const close = this.#endOfUnquoted(at);
    this.#keep(code, at, close);
    return close;
  }

  #keep(code: number, start: number, end: number): void {
    if (code === 0 || this.has(code)) return;
    this.#present |= 1 << code;
    this.#valueStarts[code] = start;
    this.#valueEnds[code] = end;
  }

  /** A name's first byte may be `=`; after it, `=`, `/`, `>` and blanks end the name. */
  #endOfName(start: number): number {
    const bytes = this.#bytes;
    let at = start + 1;
    for (; at < this.#end; at++) {
      const byte = bytes[at]!;
      if (byte <= 0x3e && (byte === 0x3d || endsName(byte))) break;
    }
    return at;
  }

  #skipBlanks(start: number): number {
    let at = start;
    while (at < this.#end && isBlank(this.#bytes[at]!)) at++;
    return at;
  }

  #closingQuote(start: number, quote: number): number {
    const bytes = this.#bytes;
    const near = Math.min(start + WALKED_BYTES, this.#end);
    for (let at = start; at < near; at++) if (bytes[at] === quote) return at;
    const found = bytes.indexOf(quote, near);
    return found < 0 || found >= this.#end ? CUT_OFF : found;
  }

  #endOfUnquoted(start: number): number {
    const bytes = this.#bytes;
    let at = start;
    while (at < this.#end && bytes[at] !== 0x3e && !isBlank(bytes[at]!)) at++;
    return at;
  }
}

/** As in html-lexer.ts: shorter values are walked, longer ones searched. */
const WALKED_BYTES = 64;
