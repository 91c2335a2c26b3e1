// Character references of HTML in text and attribute values (step 11): `&amp;`, `&#38;`, `&#x26;` and the legacy names that stand
// without a semicolon. A link is a decoded attribute value, so a reference read wrongly is a URL read wrongly. One pass, no
// backtracking: a name is at most 31 characters and a legacy name at most 6, so each `&` costs a bounded number of look-ups.
import { NAMED_REFERENCES } from './html-entity-table.ts';

/** Where the references stand: in an attribute, `&copy=1` and `&copya` are left alone, since old query strings look like that. */
export type ReferenceContext = 'attribute' | 'text';

const NAME_CHARACTERS_MAX = 31;
const LEGACY_CHARACTERS_MIN = 2;
const LEGACY_CHARACTERS_MAX = 6;

const named = new Map<string, string>();
const legacy = new Map<string, string>();
for (const record of NAMED_REFERENCES.split(' ')) {
  const at = record.search(/[=!]/);
  const points = record.slice(at + 1).split('_');
  const text = String.fromCodePoint(...points.map((point) => Number.parseInt(point, 16)));
  named.set(record.slice(0, at), text);
  if (record[at] === '!') legacy.set(record.slice(0, at), text);
}

/** What &#128; to &#159; mean: the windows-1252 characters. Source: HTML standard §13.2.5.80. */
const WINDOWS_1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/**
 * The character a code point from 0x80 to 0x9f stands for in windows-1252.
 * @param codePoint 0x80 … 0x9f
 */
export function windows1252Character(codePoint: number): string {
  return WINDOWS_1252.charAt(codePoint - 0x80);
}

/**
 * Replaces every character reference in `text`. Linear in its length; never throws.
 * @param text any text; returned as it is when it holds no `&`
 * @param context where the text stood. Source: HTML standard §13.2.5.72 to §13.2.5.80
 */
export function decodeReferences(text: string, context: ReferenceContext): string {
  let ampersand = text.indexOf('&');
  if (ampersand < 0) return text;
  let decoded = '';
  let copied = 0;
  while (ampersand >= 0) {
    const found =
      text.charCodeAt(ampersand + 1) === 0x23
        ? numericReference(text, ampersand + 2)
        : namedReference(text, ampersand + 1, context);
    if (found !== undefined) {
      decoded += text.slice(copied, ampersand) + found.text;
      copied = found.end;
    }
    ampersand = text.indexOf('&', Math.max(copied, ampersand + 1));
  }
  return decoded + text.slice(copied);
}

/**
 * The text of one named reference that is written in full, with its semicolon.
 * @param name without `&` and `;`, case-sensitive
 */
export function namedCharacter(name: string): string | undefined {
  return named.get(name);
}

interface Found {
  readonly text: string;
  readonly end: number;
}

/** Reads `#38;` or `#x26;` after the `#`; undefined when no digit follows. */
export function numericReference(text: string, start: number): Found | undefined {
  const hex = (text.charCodeAt(start) | 0x20) === 0x78;
  const first = hex ? start + 1 : start;
  let value = 0;
  let at = first;
  for (; at < text.length; at++) {
    const digit = digitOf(text.charCodeAt(at), hex);
    if (digit < 0) break;
    value = Math.min(value * (hex ? 16 : 10) + digit, 0x110000);
  }
  if (at === first) return undefined;
  return { text: characterOf(value), end: text.charCodeAt(at) === 0x3b ? at + 1 : at };
}

function namedReference(text: string, start: number, context: ReferenceContext): Found | undefined {
  let end = start;
  while (end - start <= NAME_CHARACTERS_MAX && isAlphanumeric(text.charCodeAt(end))) end++;
  if (text.charCodeAt(end) === 0x3b) {
    const full = named.get(text.slice(start, end));
    if (full !== undefined) return { text: full, end: end + 1 };
  }
  const longest = Math.min(end - start, LEGACY_CHARACTERS_MAX);
  for (let length = longest; length >= LEGACY_CHARACTERS_MIN; length--) {
    const short = legacy.get(text.slice(start, start + length));
    if (short === undefined) continue;
    const next = text.charCodeAt(start + length);
    if (context === 'attribute' && (next === 0x3d || isAlphanumeric(next))) return undefined;
    return { text: short, end: start + length };
  }
  return undefined;
}

function digitOf(code: number, hex: boolean): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return hex && lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function characterOf(value: number): string {
  if (value === 0 || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return '\ufffd';
  if (value >= 0x80 && value <= 0x9f) return windows1252Character(value);
  return String.fromCodePoint(value);
}

function isAlphanumeric(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (lower >= 0x61 && lower <= 0x7a);
}
